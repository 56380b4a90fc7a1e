// Text for a terminal: UTF-8, width in characters, padding, wrapping, colours, and control characters spelt out.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "pace/base/config.hpp"
#include "pace/base/utf8.hpp"

namespace pace::report {

using pace::broken_length;
using pace::Character;
using pace::continues_character;
using pace::first_character;
using pace::length_from;
using pace::valid_utf8;

/// Returns whether `text`, which must not be empty, is the beginning of a character whose other bytes may come later.
[[nodiscard]] bool begins_character(std::string_view text);

/// Returns the number of code points of UTF-8 text. Every character counts as one column; combining and double-width
/// ones are rare in names of benchmarks.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// Side on which a text stands in a wider column.
enum class Align { left, right };

/// Returns `text` padded with blanks to `width` columns; longer text stays as it is.
[[nodiscard]] std::string pad(std::string_view text, std::size_t width, Align align = Align::left);

namespace detail {

/// Control characters (C0, DEL, and C1, whose U+009B begins escape sequences as ESC [ does) and those that reorder
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

/// Returns `text`, which holds no escape sequences, in at most `width` columns, one or more: from the
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
