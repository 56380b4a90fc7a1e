// Numbers and strings of the recorded value language.
#pragma once

#include <charconv>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>

#include "pace/corpus/cursor.hpp"
#include "pace/corpus/value.hpp"

namespace pace::corpus::detail {

[[nodiscard]] inline double to_double(const Cursor& cursor, std::size_t start, std::string_view digits) {
  double number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    cursor.fail_at(start, "expected a number that a double can hold, found " + quoted_start(digits));
  }
  return number;
}

/// `12`, `-1e-05`, `.5`, `-inf`, `nan`, `2j`, `-infj`. The cursor is on a digit, a point, a minus sign or a letter.
inline Value scan_number(Cursor& cursor) {
  const std::size_t start = cursor.position();
  const bool negative = cursor.peek() == '-';
  if (negative) cursor.advance();
  if (is_word_start(cursor.peek())) {
    const std::size_t word_start = cursor.position();
    const std::string_view word = cursor.word();
    const bool imaginary = word == "infj" || word == "nanj";
    if (!imaginary && word != "inf" && word != "nan") cursor.fail_at(word_start, "expected a number, 'inf' or 'nan'");
    double number = word[0] == 'i' ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    if (negative) number = -number;
    return imaginary ? Value(std::complex<double>(0, number)) : Value(number);
  }
  bool integer = true;
  std::size_t digits = 0;
  while (is_digit(cursor.peek()) || cursor.peek() == '.') {
    if (cursor.peek() == '.') {
      if (!integer) cursor.fail("at most one decimal point");
      integer = false;
    } else {
      ++digits;
    }
    cursor.advance();
  }
  if (digits == 0) cursor.fail("a number");
  if (cursor.peek() == 'e' || cursor.peek() == 'E') {
    integer = false;
    cursor.advance();
    if (cursor.peek() == '-' || cursor.peek() == '+') cursor.advance();
    if (!is_digit(cursor.peek())) cursor.fail("the digits of an exponent");
    while (is_digit(cursor.peek())) cursor.advance();
  }
  const std::string_view token = cursor.since(start);
  if (cursor.peek() == 'j') {
    cursor.advance();
    return std::complex<double>(0, to_double(cursor, start, token));
  }
  if (!integer) return to_double(cursor, start, token);
  std::int64_t number = 0;
  if (std::from_chars(token.data(), token.data() + token.size(), number).ec == std::errc()) return number;
  return BigInt{std::string(token)};
}

/// As scan_number, for places where an integer of 64 bits is expected.
inline std::int64_t scan_int64(Cursor& cursor, std::string_view expected) {
  cursor.skip_space();
  const std::size_t start = cursor.position();
  if (!is_digit(cursor.peek()) && cursor.peek() != '-') cursor.fail(expected);
  const Value value = scan_number(cursor);
  if (const auto* number = value.get_if<std::int64_t>()) return *number;
  const std::string lacks = value.is<BigInt>() ? " that 64 bits can hold" : ", which is a whole number";
  cursor.fail_at(start, "expected " + std::string(expected) + lacks + ", found " + quoted_start(cursor.since(start)));
}

inline void append_utf8(std::string& out, std::uint32_t code) {
  const auto byte = [&out](std::uint32_t b) { out += static_cast<char>(static_cast<unsigned char>(b)); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xc0 | code >> 6);
    byte(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    byte(0xe0 | code >> 12);
    byte(0x80 | (code >> 6 & 0x3f));
    byte(0x80 | (code & 0x3f));
  } else {
    byte(0xf0 | code >> 18);
    byte(0x80 | (code >> 12 & 0x3f));
    byte(0x80 | (code >> 6 & 0x3f));
    byte(0x80 | (code & 0x3f));
  }
}

/// The cursor is behind the backslash. An escape that Python does not know stands for itself, as in Python.
inline void scan_escape(Cursor& cursor, std::string& out) {
  constexpr std::string_view names = "abfnrtv\\'\"";
  constexpr std::string_view meanings = "\a\b\f\n\r\t\v\\'\"";
  const char c = cursor.peek();
  if (const std::size_t known = names.find(c); !cursor.at_end() && known != std::string_view::npos) {
    out += meanings[known];
    cursor.advance();
  } else if (c == 'x' || c == 'u' || c == 'U') {
    const std::size_t start = cursor.position() - 1;
    const std::size_t width = c == 'x' ? 2 : c == 'u' ? 4 : 8;
    cursor.advance();
    const std::size_t first = cursor.position();
    for (std::size_t i = 0; i < width && is_word(cursor.peek()); ++i) cursor.advance();
    const std::string_view digits = cursor.since(first);
    std::uint32_t code = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (digits.size() != width || error != std::errc() || end != digits.data() + width || code > 0x10ffff) {
      cursor.fail_at(start, "expected an escape of " + std::to_string(width) + " hexadecimal digits");
    }
    append_utf8(out, code);
  } else if (c >= '0' && c <= '7') {
    std::uint32_t code = 0;
    for (int i = 0; i < 3 && cursor.peek() >= '0' && cursor.peek() <= '7'; ++i) {
      code = code * 8 + static_cast<std::uint32_t>(cursor.peek() - '0');
      cursor.advance();
    }
    append_utf8(out, code);
  } else {
    out += '\\';
  }
}

/// A string in single or double quotes; the cursor is on the opening one.
inline std::string scan_string(Cursor& cursor) {
  const std::size_t start = cursor.position();
  const char quote = cursor.peek();
  cursor.advance();
  std::string out;
  while (!cursor.at_end() && cursor.peek() != quote && cursor.peek() != '\n') {
    const char c = cursor.peek();
    cursor.advance();
    if (c == '\\') {
      scan_escape(cursor, out);
    } else {
      out += c;
    }
  }
  if (cursor.peek() != quote) {
    cursor.fail_at(start, std::string("expected a closing ") + quote + " for the string that starts here");
  }
  cursor.advance();
  return out;
}

}  // namespace pace::corpus::detail
