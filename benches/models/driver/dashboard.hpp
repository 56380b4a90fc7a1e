// A folder of result files by suite, type, mode, device and compiler, summed up as in torchbench's dashboard.
#pragma once

#include <algorithm>
#include <cmath>
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

#include "benches/models/driver/result_csv.hpp"
#include "pace/base/error.hpp"
#include "pace/base/format.hpp"
#include "pace/report/csv_text.hpp"
#include "pace/stats/mean.hpp"

namespace pace::benches::models {

/// The fields of a file's name: `{compiler}_{suite}_{dtype}_{mode}_{device}_{performance|accuracy}.csv`.
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
  /// Whether slow-downs count as they are. Otherwise they count as 1, since nobody would compile such a model.
  bool include_slowdowns = false;
};

/// A model that is worse than a threshold in a metric.
struct DashboardWarning {
  DashboardKey key;
  std::string metric, model, value;
  [[nodiscard]] auto identity() const { return std::tie(key, metric, model); }
};

/// The figures of one model: numbers by metric. `speedup` has an interval if the file has one.
struct DashboardModel {
  std::string accuracy = {};
  std::map<std::string, double> numbers = {};
  double low = 0, high = 0;
};

/// The figures of one run.
struct DashboardFigures {
  std::size_t passing = 0, total = 0;
  std::map<std::string, DashboardModel> models = {};
  std::string geomean, pass_rate, compile_time, memory;
  /// The same as numbers, by the names of their files: `geomean`, `passrate` in percent, `comp_time`, `memory`. Missing
  /// figures have no entry.
  std::map<std::string, double> numbers = {};
  std::vector<DashboardWarning> warnings;
};

/// A figure of a model that changed since an earlier run.
struct DashboardChange {
  DashboardKey key;
  std::string metric, model, before, after;
};

/// The key of a file's name, and whether it is of accuracy; none for other files.
[[nodiscard]] inline std::optional<std::pair<DashboardKey, bool>> dashboard_key(const std::string& file_name) {
  static const std::regex pattern(
      "(.+)_(torchbench|huggingface|timm_models|timm|own)_([a-z0-9]+|as_made)_(training|inference)_([a-z0-9:]+)_"
      "(performance|accuracy)\\.csv");
  std::smatch match;
  if (!std::regex_match(file_name, match, pattern)) return std::nullopt;
  return std::pair{
      DashboardKey{.dtype = match[3], .mode = match[4], .device = match[5], .suite = match[2], .compiler = match[1]},
      match[6] == "accuracy"};
}

namespace detail {

/// A dashboard has a file for each back end and device, with a row for each model. Throws InputError for another one.
[[nodiscard]] inline report::CsvTable read_dashboard_file(const std::string& path) {
  auto table = report::read_csv(path);
  (void)table.require_column("name");
  std::map<std::string, std::size_t> rows;
  for (std::size_t i = 0; i < table.rows.size(); ++i)
    if (const auto [found, is_new] = rows.try_emplace(table.text(i, "name"), i); !is_new)
      throw InputError({path}, "expected one row for '" + found->first + "', found rows " +
                                   std::to_string(found->second + 1) + " and " + std::to_string(i + 1) +
                                   "; a dashboard has files of one back end and device");
  return table;
}

}  // namespace detail

/// All files of a folder that are named so. Throws InputError if there is none.
[[nodiscard]] inline DashboardRuns read_dashboard(const std::string& folder) {
  DashboardRuns runs;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const auto key = dashboard_key(entry.path().filename().string());
    if (!key) continue;
    auto& run = runs[key->first];
    (key->second ? run.accuracy : run.performance) = detail::read_dashboard_file(entry.path().string());
  }
  if (error) throw InputError({folder}, "cannot be read: " + error.message() + "; expected a folder of result files");
  if (runs.empty())
    throw InputError({folder},
                     "holds no result files; expected names such as "
                     "aot_inductor_torchbench_float32_inference_cpu_performance.csv");
  return runs;
}

