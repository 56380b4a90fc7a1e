// What a compatible flow prints and writes, step by step.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <string>

#include "pace/families/operators/speedups.hpp"

namespace pace::families::operators::compat {

class Report {
 public:
  Report() = default;
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;
  virtual ~Report() = default;

  virtual void start(const std::string& op, std::size_t samples) = 0;
  /// `number` counts from the first recorded sample.
  virtual void start_sample(std::size_t number) = 0;
  /// `index` counts from the first sample that is measured.
  virtual void failed(const std::string& op, std::size_t index, const std::exception& error) = 0;
  virtual void finish(const std::string& op, const SampleTimes& times, double elapsed_seconds) = 0;
  /// After the last operator.
  virtual void end() = 0;
};

namespace detail {

/// As Python's format `.Nf`: printf's, but that NaN has no sign.
[[nodiscard]] inline std::string fixed(double value, int digits) {
  if (std::isnan(value)) return "nan";
  std::array<char, 400> text;  // the largest double has 309 digits before the point
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

}  // namespace detail

}  // namespace pace::families::operators::compat
