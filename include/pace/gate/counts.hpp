// Counts: exact counts of one call, and expectations of them, which are never undecided since counts have no noise.
#pragma once

#include <cstdint>
#include <optional>

#include "pace/base/config.hpp"
#include "pace/gate/expectation.hpp"
#include "pace/result/result.hpp"

namespace pace {

/// Quantities that are counted in one call of an implementation, each with one entry in gate::count_entries.
enum class Count {
  operator_calls,    ///< calls of LibTorch's operators, without calls from inside of operators
  allocations,       ///< blocks taken from LibTorch's allocators, outputs included
  bytes_allocated,   ///< bytes of these blocks together, freed within the call or not
  kernels,           ///< kernels that run on a GPU, by whatever they are launched
  launches,          ///< kernels and graphs that the host launches
  synchronisations,  ///< waits of the host for the device, a stream or an event
  graph_nodes,       ///< nodes of the CUDA graph that the call is captured into: kernels, copies, fills
};

namespace gate {

/// One row of the table of counts.
struct CountEntry {
  Count count;       ///< the quantity
  const char* verb;  ///< verb of the quantity, such as `makes` in `'mine' makes 3 operator calls`
  const char* one;   ///< singular of the quantity, such as `operator call`
  const char* many;  ///< plural of the quantity, such as `operator calls`
  bool on_device;    ///< whether the quantity belongs to ImplementationResult::device_counts
  /// Returns the count of a row; absent if it was not counted.
  std::optional<std::int64_t> (*read)(const ImplementationResult&);
};

/// Returns a count of ImplementationResult::counts; absent if nothing was counted.
template <std::int64_t CallCounts::* which>
[[nodiscard]] std::optional<std::int64_t> count_of_call(const ImplementationResult& row) {
  if (!row.counts) return std::nullopt;
  return *row.counts.*which;
}
/// Returns a count of ImplementationResult::device_counts; absent if nothing was counted.
template <std::int64_t DeviceCounts::* which>
[[nodiscard]] std::optional<std::int64_t> count_on_device(const ImplementationResult& row) {
  if (!row.device_counts) return std::nullopt;
  return *row.device_counts.*which;
}
/// Returns the number of nodes of the CUDA graph of the call; absent if it was not counted.
[[nodiscard]] inline std::optional<std::int64_t> count_of_nodes(const ImplementationResult& row) {
  return row.device_counts ? row.device_counts->graph_nodes : std::nullopt;
}

/// Names and readers of all counts.
inline constexpr CountEntry count_entries[] = {
    // clang-format off
    {Count::operator_calls, "makes", "operator call", "operator calls", false,
     count_of_call<&CallCounts::operator_calls>},
    {Count::allocations, "makes", "allocation", "allocations", false, count_of_call<&CallCounts::allocations>},
    {Count::bytes_allocated, "allocates", "byte", "bytes", false, count_of_call<&CallCounts::bytes_allocated>},
    {Count::kernels, "runs", "kernel", "kernels", true, count_on_device<&DeviceCounts::kernels>},
    {Count::launches, "makes", "launch", "launches", true, count_on_device<&DeviceCounts::launches>},
    {Count::synchronisations, "makes", "synchronisation", "synchronisations", true,
     count_on_device<&DeviceCounts::synchronisations>},
    {Count::graph_nodes, "has", "graph node", "graph nodes", true, count_of_nodes},
    // clang-format on
};

}  // namespace gate

/// Returns the expectation that one call has a count of at most `limit`. The verdict is `passed` or `failed`, or
/// `invalid` if nothing was counted, such as if two calls on equal operands have different counts. It may be stated for
/// the baseline, too. Throws Error if `limit` is negative.
[[nodiscard]] Expectation AtMost(Count count, std::int64_t limit);
/// Returns the expectation that one call has a count of exactly `number`; otherwise as AtMost().
[[nodiscard]] Expectation Exactly(Count count, std::int64_t number);
/// Returns the expectation that one call executes at most `ratio` times as many instructions as the baseline's
/// (ImplementationResult::instructions). The verdict is `passed` or `failed` if all counts agree on it, `undecided` if
/// they do not, and `invalid` if nothing was counted. Throws Error unless `ratio` is a positive number.
[[nodiscard]] Expectation InstructionsAtMost(double ratio);

}  // namespace pace

#ifdef PACE_HEADER_ONLY
#include "pace/gate/counts-inl.hpp"
#endif
