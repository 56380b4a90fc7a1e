// A file of recorded calls, as text or as JSON. The corpus read, written in the same form, is read as the same corpus.
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "pace/base/utf8.hpp"
#include "pace/corpus/corpus.hpp"
#include "tests/fuzz/target.hpp"

namespace {

using namespace pace;

[[nodiscard]] std::string as_text(const corpus::Corpus& read) {
  std::string text;
  for (const auto& op : read.operators()) {
    text += "Operator: " + op.name + '\n';
    for (const auto& sample : op.samples) text += "cnt: " + std::to_string(sample.count) + ", " + sample.text + '\n';
  }
  return text;
}

[[nodiscard]] std::string as_json(const corpus::Corpus& read) {
  auto json = nlohmann::ordered_json::object();
  for (const auto& op : read.operators()) {
    auto& entries = json[op.name] = nlohmann::ordered_json::array();
    for (const auto& sample : op.samples) entries.push_back({{"count", sample.count}, {"inputs", sample.text}});
  }
  return json.dump();
}

[[nodiscard]] std::optional<corpus::Corpus> read(const std::string& path, corpus::OnError on_error) {
  try {
    return corpus::Corpus::from_file(path, {.on_error = on_error});
  } catch (const InputError& error) {
    fuzz::require_place(error, path);
    return std::nullopt;
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = fuzz::text_of(data, size);
  const fuzz::MemoryFile file(text);
  const auto strict = read(file.path(), corpus::OnError::stop);
  const auto lenient = read(file.path(), corpus::OnError::collect);
  fuzz::require(!strict || lenient, "a reader that collects errors reads what one that stops reads");
  if (!lenient) return 0;
  fuzz::require(strict.has_value() == lenient->rejects().empty(), "a reader stops where another one collects errors");
  for (const auto& op : lenient->operators()) {
    fuzz::require(!op.name.empty(), "an operator has a name");
    for (const auto& sample : op.samples) {
      fuzz::require(sample.count >= 0, "a count is not negative", sample.text);
      try {
        static_cast<void>(corpus::parse_call(sample, op.name));
      } catch (const Unsupported&) {
      }
    }
  }
  if (lenient->operators().empty()) return 0;
  const bool json = corpus::detail::looks_like_json(text);
  const std::string written = json ? as_json(*lenient) : as_text(*lenient);
  const fuzz::MemoryFile again(written);
  const auto same = corpus::Corpus::from_file(again.path());
  fuzz::require((json ? as_json(same) : as_text(same)) == written, "a corpus that was written is read as the same one",
                written);
  fuzz::require(same.calls() == lenient->calls(), "no call is lost", written);
  return 0;
}
