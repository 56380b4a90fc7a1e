// The bytes that memory moved for each kernel, by the GPU's own counters, which Nsight Compute reads.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "benches/kernels/ncu.hpp"
#include "pace/base/c_numbers.hpp"
#include "pace/base/error.hpp"
#include "pace/kernels/report.hpp"
#include "pace/report/csv_text.hpp"

namespace pace::benches::kernels {

struct CountedKernel {
  std::string symbol;
  double bytes = 0;
};

namespace detail {

inline constexpr std::array<const char*, 2> moved_bytes{"dram__bytes_read.sum", "dram__bytes_write.sum"};

/// `4,295,040,768`.
[[nodiscard]] inline double read_count(std::string text, const std::string& where) {
  std::erase(text, ',');
  char* end = nullptr;
  const CNumbers c_numbers;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') throw InputError({where}, "expected a number of bytes, found '" + text + '\'');
  return number;
}

}  // namespace detail

/// The counts of Nsight Compute.
[[nodiscard]] inline NcuOptions ncu_options_of_counters() {
  return {.kernel_regex = "", .metrics = std::string(detail::moved_bytes[0]) + ',' + detail::moved_bytes[1]};
}

/// Prints its report as CSV.
[[nodiscard]] inline std::vector<std::string> read_counts_command(const std::string& report) {
  return {"ncu",     "--import", report, "--page", "raw", "--print-units", "base", "--print-kernel-base",
          "mangled", "--csv"};
}

/// Reads that command's output: a line of names, one of units, then one for each kernel. Other lines are skipped.
/// Throws InputError for text that has no such lines.
[[nodiscard]] inline std::vector<CountedKernel> read_counts(std::string_view printed) {
  const std::string where = "Nsight Compute's report";
  std::string csv;
  for (std::size_t begin = 0; begin < printed.size();) {
    const std::size_t end = std::min(printed.find('\n', begin), printed.size());
    const std::string_view line = printed.substr(begin, end - begin);
    if (line.starts_with('"')) csv += std::string(line) + '\n';
    begin = end + 1;
  }
  const auto table = report::parse_csv(csv, where);
  const std::size_t symbol = table.require_column("Kernel Name");
  for (const char* const each : detail::moved_bytes) static_cast<void>(table.require_column(each));
  std::vector<CountedKernel> kernels;
  for (std::size_t row = 1; row < table.rows.size(); ++row) {
    auto& kernel = kernels.emplace_back(CountedKernel{table.text(row, symbol)});
    for (const char* const each : detail::moved_bytes) kernel.bytes += detail::read_count(table.text(row, each), where);
  }
  return kernels;
}

/// Gives the report's kernels the counts of the last run that has all of them in order. Returns the error; empty if
/// there is none.
[[nodiscard]] inline std::string give_counts(kernel::KernelReport& report, const std::vector<CountedKernel>& counted) {
  auto& kernels = report.kernels;
  const auto last = std::ranges::find_end(counted, kernels, {}, &CountedKernel::symbol, &kernel::Kernel::symbol);
  if (last.empty())
    return "no bytes are taken from Nsight Compute; why: its kernels (" + std::to_string(counted.size()) +
           ") or their order differ from the call's (" + std::to_string(kernels.size()) + ")";
  auto from = last.begin();
  for (auto& kernel : kernels) kernel.counted_bytes = (from++)->bytes;
  return "";
}

}  // namespace pace::benches::kernels
