// The first calls of a runnable: their time, which shows the time of compiling, and their memory.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include <unistd.h>

#include <c10/core/Allocator.h>
#include <c10/core/Device.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include "benches/models/run/outcome.hpp"

#ifdef PACE_CUDA
#include <c10/cuda/CUDACachingAllocator.h>
#endif

namespace pace::benches::models {

/// This process's resident memory now, in 1e9 bytes; 0 where that cannot be read.
[[nodiscard]] inline double resident_gigabytes() {
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  long long whole = 0, resident = 0;
  const bool read = std::fscanf(file, "%lld %lld", &whole, &resident) == 2;
  std::fclose(file);
  return read ? static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e9 : 0;
}

/// Which figure of memory a scope comes to.
enum class MemoryFigure {
  /// Peak of the memory that was requested in this scope from LibTorch's allocator of the device.
  peak,
  /// On a CPU as torchbench has it: the resident memory of the whole process at the end, which is no peak, and includes
  /// memory of other back ends. On a GPU the peak.
  resident_on_cpu
};

namespace detail {

/// Hears of each allocation on the CPU, as LibTorch's profiler does.
class CpuMemory final : public c10::MemoryReportingInfoBase {
 public:
  void reportMemoryUsage(void* address, std::int64_t bytes, std::size_t, std::size_t, c10::Device device) override {
    if (!device.is_cpu()) return;
    const std::lock_guard lock(mutex_);
    if (bytes > 0) {
      held_[address] = bytes;
      most_ = std::max(most_, now_ += bytes);
    } else if (const auto found = held_.find(address); found != held_.end()) {
      // Earlier allocations do not count, neither while they exist nor when they are freed.
      now_ -= found->second;
      held_.erase(found);
    }
  }
  [[nodiscard]] bool memoryProfilingEnabled() const override { return true; }

  [[nodiscard]] std::int64_t most() const {
    const std::lock_guard lock(mutex_);
    return most_;
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<const void*, std::int64_t> held_;
  std::int64_t now_ = 0, most_ = 0;
};

}  // namespace detail

/// Memory in the course of a scope: of allocations by its thread, and by threads that get this thread's state from
/// LibTorch. Models that only stand by, and earlier work, do not count. Nor does memory that libraries such as oneDNN
/// take from the system themselves.
class PeakMemory {
 public:
  explicit PeakMemory(c10::Device device, MemoryFigure figure = MemoryFigure::peak) : device_(device), figure_(figure) {
    if (device_.is_cpu() && figure_ == MemoryFigure::peak) {
      cpu_ = std::make_shared<detail::CpuMemory>();
      listening_.emplace(c10::DebugInfoKind::PROFILER_STATE, cpu_);
    }
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
    return cpu_ ? static_cast<double>(cpu_->most() + own) / 1e9 : resident_gigabytes();
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
  MemoryFigure figure_;
  std::shared_ptr<detail::CpuMemory> cpu_;
  std::optional<c10::DebugInfoGuard> listening_;
};

struct WarmUp {
  double seconds = 0, peak_gigabytes = 0;
};

/// Times `iterations` calls of `call` together. torchbench does not wait for the GPU at their end; this does.
template <class F>
[[nodiscard]] WarmUp warm_up(c10::Device device, std::int64_t iterations, std::int64_t own_bytes, F&& call,
                             MemoryFigure figure = MemoryFigure::peak) {
  const PeakMemory memory(device, figure);
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

}  // namespace pace::benches::models
