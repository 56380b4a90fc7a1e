// XML text that any parser accepts, whatever was in it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pace::report {

namespace detail {

/// Length of the UTF-8 character at the start of `text` if XML 1.0 allows it; 0 if it is malformed or not allowed.
[[nodiscard]] inline std::size_t xml_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return first >= 0x20 || first == '\t' || first == '\n' || first == '\r' ? (first != 0x7F) : 0;
  const std::size_t length = first >= 0xF0 && first < 0xF5 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 0;
  if (length == 0 || first >= 0xF5 || text.size() < length) return 0;
  unsigned long code = first & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
    code = code << 6U | (byte(i) & 0x3FU);
  }
  // Overlong forms, surrogates, the two non-characters, and what lies beyond Unicode.
  constexpr unsigned long least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool allowed = code >= least[length] && !(code >= 0xD800 && code <= 0xDFFF) && code != 0xFFFE &&
                       code != 0xFFFF && code <= 0x10FFFF;
  return allowed ? length : 0;
}

}  // namespace detail

/// `text` as the content of an element or of an attribute in double quotes. What XML cannot hold (control characters,
/// bytes that are no UTF-8) becomes U+FFFD; line ends stay line ends in an attribute, too.
[[nodiscard]] inline std::string xml_text(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = detail::xml_character(text);
    switch (length == 0 ? '\0' : text[0]) {
      case '\0': out += "\xEF\xBF\xBD"; break;
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\n': out += "&#10;"; break;
      case '\r': out += "&#13;"; break;
      case '\t': out += "&#9;"; break;
      default: out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

}  // namespace pace::report
