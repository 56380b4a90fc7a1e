// Values of options: accepted texts, forms in the help and in messages, and targets.
#pragma once

#include <array>
#include <charconv>
#include <chrono>
#include <concepts>
#include <cstdio>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "pace/base/c_numbers.hpp"
#include "pace/base/units.hpp"

namespace pace::args {

/// Reads a value's text into its target. Returns false if the text is not an expected one.
using Read = std::function<bool(const std::string&)>;

/// The value of an option. Without `read` the option is a flag that sets nothing.
struct Value {
  /// Stands for the value in the help: its unit or its kind, such as `seconds` or `on|off`; empty for a flag.
  std::string placeholder;
  /// Accepted values, for the message `invalid value 'x'; expected ...`.
  std::string expected;
  Read read;  ///< reads a text into the target; null: there is no target
  /// The default as the help shows it, with its unit; empty: none.
  std::string shown_default;
};

/// Reads all of `text` as a number; whole numbers may be hexadecimal with 0x. Returns false if the text is not a
/// number, or is out of the type's range.
template <class Number>
[[nodiscard]] bool read_number(std::string_view text, Number& number) {
  std::from_chars_result end{};
  if constexpr (std::integral<Number>) {
    const bool hexadecimal = text.starts_with("0x");
    if (hexadecimal) text.remove_prefix(2);
    end = std::from_chars(text.data(), text.data() + text.size(), number, hexadecimal ? 16 : 10);
  } else {
    end = std::from_chars(text.data(), text.data() + text.size(), number);
  }
  return end.ec == std::errc() && end.ptr == text.data() + text.size();
}

/// Reads a number as read_number() does. Returns false also if it is not from `least` to `most`.
template <class Number>
[[nodiscard]] bool read_between(std::string_view text, Number& number, Number least, Number most) {
  return read_number(text, number) && number >= least && number <= most;
}

namespace detail {

template <class T>
struct Target {
  using Kind = T;
  static T& of(T& to) { return to; }
  static const T* now(const T& to) { return &to; }
};
template <class T>
struct Target<std::optional<T>> {
  using Kind = T;
  static T& of(std::optional<T>& to) { return to.emplace(); }
  static const T* now(const std::optional<T>& to) { return to ? &*to : nullptr; }
};
template <class To>
using KindOf = typename Target<To>::Kind;

[[nodiscard]] inline std::string shortest(double number) {
  std::array<char, 32> text{};
  const CNumbers c_numbers;
  std::snprintf(text.data(), text.size(), "%.6g", number);
  return text.data();
}
template <class Number>
[[nodiscard]] std::string text_of(Number number) {
  if constexpr (std::integral<Number>)
    return std::to_string(number);
  else
    return shortest(static_cast<double>(number));
}
template <class To>
[[nodiscard]] std::string number_now(const To& to) {
  const auto* const now = Target<To>::now(to);
  return now == nullptr ? "" : text_of(*now);
}

}  // namespace detail

/// A flag: it has no value, and sets `to` to true.
[[nodiscard]] inline Value flag(bool& to) {
  return {"", "", [&to](const std::string&) { return to = true; }, ""};
}

/// A whole number from `least` to `most`. `to` is an integer or an optional one.
template <class To, class Kind = detail::KindOf<To>>
[[nodiscard]] Value whole(To& to, std::type_identity_t<Kind> least, std::type_identity_t<Kind> most,
                          std::string expected = "") {
  if (expected.empty()) expected = "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
  return {"number", std::move(expected),
          [&to, least, most](const std::string& text) {
            return read_between(text, detail::Target<To>::of(to), least, most);
          },
          detail::number_now(to)};
}

/// A whole number from `least` on.
template <class To, class Kind = detail::KindOf<To>>
[[nodiscard]] Value whole_from(To& to, std::type_identity_t<Kind> least) {
  return whole(to, least, std::numeric_limits<Kind>::max(),
               least == 1 ? "a whole number above 0" : "a whole number from " + std::to_string(least) + " on");
}

/// A number from `least` to `most`, such as `example` (left out of the message if it is empty). `to` is a double or an
/// optional one.
template <class To>
[[nodiscard]] Value number(To& to, double least, double most, const std::string& example, std::string placeholder) {
  const auto range = [](double limit) {
    std::array<char, 64> text{};
    const CNumbers c_numbers;
    std::snprintf(text.data(), text.size(), "%.9f", limit);
    std::string shown = text.data();
    shown.erase(shown.find_last_not_of('0') + 1);
    if (shown.ends_with('.')) shown.pop_back();
    return shown;
  };
  return {std::move(placeholder),
          "a number from " + range(least) + " to " + range(most) + (example.empty() ? "" : ", such as " + example),
          [&to, least, most](const std::string& text) {
            return read_between(text, detail::Target<To>::of(to), least, most);
          },
          detail::number_now(to)};
}

/// A limit or a margin, as a factor from 0.001 to 1000000: measured times do not differ by larger ones.
template <class To>
[[nodiscard]] Value factor(To& to) {
  return number(to, 1e-3, 1e6, "1.05", "factor");
}

/// Seconds from 1e-9 (a clock counts nanoseconds) to 1e6 (eleven days), and 0 if `zero_allowed` is set. `to` is a
/// Nanoseconds or an optional one.
template <class To>
[[nodiscard]] Value seconds(To& to, bool zero_allowed = false) {
  const auto* const now = detail::Target<To>::now(to);
  const double shown = now == nullptr ? 0 : std::chrono::duration<double>(*now).count();
  return {"seconds",
          zero_allowed ? "a number of seconds from 0.000000001 to 1000000, such as 0.1, or 0"
                       : "a number of seconds from 0.000000001 to 1000000, such as 0.5",
          [&to, zero_allowed](const std::string& text) {
            double number = 0;
            if (!read_between(text, number, 0.0, 1e6)) return false;
            if (number < 1e-9 && !(number == 0 && zero_allowed)) return false;
            detail::Target<To>::of(to) = std::chrono::duration<double>(number);
            return true;
          },
          now == nullptr || shown > 1e6 ? "" : detail::shortest(shown) + " s"};
}

/// A text that is not empty, into a std::string or an optional one.
template <class To>
[[nodiscard]] Value text(To& to, std::string placeholder, std::string expected) {
  const std::string* const now = detail::Target<To>::now(to);
  return {std::move(placeholder), std::move(expected),
          [&to](const std::string& text) { return detail::Target<To>::of(to) = text, !text.empty(); },
          now == nullptr ? "" : *now};
}
/// A file name that is not empty.
template <class To>
[[nodiscard]] Value file(To& to) {
  return text(to, "file", "a file name");
}
/// A folder's name that is not empty.
template <class To>
[[nodiscard]] Value folder(To& to) {
  return text(to, "folder", "a folder's name");
}

/// A text that is not empty; each time that the option is given adds one to `to`.
[[nodiscard]] inline Value each(std::vector<std::string>& to, std::string placeholder, std::string expected) {
  return {std::move(placeholder), std::move(expected),
          [&to](const std::string& text) { return to.push_back(text), !text.empty(); }, ""};
}

/// One of several words, each with the value that it stands for. `to` has the type of these values, or is an optional
/// one.
template <class To, class Kind = detail::KindOf<To>>
[[nodiscard]] Value choice(To& to, std::vector<std::pair<std::string, std::type_identity_t<Kind>>> words) {
  std::string placeholder, expected, shown;
  const Kind* const now = detail::Target<To>::now(to);
  for (std::size_t i = 0; i < words.size(); ++i) {
    placeholder += (i == 0 ? "" : "|") + words[i].first;
    expected += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i].first;
    if (now != nullptr && shown.empty() && *now == words[i].second) shown = words[i].first;
  }
  return {std::move(placeholder), std::move(expected),
          [&to, words = std::move(words)](const std::string& text) {
            for (const auto& [word, meaning] : words)
              if (word == text) return detail::Target<To>::of(to) = meaning, true;
            return false;
          },
          std::move(shown)};
}
/// One of several words. `to` is a std::string, or an optional one, and gets the word itself.
template <class To>
[[nodiscard]] Value one_of(To& to, const std::vector<std::string>& words) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto& word : words) pairs.emplace_back(word, word);
  return choice(to, std::move(pairs));
}
/// `on` or `off`, into a bool or an optional one.
template <class To>
[[nodiscard]] Value on_or_off(To& to) {
  return choice(to, {{"on", true}, {"off", false}});
}

}  // namespace pace::args
