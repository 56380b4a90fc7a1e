// How much memory is left on this machine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

namespace pace {

/// Bytes that can still be allocated without swapping: the smaller of the kernel's MemAvailable and what is left under
/// the control group's limit (version 2). None where neither can be read.
[[nodiscard]] inline std::optional<std::int64_t> available_memory() {
  std::optional<std::int64_t> available;
  std::ifstream meminfo("/proc/meminfo");
  for (std::string key, unit; meminfo >> key;) {
    std::int64_t kibibytes = 0;
    if (key == "MemAvailable:" && meminfo >> kibibytes) {
      available = kibibytes * 1024;
      break;
    }
    std::getline(meminfo, unit);
  }
  std::int64_t limit = 0, used = 0;
  // "max" where there is no limit, which fails to parse as a number, as intended.
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit && std::ifstream("/sys/fs/cgroup/memory.current") >> used)
    available = std::min(available.value_or(std::numeric_limits<std::int64_t>::max()), limit - used);
  return available;
}

}  // namespace pace
