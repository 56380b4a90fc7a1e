// HostBandwidth: how fast one thread of this machine reads and writes memory at best, caches included.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "pace/base/function_ref.hpp"
#include "pace/base/units.hpp"

namespace pace::timing {

/// Memory that every correct call reads and writes at least, in bytes.
struct LeastTraffic {
  double read = 0;     ///< bytes of operands that outputs were seen to depend on
  double written = 0;  ///< bytes of outputs that calls were seen to write

  /// Whether no limit follows from it.
  [[nodiscard]] bool empty() const { return read <= 0 && written <= 0; }
};

/// Bandwidths of one thread in bytes per second, each the best of several tries.
struct Bandwidths {
  double read = 0;   ///< of loads
  double write = 0;  ///< of stores
};

/// Bandwidths by the size of the data. Measures a size when first needed, and once more by measure_again(). Other work
/// makes a measurement too small, and nothing makes it too large.
class HostBandwidth {
 public:
  /// Measures the bandwidths for `bytes` of data; nothing: this machine cannot be measured.
  using Measure = std::function<std::optional<Bandwidths>(std::size_t bytes)>;

  /// Share of the time at the measured bandwidth that a call must take. Other work, or a lower clock of the CPU, may
  /// hide part of the true bandwidth.
  static constexpr double margin = 0.5;

  /// `measure` is called when a size is first needed.
  explicit HostBandwidth(Measure measure) : measure_(std::move(measure)) {}

  /// Returns a lower limit of the time that `threads` threads take to read and write `traffic`; nothing: unknown.
  /// Assumes that loads and stores overlap, and that each thread's part may lie in its own caches.
  [[nodiscard]] std::optional<Nanoseconds> least_time(const LeastTraffic& traffic, double threads) {
    const auto read = seconds(traffic.read / threads, &Bandwidths::read);
    const auto written = seconds(traffic.written / threads, &Bandwidths::write);
    if (!read || !written) return std::nullopt;
    return Nanoseconds(margin * 1e9 * std::max(*read, *written));
  }

  /// Measures the sizes of `traffic` again and keeps the larger figures.
  void measure_again(const LeastTraffic& traffic, double threads) {
    const std::size_t of_read = size_for(traffic.read / threads), of_written = size_for(traffic.written / threads);
    measure(of_read);
    if (of_written != of_read) measure(of_written);
  }

 private:
  /// Halves of usual first, second and third level caches, and more than caches hold. Data between two sizes gets the
  /// smaller one's bandwidth, which is higher.
  static constexpr std::size_t sizes[] = {16 << 10, 256 << 10, 4 << 20, 64 << 20};

  [[nodiscard]] static std::size_t size_for(double bytes) {
    std::size_t found = sizes[0];
    for (const std::size_t size : sizes)
      if (static_cast<double>(size) <= bytes) found = size;
    return found;
  }

  std::optional<double> seconds(double bytes, double Bandwidths::* which) {
    if (bytes <= 0) return 0;
    const std::size_t size = size_for(bytes);
    if (!known_.contains(size)) measure(size);
    const auto& found = known_[size];
    return found && (*found).*which > 0 ? std::optional(bytes / ((*found).*which)) : std::nullopt;
  }

  void measure(std::size_t size) {
    const auto found = measure_(size);
    auto& best = known_[size];
    if (!best)
      best = found;
    else if (found)
      best = Bandwidths{std::max(best->read, found->read), std::max(best->write, found->write)};
  }

