// Spares: calls that write to their operands, or draw random numbers, all start from the same state.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "pace/compare/operands.hpp"
#include "pace/compare/roster.hpp"

namespace pace::detail {

/// Operands of one set with its spares, in bytes at most: calls on larger operands take so long that a sample needs no
/// more than one or two of them. And calls of a sample at most: a restored copy costs about as much as a short call.
inline constexpr double most_spare_bytes = 16 << 20;
inline constexpr double most_calls_on_spares = 256;
/// On a GPU, where captured calls have a graph for each copy, and a few calls make up a sample.
inline constexpr double most_calls_on_gpu_spares = 16;

/// After the first calls, which show what the baseline does. If it writes to operands, each call of a sample gets a copy
/// of its own, restored before the sample; if it draws random numbers, the generators are reset before the sample. None
/// of that is timed. Says in the result's notes what is done.
inline void start_every_call_alike(Roster& roster) {
  auto& operands = roster.operands;
  operands.random = roster.expected.random;
  operands.seed = roster.options.seed;
  if (operands.random)
    roster.result.notes.push_back("It draws random numbers: the generators are reset before each sample, untimed.");
  if (operands.mutated.empty() || roster.running.empty()) return;
  const double bytes = std::max(1.0, bytes_of(operands.pristine));
  const bool on_gpu = operands.pristine.front().is_cuda();
  const double most_calls = on_gpu ? most_calls_on_gpu_spares : most_calls_on_spares;
  const auto calls = static_cast<std::size_t>(std::clamp(most_spare_bytes / bytes, 1.0, most_calls));
  auto& most = roster.options.max_iterations;
  most = most > 0 ? std::min(most, static_cast<std::int64_t>(calls)) : static_cast<std::int64_t>(calls);
  operands.spares.resize(operands.sets.size());
  operands.spare_tensors.resize(operands.sets.size());
  for (std::size_t set = 0; set < operands.sets.size(); ++set)
    for (std::int64_t call = 1; call < most; ++call) {
      operands.spares[set].push_back(roster.first.clone());
      operands.spare_tensors[set].push_back(operands.spares[set].back()->tensors());
    }
  std::string which;
  for (const std::size_t each : operands.mutated) which += (which.empty() ? "" : ", ") + std::to_string(each);
  roster.result.notes.push_back("It writes to operand tensor " + which + ": every call of a sample (" +
                                std::to_string(most) +
                                " at most) gets a copy of its own, restored before the sample, "
                                "untimed.");
}

}  // namespace pace::detail
