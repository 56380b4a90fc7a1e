// Documents of YAML, with lines for messages.
#pragma once

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string>

#include "benches/text/beginning.hpp"
#include "pace/base/error.hpp"

namespace pace::benches {

/// Where a node stands in `file`.
[[nodiscard]] inline Location place_of(const YAML::Node& node, const std::string& file) {
  const auto mark = node.Mark();
  return {file, mark.is_null() ? 0 : static_cast<std::size_t>(mark.line) + 1};
}

/// Describes a node, for messages: the beginning of its text, or `a map`, `a list`, `nothing`.
[[nodiscard]] inline std::string kind_of(const YAML::Node& node) {
  if (!node.IsDefined()) return "nothing";
  if (node.IsScalar()) return '\'' + beginning(node.Scalar()) + '\'';
  return node.IsNull() ? "nothing" : node.IsMap() ? "a map" : "a list";
}

namespace detail {

/// Counts the documents of a text, and keeps where the last one and its content begin.
class DocumentCounter final : public YAML::EventHandler {
 public:
  std::size_t count = 0;
  YAML::Mark start, content;

  void OnDocumentStart(const YAML::Mark& mark) override {
    ++count;
    start = mark;
    has_content_ = false;
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { see(mark); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { see(mark); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t, const std::string&) override { see(mark); }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
    see(mark);
  }
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
    see(mark);
  }
  void OnMapEnd() override {}

 private:
  void see(const YAML::Mark& mark) {
    if (!has_content_) content = mark;
    has_content_ = true;
  }

  bool has_content_ = false;
};

/// Throws InputError with `file` and the line if the text has more than one document. At a comma outside of brackets,
/// yaml-cpp finds one empty document after another without end: no more than two are read.
inline void require_one_document(const std::string& text, const std::string& file) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  DocumentCounter documents;
  while (documents.count < 2 && parser.HandleNextDocument(documents)) {
  }
  if (documents.count < 2) return;
  const auto line_of = [](const YAML::Mark& mark) { return static_cast<std::size_t>(mark.line) + 1; };
  std::istringstream lines(text);
  std::string line;
  for (std::size_t i = 0; i < line_of(documents.start); ++i) std::getline(lines, line);
  const std::string rest = line.substr(std::min(line.size(), static_cast<std::size_t>(documents.start.column)));
  if (rest.starts_with("---"))
    throw InputError({file, line_of(documents.content)}, "expected one document, found another one behind '---'");
  throw InputError({file, line_of(documents.start)},
                   "expected YAML: expected the end of the document, found '" + beginning(rest) + '\'');
}

}  // namespace detail

/// The one document of a text; null where there is none. Throws InputError with `file` and the line.
[[nodiscard]] inline YAML::Node parse_yaml(const std::string& text, const std::string& file) {
  try {
    detail::require_one_document(text, file);
    return YAML::Load(text);
  } catch (const YAML::Exception& error) {
    const auto line = error.mark.is_null() ? 0 : static_cast<std::size_t>(error.mark.line) + 1;
    throw InputError({file, line}, "expected YAML: " + error.msg);
  }
}

}  // namespace pace::benches
