// Text for a terminal: width in characters, padding, wrapping, and nothing that moves the cursor.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "pace/report/utf8.hpp"

namespace pace::report {

/// Number of code points of UTF-8 text. Every character is taken as one column wide; combining and double-width ones
/// are rare in names of benchmarks.
[[nodiscard]] inline std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (const char c : text)
    if (!continues_character(c)) ++width;
  return width;
}

enum class Align { left, right };

/// `text`, padded with blanks to `width` columns; longer text is left as it is.
[[nodiscard]] inline std::string pad(std::string_view text, std::size_t width, Align align = Align::left) {
  const std::size_t own = display_width(text);
  const std::string blanks(own < width ? width - own : 0, ' ');
  return align == Align::left ? std::string(text) + blanks : blanks + std::string(text);
}

namespace detail {

/// Control characters (C0, DEL, and C1, of which U+009B begins escape sequences as ESC [ does) and those that reorder
/// the text around them.
[[nodiscard]] inline bool controls_terminal(char32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0x202A && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

}  // namespace detail

/// `text` for a terminal: a tab is a blank, control characters are spelt out (`\n`, `\x1b`, `\u009b`), and so are bytes
/// that are no UTF-8. A message from a compiler may hold escape sequences, and a name a line end.
[[nodiscard]] inline std::string printable(std::string_view text) {
  static constexpr char hex[] = "0123456789abcdef";
  std::string out;
  const auto spell = [&](const char* start, char32_t code, unsigned digits) {
    out += start;
    while (digits-- > 0) out += hex[code >> (4 * digits) & 15U];
  };
  while (!text.empty()) {
    const auto [length, code] = first_character(text);
    if (length == 0)
      spell("\\x", static_cast<unsigned char>(text[0]), 2);
    else if (code == '\n')
      out += "\\n";
    else if (code == '\t')
      out += ' ';
    else if (!detail::controls_terminal(code))
      out += text.substr(0, length);
    else if (code < 0x80)
      spell("\\x", code, 2);
    else
      spell("\\u", code, 4);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

/// As printable(), for text of several lines: line ends stay.
[[nodiscard]] inline std::string printable_lines(std::string_view text) {
  std::string out;
  for (;;) {
    const auto end = text.find('\n');
    out += printable(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    out += '\n';
    text.remove_prefix(end + 1);
  }
}

/// Lines of at most `width` columns, broken at blanks (a longer word stays whole) and where `text` breaks them itself.
[[nodiscard]] inline std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  while (true) {
    const auto end = text.find('\n');
    std::string_view rest = text.substr(0, end);
    if (rest.ends_with('\r')) rest.remove_suffix(1);
    std::string line;
    while (!rest.empty()) {
      // A word together with the blanks before it, so that what was indented stays so.
      const auto start = rest.find_first_not_of(' ');
      const auto stop = start == std::string_view::npos ? rest.size() : std::min(rest.find(' ', start), rest.size());
      std::string word = printable(rest.substr(0, stop));
      if (!line.empty() && display_width(line) + display_width(word) > width) {
        lines.push_back(std::move(line));
        line = printable(rest.substr(start == std::string_view::npos ? stop : start, stop - start));
      } else {
        line += word;
      }
      rest.remove_prefix(stop);
    }
    lines.push_back(std::move(line));
    if (end == std::string_view::npos) return lines;
    text.remove_prefix(end + 1);
  }
}

}  // namespace pace::report
