// Kernel: one kernel of something that was captured, and all that is known of it, as values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "pace/core/units.hpp"
#include "pace/kernel/category.hpp"

namespace pace::kernel {

/// What the driver says of a launch.
struct Launch {
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  /// Blocks of a cluster; all 1 if there are no clusters.
  std::array<std::uint32_t, 3> cluster{1, 1, 1};
  /// For each thread.
  int registers = 0;
  /// For each thread, in bytes: registers that were spilled, and arrays that are indexed.
  std::int64_t local_bytes = 0;
  /// For each block, in bytes.
  std::int64_t static_shared_bytes = 0, dynamic_shared_bytes = 0;
  /// Blocks that one multiprocessor holds at a time.
  int blocks_per_multiprocessor = 0;
  /// Share of the threads that a multiprocessor can hold which these blocks are.
  double occupancy = 0;
  bool cooperative = false;

  [[nodiscard]] std::int64_t shared_bytes() const { return static_shared_bytes + dynamic_shared_bytes; }
  /// In words of four bytes, as Triton counts them.
  [[nodiscard]] std::int64_t spills() const { return local_bytes / 4; }
};

/// Of several samples.
struct KernelTime {
  Nanoseconds median{}, least{}, most{};
};

struct Kernel {
  /// As people know it, and as the driver does.
  std::string name, symbol;
  Category category = Category::unknown;
  Launch launch;
  /// One run in the whole, by the profiler.
  std::optional<Nanoseconds> profiled;
  /// One run alone, again and again with everything in the cache; and with an empty cache.
  std::optional<KernelTime> hot, cold;
  /// One run alone as in `hot`, by the profiler: another clock for the same runs.
  std::optional<Nanoseconds> hot_by_profiler;
  /// Why it was not replayed alone; empty if it was.
  std::string why_not_alone;
  /// Bytes that it must read and write at least; none: nobody knows.
  std::optional<double> bytes;

  /// Hot if it was replayed alone, else by the profiler.
  [[nodiscard]] std::optional<Nanoseconds> time() const { return hot ? hot->median : profiled; }
  /// The time in which memory serves it: with an empty cache if that was measured, for a cache serves more.
  [[nodiscard]] std::optional<Nanoseconds> memory_time() const { return cold ? cold->median : time(); }
  /// In bytes per second.
  [[nodiscard]] std::optional<double> bandwidth() const {
    const auto took = memory_time();
    if (!bytes || !took || !(took->count() > 0)) return std::nullopt;
    return *bytes / took->count() * 1e9;
  }
};

}  // namespace pace::kernel
