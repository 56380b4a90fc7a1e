// What the kernel says of the machine. Files that are missing or unreadable leave their figure empty.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "pace/core/config.hpp"

namespace pace::report::machine {

/// The first line of a file; empty if there is none.
[[nodiscard]] std::optional<std::string> first_line(const std::string& path);

/// The number that `text` starts with, after blanks.
template <class Number>
[[nodiscard]] std::optional<Number> leading_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  Number number{};
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc()) return std::nullopt;
  return number;
}

/// The value of the first `key : value` line of a file such as /proc/cpuinfo.
[[nodiscard]] std::optional<std::string> value_of(const std::string& path, std::string_view key);

[[nodiscard]] std::string uname_machine();

/// Such as "Linux 6.1.0-18-amd64 x86_64".
[[nodiscard]] std::string kernel();

[[nodiscard]] std::string hostname();

/// The functions below read under `root`, which is "" but for tests.

/// x86 says "model name"; ARM boards name themselves in the device tree, or not at all.
[[nodiscard]] std::string cpu(const std::string& root);

/// Cores that this process may run on.
[[nodiscard]] unsigned cores();

/// Cores' worth of time that a container grants (cgroup v2); empty if it is not limited.
[[nodiscard]] std::optional<double> cpu_quota(const std::string& root);

/// Such as "performance" or "powersave"; empty where the kernel does not set the frequency (most virtual machines).
[[nodiscard]] std::string governor(const std::string& root);

[[nodiscard]] std::optional<bool> turbo(const std::string& root);

/// Whether addresses differ from run to run, which moves code and data against cache lines and pages.
[[nodiscard]] std::optional<bool> aslr(const std::string& root);

/// Mean number of runnable threads over the last minute.
[[nodiscard]] std::optional<double> load(const std::string& root);

/// 0 if unknown.
[[nodiscard]] std::uint64_t memory_bytes(const std::string& root);

}  // namespace pace::report::machine

#ifdef PACE_HEADER_ONLY
#include "pace/report/machine-inl.hpp"
#endif
