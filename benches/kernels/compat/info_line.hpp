// One line about a kernel's bandwidth, as Inductor prints it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "pace/base/c_numbers.hpp"
#include "pace/kernels/category.hpp"

namespace pace::benches::kernels::compat {

namespace detail {

/// As printf, into a string.
[[nodiscard, gnu::format(printf, 1, 2)]] inline std::string print(const char* format, ...) {
  std::array<char, 512> text{};
  std::va_list arguments;
  va_start(arguments, format);
  const CNumbers c_numbers;
  const int length = std::vsnprintf(text.data(), text.size(), format, arguments);
  va_end(arguments);
  return {text.data(), static_cast<std::size_t>(std::clamp(length, 0, static_cast<int>(text.size()) - 1))};
}

}  // namespace detail

/// The fields of a line. `milliseconds` of 0 has no bandwidth.
struct InfoLine {
  double milliseconds = 0, gigabytes = 0;
  /// Only told if all three are known.
  std::optional<std::int64_t> registers = {}, spills = {}, shared_bytes = {};

  [[nodiscard]] double gigabytes_per_second() const { return gigabytes / (milliseconds / 1e3); }
};

/// It takes longer than its launch, and reaches less than a third of the memory's bandwidth: the original's rule, made
/// for an A100.
[[nodiscard]] inline bool is_slow(const InfoLine& info) {
  return info.milliseconds > 0.012 && info.gigabytes_per_second() < 650;
}

/// `{prefix}0.123ms    \t1.234 GB \t 1234.56GB/s{registers, spills, shared memory}{suffix}`, red if it is slow and
/// `colour`.
[[nodiscard]] inline std::string info_line(const InfoLine& info, const std::string& prefix = {},
                                           const std::string& suffix = {}, bool colour = true) {
  std::string line = prefix + detail::print("%.3fms    \t%.3f GB \t %7.2fGB/s", info.milliseconds, info.gigabytes,
                                            info.gigabytes_per_second());
  if (info.registers && info.spills && info.shared_bytes)
    line += detail::print("  %3lld regs  %3lld spills  %8lld shared mem", static_cast<long long>(*info.registers),
                          static_cast<long long>(*info.spills), static_cast<long long>(*info.shared_bytes));
  line += suffix;
  return colour && is_slow(info) ? "\033[31m" + line + "\033[39m" : line;
}

/// The beginning of a kernel's line: the benchmark's name, the category's letters, the first ten of the kernel's key.
[[nodiscard]] inline std::string description(const std::string& benchmark, kernel::Category category,
                                             std::string_view key) {
  return detail::print("%-20s ", benchmark.c_str()) + std::string(kernel::abbreviation(category)) + ' ' +
         std::string(key.substr(0, 10));
}

/// The line of one configuration among all of a kernel; `printed`: as Triton prints it. One that was not run takes
/// infinitely long.
[[nodiscard]] inline std::string configuration_line(const InfoLine& info, const std::string& printed,
                                                    bool colour = true) {
  return "  " + info_line(info, {}, {}, colour) + " @ " + printed;
}

}  // namespace pace::benches::kernels::compat
