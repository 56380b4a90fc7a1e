// One row of a CSV file, field by field.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "pace/core/units.hpp"
#include "pace/report/csv_field.hpp"

namespace pace::report {

/// RFC 4180 with `\n` as the line end. What does not exist leaves its field empty; a number that is not finite is `nan`,
/// `inf` or `-inf`; durations are nanoseconds.
class CsvRow {
 public:
  CsvRow& text(std::string_view value) { return field(csv_field(value)); }
  CsvRow& flag(std::optional<bool> value) { return field(!value ? "" : *value ? "true" : "false"); }
  CsvRow& empty(int fields = 1) {
    for (int i = 0; i < fields; ++i) field("");
    return *this;
  }

  template <class Number>
  requires std::integral<Number> || std::floating_point<Number> CsvRow& number(Number value) {
    if constexpr (std::floating_point<Number>)
      if (std::isnan(value)) return field("nan");  // to_chars would show the sign of a NaN
    // to_chars: shortest text that reads back as the same number, whatever the locale.
    std::array<char, 32> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    return field({digits.data(), static_cast<std::size_t>(end - digits.data())});
  }
  CsvRow& number(Nanoseconds value) { return number(value.count()); }
  template <class Number>
  CsvRow& number(const std::optional<Number>& value) {
    return value ? number(*value) : empty();
  }

  /// A member of what may not exist.
  template <class Summary, class Member>
  CsvRow& member(const std::optional<Summary>& summary, Member Summary::*which) {
    return summary ? number((*summary).*which) : empty();
  }
  /// `low` and `high` of a summary's `interval`.
  template <class Summary>
  CsvRow& bounds(const std::optional<Summary>& summary) {
    if (!summary || !summary->interval) return empty(2);
    return number(summary->interval->low).number(summary->interval->high);
  }

  [[nodiscard]] std::string line() const { return line_ + '\n'; }

 private:
  CsvRow& field(std::string_view value) {
    if (!first_) line_ += ',';
    first_ = false;
    line_ += value;
    return *this;
  }

  std::string line_;
  bool first_ = true;
};

}  // namespace pace::report
