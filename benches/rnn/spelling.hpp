// fastrnns' spellings of options, and lists of values, as words that Catch2's parser understands.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pace::benches::rnn {

namespace detail {

/// `--seqLength` and `--seq_length` as `--seq-length`; a value after `=` stays as it is.
[[nodiscard]] inline std::string with_hyphens(const std::string& word) {
  std::string result;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] == '=') return result + word.substr(i);
    const auto letter = static_cast<unsigned char>(word[i]);
    if (std::isupper(letter)) result += '-';
    result += letter == '_' ? '-' : static_cast<char>(std::tolower(letter));
  }
  return result;
}

/// Parts between commas; none of them empty, none twice. None otherwise.
[[nodiscard]] inline std::optional<std::vector<std::string>> read_names(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    std::string name = text.substr(start, end - start);
    if (name.empty() || std::ranges::find(names, name) != names.end()) return std::nullopt;
    names.push_back(std::move(name));
    start = end + 1;
  }
  return names;
}

}  // namespace detail

/// The words of a command line in one spelling, an option and its values in one word: `--rnns aten jit` becomes
/// `--rnns=aten,jit`, `--print-json` alone becomes `--print-json=oss`. They keep the words alive; the last pointer is
/// null.
[[nodiscard]] inline std::vector<char*> in_one_spelling(int argc, char** argv, std::deque<std::string>& words) {
  const auto is_value = [](const std::string& word) { return !word.starts_with('-'); };
  const auto is_negative = [](const std::string& word) {
    return word.size() > 1 && word[0] == '-' && (std::isdigit(static_cast<unsigned char>(word[1])) || word[1] == '.');
  };
  std::vector<char*> result;
  for (int i = 0; i < argc; ++i) {
    std::string word = argv[i];
    if (i > 0 && word.starts_with("--")) word = detail::with_hyphens(word);
    const auto next = [&]() -> std::optional<std::string> {
      return i > 0 && i + 1 < argc ? std::optional<std::string>(argv[i + 1]) : std::nullopt;
    };
    if (word == "--rnns" || word == "--cnns" || word == "--group") {
      std::string values;
      for (; next() && is_value(*next()); ++i) values += (values.empty() ? "" : ",") + *next();
      // Without a value the lists are the default ones, but there is no group.
      if (values.empty() && word != "--group") continue;
      word += '=' + (values.empty() ? "none" : values);
    } else if (word == "--print-json") {
      const bool has_value = next() && is_value(*next());
      word += '=' + (has_value ? std::string(argv[++i]) : "oss");
    } else if (word.starts_with("--") && word.find('=') == std::string::npos && next() &&
               (next()->empty() || is_negative(*next()))) {
      // Catch2's parser would skip the one and take the other for an option.
      word += '=' + std::string(argv[++i]);
    }
    words.push_back(std::move(word));
    result.push_back(words.back().data());
  }
  result.push_back(nullptr);
  return result;
}

}  // namespace pace::benches::rnn
