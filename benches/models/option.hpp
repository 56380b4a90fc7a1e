// Options of a program that is no Catch2 session, by Catch2's parser.
#pragma once

#include <catch2/internal/catch_clara.hpp>

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "pace/core/error.hpp"

namespace pace::benches {

/// One option. Catch2 keeps no copies of texts: give it literals.
struct OptionSpec {
  /// Such as `-k` and `--filter`, the one that messages have last.
  std::vector<const char*> names;
  /// What stands for the value in the help; null: a flag.
  const char* hint;
  const char* help;
  const char* expected;
  /// Takes the value (of a flag: nothing), and says whether it will do.
  std::function<bool(const std::string&)> read;
};

/// Words as Catch2's parser takes them, each option by its last name: `--a_b` is `--a-b`; a value may be a word of its
/// own (`-k x`), even one that begins with a dash, or stand behind `=`, or behind a short option's letter; a flag may
/// be given twice. Anything else is left as it is, for the parser to complain of.
[[nodiscard]] inline std::vector<std::string> in_one_spelling(const std::vector<std::string>& given,
                                                              const std::vector<OptionSpec>& options) {
  const auto find = [&](std::string_view name) -> const OptionSpec* {
    for (const auto& each : options)
      if (std::ranges::find(each.names, name, [](const char* own) { return std::string_view(own); }) !=
          each.names.end())
        return &each;
    return nullptr;
  };
  std::vector<std::string> words;
  for (std::size_t i = 0; i < given.size(); ++i) {
    std::string word = given[i];
    const bool is_long = word.starts_with("--");
    const std::size_t name_end =
        is_long ? std::min(word.find('='), word.size()) : std::min<std::size_t>(2, word.size());
    if (is_long)
      std::replace(word.begin() + 2, word.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(2, name_end)),
                   '_', '-');
    const OptionSpec* const option = word.starts_with('-') ? find(word.substr(0, name_end)) : nullptr;
    if (option == nullptr || (option->hint == nullptr && name_end < word.size())) {
      words.push_back(std::move(word));
    } else if (option->hint == nullptr) {
      if (std::ranges::find(words, option->names.back()) == words.end()) words.emplace_back(option->names.back());
    } else if (name_end < word.size()) {
      words.push_back(option->names.back() + ('=' + word.substr(name_end + (word[name_end] == '=' ? 1 : 0))));
    } else if (i + 1 < given.size()) {
      words.push_back(option->names.back() + ('=' + given[++i]));
    } else {
      words.emplace_back(option->names.back());
    }
  }
  return words;
}

/// Throws InputError with what is wrong, as Catch2's parser says it.
inline void parse_options(const std::string& program, const std::vector<std::string>& given,
                          const std::vector<OptionSpec>& options, Catch::Clara::Parser parser = {}) {
  using Catch::Clara::Opt, Catch::Clara::ParserResult;
  for (const auto& each : options) {
    const auto add = [&](Opt option) {
      for (const char* const name : each.names) option[name];
      parser |= option(each.help);
    };
    if (each.hint == nullptr) {
      add(Opt([&each](bool on) {
        if (on) (void)each.read("");
        return ParserResult::ok(Catch::Clara::ParseResultType::Matched);
      }));
      continue;
    }
    add(Opt(
        Catch::Clara::accept_many,
        [&each](const std::string& text) {
          return each.read(text) ? ParserResult::ok(Catch::Clara::ParseResultType::Matched)
                                 : ParserResult::runtimeError(std::string(each.names.back()) + ": invalid value '" +
                                                              text + "'; expected " + each.expected);
        },
        each.hint));
  }
  std::vector<std::string> words = in_one_spelling(given, options);
  words.insert(words.begin(), program);
  std::vector<char const*> argv;
  for (const auto& word : words) argv.push_back(word.c_str());
  const auto result = parser.parse({static_cast<int>(argv.size()), argv.data()});
  if (!result) throw InputError({}, result.errorMessage());
}

/// Throws InputError if `given` has one of `options` that is not among `allowed`, which are names as messages have them.
inline void refuse_others(const std::vector<std::string>& given, const std::vector<OptionSpec>& options,
                          const std::set<std::string>& allowed, const std::string& command, const std::string& usage) {
  for (const auto& word : in_one_spelling(given, options)) {
    const auto name = word.substr(0, word.find('='));
    for (const auto& each : options)
      if (each.names.back() == name && !allowed.contains(name))
        throw InputError({}, name + " does not go with '" + command + "'\n" + usage);
  }
}

/// Name, value and meaning of each option, a line or two each.
[[nodiscard]] inline std::string help_of(const std::vector<OptionSpec>& options) {
  std::string text;
  for (const auto& each : options) {
    std::string names;
    for (const char* const name : each.names) names += (names.empty() ? "" : ", ") + std::string(name);
    if (each.hint != nullptr) names += " <" + std::string(each.hint) + '>';
    text += "  " + names + "\n      " + each.help + '\n';
  }
  return text;
}

/// All of `text` as a number.
template <class Number>
[[nodiscard]] bool read_number(std::string_view text, Number& number) {
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  return end.ec == std::errc() && end.ptr == text.data() + text.size();
}

/// What an option's value goes into.
[[nodiscard]] inline auto into(std::string& to) {
  return [&to](const std::string& text) { return to = text, !text.empty(); };
}
[[nodiscard]] inline auto into(bool& to) {
  return [&to](const std::string&) { return to = true; };
}
template <std::integral Number>
[[nodiscard]] auto into(Number& to, Number least) {
  return [&to, least](const std::string& text) { return read_number(text, to) && to >= least; };
}
[[nodiscard]] inline auto into(std::vector<std::string>& to) {
  return [&to](const std::string& text) { return to.push_back(text), !text.empty(); };
}

}  // namespace pace::benches
