// Verified: result of the first calls, and the state from which all timed calls start.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "pace/base/format.hpp"
#include "pace/result/result.hpp"
#include "pace/subject/operands.hpp"
#include "pace/subject/participants.hpp"
#include "pace/subject/prepare.hpp"
#include "pace/timing/host_bandwidth.hpp"
#include "pace/verify/expected.hpp"

namespace pace::detail {

/// Result of the first calls.
struct Verified {
  /// Implementations with correct outputs.
  Participants participants;
  /// Rows with the first call, agreement, counts and memory of each implementation.
  Result result;
  /// The least that every correct call reads and writes; empty if the clock knows no bandwidths of the machine.
  timing::LeastTraffic traffic = {};
};

/// Most bytes of one operand set with its spares: on larger operands, a sample needs only one or two calls. And most
/// calls of a sample: restoring a copy costs about as much as a short call.
inline constexpr double most_spare_bytes = 16 << 20;
inline constexpr double most_calls_on_spares = 256;
/// The same on a GPU, where captured calls need a graph for each copy, and a few calls make up a sample.
inline constexpr double most_calls_on_gpu_spares = 16;

/// Makes every timed call start from the same state. If the baseline writes to operands, each call of a sample gets its
/// own copy, which limits the calls of a sample. If it draws random numbers, the generators are reset. Both happen
/// before each sample, untimed. Adds notes that say so.
inline void start_calls_alike(Prepared& prepared, const Expected& expected, std::vector<std::string>& notes) {
  OperandSets& operands = *prepared.operands;
  operands.random = expected.random;
  operands.seed = prepared.options.seed;
  if (operands.random)
    notes.push_back("The baseline draws random numbers, so the generators are reset before each sample, untimed.");
  if (operands.mutated.empty()) return;
  const double bytes = std::max(1.0, bytes_of(operands.given));
  const bool on_gpu = operands.given.front().is_cuda();
  const double most_calls = on_gpu ? most_calls_on_gpu_spares : most_calls_on_spares;
  const auto calls = static_cast<std::int64_t>(std::clamp(most_spare_bytes / bytes, 1.0, most_calls));
  auto& most = prepared.options.max_iterations;
  most = most > 0 ? std::min(most, calls) : calls;
  operands.spares.resize(operands.sets.size());
  operands.spare_tensors.resize(operands.sets.size());
  for (std::size_t set = 0; set < operands.sets.size(); ++set)
    for (std::int64_t call = 1; call < most; ++call) {
      operands.spares[set].push_back(prepared.given->clone());
      operands.spare_tensors[set].push_back(operands.spares[set].back()->tensors());
    }
  notes.push_back("The baseline writes to operand tensor " + listed(operands.mutated) +
                  " (counted from 0), so each call of a sample (" + std::to_string(most) +
                  " at most) has a copy of its own, restored before the sample, untimed.");
}

}  // namespace pace::detail
