// The output and the files of a compatible flow, step by step.
#pragma once

#include <cstddef>
#include <exception>
#include <string>

#include "benches/operators/speedups.hpp"

namespace pace::benches::operators::compat {

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
  /// `is_new`: no earlier process of this run has finished the operator.
  virtual void finish(const std::string& op, const SampleTimes& times, double elapsed_seconds, bool is_new) = 0;
  /// After the last operator.
  virtual void end() = 0;
};

}  // namespace pace::benches::operators::compat
