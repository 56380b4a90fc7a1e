// How Python's repr() writes floats, complex numbers and strings: the spelling used by recorded operator inputs.
#pragma once

#include <charconv>
#include <cmath>
#include <complex>
#include <cstddef>
#include <string>
#include <string_view>

namespace pace::corpus::detail {

/// Shortest decimal text that reads back as `value`, in Python's layout: positional between 1e-4 and 1e16, with
/// `.0` added to whole numbers unless `bare` (inside complex numbers), otherwise scientific with a signed exponent of
/// at least two digits (`1e-05`, `1e+16`).
inline void append_repr(std::string& out, double value, bool bare = false) {
  if (std::isnan(value)) {
    out += "nan";
    return;
  }
  if (std::signbit(value)) out += '-';
  value = std::fabs(value);
  if (std::isinf(value)) {
    out += "inf";
    return;
  }
  char buffer[32];
  const char* const end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  const std::string_view text(buffer, static_cast<std::size_t>(end - buffer));  // d[.ddd]e[+-]dd
  const std::size_t e = text.find('e');
  int exponent = 0;
  std::from_chars(text.data() + e + 2, end, exponent);
  if (text[e + 1] == '-') exponent = -exponent;
  if (exponent < -4 || exponent >= 16) {
    out += text;
    return;
  }
  std::string digits(1, text[0]);
  if (e > 2) digits += text.substr(2, e - 2);
  const int whole = exponent + 1;  // digits before the point
  const int count = static_cast<int>(digits.size());
  if (whole <= 0) {
    out += "0.";
    out.append(static_cast<std::size_t>(-whole), '0');
    out += digits;
  } else if (count > whole) {
    out.append(digits, 0, static_cast<std::size_t>(whole));
    out += '.';
    out.append(digits, static_cast<std::size_t>(whole));
  } else {
    out += digits;
    out.append(static_cast<std::size_t>(whole - count), '0');
    if (!bare) out += ".0";
  }
}

/// `2j` where the real part is a positive zero, else `(1+2j)`.
inline void append_repr(std::string& out, const std::complex<double>& value) {
  const bool only_imaginary = value.real() == 0 && !std::signbit(value.real());
  if (!only_imaginary) {
    out += '(';
    append_repr(out, value.real(), true);
    if (std::isnan(value.imag()) || !std::signbit(value.imag())) out += '+';
  }
  append_repr(out, value.imag(), true);
  out += only_imaginary ? "j" : "j)";
}

/// Appends `text` in single quotes, or in double quotes where that saves escaping. Bytes above 127 are kept as UTF-8.
inline void append_repr(std::string& out, std::string_view text) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const bool has_double = text.find('"') != std::string_view::npos;
  const char quote = has_single && !has_double ? '"' : '\'';
  constexpr std::string_view hex = "0123456789abcdef";
  out += quote;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == quote || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\x";
      out += hex[byte >> 4];
      out += hex[byte & 15];
    } else {
      out += c;
    }
  }
  out += quote;
}

}  // namespace pace::corpus::detail
