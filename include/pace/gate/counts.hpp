// Counts: what one call does, counted exactly, and expectations of it. They have no noise, so they are never undecided.
#pragma once

#include <cstdint>
#include <optional>

#include "pace/core/config.hpp"
#include "pace/core/result.hpp"
#include "pace/gate/expectation.hpp"

namespace pace {

/// What is counted of one call of an implementation. Each has one entry in gate::count_entries, below.
enum class Count {
  operator_calls,    ///< LibTorch's operators that the call calls, without what these call in turn
  allocations,       ///< blocks that it takes from LibTorch's allocators, outputs included
  bytes_allocated,   ///< bytes of these blocks, all together, whether or not they are freed within the call
  kernels,           ///< kernels that it runs on a GPU, by whatever they are launched
  launches,          ///< kernels and graphs that the host launches
  synchronisations,  ///< times that the host waits for the device, a stream or an event
  graph_nodes,       ///< nodes of the CUDA graph that the call is captured into: kernels, copies, fills
};

namespace gate {

/// One row of the table of counts.
struct CountEntry {
  Count count;
  /// As in `'mine' makes 3 operator calls`.
  const char *verb, *one, *many;
  /// Whether it is of ImplementationResult::device_counts.
  bool on_device;
  /// Absent where it was not counted.
  std::optional<std::int64_t> (*read)(const ImplementationResult&);
};

/// A count of CallCounts, and one of DeviceCounts.
template <std::int64_t CallCounts::* which>
[[nodiscard]] std::optional<std::int64_t> count_of_call(const ImplementationResult& row) {
  if (!row.counts) return std::nullopt;
  return *row.counts.*which;
}
template <std::int64_t DeviceCounts::* which>
[[nodiscard]] std::optional<std::int64_t> count_on_device(const ImplementationResult& row) {
  if (!row.device_counts) return std::nullopt;
  return *row.device_counts.*which;
}
[[nodiscard]] inline std::optional<std::int64_t> count_of_nodes(const ImplementationResult& row) {
  return row.device_counts ? row.device_counts->graph_nodes : std::nullopt;
}

/// All counts: what one is called, and how it is read from a row.
inline constexpr CountEntry count_entries[] = {
    // clang-format off
    {Count::operator_calls, "makes", "operator call", "operator calls", false, count_of_call<&CallCounts::operator_calls>},
    {Count::allocations, "makes", "allocation", "allocations", false, count_of_call<&CallCounts::allocations>},
    {Count::bytes_allocated, "allocates", "byte", "bytes", false, count_of_call<&CallCounts::bytes_allocated>},
    {Count::kernels, "runs", "kernel", "kernels", true, count_on_device<&DeviceCounts::kernels>},
    {Count::launches, "makes", "launch", "launches", true, count_on_device<&DeviceCounts::launches>},
    {Count::synchronisations, "makes", "synchronisation", "synchronisations", true, count_on_device<&DeviceCounts::synchronisations>},
    {Count::graph_nodes, "has", "graph node", "graph nodes", true, count_of_nodes},
    // clang-format on
};

}  // namespace gate

/// At most `limit` of that in one call. `passed` or `failed`; `invalid` where nothing was counted, such as where two calls
/// on equal operands count differently. May name the baseline, too. Throws Error if `limit` is negative.
[[nodiscard]] Expectation AtMost(Count count, std::int64_t limit);
/// Exactly `number` of that in one call; otherwise as AtMost.
[[nodiscard]] Expectation Exactly(Count count, std::int64_t number);

}  // namespace pace

#ifdef PACE_HEADER_ONLY
#include "pace/gate/counts-inl.hpp"
#endif
