// Refuses inputs that do not fit in memory before they are allocated: the kernel kills a process that finds out later.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "pace/base/c_numbers.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::operators {

namespace detail {

[[nodiscard]] inline std::string gibibytes(std::int64_t bytes) {
  char text[32];
  const CNumbers c_numbers;
  std::snprintf(text, sizeof text, "%.2f GiB", static_cast<double>(bytes) / (1 << 30));
  return text;
}

}  // namespace detail

/// Throws `Unsupported` unless `bytes` can be allocated where `available` bytes are left (none: not known, so anything
/// goes; see available_memory_on). A twentieth is left alone: for small
/// tensors besides, and for other programs of the machine.
inline void require_memory(std::int64_t bytes, const std::string& what, std::optional<std::int64_t> available) {
  if (!available || bytes <= *available - *available / 20) return;
  throw Unsupported("not enough memory for " + what + ": " + detail::gibibytes(bytes) + " needed, " +
                    detail::gibibytes(*available) + " available");
}

}  // namespace pace::benches::operators
