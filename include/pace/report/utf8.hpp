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

/// Bytes of the character that begins with this byte; 0: none does.
[[nodiscard]] constexpr std::size_t length_from(unsigned char first) {
  if (first < 0x80) return 1;
  return first < 0xC2 || first >= 0xF5 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

[[nodiscard]] constexpr bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

/// Whether `text`, which must not be empty, is the beginning of a character whose other bytes may come later.
[[nodiscard]] inline bool begins_character(std::string_view text) {
  if (text.size() >= length_from(static_cast<unsigned char>(text[0]))) return false;
  for (const char c : text.substr(1))
    if (!continues_character(c)) return false;
  return true;
}

/// The character at the start of `text`, which must not be empty. Overlong forms, surrogates and codes beyond Unicode are
/// no UTF-8.
[[nodiscard]] inline Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  const std::size_t length = length_from(byte(0));
  if (length == 1) return {1, first};
  if (length == 0 || text.size() < length) return {};
  char32_t code = first & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if (!continues_character(text[i])) return {};
    code = code << 6U | (byte(i) & 0x3FU);
  }
  constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < least[length] || (code >= 0xD800 && code <= 0xDFFF) || code > 0x10FFFF) return {};
  return {length, code};
}

}  // namespace pace::report
