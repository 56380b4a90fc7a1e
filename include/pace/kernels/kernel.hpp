// Kernel: one kernel of a call, and all that is known of it, as values.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pace/core/units.hpp"
#include "pace/kernels/category.hpp"

namespace pace::kernel {

/// What the driver says of a launch on a GPU.
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

/// The time over several samples.
struct KernelTime {
  Nanoseconds median{}, least{}, most{};
};

/// The upper one of two in the middle. There is one sample or more.
[[nodiscard]] inline KernelTime summary_of(std::vector<Nanoseconds> samples) {
  std::ranges::sort(samples);
  return {samples[samples.size() / 2], samples.front(), samples.back()};
}

/// A kernel as its tuner could have built it: one of those that it chose among.
struct Configuration {
  /// What it sets, for people, and as Triton prints it.
  std::string text = {}, printed = {};
  bool chosen = false;
  std::optional<Launch> launch = {};
  /// Alone, in the kernel's place: with everything in the cache, and with an empty cache.
  std::optional<KernelTime> hot = {}, cold = {};
  /// By the timer of KernelsOptions::compatible.
  std::optional<Nanoseconds> compatible = {};
  /// Why it was not timed; empty if it was.
  std::string why_not = {};

  /// With an empty cache if that was measured, which is how tuners compare.
  [[nodiscard]] std::optional<Nanoseconds> time() const {
    const auto& times = cold ? cold : hot;
    return times ? std::optional(times->median) : std::nullopt;
  }
};

/// One launch as the profiler saw it, and by the clock of all other figures while the profiler watched.
struct UnderProfiler {
  Nanoseconds by_profiler{}, by_clock{};
};

struct Kernel {
  /// As people know it, and as the driver does, or on the CPU the profiler.
  std::string name, symbol;
  Category category = Category::unknown;
  /// None on the CPU, and where the driver does not tell.
  std::optional<Launch> launch;
  /// One run in the whole, by the profiler; on the CPU by the ranges that the profiler is told of.
  std::optional<KernelTime> profiled;
  /// One run alone, again and again with everything in the cache; and with an empty cache.
  std::optional<KernelTime> hot, cold;
  /// One run alone as in `hot`, but watched by the profiler, by both clocks: they agree, and where both say more than
  /// `hot`, the profiler is what slows the kernel (a fused pointwise one by 8 % on the H200, most not at all).
  std::optional<UnderProfiler> under_profiler;
  /// One run alone by the timer of KernelsOptions::compatible, if one was asked for.
  std::optional<Nanoseconds> compatible;
  /// Why it was not replayed alone; empty if it was.
  std::string why_not_alone;
  /// Bytes that it must read and write at least; none: not known.
  std::optional<double> bytes;
  /// Bytes that memory moved for one run with an empty cache, by the GPU's own counters; what it wrote last may still be
  /// in the cache, and not among them. None: they were not asked.
  std::optional<double> counted_bytes;
  /// In the order of the tuner's attempts; empty where they were not asked for, or are not known.
  std::vector<Configuration> configurations;

  /// Hot if it was replayed alone, else by the profiler.
  [[nodiscard]] std::optional<Nanoseconds> time() const {
    const auto& times = hot ? hot : profiled;
    return times ? std::optional(times->median) : std::nullopt;
  }
  /// The time in which memory serves it: with an empty cache if that was measured, for a cache serves more.
  [[nodiscard]] std::optional<KernelTime> memory_times() const { return cold ? cold : hot ? hot : profiled; }
  [[nodiscard]] std::optional<Nanoseconds> memory_time() const {
    const auto times = memory_times();
    return times ? std::optional(times->median) : std::nullopt;
  }
  /// In bytes per second, of what it must move.
  [[nodiscard]] std::optional<double> bandwidth() const { return bandwidth_of(bytes); }
  /// Bandwidth of what was counted. It says how busy memory was, not whether the kernel is good: one that computes may
  /// have little to move.
  [[nodiscard]] std::optional<double> counted_bandwidth() const { return bandwidth_of(counted_bytes); }

 private:
  [[nodiscard]] std::optional<double> bandwidth_of(const std::optional<double>& moved) const {
    const auto took = memory_time();
    if (!moved || !took || !(took->count() > 0)) return std::nullopt;
    return *moved / took->count() * 1e9;
  }
};

}  // namespace pace::kernel
