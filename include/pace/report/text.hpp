// Text for a terminal: UTF-8, width in characters, padding, wrapping, nothing that moves the cursor, and colours.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "pace/core/config.hpp"

namespace pace::report {

struct Character {
  /// In bytes; 0: the bytes are no UTF-8.
  std::size_t length = 0;
  char32_t code = 0;
};

/// Bytes of the character that begins with this byte; 0: none does.
[[nodiscard]] constexpr std::size_t length_from(unsigned char first) {
  if (first < 0x80) return 1;
  return first < 0xC2 || first >= 0xF5 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

[[nodiscard]] constexpr bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

/// Whether `text`, which must not be empty, is the beginning of a character whose other bytes may come later.
[[nodiscard]] bool begins_character(std::string_view text);

/// The character at the start of `text`, which must not be empty. Overlong forms, surrogates and codes beyond Unicode are
/// no UTF-8.
[[nodiscard]] Character first_character(std::string_view text);

/// Number of code points of UTF-8 text. Every character is taken as one column wide; combining and double-width ones
/// are rare in names of benchmarks.
[[nodiscard]] std::size_t display_width(std::string_view text);

enum class Align { left, right };

/// `text`, padded with blanks to `width` columns; longer text is left as it is.
[[nodiscard]] std::string pad(std::string_view text, std::size_t width, Align align = Align::left);

namespace detail {

/// Control characters (C0, DEL, and C1, of which U+009B begins escape sequences as ESC [ does) and those that reorder
/// the text around them.
[[nodiscard]] bool controls_terminal(char32_t code);

}  // namespace detail

/// `text` for a terminal: a tab is a blank, control characters are spelt out (`\n`, `\x1b`, `\u009b`), and so are bytes
/// that are no UTF-8. A message from a compiler may hold escape sequences, and a name a line end.
[[nodiscard]] std::string printable(std::string_view text);

/// As printable(), for text of several lines: line ends stay.
[[nodiscard]] std::string printable_lines(std::string_view text);

/// Lines of at most `width` columns, broken at blanks (a longer word stays whole) and where `text` breaks them itself.
[[nodiscard]] std::vector<std::string> wrap(std::string_view text, std::size_t width);

enum class Colour { none, red, green, yellow, dim, bold };

/// Whether what is written to `descriptor` may hold colours: it is a terminal that knows them, and the user has not
/// asked for none (https://no-color.org).
[[nodiscard]] bool wants_colour(int descriptor);

/// `text` between the escape sequences of `colour`.
[[nodiscard]] std::string coloured(std::string_view text, Colour colour);

}  // namespace pace::report

#ifdef PACE_HEADER_ONLY
#include "pace/report/text-inl.hpp"
#endif
