// Definitions of text.hpp; see base/config.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "pace/report/text.hpp"

namespace pace::report {

PACE_INLINE bool begins_character(std::string_view text) {
  if (text.size() >= length_from(static_cast<unsigned char>(text[0]))) return false;
  for (const char c : text.substr(1))
    if (!continues_character(c)) return false;
  return true;
}

PACE_INLINE std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (const char c : text)
    if (!continues_character(c)) ++width;
  return width;
}

PACE_INLINE std::string pad(std::string_view text, std::size_t width, Align align) {
  const std::size_t own = display_width(text);
  const std::string blanks(own < width ? width - own : 0, ' ');
  return align == Align::left ? std::string(text) + blanks : blanks + std::string(text);
}

}  // namespace pace::report

namespace pace::report {
namespace detail {

PACE_INLINE bool controls_terminal(char32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0x202A && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

}  // namespace detail
}  // namespace pace::report

namespace pace::report {

PACE_INLINE std::string printable(std::string_view text) {
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

PACE_INLINE std::string printable_lines(std::string_view text) {
  std::string out;
  for (;;) {
    const auto end = text.find('\n');
    out += printable(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    out += '\n';
    text.remove_prefix(end + 1);
  }
}

PACE_INLINE std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  while (true) {
    const auto end = text.find('\n');
    std::string_view rest = text.substr(0, end);
    if (rest.ends_with('\r')) rest.remove_suffix(1);
    std::string line;
    while (!rest.empty()) {
      // A word is taken with the blanks before it, so that indentation stays.
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

PACE_INLINE std::string shortened(std::string_view text, std::size_t width) {
  const std::size_t own = display_width(text);
  if (own <= width) return std::string(text);
  // Cases of one family differ at the end of their names, families at the beginning.
  const std::size_t kept = width - 1, tail = kept * 2 / 5, head = kept - tail;
  std::string out;
  std::size_t column = 0;
  for (const char c : text) {
    if (!continues_character(c)) {
      if (column == head) out += "…";
      ++column;
    }
    if (column <= head || column > own - tail) out += c;
  }
  return out;
}

PACE_INLINE std::string coloured(std::string_view text, Colour colour) {
  std::string_view code;
  switch (colour) {
    case Colour::none:
      return std::string(text);
    case Colour::red:
      code = "31";
      break;
    case Colour::green:
      code = "32";
      break;
    case Colour::yellow:
      code = "33";
      break;
    case Colour::dim:
      code = "2";
      break;
    case Colour::bold:
      code = "1";
      break;
  }
  return "\033[" + std::string(code) + 'm' + std::string(text) + "\033[0m";
}

}  // namespace pace::report
