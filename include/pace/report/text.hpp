// Text for a terminal: width in characters, padding, wrapping, and nothing that moves the cursor.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pace::report {

/// Number of code points of UTF-8 text. Every character is taken as one column wide; combining and double-width ones
/// are rare in names of benchmarks.
[[nodiscard]] inline std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (const char c : text)
    if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) ++width;  // not a continuation byte
  return width;
}

enum class Align { left, right };

/// `text`, padded with blanks to `width` columns; longer text is left as it is.
[[nodiscard]] inline std::string pad(std::string_view text, std::size_t width, Align align = Align::left) {
  const std::size_t own = display_width(text);
  const std::string blanks(own < width ? width - own : 0, ' ');
  return align == Align::left ? std::string(text) + blanks : blanks + std::string(text);
}

/// `text` with control characters spelt out: a message from a compiler may hold escape sequences, and a name a line
/// end; neither may reach the terminal.
[[nodiscard]] inline std::string printable(std::string_view text) {
  static constexpr char hex[] = "0123456789abcdef";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += ' ';
    } else if (byte < 0x20 || byte == 0x7F) {
      ((out += "\\x") += hex[byte >> 4U]) += hex[byte & 15U];
    } else {
      out += c;
    }
  }
  return out;
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
