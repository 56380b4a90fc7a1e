// A folder of result files, by suite, type, mode, device and compiler, as torchbench's dashboard sums it up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "pace/core/error.hpp"
#include "pace/core/format.hpp"
#include "pace/families/models/driver/result_csv.hpp"
#include "pace/report/csv_table.hpp"
#include "pace/stats/mean.hpp"

namespace pace::families::models {

/// What a file's name says: `{compiler}_{suite}_{dtype}_{mode}_{device}_{performance|accuracy}.csv`.
struct DashboardKey {
  std::string dtype, mode, device, suite, compiler;
  auto operator<=>(const DashboardKey&) const = default;

  /// All but suite and compiler, which are rows and columns of a table.
  [[nodiscard]] std::string table() const { return dtype + ' ' + mode + ' ' + device; }
};

/// The two halves of one such run.
struct DashboardRun {
  std::optional<report::CsvTable> performance, accuracy;
};
using DashboardRuns = std::map<DashboardKey, DashboardRun>;

struct DashboardOptions {
  /// Slow-downs count as they are; else as 1, for one would not compile such a model.
  bool include_slowdowns = false;
};

/// A model that is worse than a threshold in a metric.
struct DashboardWarning {
  DashboardKey key;
  std::string metric, model, value;
  [[nodiscard]] auto identity() const { return std::tie(key, metric, model); }
};

/// What a run comes to.
struct DashboardFigures {
  std::size_t passing = 0, total = 0;
  std::string geomean, pass_rate, compile_time, memory;
  std::vector<DashboardWarning> warnings;
};

/// The key of a file's name, and whether it is of accuracy; none for other files.
[[nodiscard]] inline std::optional<std::pair<DashboardKey, bool>> dashboard_key(const std::string& file_name) {
  static const std::regex pattern(
      "(.+)_(torchbench|huggingface|timm_models|timm)_([a-z0-9]+|as_made)_(training|inference)_([a-z0-9:]+)_"
      "(performance|accuracy)\\.csv");
  std::smatch match;
  if (!std::regex_match(file_name, match, pattern)) return std::nullopt;
  return std::pair{DashboardKey{.dtype = match[3], .mode = match[4], .device = match[5], .suite = match[2],
                                .compiler = match[1]},
                   match[6] == "accuracy"};
}

/// All files of a folder that are named so. Throws InputError if there is none.
[[nodiscard]] inline DashboardRuns read_dashboard(const std::string& folder) {
  DashboardRuns runs;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const auto key = dashboard_key(entry.path().filename().string());
    if (!key) continue;
    auto& run = runs[key->first];
    (key->second ? run.accuracy : run.performance) = report::read_csv(entry.path().string());
  }
  if (error) throw InputError({folder}, "cannot be read: " + error.message() + "; expected a folder of result files");
  if (runs.empty())
    throw InputError({folder}, "holds no result files; expected names such as "
                               "aot_inductor_torchbench_float32_inference_cpu_performance.csv");
  return runs;
}

