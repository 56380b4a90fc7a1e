// The dashboard's files and what it prints.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "benches/models/backend_names.hpp"
#include "benches/models/driver/dashboard.hpp"
#include "pace/core/new_folders.hpp"
#include "pace/core/output_file.hpp"

namespace pace::benches::models {

namespace detail {

[[nodiscard]] inline std::map<DashboardKey, DashboardFigures> all_figures(const DashboardRuns& runs,
                                                                          const DashboardOptions& options) {
  std::map<DashboardKey, DashboardFigures> all;
  for (const auto& [key, run] : runs) all.emplace(key, dashboard_figures(key, run, options));
  return all;
}

[[nodiscard]] inline std::vector<DashboardWarning> all_warnings(const std::map<DashboardKey, DashboardFigures>& all) {
  std::vector<DashboardWarning> warnings;
  for (const auto& [key, figures] : all)
    warnings.insert(warnings.end(), figures.warnings.begin(), figures.warnings.end());
  return warnings;
}

[[nodiscard]] inline std::string markdown(const report::CsvTable& table) {
  std::string text;
  const auto line = [&](const std::vector<std::string>& fields) {
    for (const auto& field : fields) text += "| " + field + ' ';
    text += "|\n";
  };
  line(table.header);
  line(std::vector<std::string>(table.header.size(), "---"));
  for (const auto& row : table.rows) line(row);
  return text + '\n';
}

[[nodiscard]] inline std::string markdown(const std::vector<DashboardWarning>& warnings) {
  report::CsvTable table{.header = {"Suite", "Compiler", "Run", "Metric", "Model", "Value"}};
  for (const auto& each : warnings)
    table.rows.push_back({each.key.suite, each.key.compiler, each.key.table(), each.metric, each.model, each.value});
  return warnings.empty() ? "None.\n\n" : markdown(table);
}

/// The changes of the runs that are in both folders, and the runs that are in one.
[[nodiscard]] inline std::string markdown_of_changes(const std::map<DashboardKey, DashboardFigures>& before,
                                                     const std::map<DashboardKey, DashboardFigures>& after) {
  report::CsvTable table{.header = {"Suite", "Compiler", "Run", "Metric", "Model", "Before", "Now"}};
  const auto add = [&](const DashboardChange& each) {
    table.rows.push_back(
        {each.key.suite, each.key.compiler, each.key.table(), each.metric, each.model, each.before, each.after});
  };
  for (const auto& [key, figures] : after) {
    const auto found = before.find(key);
    if (found == before.end())
      add({key, "run", "all", "-", "there"});
    else
      for (const auto& change : changes_between(key, found->second, figures)) add(change);
  }
  for (const auto& [key, _] : before)
    if (!after.contains(key)) add({key, "run", "all", "there", "-"});
  return table.rows.empty() ? "None.\n\n" : markdown(table);
}

inline void write_text(const std::filesystem::path& path, const std::string& text) {
  OutputFile file(path.string(), /*replaces=*/true);
  file.append(text);
  file.replace();
  file.close();
}

}  // namespace detail

/// Writes passrate.csv, geomean.csv, comp_time.csv, memory.csv, gh_executive_summary.txt, gh_warnings.txt and, with
/// an earlier folder's runs, gh_regression.txt into `folder`, and prints the summary. Throws InputError and Error.
inline void report_dashboard(const DashboardRuns& runs, const std::optional<DashboardRuns>& before,
                             const DashboardOptions& options, const std::string& folder, std::ostream& out) {
  const auto all = detail::all_figures(runs, options);
  std::set<std::string> tables;
  for (const auto& [key, _] : all) tables.insert(key.table());
  const NewFolders folders(folder);
  const std::filesystem::path place(folder);
  std::string summary;
  using Figure = std::string DashboardFigures::*;
  const std::vector<std::tuple<const char*, const char*, Figure>> figures{
      {"passrate.csv", "Pass rate", &DashboardFigures::pass_rate},
      {"geomean.csv", "Geometric mean of speed-ups", &DashboardFigures::geomean},
      {"comp_time.csv", "Mean compile time (seconds)", &DashboardFigures::compile_time},
      {"memory.csv", "Mean ratio of peak memory", &DashboardFigures::memory}};
  for (const auto& [file, title, figure] : figures) {
    std::string csv;
    for (const auto& each : tables) {
      const auto table = dashboard_table(all, each, figure);
      summary += "## " + std::string(title) + ", " + each + "\n" + detail::markdown(table);
      if (tables.size() > 1) csv += (csv.empty() ? "" : "\n") + report::to_csv_line({each});
      csv += report::to_csv(table);
    }
    detail::write_text(place / file, csv);
  }
  const auto warnings = detail::all_warnings(all);
  const std::string flagged = "## Warnings\n" + detail::markdown(warnings);
  detail::write_text(place / "gh_executive_summary.txt", summary);
  detail::write_text(place / "gh_warnings.txt", flagged);
  out << summary << flagged;
  if (!before) return;
  const auto figures_before = detail::all_figures(*before, options);
  const auto earlier = detail::all_warnings(figures_before);
  const std::string text = "## Changes since the earlier run\n" + detail::markdown_of_changes(figures_before, all) +
                           "## New warnings since the earlier run\n" +
                           detail::markdown(new_warnings(warnings, earlier)) + "## No more\n" +
                           detail::markdown(new_warnings(earlier, warnings));
  detail::write_text(place / "gh_regression.txt", text);
  out << text;
}

/// The commands whose files a dashboard is made of, one a line: for each suite, type, device, mode and back end one of
/// performance and one of accuracy.
struct DashboardCommands {
  std::vector<std::string> suites = {"torchbench", "huggingface", "timm"}, dtypes = {"float32"}, devices = {"cuda"},
                           compilers = {"aot_inductor"}, modes = {"inference"};
  std::string folder = "benchmark_logs", extra_args = {};
};

[[nodiscard]] inline std::string dashboard_commands(const DashboardCommands& commands) {
  std::ostringstream lines;
  for (const char* testing : {"performance", "accuracy"})
    for (const auto& suite : commands.suites)
      for (const auto& device : commands.devices)
        for (const auto& mode : commands.modes)
          for (const auto& dtype : commands.dtypes)
            for (const auto& compiler : commands.compilers) {
              const std::string name =
                  compiler + '_' + suite + '_' + dtype + '_' + mode + '_' + device + '_' + testing + ".csv";
              lines << "bazel run //benches/models -- --" << testing << " --suite " << suite << " --" << mode
                    << (dtype == "as_made" ? "" : " --" + dtype) << " --device " << device << " --backend " << compiler
                    << (std::string_view(testing) == "performance" ? " --dashboard" : "")
                    << (any_has({compiler}, &BackendTraits::has_package) ? " --cold-start-latency" : "") << " --output "
                    << (std::filesystem::path(commands.folder) / name).string()
                    << (commands.extra_args.empty() ? "" : " " + commands.extra_args) << '\n';
            }
  return lines.str();
}

}  // namespace pace::benches::models
