// One column of several files side by side, and their means: torchbench's join_results and summarize_perf.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "benches/models/driver/summary.hpp"
#include "pace/base/error.hpp"
#include "pace/base/format.hpp"
#include "pace/report/csv_text.hpp"
#include "pace/stats/mean.hpp"

namespace pace::benches::models {

/// A row for each device and model of any file, in the order of first appearance, with a column for each file, named
/// like it. Missing values are 0. A row that is 0 everywhere is left out. A file that names back ends has a column for
/// each. Throws InputError where a file has no such field, and where two are named alike.
[[nodiscard]] inline report::CsvTable join_results(const std::vector<report::CsvTable>& files,
                                                   const std::string& field) {
  report::CsvTable joined{.header = {"dev", "name"}};
  std::map<std::string, std::string> files_by_stem;
  for (const auto& file : files) {
    for (const char* column : {"name", field.c_str()}) (void)file.require_column(column);
    const std::string stem = std::filesystem::path(file.file).stem().string();
    if (const auto [other, is_new] = files_by_stem.try_emplace(stem, file.file); !is_new)
      throw InputError({file.file}, "its columns would be named like the columns of " + other->second +
                                        "; expected files of different names");
    for (std::size_t i = 0; i < file.rows.size(); ++i) {
      const std::string tag = file.text(i, "tag"), backend = file.text(i, "backend");
      const std::string title = stem + (tag.empty() ? "" : ':' + tag) + (backend.empty() ? "" : ':' + backend);
      if (!joined.column(title)) joined.header.push_back(title);
      const std::string device = file.text(i, "dev"), name = file.text(i, "name");
      const auto row =
          std::ranges::find_if(joined.rows, [&](const auto& each) { return each[0] == device && each[1] == name; });
      auto& fields = row == joined.rows.end() ? joined.rows.emplace_back(std::vector<std::string>{device, name}) : *row;
      fields.resize(std::max(fields.size(), joined.header.size()), "0");
      fields[*joined.column(title)] = file.text(i, field);
    }
  }
  for (auto& row : joined.rows) row.resize(joined.header.size(), "0");
  std::vector<std::vector<std::string>> kept;
  for (std::size_t i = 0; i < joined.rows.size(); ++i) {
    bool any = false;
    for (std::size_t column = 2; column < joined.header.size(); ++column) {
      const auto number = joined.number(i, joined.header[column]);
      any = any || !number || *number != 0;
    }
    if (any) kept.push_back(joined.rows[i]);
  }
  joined.rows = std::move(kept);
  return joined;
}

/// A line for each file: how many of its models ran, geometric mean of their speed-ups, means of compile time, of
/// compiled peak memory and of the ratio of memory. `-` where a file has no such column.
inline void summarize_performance(const std::vector<report::CsvTable>& files, std::ostream& out) {
  report::CsvTable lines{.header = {"file", "models", "ran", "speedup", "compile_s", "peak_GB", "memory_ratio"}};
  for (const auto& file : files) {
    (void)file.require_column("speedup");
    const auto values = [&](const char* column) {
      std::vector<double> all;
      for (std::size_t i = 0; i < file.rows.size(); ++i)
        if (const auto number = file.number(i, column); number && !detail::did_not_run(file, i)) all.push_back(*number);
      return all;
    };
    const auto mean = [&](const char* column, const char* unit) {
      const auto all = values(column);
      return all.empty() ? "-" : format_fixed(stats::mean_of(all), 2) + unit;
    };
    const auto speedups = values("speedup");
    lines.rows.push_back({std::filesystem::path(file.file).stem().string(), std::to_string(file.rows.size()),
                          std::to_string(speedups.size()),
                          speedups.empty() ? "-" : format_fixed(stats::geometric_mean_of(speedups), 2) + 'x',
                          mean("compilation_latency", ""), mean("dynamo_peak_mem", ""),
                          mean("compression_ratio", "x")});
  }
  detail::print_rows(lines, out);
}

}  // namespace pace::benches::models