/// Models whose accuracy did not pass have a speed-up of 0, and those that did not even load are left out. What passes
/// is what has a speed-up then. A run without a file of accuracy is taken as it is.
[[nodiscard]] inline DashboardFigures dashboard_figures(const DashboardKey& key, const DashboardRun& run,
                                                        const DashboardOptions& options) {
  DashboardFigures figures;
  std::map<std::string, std::string> status;
  if (run.accuracy) {
    (void)run.accuracy->require_column("accuracy");
    for (std::size_t i = 0; i < run.accuracy->rows.size(); ++i)
      status[run.accuracy->text(i, "name")] = run.accuracy->text(i, "accuracy");
  }
  const auto warn = [&](const char* metric, const std::string& model, const std::string& value) {
    figures.warnings.push_back({key, metric, model, value});
  };
  const auto failed_to_load = [&](const std::string& model) {
    const auto found = status.find(model);
    return found != status.end() && (found->second == "model_fail_to_load" || found->second == "eager_fail_to_run");
  };
  for (const auto& [model, each] : status)
    if (!failed_to_load(model) && each.find("pass") == std::string::npos) warn("accuracy", model, each);

  std::set<std::string> models;
  std::vector<double> speedups, compile_times, ratios;
  const auto limits = [&](const report::CsvTable& table, std::size_t row, const char* column, std::vector<double>& all,
                          double limit, bool above) {
    const auto value = table.number(row, column);
    if (!value) return;
    all.push_back(*value);
    if (above ? *value > limit : *value < limit) warn(column, table.text(row, "name"), format_fixed(*value, 3));
  };
  if (run.performance) {
    const report::CsvTable& table = *run.performance;
    (void)table.require_column("speedup");
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      const std::string model = table.text(i, "name");
      if (failed_to_load(model)) continue;
      models.insert(model);
      const auto found = status.find(model);
      const bool accurate =
          !run.accuracy || (found != status.end() && (found->second == "pass" || found->second == "pass_due_to_skip"));
      if (!accurate || !(table.number(i, "speedup").value_or(0) > 0)) continue;
      limits(table, i, "speedup", speedups, 0.95, false);
      limits(table, i, "compilation_latency", compile_times, 120, true);
      limits(table, i, "compression_ratio", ratios, 0.9, false);
    }
  }
  for (const auto& [model, _] : status)
    if (run.performance && !failed_to_load(model)) models.insert(model);
  figures.total = models.size(), figures.passing = speedups.size();
  if (!run.performance) {
    for (const auto& [model, each] : status) {
      figures.total += failed_to_load(model) ? 0 : 1;
      figures.passing += each == "pass" || each == "pass_due_to_skip" ? 1 : 0;
    }
  }
  const std::size_t percent = figures.total == 0 ? 0 : 100 * figures.passing / figures.total;
  figures.pass_rate =
      std::to_string(percent) + "%, " + std::to_string(figures.passing) + '/' + std::to_string(figures.total);
  const auto mean = [](const std::vector<double>& all, const char* unit) {
    return all.empty() ? std::string("-") : format_fixed(stats::mean_of(all), 2) + unit;
  };
  figures.geomean = speedups.empty() ? "-"
                                     : format_fixed(options.include_slowdowns
                                                        ? stats::geometric_mean_of(speedups)
                                                        : stats::clipped_geometric_mean_of(speedups, 1),
                                                    2) + 'x';
  figures.compile_time = mean(compile_times, "");
  figures.memory = mean(ratios, "x");
  return figures;
}

/// A table of one figure: a row for each compiler, a column for each suite.
[[nodiscard]] inline report::CsvTable dashboard_table(const std::map<DashboardKey, DashboardFigures>& all,
                                              const std::string& which, std::string DashboardFigures::*figure) {
  report::CsvTable table{.header = {"Compiler"}};
  for (const auto& [key, figures] : all) {
    if (key.table() != which) continue;
    if (!table.column(key.suite)) table.header.push_back(key.suite);
    auto row = std::ranges::find_if(table.rows, [&](const auto& each) { return each.front() == key.compiler; });
    if (row == table.rows.end()) row = table.rows.insert(row, {key.compiler});
    row->resize(std::max(row->size(), table.header.size()), "-");
    (*row)[*table.column(key.suite)] = figures.*figure;
  }
  for (auto& row : table.rows) row.resize(table.header.size(), "-");
  std::ranges::sort(table.rows);
  return table;
}

/// Those of `now` that are not in `before`.
[[nodiscard]] inline std::vector<DashboardWarning> new_warnings(const std::vector<DashboardWarning>& now,
                                                                const std::vector<DashboardWarning>& before) {
  std::vector<DashboardWarning> found;
  for (const auto& warning : now)
    if (std::ranges::none_of(before, [&](const auto& each) { return each.identity() == warning.identity(); }))
      found.push_back(warning);
  return found;
}

}  // namespace pace::families::models
