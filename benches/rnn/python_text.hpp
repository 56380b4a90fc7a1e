// Numbers and strings as Python prints them, for fastrnns' tables and JSON.
#pragma once

#include <array>
#include <cmath>
#include <cstdio>
#include <string>

#include <nlohmann/json.hpp>

#include "pace/base/c_numbers.hpp"
#include "pace/corpus/python_repr.hpp"

namespace pace::benches::rnn {

/// `value` by one of printf's floating-point formats. C leaves a NaN its sign; Python does not.
[[nodiscard]] inline std::string python_format(const char* format, double value) {
  std::array<char, 400> text;
  const CNumbers c_numbers;
  std::snprintf(text.data(), text.size(), format, std::isnan(value) ? std::fabs(value) : value);
  return text.data();
}

/// Python's str() of a float: the shortest text that reads back as it.
[[nodiscard]] inline std::string python_str(double value) {
  std::string text;
  corpus::detail::append_repr(text, value);
  return text;
}

/// As json.dumps writes a float; `NaN` and `Infinity` are its own addition to JSON.
[[nodiscard]] inline std::string json_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return python_str(value);
}

/// As json.dumps writes a string: nothing but ASCII. Replaces bytes that are not UTF-8.
[[nodiscard]] inline std::string json_string(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace pace::benches::rnn
