// Text for a terminal: UTF-8, width in characters, padding, wrapping, colours, and control characters spelt out.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "pace/base/config.hpp"

namespace pace::report {

/// A character of UTF-8 text.
struct Character {
  std::size_t length = 0;  ///< bytes; 0: the bytes are not UTF-8
  char32_t code = 0;       ///< its code point
};

/// Returns the number of bytes of a character that begins with this byte; 0 if none does.
[[nodiscard]] constexpr std::size_t length_from(unsigned char first) {
  if (first < 0x80) return 1;
  return first < 0xC2 || first >= 0xF5 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

/// Returns whether the byte is a further byte of a UTF-8 character.
[[nodiscard]] constexpr bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

/// Returns whether `text`, which must not be empty, is the beginning of a character whose other bytes may come later.
[[nodiscard]] bool begins_character(std::string_view text);

/// Returns the character at the start of `text`, which must not be empty. Overlong forms, surrogates and codes beyond
/// Unicode are not UTF-8.
[[nodiscard]] Character first_character(std::string_view text);

/// Returns how many bytes at the start of `text`, which are no character of UTF-8, one U+FFFD stands for: the longest
/// beginning of a character, or 1. Decoders of UTF-8 and the writer of JSON agree on that.
[[nodiscard]] std::size_t broken_length(std::string_view text);

/// Returns `text` with U+FFFD for what is no UTF-8, as JSON files have it, so that a name is the same in all files.
[[nodiscard]] std::string valid_utf8(std::string_view text);

/// Returns the number of code points of UTF-8 text. Every character counts as one column; combining and double-width
/// ones are rare in names of benchmarks.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// Side on which a text stands in a wider column.
enum class Align { left, right };

/// Returns `text` padded with blanks to `width` columns; longer text stays as it is.
[[nodiscard]] std::string pad(std::string_view text, std::size_t width, Align align = Align::left);

namespace detail {

/// Control characters (C0, DEL, and C1, of which U+009B begins escape sequences as ESC [ does) and those that reorder
/// the text around them.
[[nodiscard]] bool controls_terminal(char32_t code);

}  // namespace detail

/// Returns `text` for a terminal: a tab is a blank, control characters are spelt out (`\n`, `\x1b`, `\u009b`), and so
/// are bytes that are not UTF-8. A message from a compiler may hold escape sequences, and a name a line end.
[[nodiscard]] std::string printable(std::string_view text);

/// Returns text of several lines for a terminal, as printable() does; line ends stay.
[[nodiscard]] std::string printable_lines(std::string_view text);

/// Returns lines of at most `width` columns, broken at blanks and at the line ends of `text`; a longer word stays
/// whole.
[[nodiscard]] std::vector<std::string> wrap(std::string_view text, std::size_t width);

/// Returns `text`, which holds no escape sequences, in at most `width` columns, of which there must be one: from the
/// middle of longer text, characters are taken, with `…` in their place.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t width);

/// Returns the inputs of a comparison for a message: printable, and at most 100 columns of them, which six tensors
/// take.
[[nodiscard]] inline std::string short_inputs(std::string_view inputs) { return shortened(printable(inputs), 100); }

/// Colour or weight of a text on a terminal.
enum class Colour { none, red, green, yellow, dim, bold };

/// Returns `text` between the escape sequences of `colour`.
[[nodiscard]] std::string coloured(std::string_view text, Colour colour);

}  // namespace pace::report

#ifdef PACE_HEADER_ONLY
#include "pace/report/text-inl.hpp"
#endif
