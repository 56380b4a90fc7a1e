// available_memory: how much memory this process can still allocate. limit_on_data: how much its like may.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>

namespace pace {

namespace detail {

/// The number that scanf's `format`, with one %lld, reads at the start of a line of `file`. Nothing if no line matches
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

/// Bytes left by the limits of this process's control group and those around it (version 2); nothing without a limit.
/// In a container, its group is the outermost one.
[[nodiscard]] inline std::optional<std::int64_t> left_in_control_groups() {
  std::ifstream file("/proc/self/cgroup");
  std::string line, group;
  while (std::getline(file, line))
    if (line.starts_with("0::/")) group = line.substr(3);
  std::optional<std::int64_t> left;
  while (true) {
    const std::string folder = "/sys/fs/cgroup" + group;
    // Without a limit, the file says "max", which does not read as a number.
    const auto limit = number_in((folder + "/memory.max").c_str(), "%lld");
    const auto used = number_in((folder + "/memory.current").c_str(), "%lld");
    // Cached files count as used until something needs their memory.
    const auto files = number_in((folder + "/memory.stat").c_str(), "inactive_file %lld");
    if (limit && used) left = std::min(left.value_or(*limit), *limit - *used + files.value_or(0));
    if (group.empty()) return left;
    group.resize(group.find_last_of('/'));
  }
}

/// Bytes left by a limit on the address space (`ulimit -v`); nothing without one.
[[nodiscard]] inline std::optional<std::int64_t> left_of_address_space() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  const auto pages = number_in("/proc/self/statm", "%lld");
  if (!pages) return std::nullopt;
  return static_cast<std::int64_t>(limit.rlim_cur) - *pages * ::sysconf(_SC_PAGESIZE);
}

/// Bytes of data that this process has, touched or not, as a limit on data counts them.
[[nodiscard]] inline std::optional<std::int64_t> reserved_data() {
  const auto kibibytes = number_in("/proc/self/status", "VmData: %lld");
  return kibibytes ? std::optional(*kibibytes * 1024) : std::nullopt;
}

}  // namespace detail

/// Returns the bytes that can be allocated without swapping: the smallest of the kernel's MemAvailable and the rest of
/// the limits on control groups (version 2) and on the address space. Nothing if none can be read.
template <class Bytes = std::int64_t>
[[nodiscard]] std::optional<Bytes> available_memory() {
  std::optional<Bytes> available;
  if (const auto kibibytes = detail::number_in("/proc/meminfo", "MemAvailable: %lld")) available = *kibibytes * 1024;
  for (const auto& left : {detail::left_in_control_groups(), detail::left_of_address_space()})
    if (left) available = std::min<Bytes>(available.value_or(*left), std::max<Bytes>(*left, 0));
  return available;
}

/// Returns the bytes of data (RLIMIT_DATA) to allow a process that runs this program: those that are `available`.
/// Nothing if these are unknown, or if this process has `reserved` more, so that nothing could be allocated: a
/// sanitizer reserves terabytes that it never touches.
[[nodiscard]] inline std::optional<std::int64_t> limit_on_data(
    std::optional<std::int64_t> available = available_memory(),
    std::optional<std::int64_t> reserved = detail::reserved_data()) {
  return available && reserved.value_or(0) < *available ? available : std::nullopt;
}

}  // namespace pace
