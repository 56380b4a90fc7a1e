// The first calls of a runnable: what they take in time, which shows what compiling takes, and in memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <utility>

#include <unistd.h>

#include <c10/core/Device.h>

#include "pace/families/models/run/outcome.hpp"

#ifdef PACE_CUDA
#include <c10/cuda/CUDACachingAllocator.h>
#endif

namespace pace::families::models {

/// This process's resident memory now, in 1e9 bytes; 0 where that cannot be read.
[[nodiscard]] inline double resident_gigabytes() {
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  long long whole = 0, resident = 0;
  const bool read = std::fscanf(file, "%lld %lld", &whole, &resident) == 2;
  std::fclose(file);
  return read ? static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e9 : 0;
}

/// Memory in the course of a scope. On a GPU the most that LibTorch's allocator had handed out at once, less what had
/// been handed out before, so that models that only stand by do not count. On a CPU, as torchbench has it, the resident
/// memory at the end, which is no peak.
class PeakMemory {
 public:
  explicit PeakMemory(c10::Device device) : device_(device) {
#ifdef PACE_CUDA
    if (!device_.is_cuda()) return;
    synchronise(device_);
    c10::cuda::CUDACachingAllocator::emptyCache();
    c10::cuda::CUDACachingAllocator::resetPeakStats(device_.index());
    before_ = stats().current;
#endif
  }

  /// In 1e9 bytes. `own`: bytes that existed before and count all the same, such as the model's parameters.
  [[nodiscard]] double gigabytes(std::int64_t own) const {
#ifdef PACE_CUDA
    if (device_.is_cuda()) return static_cast<double>(stats().peak - before_ + own) / 1e9;
#endif
    static_cast<void>(own);
    return resident_gigabytes();
  }

 private:
#ifdef PACE_CUDA
  [[nodiscard]] c10::CachingAllocator::Stat stats() const {
    constexpr auto all = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
    return c10::cuda::CUDACachingAllocator::getDeviceStats(device_.index()).allocated_bytes[all];
  }
  std::int64_t before_ = 0;
#endif
  c10::Device device_;
};

struct WarmUp {
  double seconds = 0, peak_gigabytes = 0;
};

/// Times `iterations` calls of `call` together. torchbench does not wait for the GPU at their end; this does.
template <class F>
[[nodiscard]] WarmUp warm_up(c10::Device device, std::int64_t iterations, std::int64_t own_bytes, F&& call) {
  const PeakMemory memory(device);
  const auto began = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < iterations; ++i) call();
  synchronise(device);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
  return {taken.count(), memory.gigabytes(own_bytes)};
}

/// How many times as much memory eager takes; 0 where the other takes nothing, as in torchbench.
[[nodiscard]] inline double compression_ratio(double eager_gigabytes, double other_gigabytes) {
  return other_gigabytes == 0 ? 0 : eager_gigabytes / other_gigabytes;
}

}  // namespace pace::families::models
