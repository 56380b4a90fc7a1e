// Facts of the machine that the kernel reports. A file that is missing or unreadable leaves its figure empty.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "pace/base/config.hpp"

namespace pace::report::machine {

/// Returns the first line of a file; none if the file cannot be read or is empty.
[[nodiscard]] std::optional<std::string> first_line(const std::string& path);

/// Returns the number that `text` starts with, after blanks; none if it starts otherwise.
template <class Number>
[[nodiscard]] std::optional<Number> leading_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  Number number{};
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc()) return std::nullopt;
  return number;
}

/// Returns the value of the first `key : value` line of a file such as /proc/cpuinfo; none if there is no such line.
[[nodiscard]] std::optional<std::string> value_of(const std::string& path, std::string_view key);

/// Architecture as `uname -m` prints it, such as `x86_64`.
[[nodiscard]] std::string uname_machine();

/// Such as "Linux 6.1.0-18-amd64 x86_64".
[[nodiscard]] std::string kernel();

// The functions below read files under `root`, which is empty except in tests.

/// Name of the machine: the first line of /run/pace/machine, where there is one, else the host's name. Sandboxes of
/// remote execution give every host one name; that file is where a worker keeps its own.
[[nodiscard]] std::string hostname(const std::string& root);

/// Name of the processor: "model name" of /proc/cpuinfo on x86, the board's entry in the device tree on ARM, else
/// the architecture.
[[nodiscard]] std::string cpu(const std::string& root);

/// Cores that this process may run on.
[[nodiscard]] unsigned cores();

/// Cores' worth of time that a container grants (cgroup v2); empty if it is not limited.
[[nodiscard]] std::optional<double> cpu_quota(const std::string& root);

/// Such as "performance" or "powersave"; empty where the kernel does not set the frequency (most virtual machines).
[[nodiscard]] std::string governor(const std::string& root);

/// Whether cores may exceed their nominal frequency.
[[nodiscard]] std::optional<bool> turbo(const std::string& root);

/// Whether addresses differ from run to run, which moves code and data against cache lines and pages.
[[nodiscard]] std::optional<bool> aslr(const std::string& root);

/// Mean number of runnable threads over the last minute.
[[nodiscard]] std::optional<double> load(const std::string& root);

/// Memory of the machine in bytes; 0 if it is not known.
[[nodiscard]] std::uint64_t memory_bytes(const std::string& root);

}  // namespace pace::report::machine

#ifdef PACE_HEADER_ONLY
#include "pace/report/machine-inl.hpp"
#endif
