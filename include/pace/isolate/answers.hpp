// FirstCallsOfSide, ChecksOfSide: the answers of a side's process, as the process with the clock reads them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pace/base/units.hpp"
#include "pace/result/result.hpp"
#include "pace/timing/host_bandwidth.hpp"
#include "pace/verify/repeated_numbers.hpp"

namespace pace::detail {

/// Answer to SideRequest::Kind::verify.
struct FirstCallsOfSide {
  /// The CPU on which the process stays; below 0: unknown.
  int cpu = -1;
  /// The row after the first calls.
  ImplementationResult row = {};
  std::vector<std::string> notes = {};
  /// Most calls of a sample; 0: no limit.
  std::int64_t max_iterations = 0;
  timing::LeastTraffic traffic = {};
  /// By the clock of the process.
  Nanoseconds now{};

  /// Writes the answer to a MessageWriter, or reads it from a MessageReader.
  template <class Message>
  void pass(Message& message) {
    auto& context = row.context;
    message.pass(cpu, row.outcome, row.message, row.checked, row.uncompared, row.max_abs_error, row.first_call,
                 row.counts, row.why_uncounted, context.repeats_outputs, context.keeps, context.objections,
                 context.beyond_tolerance, notes, max_iterations, traffic, now);
  }
};

/// Answer to SideRequest::Kind::check.
struct ChecksOfSide {
  /// The fault, as text; empty if none.
  std::string problem = {};
  double max_abs_error = 0;
  std::vector<std::string> notes = {};
  bool keeps = false;
  /// Without a reason: none.
  Objection objection = {};
  /// Without observations: unknown.
  SpeedupSummary on_unseen_values = {};
  /// By output tensor; empty unless outputs are random numbers.
  std::vector<Repetitions> repetitions = {};

  template <class Message>
  void pass(Message& message) {
    message.pass(problem, max_abs_error, notes, keeps, objection, on_unseen_values, repetitions);
  }
};

}  // namespace pace::detail