namespace detail {

/// The accuracy of each model; empty for a run without such a file.
using Statuses = std::map<std::string, std::string>;

[[nodiscard]] inline Statuses statuses_of(const DashboardRun& run) {
  Statuses statuses;
  if (!run.accuracy) return statuses;
  (void)run.accuracy->require_column("accuracy");
  for (std::size_t i = 0; i < run.accuracy->rows.size(); ++i)
    statuses[run.accuracy->text(i, "name")] = run.accuracy->text(i, "accuracy");
  return statuses;
}

[[nodiscard]] inline bool failed_to_load(const std::string& status) {
  return status == "model_fail_to_load" || status == "eager_fail_to_run";
}

[[nodiscard]] inline bool is_right(const std::string& status) {
  return status == "pass" || status == "pass_due_to_skip";
}

/// The numbers of all models that are right and ran, by column.
using DashboardNumbers = std::map<std::string, std::vector<double>>;

/// Takes the numbers of a run into its figures, with warnings of those beyond a limit, and returns them.
[[nodiscard]] inline DashboardNumbers take_numbers(const DashboardKey& key, const DashboardRun& run,
                                                   const Statuses& statuses, DashboardFigures& figures) {
  DashboardNumbers numbers;
  if (!run.performance) return numbers;
  const report::CsvTable& table = *run.performance;
  (void)table.require_column("speedup");
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const std::string model = table.text(i, "name");
    const auto status = statuses.find(model);
    if (status != statuses.end() && failed_to_load(status->second)) continue;
    auto& own = figures.models[model];
    own.numbers["speedup"] = 0;
    const bool right = !run.accuracy || (status != statuses.end() && is_right(status->second));
    if (!right || !(table.number(i, "speedup").value_or(0) > 0)) continue;
    const auto take = [&](const char* column, double limit, bool above) {
      const auto value = table.number(i, column);
      if (!value) return;
      numbers[column].push_back(*value);
      own.numbers[column] = *value;
      if (above ? *value > limit : *value < limit)
        figures.warnings.push_back({key, column, model, format_fixed(*value, 3)});
    };
    take("speedup", 0.95, false);
    take("compilation_latency", 120, true);
    take("compression_ratio", 0.9, false);
    own.low = table.number(i, "interval_low").value_or(0);
    own.high = table.number(i, "interval_high").value_or(0);
  }
  return numbers;
}

}  // namespace detail

/// Sums up one run. A model that fails its accuracy check has a speed-up of 0, and a model that does not load is left
/// out. The others pass if they have a speed-up. Without an accuracy file, all models count as right.
[[nodiscard]] inline DashboardFigures dashboard_figures(const DashboardKey& key, const DashboardRun& run,
                                                        const DashboardOptions& options) {
  DashboardFigures figures;
  const auto statuses = detail::statuses_of(run);
  std::size_t not_loaded = 0, right = 0;
  for (const auto& [model, status] : statuses) {
    figures.models[model].accuracy = status;
    if (detail::is_right(status)) ++right;
    if (detail::failed_to_load(status))
      ++not_loaded;
    else if (status.find("pass") == std::string::npos)
      figures.warnings.push_back({key, "accuracy", model, status});
  }
  auto numbers = detail::take_numbers(key, run, statuses, figures);
  figures.total = figures.models.size() - not_loaded;
  figures.passing = run.performance ? numbers["speedup"].size() : right;
  const std::size_t percent = figures.total == 0 ? 0 : 100 * figures.passing / figures.total;
  figures.pass_rate =
      std::to_string(percent) + "%, " + std::to_string(figures.passing) + '/' + std::to_string(figures.total);
  if (figures.total > 0)
    figures.numbers["passrate"] = 100 * static_cast<double>(figures.passing) / static_cast<double>(figures.total);
  const auto take_mean = [&](std::string& text, const char* name, const char* column, const char* unit, auto mean_of) {
    const auto& all = numbers[column];
    text = "-";
    if (all.empty()) return;
    const double mean = figures.numbers[name] = mean_of(all);
    text = format_fixed(mean, 2) + unit;
  };
  const auto mean_of = [](const std::vector<double>& all) { return stats::mean_of(all); };
  take_mean(figures.geomean, "geomean", "speedup", "x", [&](const std::vector<double>& all) {
    return options.include_slowdowns ? stats::geometric_mean_of(all) : stats::clipped_geometric_mean_of(all, 1);
  });
  take_mean(figures.compile_time, "comp_time", "compilation_latency", "", mean_of);
  take_mean(figures.memory, "memory", "compression_ratio", "x", mean_of);
  return figures;
}

