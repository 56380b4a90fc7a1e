// NameFilter: a regular expression of kernels' names, with bounded cost.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <utility>

namespace pace::benches::kernels {

namespace detail {

/// The product of all numbers of repetitions, such as 12 of `(a{3}){1,4}`; `most` if it is that large or larger.
[[nodiscard]] inline std::size_t repetitions(std::string_view pattern, std::size_t most) {
  std::size_t product = 1;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '{') continue;
    std::size_t largest = 1, number = 0;
    for (++i; i < pattern.size() && (std::isdigit(static_cast<unsigned char>(pattern[i])) != 0 || pattern[i] == ',');
         ++i) {
      number = pattern[i] == ',' ? 0 : std::min(most, 10 * number + static_cast<std::size_t>(pattern[i] - '0'));
      largest = std::max(largest, number);
    }
    product = std::min(most, product * largest);
  }
  return product;
}

}  // namespace detail

/// ECMAScript's syntax without back-references. libstdc++'s matcher calls itself for each state of an expression, and
/// its default one tries all ways to match. A deep expression would exhaust the stack, and an ambiguous one the
/// call_timeout. So expressions have at most 256 characters and repeat at most 50 times, and one pass by breadth finds
/// whether a part matches.
class NameFilter {
 public:
  static constexpr std::size_t most_characters = 256, most_repetitions = 50;

  /// Where in a name the expression must match.
  enum class Where { anywhere, at_start };

  /// None: it is no regular expression, or a larger one.
  [[nodiscard]] static std::optional<NameFilter> parse(const std::string& pattern, Where where = Where::anywhere) {
    if (pattern.size() > most_characters || detail::repetitions(pattern, most_repetitions + 1) > most_repetitions)
      return std::nullopt;
    constexpr auto how =
        std::regex_constants::ECMAScript | std::regex_constants::nosubs | std::regex_constants::__polynomial;
    try {
      static_cast<void>(std::regex(pattern, how));  // of itself, with parentheses that match
      const std::string before = where == Where::anywhere ? "[\\s\\S]*" : "";
      return NameFilter(std::regex(before + "(?:" + pattern + ")[\\s\\S]*", how));
    } catch (const std::regex_error&) {
      return std::nullopt;
    }
  }

  /// Whether a part of `name` matches, which is its beginning for Where::at_start.
  [[nodiscard]] bool operator()(const std::string& name) const { return std::regex_match(name, expression_); }

 private:
  explicit NameFilter(std::regex expression) : expression_(std::move(expression)) {}
  std::regex expression_;
};

}  // namespace pace::benches::kernels
