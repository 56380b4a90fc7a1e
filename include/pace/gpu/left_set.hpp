// Variables of the environment that were left set, and make times of a GPU those of no usual process.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

#include "pace/result/options.hpp"

namespace pace::gpu {

/// Whether each launch waits for its kernel: CUDA_LAUNCH_BLOCKING is set, and neither empty nor 0. CUDA reads it when a
/// process begins to use a GPU.
[[nodiscard]] inline bool launches_block() {
  const char* const value = std::getenv("CUDA_LAUNCH_BLOCKING");
  return value != nullptr && !std::string_view(value).empty() && std::string_view(value) != "0";
}

/// Whether LibTorch takes each block of device memory from the driver and gives it back: it does if
/// PYTORCH_NO_CUDA_MEMORY_CACHING is set, to whatever value.
[[nodiscard]] inline bool allocator_keeps_nothing() { return std::getenv("PYTORCH_NO_CUDA_MEMORY_CACHING") != nullptr; }

/// Why nothing can be captured into a graph, and what to do; empty if that is possible. The driver waits for the device
/// to allocate, which no capture allows.
[[nodiscard]] inline std::string why_nothing_is_captured() {
  if (!allocator_keeps_nothing()) return {};
  return "PYTORCH_NO_CUDA_MEMORY_CACHING is set, so LibTorch allocates from the driver in each call, which no CUDA "
         "graph "
         "can hold; try: unset PYTORCH_NO_CUDA_MEMORY_CACHING";
}

/// Why times by `clock` are not those of another process, as a full sentence with what to do; empty if they are. Graphs
/// are launched once for many calls, so a launch that waits does not change their times.
[[nodiscard]] inline std::string distortion_of(ClockChoice clock) {
  const bool in_graph = clock == ClockChoice::graph || clock == ClockChoice::cold;
  const bool by_launches = !in_graph && clock != ClockChoice::profiler;
  if (by_launches && launches_block())
    return "CUDA_LAUNCH_BLOCKING is set, so each launch waits for its kernel, and times by the " +
           std::string(to_string(clock)) + " clock are those of such waits; try: unset CUDA_LAUNCH_BLOCKING.";
  if (!in_graph && allocator_keeps_nothing())
    return "PYTORCH_NO_CUDA_MEMORY_CACHING is set, so each allocation waits for the GPU's driver; try: unset "
           "PYTORCH_NO_CUDA_MEMORY_CACHING.";
  return {};
}

}  // namespace pace::gpu
