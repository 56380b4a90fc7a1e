// Documents of YAML, with the lines of what they hold for messages.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstddef>
#include <string>

#include "benches/text/beginning.hpp"
#include "pace/base/error.hpp"

namespace pace::benches {

/// Where a node stands in `file`.
[[nodiscard]] inline Location place_of(const YAML::Node& node, const std::string& file) {
  const auto mark = node.Mark();
  return {file, mark.is_null() ? 0 : static_cast<std::size_t>(mark.line) + 1};
}

/// What a node is, for messages: the beginning of its text, or `a map`, `a list`, `nothing`.
[[nodiscard]] inline std::string kind_of(const YAML::Node& node) {
  if (!node.IsDefined()) return "nothing";
  if (node.IsScalar()) return '\'' + beginning(node.Scalar()) + '\'';
  return node.IsNull() ? "nothing" : node.IsMap() ? "a map" : "a list";
}

/// The one document of a text; null where there is none. Throws InputError with `file` and the line.
[[nodiscard]] inline YAML::Node parse_yaml(const std::string& text, const std::string& file) {
  try {
    const auto documents = YAML::LoadAll(text);
    if (documents.size() > 1)
      throw InputError(place_of(documents[1], file), "expected one document, found another one behind '---'");
    return documents.empty() ? YAML::Node() : documents[0];
  } catch (const YAML::Exception& error) {
    const auto line = error.mark.is_null() ? 0 : static_cast<std::size_t>(error.mark.line) + 1;
    throw InputError({file, line}, "expected YAML: " + error.msg);
  }
}

}  // namespace pace::benches
