// Words of a command line that are defaults, below those that follow them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>
#include <vector>

namespace pace::harness {

/// Stands between options that are defaults (a target's own arguments, after which pace.bzl puts it) and those of the
/// command line.
inline constexpr const char* end_of_defaults = "--end-of-defaults";

/// The words of a command line without that mark, and without the defaults that are given again behind it: one option
/// given twice is a mistake otherwise. Ends with a null pointer.
[[nodiscard]] inline std::vector<char*> over_defaults(int argc, char** argv) {
  const std::vector<std::string_view> words(argv, argv + argc);
  const auto mark = static_cast<std::size_t>(std::ranges::find(words, end_of_defaults) - words.begin());
  const auto is_option = [&](std::size_t i) { return words[i].starts_with("--"); };
  const auto end_of_name = [&](std::size_t i) { return words[i].find_first_of("=:"); };
  /// Whether the next word is this option's value, as far as can be seen.
  const auto takes_next = [&](std::size_t i) {
    return end_of_name(i) == std::string_view::npos && i + 1 < words.size() && !words[i + 1].starts_with('-');
  };
  // By name: whether a word of its own is the option's value.
  std::map<std::string_view, bool> given;
  for (std::size_t i = mark + 1; i < words.size(); ++i)
    if (is_option(i)) given[words[i].substr(0, end_of_name(i))] = end_of_name(i) != std::string_view::npos || takes_next(i);
  std::vector<char*> kept;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i == mark) continue;
    const auto again = i > 0 && i < mark && is_option(i) ? given.find(words[i].substr(0, end_of_name(i))) : given.end();
    if (again == given.end()) kept.push_back(argv[i]);
    else if (again->second && i + 1 < mark && takes_next(i)) ++i;
  }
  kept.push_back(nullptr);
  return kept;
}

}  // namespace pace::harness
