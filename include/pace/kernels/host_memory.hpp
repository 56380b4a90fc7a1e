// HostMemory: the bandwidth of this machine's memory, measured with more data than the caches hold.
#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>

#include <unistd.h>

#include <ATen/core/Tensor.h>
#include <ATen/ops/add.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/sum.h>

#include "pace/base/units.hpp"

namespace pace::kernel {

/// Measured bandwidths of the host's memory in bytes per second, each the best of a few tries. Bytes are counted as by
/// STREAM (J. D. McCalpin, "Memory bandwidth and machine balance in current high performance computers", 1995): lines
/// that a cache reads before they are overwritten do not count.
struct HostMemory {
  double copy = 0;  ///< read and written by a copy
  double add = 0;   ///< read and written by the sum of two arrays into a third
  double read = 0;  ///< read by the sum of all elements of an array

  /// The largest of the bandwidths.
  [[nodiscard]] double most() const { return std::max({copy, add, read}); }
};

namespace detail {

/// Returns the bytes of a cache size as Linux writes it, such as `32768K`; 0 for any other text.
[[nodiscard]] inline std::int64_t cache_bytes(const std::string& text) {
  std::int64_t bytes = 0;
  std::size_t at = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) bytes = 10 * bytes + (text[at] - '0');
  if (at < text.size() && text[at] == 'K') bytes <<= 10;
  if (at < text.size() && text[at] == 'M') bytes <<= 20;
  return bytes;
}

}  // namespace detail

/// Returns the size in bytes of the largest cache of the first processor; 32 MiB where the system does not report it.
/// `root` is prepended to the paths of files, for tests.
[[nodiscard]] inline std::int64_t last_level_cache_bytes(const std::string& root = "") {
  std::int64_t most = 0;
  for (int index = 0; index < 8; ++index) {
    std::ifstream file(root + "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/size");
    std::string text;
    if (std::getline(file, text)) most = std::max(most, detail::cache_bytes(text));
  }
  constexpr std::int64_t usual = 32 << 20;
  return most > 0 ? most : usual;
}

/// Measures the bandwidths by LibTorch's own loops, on as many threads as it uses. Three arrays have four times `cache`
/// bytes together (at least 192 MiB, at most 1.5 GiB). `clock.time(body)` must return the time of `body()`.
template <class Clock>
[[nodiscard]] HostMemory measure_host_memory(Clock& clock, std::int64_t cache = last_level_cache_bytes()) {
  constexpr std::int64_t least = std::int64_t{64} << 20, most = std::int64_t{512} << 20;
  const std::int64_t bytes = std::clamp(4 * cache / 3, least, most);
  const std::int64_t elements = bytes / static_cast<std::int64_t>(sizeof(float));
  at::Tensor a = at::ones({elements}), b = at::ones({elements}), c = at::empty({elements}), total = at::empty({});
  const auto rate = [&](double arrays, auto&& body) {
    body();  // the first call causes the page faults
    Nanoseconds fastest = Nanoseconds::max();
    for (int i = 0; i < 5; ++i) fastest = std::min<Nanoseconds>(fastest, clock.time(body));
    return arrays * static_cast<double>(a.nbytes()) / fastest.count() * 1e9;
  };
  HostMemory memory;
  memory.copy = rate(2, [&] { c.copy_(a); });
  memory.add = rate(3, [&] { at::add_out(c, a, b); });
  memory.read = rate(1, [&] { at::sum_out(total, a, at::OptionalIntArrayRef()); });
  return memory;
}

}  // namespace pace::kernel