  Measure measure_;
  std::map<std::size_t, std::optional<Bandwidths>> known_;
};

namespace detail {

#if defined(__x86_64__)
// In assembler, so that no compiler options or vectoriser slow the loops. `bytes` is a multiple of 512, which each step
// divides.

inline void load_all_avx512(const std::byte* from, std::size_t bytes) {
  const std::byte* const end = from + bytes;
  asm volatile(
      "1: vmovups (%0), %%zmm0\n vmovups 64(%0), %%zmm1\n vmovups 128(%0), %%zmm2\n vmovups 192(%0), %%zmm3\n"
      "vmovups 256(%0), %%zmm4\n vmovups 320(%0), %%zmm5\n vmovups 384(%0), %%zmm6\n vmovups 448(%0), %%zmm7\n"
      "add $512, %0\n cmp %1, %0\n jb 1b\n vzeroupper\n"
      : "+r"(from)
      : "r"(end)
      : "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7");
}

inline void store_all_avx512(std::byte* to, std::size_t bytes) {
  std::byte* const end = to + bytes;
  asm volatile(
      "vxorps %%ymm0, %%ymm0, %%ymm0\n"
      "1: vmovups %%zmm0, (%0)\n vmovups %%zmm0, 64(%0)\n vmovups %%zmm0, 128(%0)\n vmovups %%zmm0, 192(%0)\n"
      "vmovups %%zmm0, 256(%0)\n vmovups %%zmm0, 320(%0)\n vmovups %%zmm0, 384(%0)\n vmovups %%zmm0, 448(%0)\n"
      "add $512, %0\n cmp %1, %0\n jb 1b\n vzeroupper\n"
      : "+r"(to)
      : "r"(end)
      : "memory", "cc", "xmm0");
}

inline void load_all_avx2(const std::byte* from, std::size_t bytes) {
  const std::byte* const end = from + bytes;
  asm volatile(
      "1: vmovups (%0), %%ymm0\n vmovups 32(%0), %%ymm1\n vmovups 64(%0), %%ymm2\n vmovups 96(%0), %%ymm3\n"
      "vmovups 128(%0), %%ymm4\n vmovups 160(%0), %%ymm5\n vmovups 192(%0), %%ymm6\n vmovups 224(%0), %%ymm7\n"
      "add $256, %0\n cmp %1, %0\n jb 1b\n vzeroupper\n"
      : "+r"(from)
      : "r"(end)
      : "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7");
}

inline void store_all_avx2(std::byte* to, std::size_t bytes) {
  std::byte* const end = to + bytes;
  asm volatile(
      "vxorps %%ymm0, %%ymm0, %%ymm0\n"
      "1: vmovups %%ymm0, (%0)\n vmovups %%ymm0, 32(%0)\n vmovups %%ymm0, 64(%0)\n vmovups %%ymm0, 96(%0)\n"
      "vmovups %%ymm0, 128(%0)\n vmovups %%ymm0, 160(%0)\n vmovups %%ymm0, 192(%0)\n vmovups %%ymm0, 224(%0)\n"
      "add $256, %0\n cmp %1, %0\n jb 1b\n vzeroupper\n"
      : "+r"(to)
      : "r"(end)
      : "memory", "cc", "xmm0");
}
#endif

}  // namespace detail

/// Measures the calling thread's bandwidths for `bytes` of data, a multiple of 512. Takes a few milliseconds, or 40 for
/// data that no cache holds. `time(body)` must return the time of `body()`. Returns nothing without memory or AVX2.
[[nodiscard]] inline std::optional<Bandwidths> measure_host_bandwidth(
    std::size_t bytes, FunctionRef<Nanoseconds(FunctionRef<void()>)> time) {
#if defined(__x86_64__)
  const bool widest = __builtin_cpu_supports("avx512f") != 0;
  if (!widest && __builtin_cpu_supports("avx2") == 0) return std::nullopt;
  constexpr std::size_t alignment = 4096, pass = 256 << 10;
  const std::unique_ptr<void, decltype(&std::free)> memory(std::aligned_alloc(alignment, bytes), &std::free);
  if (memory == nullptr) return std::nullopt;
  auto* const data = static_cast<std::byte*>(memory.get());
  std::memset(data, 1, bytes);  // causes the page faults
  const std::size_t passes = std::max<std::size_t>(1, pass / bytes);
  constexpr Nanoseconds most = std::chrono::milliseconds(2);
  const auto rate = [&](auto&& one_pass) {
    Nanoseconds fastest = Nanoseconds::max(), spent{};
    for (int i = 0; i < 2 || (i < 100 && spent < most); ++i) {
      const Nanoseconds took = time([&] {
        for (std::size_t j = 0; j < passes; ++j) one_pass();
      });
      fastest = std::min(fastest, took);
      spent += took;
    }
    return fastest.count() > 0 ? static_cast<double>(passes * bytes) / fastest.count() * 1e9 : 0;
  };
  Bandwidths found;
  found.read = rate([&] { widest ? detail::load_all_avx512(data, bytes) : detail::load_all_avx2(data, bytes); });
  found.write =
      std::max(rate([&] { widest ? detail::store_all_avx512(data, bytes) : detail::store_all_avx2(data, bytes); }),
               // For large sizes, the C library's version has stores that bypass the caches.
               rate([&] {
                 std::memset(data, 2, bytes);
                 asm volatile("" : : "r"(data) : "memory");
               }));
  return found;
#else
  (void)bytes;
  (void)time;
  return std::nullopt;
#endif
}

}  // namespace pace::timing
