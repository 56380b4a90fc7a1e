// UTF-8, character by character.
#pragma once

#include <cstddef>
#include <string_view>

namespace pace::report {

struct Character {
  /// In bytes; 0: the bytes are no UTF-8.
  std::size_t length = 0;
  char32_t code = 0;
};

/// The character at the start of `text`, which must not be empty. Overlong forms, surrogates and codes beyond Unicode are
/// no UTF-8.
[[nodiscard]] inline Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return {1, first};
  const std::size_t length = first >= 0xF0 && first < 0xF5 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 0;
  if (length == 0 || first >= 0xF5 || text.size() < length) return {};
  char32_t code = first & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {};
    code = code << 6U | (byte(i) & 0x3FU);
  }
  constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < least[length] || (code >= 0xD800 && code <= 0xDFFF) || code > 0x10FFFF) return {};
  return {length, code};
}

}  // namespace pace::report
