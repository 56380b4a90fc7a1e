// UTF-8: characters of a text, and a valid text for one that is none.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pace {

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

/// Returns the character at the start of `text`, which must not be empty. Overlong forms, surrogates and codes beyond
/// Unicode are not UTF-8.
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

/// Returns how many bytes at the start of `text`, which are no character of UTF-8, one U+FFFD stands for: the longest
/// beginning of a character, or 1. Decoders of UTF-8 and the writer of JSON agree on that.
[[nodiscard]] inline std::size_t broken_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t whole = length_from(first);
  if (whole < 2 || text.size() < 2) return 1;
  // Second bytes that overlong forms, surrogates and codes beyond Unicode do not have.
  const auto second = static_cast<unsigned char>(text[1]);
  const unsigned least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const unsigned most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (second < least || second > most) return 1;
  std::size_t length = 2;
  while (length < whole && length < text.size() && continues_character(text[length])) ++length;
  return length;
}

/// Returns `text` with U+FFFD in place of bytes that are no UTF-8, as JSON files have it, so that a name is the same in
/// all files.
[[nodiscard]] inline std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    std::size_t length = first_character(text).length;
    if (length > 0)
      out += text.substr(0, length);
    else
      out += "\xEF\xBF\xBD", length = broken_length(text);
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace pace
