// Numbers and lists as text for tables and messages.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "pace/base/c_numbers.hpp"
#include "pace/base/units.hpp"

namespace pace {

/// Returns `value` with `digits` significant digits and without an exponent: 0.00123, 12.3, 4560.
[[nodiscard]] inline std::string format_significant(double value, int digits = 3) {
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  const int magnitude = value == 0 ? 0 : static_cast<int>(std::floor(std::log10(std::abs(value))));
  const int decimals = magnitude >= digits ? 0 : digits - 1 - magnitude;
  std::array<char, 400> text;
  const CNumbers c_numbers;
  const int length = std::snprintf(text.data(), text.size(), "%.*f", decimals < 0 ? 0 : decimals, value);
  return {text.data(), static_cast<std::size_t>(length)};
}

/// Returns `value` with up to `digits` significant digits and without an exponent: 50, 2.5, 0.00123.
[[nodiscard]] inline std::string format_number(double value, int digits) {
  std::string text = format_significant(value, digits);
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

/// Returns `value` with `decimals` digits after the point, as printf does, except that NaN has no sign.
[[nodiscard]] inline std::string format_fixed(double value, int decimals) {
  if (std::isnan(value)) return "nan";
  std::array<char, 400> text;  // the largest double has 309 digits before the point
  const CNumbers c_numbers;
  const int length = std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return {text.data(), static_cast<std::size_t>(length)};
}

/// Returns the parts as one text with `between` between them.
[[nodiscard]] inline std::string joined(const std::vector<std::string>& parts, const char* between) {
  std::string text;
  for (const auto& part : parts) text += (&part == parts.data() ? "" : between) + part;
  return text;
}

/// Returns the numbers in decimal as `1, 2, 5`.
[[nodiscard]] inline std::string listed(std::span<const std::size_t> numbers) {
  std::string text;
  for (const std::size_t each : numbers) text += (text.empty() ? "" : ", ") + std::to_string(each);
  return text;
}

/// A unit of time.
struct TimeUnit {
  const char* name;    ///< such as `us`
  double nanoseconds;  ///< nanoseconds in one unit
};

/// Returns the largest of ns, us, ms and s in which `time` is at least 1, or ns.
[[nodiscard]] inline TimeUnit unit_for(Nanoseconds time) {
  const double magnitude = std::abs(time.count());
  if (magnitude < 1e3) return {"ns", 1};
  if (magnitude < 1e6) return {"us", 1e3};
  if (magnitude < 1e9) return {"ms", 1e6};
  return {"s", 1e9};
}

/// Returns a time as `12.3 us`.
[[nodiscard]] inline std::string format_time(Nanoseconds time) {
  const TimeUnit unit = unit_for(time);
  return format_significant(time.count() / unit.nanoseconds) + ' ' + unit.name;
}

/// Returns a factor with three significant digits, as `1.20x`.
[[nodiscard]] inline std::string format_factor(double factor) { return format_significant(factor, 3) + 'x'; }

/// Returns a share (0.95) in percent with up to four significant digits, as `95 %` or `99.5 %`.
[[nodiscard]] inline std::string format_percent(double share) {
  std::array<char, 32> text;
  const CNumbers c_numbers;
  std::snprintf(text.data(), text.size(), "%.4g %%", 100 * share);
  return text.data();
}

/// Returns an interval of factors as `[1.18x, 1.23x]`.
[[nodiscard]] inline std::string format_interval(const Interval<double>& factors) {
  return '[' + format_factor(factors.low) + ", " + format_factor(factors.high) + ']';
}

/// Returns an interval of times as `[12.1, 12.5] us`, with both limits in the unit of the upper one.
[[nodiscard]] inline std::string format_interval(const Interval<Nanoseconds>& times) {
  const TimeUnit unit = unit_for(times.high);
  return '[' + format_significant(times.low.count() / unit.nanoseconds) + ", " +
         format_significant(times.high.count() / unit.nanoseconds) + "] " + unit.name;
}

}  // namespace pace
