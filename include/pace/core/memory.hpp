// How much memory is left on this machine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <optional>

namespace pace {

namespace detail {

/// What `format` (one %lld) finds at the start of a line of `file`; none if there is no such line or file.
[[nodiscard]] inline std::optional<std::int64_t> number_in(const char* file, const char* format) {
  std::FILE* const stream = std::fopen(file, "r");
  if (stream == nullptr) return std::nullopt;
  char line[256];
  long long number = 0;
  bool found = false;
  while (!found && std::fgets(line, sizeof line, stream) != nullptr) found = std::sscanf(line, format, &number) == 1;
  std::fclose(stream);
  return found ? std::optional<std::int64_t>(number) : std::nullopt;
}

}  // namespace detail

/// Bytes that can still be allocated without swapping: the smaller of the kernel's MemAvailable and what is left under
/// the control group's limit (version 2). None where neither can be read.
template <class Bytes = std::int64_t>
[[nodiscard]] std::optional<Bytes> available_memory() {
  std::optional<Bytes> available;
  if (const auto kibibytes = detail::number_in("/proc/meminfo", "MemAvailable: %lld")) available = *kibibytes * 1024;
  // "max" where there is no limit, which is no number, as intended.
  const auto limit = detail::number_in("/sys/fs/cgroup/memory.max", "%lld");
  const auto used = detail::number_in("/sys/fs/cgroup/memory.current", "%lld");
  if (limit && used) available = std::min(available.value_or(std::numeric_limits<std::int64_t>::max()), *limit - *used);
  return available;
}

}  // namespace pace
