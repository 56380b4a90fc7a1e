// What the checks of one comparison find.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pace/audit/unseen_speed.hpp"
#include "pace/result/result.hpp"
#include "pace/subject/participants.hpp"

namespace pace::detail {

/// Result of the additional calls of one implementation beside its first calls.
struct Examination {
  /// What is wrong, in words; empty if nothing is.
  std::string problem = {};
  /// What one call counts; none unless two calls on the same operands counted the same.
  std::optional<CallCounts> counts = {};
  std::string why_uncounted = {};
  /// That it keeps what it derives from operands, which a reader of its time must know; empty if it does not.
  std::string note = {};
  /// Whether an output repeats elements in memory.
  bool repeats_outputs = false;
};

/// An objection to the figures of one implementation.
struct RowObjection {
  std::size_t index = 0;
  Objection objection = {};
};

/// Result of the audits in the rounds and of the checks after them.
struct AuditFindings {
  std::vector<Drop> dropped = {};
  /// For each implementation of the comparison: of the outputs of its last timed calls.
  std::vector<double> max_abs_errors = {};
  /// What readers of the times must know.
  std::vector<std::string> notes = {};
  /// Indices of the implementations that keep what they derive from an operand.
  std::vector<std::size_t> keeps = {};
  std::vector<RowObjection> objections = {};
  /// The speed-ups on unseen values of the candidates that have one.
  std::vector<UnseenSpeed> on_unseen_values = {};
  /// One that was dropped spoilt the samples of the others.
  bool measure_again = false;

  /// Enters the fault that ended the rounds. Returns whether there is one.
  bool take(std::optional<Drop> fault) {
    if (!fault) return false;
    dropped.push_back(*std::move(fault));
    return measure_again = true;
  }
};

}  // namespace pace::detail
