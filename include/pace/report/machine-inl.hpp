// Definitions of machine.hpp; see base/config.hpp.
#pragma once

#include <sched.h>
#include <sys/personality.h>
#include <sys/utsname.h>
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "pace/report/machine.hpp"

namespace pace::report::machine {

PACE_INLINE std::optional<std::string> first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

PACE_INLINE std::optional<std::string> value_of(const std::string& path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const auto key_end = line.find_last_not_of(" \t", colon == 0 ? 0 : colon - 1);
    if (key_end == std::string::npos || std::string_view(line).substr(0, key_end + 1) != key) continue;
    const auto start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? std::string() : line.substr(start);
  }
  return std::nullopt;
}

PACE_INLINE std::string uname_machine() {
  utsname names{};
  return ::uname(&names) == 0 ? names.machine : "";
}

PACE_INLINE std::string kernel() {
  utsname names{};
  if (::uname(&names) != 0) return "";
  return std::string(names.sysname) + ' ' + names.release + ' ' + names.machine;
}

PACE_INLINE std::string hostname(const std::string& root) {
  if (auto name = first_line(root + "/run/pace/machine"); name && !name->empty()) return *name;
  utsname names{};
  return ::uname(&names) == 0 ? names.nodename : "";
}

PACE_INLINE std::string cpu(const std::string& root) {
  if (auto name = value_of(root + "/proc/cpuinfo", "model name")) return *name;
  if (auto name = first_line(root + "/proc/device-tree/model")) return name->substr(0, name->find('\0'));
  return uname_machine();
}

PACE_INLINE unsigned cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0) return static_cast<unsigned>(CPU_COUNT(&allowed));
  return std::thread::hardware_concurrency();
}

PACE_INLINE std::optional<double> cpu_quota(const std::string& root) {
  const auto line = first_line(root + "/sys/fs/cgroup/cpu.max");
  if (!line) return std::nullopt;
  const auto quota = leading_number<double>(*line);
  const auto period = leading_number<double>(std::string_view(*line).substr(std::min(line->find(' '), line->size())));
  if (!quota || !period || *period <= 0) return std::nullopt;
  return *quota / *period;
}

PACE_INLINE std::string governor(const std::string& root) {
  return first_line(root + "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").value_or("");
}

PACE_INLINE std::optional<bool> turbo(const std::string& root) {
  const std::string cpus = root + "/sys/devices/system/cpu/";
  if (const auto off = first_line(cpus + "intel_pstate/no_turbo")) return *off == "0";
  if (const auto on = first_line(cpus + "cpufreq/boost")) return *on == "1";
  return std::nullopt;
}

PACE_INLINE std::optional<bool> aslr(const std::string& root) {
  const auto setting = first_line(root + "/proc/sys/kernel/randomize_va_space");
  if (!setting) return std::nullopt;
  constexpr unsigned long only_ask = 0xffffffff;
  const int persona = ::personality(only_ask);
  const bool switched_off_here = persona >= 0 && (persona & ADDR_NO_RANDOMIZE) != 0;
  return *setting != "0" && !switched_off_here;
}

PACE_INLINE std::optional<double> load(const std::string& root) {
  const auto line = first_line(root + "/proc/loadavg");
  return line ? leading_number<double>(*line) : std::nullopt;
}

PACE_INLINE std::uint64_t memory_bytes(const std::string& root) {
  const auto value = value_of(root + "/proc/meminfo", "MemTotal");
  constexpr std::uint64_t kibibyte = 1024;
  return value ? leading_number<std::uint64_t>(*value).value_or(0) * kibibyte : 0;
}

}  // namespace pace::report::machine
