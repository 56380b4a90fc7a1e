// available_memory: how much memory this process can still allocate.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <optional>

namespace pace {

namespace detail {

/// The number that scanf's `format`, with one %lld, reads at the start of a line of `file`; nothing if no line matches
/// or there is no such file.
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

/// Returns the bytes that can be allocated without swapping: the smaller of the kernel's MemAvailable and the rest of
/// the limit of the control group (version 2); nothing if neither can be read.
template <class Bytes = std::int64_t>
[[nodiscard]] std::optional<Bytes> available_memory() {
  std::optional<Bytes> available;
  if (const auto kibibytes = detail::number_in("/proc/meminfo", "MemAvailable: %lld")) available = *kibibytes * 1024;
  // Where there is no limit, the file holds "max", which is not read as a number.
  const auto limit = detail::number_in("/sys/fs/cgroup/memory.max", "%lld");
  const auto used = detail::number_in("/sys/fs/cgroup/memory.current", "%lld");
  if (limit && used) available = std::min(available.value_or(std::numeric_limits<std::int64_t>::max()), *limit - *used);
  return available;
}

}  // namespace pace