/// A table of one figure: a row for each compiler, a column for each suite.
[[nodiscard]] inline report::CsvTable dashboard_table(const std::map<DashboardKey, DashboardFigures>& all,
                                                      const std::string& which,
                                                      std::string DashboardFigures::* figure) {
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

/// Whether a speed-up changed. If both runs have intervals, they must not overlap. Otherwise it must change by more
/// than 5 %, since the same code differs by up to that from run to run.
[[nodiscard]] inline bool is_other_speedup(const DashboardModel& before, const DashboardModel& after, double was,
                                           double is) {
  if (before.low > 0 && after.low > 0) return before.high < after.low || after.high < before.low;
  return std::abs(is - was) > 0.05 * was;
}

/// The figures of models that changed between two runs. Any change of accuracy counts. Speed-ups are
/// is_other_speedup()'s. Compile times must differ by more than 20 %, for each is a single call, and ratios of memory
/// by more than 5 %. Models that only one run has count as well.
[[nodiscard]] inline std::vector<DashboardChange> changes_between(const DashboardKey& key,
                                                                  const DashboardFigures& before,
                                                                  const DashboardFigures& after) {
  std::vector<DashboardChange> changes;
  std::set<std::string> names;
  for (const auto* run : {&before, &after})
    for (const auto& [name, _] : run->models) names.insert(name);
  const std::map<std::string, double> shares{{"compilation_latency", 0.2}, {"compression_ratio", 0.05}};
  for (const auto& name : names) {
    const auto was = before.models.find(name), is = after.models.find(name);
    if (was == before.models.end() || is == after.models.end()) {
      const bool is_new = was == before.models.end();
      changes.push_back({key, "model", name, is_new ? "-" : "there", is_new ? "there" : "-"});
      continue;
    }
    const DashboardModel &old = was->second, &now = is->second;
    if (old.accuracy != now.accuracy)
      changes.push_back({key, "accuracy", name, old.accuracy.empty() ? "-" : old.accuracy,
                         now.accuracy.empty() ? "-" : now.accuracy});
    for (const char* metric : {"speedup", "compilation_latency", "compression_ratio"}) {
      const auto one = old.numbers.find(metric), other = now.numbers.find(metric);
      if (one == old.numbers.end() || other == now.numbers.end()) continue;
      const double first = one->second, second = other->second;
      const auto share = shares.find(metric);
      const bool changed = share == shares.end() ? is_other_speedup(old, now, first, second)
                                                 : std::abs(second - first) > share->second * std::abs(first);
      if (changed) changes.push_back({key, metric, name, format_fixed(first, 3), format_fixed(second, 3)});
    }
  }
  return changes;
}

/// The warnings of `now` that are not in `before`.
[[nodiscard]] inline std::vector<DashboardWarning> new_warnings(const std::vector<DashboardWarning>& now,
                                                                const std::vector<DashboardWarning>& before) {
  std::vector<DashboardWarning> found;
  for (const auto& warning : now)
    if (std::ranges::none_of(before, [&](const auto& each) { return each.identity() == warning.identity(); }))
      found.push_back(warning);
  return found;
}

}  // namespace pace::benches::models
