// The dashboard's files and its output.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "benches/models/backend_names.hpp"
#include "benches/models/driver/dashboard.hpp"
#include "benches/models/driver/dashboard_archive.hpp"
#include "benches/models/driver/dashboard_graphs.hpp"
#include "benches/models/driver/text_files.hpp"
#include "pace/os/new_folders.hpp"

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

/// A figure of the dashboard: the name of its files, its title, and the place of its text.
struct DashboardFigure {
  const char *name, *title;
  std::string DashboardFigures::* text;
  /// Where nothing was gained and nothing lost, for the graphs.
  std::optional<double> mark = {};
};

[[nodiscard]] inline const std::vector<DashboardFigure>& dashboard_figures_shown() {
  static const std::vector<DashboardFigure> figures{
      {"passrate", "Pass rate", &DashboardFigures::pass_rate},
      {"geomean", "Geometric mean of speed-ups", &DashboardFigures::geomean, 1.0},
      {"comp_time", "Mean compile time (seconds)", &DashboardFigures::compile_time},
      {"memory", "Mean ratio of peak memory", &DashboardFigures::memory, 1.0}};
  return figures;
}

/// A suite's name, with all else that runs differ by if there are several of that.
[[nodiscard]] inline std::string group_of(const DashboardKey& key, bool one_table) {
  return one_table ? key.suite : key.suite + ", " + key.table();
}

/// A group of bars for each suite and table, a bar for each compiler.
[[nodiscard]] inline std::string bars_of(const std::map<DashboardKey, DashboardFigures>& all,
                                         const DashboardFigure& figure, bool one_table) {
  std::vector<BarGroup> groups;
  for (const auto& [key, figures] : all) {
    const auto found = figures.numbers.find(figure.name);
    if (found == figures.numbers.end()) continue;
    const std::string name = group_of(key, one_table);
    auto group = std::ranges::find(groups, name, &BarGroup::name);
    if (group == groups.end()) group = groups.insert(group, {name});
    group->bars[key.compiler] = found->second;
  }
  return bar_graph(figure.title, groups, figure.mark);
}

/// A line for each compiler, suite and table.
[[nodiscard]] inline std::string lines_of(
    const std::vector<std::pair<std::string, std::map<DashboardKey, DashboardFigures>>>& runs,
    const DashboardFigure& figure, bool one_table) {
  LineSeries lines;
  std::vector<std::string> times;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    times.push_back(runs[i].first);
    for (const auto& [key, figures] : runs[i].second) {
      const auto found = figures.numbers.find(figure.name);
      if (found == figures.numbers.end()) continue;
      auto& values = lines[key.compiler + ", " + group_of(key, one_table)];
      values.resize(runs.size());
      values[i] = found->second;
    }
  }
  return line_graph(figure.title, times, lines, figure.mark);
}

/// The most characters that GitHub takes as a comment.
inline constexpr std::size_t longest_comment = 65536;

/// A comment for a pull request, made of parts with titles. The first part stands open. A part that no longer fits is
/// left out, and its title named.
[[nodiscard]] inline std::string comment_of(const std::vector<std::pair<std::string, std::string>>& parts,
                                            std::size_t longest = longest_comment) {
  std::string comment = "# Dashboard of models\n\n", left_out;
  // Leaves room for the titles of the other parts.
  const std::size_t room = longest - 1000;
  for (const auto& [title, text] : parts) {
    const bool open = &title == &parts.front().first;
    const std::string part = open ? text : "<details><summary>" + title + "</summary>\n\n" + text + "</details>\n\n";
    if (comment.size() + part.size() <= room)
      comment += part;
    else
      left_out += (left_out.empty() ? "" : ", ") + title;
  }
  if (!left_out.empty()) comment += "Too long for a comment: " + left_out + ".\n";
  return comment;
}

}  // namespace detail

/// Earlier runs to compare a dashboard with.
struct DashboardPast {
  /// An earlier folder's runs.
  std::optional<DashboardRuns> before = {};
  /// The runs of an archive, oldest first.
  std::vector<ArchivedRuns> archive = {};
  /// The name of the new runs beside the archive's.
  std::string now = "now";
};

/// Writes the dashboard into `folder`: passrate.csv, geomean.csv, comp_time.csv and memory.csv, each with a graph
/// (geomean.svg, ...). Also writes gh_executive_summary.txt, gh_warnings.txt and gh_comment.md, and with an earlier
/// folder's runs gh_regression.txt. With an archive, it adds graphs over all runs (geomean_over_time.svg, ...). Prints
/// the summary. Throws InputError and Error.
inline void report_dashboard(const DashboardRuns& runs, const DashboardPast& past, const DashboardOptions& options,
                             const std::string& folder, std::ostream& out) {
  const auto all = detail::all_figures(runs, options);
  std::set<std::string> tables;
  for (const auto& [key, _] : all) tables.insert(key.table());
  const NewFolders folders(folder);
  const std::filesystem::path place(folder);
  std::vector<std::pair<std::string, std::map<DashboardKey, DashboardFigures>>> over_time;
  for (const auto& [date, archived] : past.archive)
    over_time.emplace_back(date, detail::all_figures(archived, options));
  over_time.emplace_back(past.now, all);
  std::string summary;
  for (const auto& figure : detail::dashboard_figures_shown()) {
    std::string csv;
    for (const auto& each : tables) {
      const auto table = dashboard_table(all, each, figure.text);
      summary += "## " + std::string(figure.title) + ", " + each + "\n" + detail::markdown(table);
      if (tables.size() > 1) csv += (csv.empty() ? "" : "\n") + report::to_csv_line({each});
      csv += report::to_csv(table);
    }
    const std::string name = figure.name;
    write_text(place / (name + ".csv"), csv);
    write_text(place / (name + ".svg"), detail::bars_of(all, figure, tables.size() == 1));
    if (!past.archive.empty())
      write_text(place / (name + "_over_time.svg"), detail::lines_of(over_time, figure, tables.size() == 1));
  }
  const auto warnings = detail::all_warnings(all);
  const std::string flagged = "## Warnings\n" + detail::markdown(warnings);
  write_text(place / "gh_executive_summary.txt", summary);
  write_text(place / "gh_warnings.txt", flagged);
  out << summary << flagged;
  std::vector<std::pair<std::string, std::string>> comment{{"Summary", summary},
                                                           {std::to_string(warnings.size()) + " warnings", flagged}};
  if (past.before) {
    const auto figures_before = detail::all_figures(*past.before, options);
    const auto earlier = detail::all_warnings(figures_before);
    const std::string text = "## Changes since the earlier run\n" + detail::markdown_of_changes(figures_before, all) +
                             "## New warnings since the earlier run\n" +
                             detail::markdown(new_warnings(warnings, earlier)) + "## No more\n" +
                             detail::markdown(new_warnings(earlier, warnings));
    write_text(place / "gh_regression.txt", text);
    comment.emplace_back("Changes since the earlier run", text);
    out << text;
  }
  write_text(place / "gh_comment.md", detail::comment_of(comment));
}

/// The commands that write a dashboard's files, one a line. Each suite, type, device, mode and back end has one of
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
