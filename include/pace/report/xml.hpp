// XML text that any parser accepts, whatever was in it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "pace/report/utf8.hpp"

namespace pace::report {

namespace detail {

/// Length of the UTF-8 character at the start of `text` if XML 1.0 allows it; 0 if it is malformed or not allowed.
[[nodiscard]] inline std::size_t xml_character(std::string_view text) {
  const auto [length, code] = first_character(text);
  if (code < 0x20) return code == '\t' || code == '\n' || code == '\r' ? length : 0;
  return code == 0x7F || code == 0xFFFE || code == 0xFFFF ? 0 : length;
}

}  // namespace detail

/// `text` as the content of an element or of an attribute in double quotes. What XML cannot hold (control characters,
/// bytes that are no UTF-8) becomes U+FFFD; line ends stay line ends in an attribute, too.
[[nodiscard]] inline std::string xml_text(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = detail::xml_character(text);
    switch (length == 0 ? '\0' : text[0]) {
      case '\0':
        out += "\xEF\xBF\xBD";
        break;
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\n':
        out += "&#10;";
        break;
      case '\r':
        out += "&#13;";
        break;
      case '\t':
        out += "&#9;";
        break;
      default:
        out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

}  // namespace pace::report
