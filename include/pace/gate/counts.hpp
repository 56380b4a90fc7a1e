// Counts: expectations of exact counts of one call. They are never undecided, since counts have no noise.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pace/base/config.hpp"
#include "pace/gate/expectation.hpp"
#include "pace/result/result.hpp"

namespace pace {

/// Quantities counted in one call, each with an entry in gate::count_entries.
enum class Count {
  operator_calls,    ///< calls of LibTorch's operators, without calls inside of operators
  allocations,       ///< blocks taken from LibTorch's allocators, outputs included
  bytes_allocated,   ///< bytes of these blocks together, also if the call frees them
  peak_bytes,        ///< most bytes of these blocks that are held at once
  kernels,           ///< kernels that run on a GPU, however they are launched
  launches,          ///< kernels and graphs that the host launches
  synchronisations,  ///< waits of the host for the device, a stream or an event
  graph_nodes,       ///< nodes of the CUDA graph of the call: kernels, copies, fills
};

namespace gate {

/// Row of the table of counts.
struct CountEntry {
  Count count;       ///< the quantity
  const char* verb;  ///< verb of the quantity, such as `makes` in `'mine' makes 3 operator calls`
  const char* one;   ///< singular of the quantity, such as `operator call`
  const char* many;  ///< plural of the quantity, such as `operator calls`
  bool on_device;    ///< whether ImplementationResult::device_counts has it
  /// Returns the count of a row; absent if it was not counted.
  std::optional<std::int64_t> (*read)(const ImplementationResult&);
};

/// Returns a count from ImplementationResult::counts; absent if nothing was counted.
template <std::int64_t CallCounts::* which>
[[nodiscard]] std::optional<std::int64_t> count_of_call(const ImplementationResult& row) {
  if (!row.counts) return std::nullopt;
  return *row.counts.*which;
}
/// Returns the most bytes held at once in one call; absent if it was not counted, or if calls differ in it.
[[nodiscard]] inline std::optional<std::int64_t> peak_of_call(const ImplementationResult& row) {
  return row.counts ? row.counts->peak_bytes : std::nullopt;
}
/// Returns a count from ImplementationResult::device_counts; absent if nothing was counted.
template <std::int64_t DeviceCounts::* which>
[[nodiscard]] std::optional<std::int64_t> count_on_device(const ImplementationResult& row) {
  if (!row.device_counts) return std::nullopt;
  return *row.device_counts.*which;
}
/// Returns the number of nodes of the call's CUDA graph; absent if it was not counted.
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
    {Count::peak_bytes, "takes", "peak byte", "peak bytes", false, peak_of_call},
    {Count::kernels, "runs", "kernel", "kernels", true, count_on_device<&DeviceCounts::kernels>},
    {Count::launches, "makes", "launch", "launches", true, count_on_device<&DeviceCounts::launches>},
    {Count::synchronisations, "makes", "synchronisation", "synchronisations", true,
     count_on_device<&DeviceCounts::synchronisations>},
    {Count::graph_nodes, "has", "graph node", "graph nodes", true, count_of_nodes},
    // clang-format on
};

}  // namespace gate

/// Expects a count of at most `limit` in one call: `passed` or `failed`, or `invalid` if nothing was counted, for
/// example because two calls on equal operands have different counts. Also for the baseline. Throws Error if `limit` is
/// negative.
[[nodiscard]] Expectation AtMost(Count count, std::int64_t limit);
/// Expects a count of exactly `number` in one call; otherwise as AtMost().
[[nodiscard]] Expectation Exactly(Count count, std::int64_t number);
/// Expects one call to hold at most `ratio` times as many bytes at once as the baseline's (Count::peak_bytes): `passed`
/// or `failed`, and `invalid` if either was not counted. Throws Error unless `ratio` is a positive number.
[[nodiscard]] Expectation PeakMemoryAtMost(double ratio);
/// Expects one call to execute at most `ratio` times the baseline's instructions (ImplementationResult::instructions).
/// The verdict is `passed` or `failed` if all counts agree on it, `undecided` if they do not, and `invalid` if nothing
/// was counted. Throws Error unless `ratio` is a positive number.
[[nodiscard]] Expectation InstructionsAtMost(double ratio);
/// Expects at most `ratio` times the baseline's events of an exact counter of the CPU (counter_entries), such as
/// `branches`, in one call. 0.1 % more passes, too (counter_tolerance), and two events in a sample. The verdict is
/// `passed` or `failed` if all samples of both sides agree on it. It is `undecided` if they do not, or if samples of
/// one side lie more than 0.1 % and two events apart, as those of several threads may. It is `invalid` if the CPU or
/// the kernel does not let the counter be read. Throws Error for another name, and unless `ratio` is a positive number.
[[nodiscard]] Expectation CounterAtMost(const std::string& name, double ratio);

}  // namespace pace

#ifdef PACE_HEADER_ONLY
#include "pace/gate/counts-inl.hpp"
#endif
