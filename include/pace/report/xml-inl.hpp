// Definitions of xml.hpp; see base/config.hpp.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "pace/report/text.hpp"
#include "pace/report/xml.hpp"

namespace pace::report {
namespace detail {

PACE_INLINE std::size_t xml_character(std::string_view text) {
  const auto [length, code] = first_character(text);
  if (code < 0x20) return code == '\t' || code == '\n' || code == '\r' ? length : 0;
  return code == 0x7F || code == 0xFFFE || code == 0xFFFF ? 0 : length;
}

}  // namespace detail
}  // namespace pace::report

namespace pace::report {

PACE_INLINE std::string xml_text(std::string_view text) {
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
    const bool is_forbidden = length == 0 && first_character(text).length > 0;
    text.remove_prefix(length > 0 ? length : is_forbidden ? 1 : broken_length(text));
  }
  return out;
}

}  // namespace pace::report
