// What the kernel says of the machine. Files that are missing or unreadable leave their figure empty.
#pragma once

#include <sched.h>
#include <sys/personality.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace pace::report::machine {

/// The first line of a file; empty if there is none.
[[nodiscard]] inline std::optional<std::string> first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

/// The number that `text` starts with, after blanks.
template <class Number>
[[nodiscard]] std::optional<Number> leading_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  Number number{};
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc()) return std::nullopt;
  return number;
}

/// The value of the first `key : value` line of a file such as /proc/cpuinfo.
[[nodiscard]] inline std::optional<std::string> value_of(const std::string& path, std::string_view key) {
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

[[nodiscard]] inline std::string uname_machine() {
  utsname names{};
  return ::uname(&names) == 0 ? names.machine : "";
}

/// Such as "Linux 6.1.0-18-amd64 x86_64".
[[nodiscard]] inline std::string kernel() {
  utsname names{};
  if (::uname(&names) != 0) return "";
  return std::string(names.sysname) + ' ' + names.release + ' ' + names.machine;
}

[[nodiscard]] inline std::string hostname() {
  utsname names{};
  return ::uname(&names) == 0 ? names.nodename : "";
}

/// The functions below read under `root`, which is "" but for tests.

/// x86 says "model name"; ARM boards name themselves in the device tree, or not at all.
[[nodiscard]] inline std::string cpu(const std::string& root) {
  if (auto name = value_of(root + "/proc/cpuinfo", "model name")) return *name;
  if (auto name = first_line(root + "/proc/device-tree/model")) return name->substr(0, name->find('\0'));
  return uname_machine();
}

/// Cores that this process may run on.
[[nodiscard]] inline unsigned cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0) return static_cast<unsigned>(CPU_COUNT(&allowed));
  return std::thread::hardware_concurrency();
}

/// Cores' worth of time that a container grants (cgroup v2); empty if it is not limited.
[[nodiscard]] inline std::optional<double> cpu_quota(const std::string& root) {
  const auto line = first_line(root + "/sys/fs/cgroup/cpu.max");
  if (!line) return std::nullopt;
  const auto quota = leading_number<double>(*line);
  const auto period = leading_number<double>(std::string_view(*line).substr(std::min(line->find(' '), line->size())));
  if (!quota || !period || *period <= 0) return std::nullopt;
  return *quota / *period;
}

/// Such as "performance" or "powersave"; empty where the kernel does not set the frequency (most virtual machines).
[[nodiscard]] inline std::string governor(const std::string& root) {
  return first_line(root + "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").value_or("");
}

[[nodiscard]] inline std::optional<bool> turbo(const std::string& root) {
  const std::string cpus = root + "/sys/devices/system/cpu/";
  if (const auto off = first_line(cpus + "intel_pstate/no_turbo")) return *off == "0";
  if (const auto on = first_line(cpus + "cpufreq/boost")) return *on == "1";
  return std::nullopt;
}

/// Whether addresses differ from run to run, which moves code and data against cache lines and pages.
[[nodiscard]] inline std::optional<bool> aslr(const std::string& root) {
  const auto setting = first_line(root + "/proc/sys/kernel/randomize_va_space");
  if (!setting) return std::nullopt;
  constexpr unsigned long only_ask = 0xffffffff;
  const int persona = ::personality(only_ask);
  const bool switched_off_here = persona >= 0 && (persona & ADDR_NO_RANDOMIZE) != 0;
  return *setting != "0" && !switched_off_here;
}

/// Mean number of runnable threads over the last minute.
[[nodiscard]] inline std::optional<double> load(const std::string& root) {
  const auto line = first_line(root + "/proc/loadavg");
  return line ? leading_number<double>(*line) : std::nullopt;
}

/// 0 if unknown.
[[nodiscard]] inline std::uint64_t memory_bytes(const std::string& root) {
  const auto value = value_of(root + "/proc/meminfo", "MemTotal");
  constexpr std::uint64_t kibibyte = 1024;
  return value ? leading_number<std::uint64_t>(*value).value_or(0) * kibibyte : 0;
}

}  // namespace pace::report::machine
