// Summaries as one program: `summary print F.csv`, `summary dashboard FOLDER`, and so on.
#pragma once

#include <algorithm>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "benches/models/driver/dashboard_report.hpp"
#include "benches/models/driver/join.hpp"
#include "benches/models/driver/summary.hpp"
#include "benches/models/option.hpp"
#include "benches/models/suite.hpp"
#include "pace/core/error.hpp"

namespace pace::benches::models {

namespace detail {

inline constexpr const char* summary_usage =
    "summary print FILE... [--compat] [--rows]         a line for each column of each file\n"
    "summary perf FILE...                              a line for each file\n"
    "summary join FILE... --field COLUMN [--output FILE]   one column of all files side by side\n"
    "summary dashboard FOLDER [--previous FOLDER] [--output-dir FOLDER] [--include-slowdowns]\n"
    "summary commands [--suites S]... [--dtypes T]... [--devices D]... [--compilers C]... [--training] [--inference]\n"
    "    [--output-dir FOLDER] [--extra-args ARGUMENTS]    the commands whose files a dashboard is made of\n";

struct SummaryArguments {
  std::string field, output, previous, output_dir, extra_args;
  std::vector<std::string> suites, dtypes, devices, compilers, modes;
  bool compat = false, rows = false, include_slowdowns = false;
};

[[nodiscard]] inline std::vector<OptionSpec> summary_options(SummaryArguments& to) {
  const auto mode = [&to](const char* name) {
    return [&to, name](const std::string&) { return to.modes.emplace_back(name), true; };
  };
  return {
      {{"--compat"}, nullptr, "as torchbench sums up", "", into(to.compat)},
      {{"--rows"}, nullptr, "the rows, too", "", into(to.rows)},
      {{"--field"}, "column", "the column to join", "a column", into(to.field)},
      {{"--output"}, "file", "where the joined table goes", "a file", into(to.output)},
      {{"--previous"}, "folder", "an earlier run's files", "a folder", into(to.previous)},
      {{"--output-dir"}, "folder", "where files go", "a folder", into(to.output_dir)},
      {{"--include-slowdowns"}, nullptr, "slow-downs count as they are", "", into(to.include_slowdowns)},
      {{"--suites"}, "suite", "again for another", "a suite", into(to.suites)},
      {{"--dtypes"}, "type", "again for another", "a type", into(to.dtypes)},
      {{"--devices"}, "device", "again for another", "a device", into(to.devices)},
      {{"--compilers"}, "back end", "again for another", "a back end", into(to.compilers)},
      {{"--training"}, nullptr, "commands for training", "", mode("training")},
      {{"--inference"}, nullptr, "commands for inference", "", mode("inference")},
      {{"--extra-args"}, "arguments", "behind each command", "arguments", into(to.extra_args)},
  };
}

[[nodiscard]] inline int run_summary(const std::vector<std::string>& arguments, std::ostream& out,
                                     const std::function<std::string(const std::string&)>& path) {
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h") {
    out << summary_usage;
    return arguments.empty() ? 1 : 0;
  }
  const std::string what = arguments[0];
  SummaryArguments to;
  std::vector<std::string> names;
  const auto fail = [&](const std::string& message) { throw InputError({}, message + '\n' + summary_usage); };
  static const std::map<std::string, std::set<std::string>> summaries{
      {"print", {"--compat", "--rows"}},
      {"perf", {}},
      {"join", {"--field", "--output"}},
      {"dashboard", {"--previous", "--output-dir", "--include-slowdowns"}},
      {"commands",
       {"--suites", "--dtypes", "--devices", "--compilers", "--training", "--inference", "--output-dir",
        "--extra-args"}}};
  const auto allowed = summaries.find(what);
  if (allowed == summaries.end()) fail("there is no summary '" + what + '\'');
  const std::vector<std::string> given(arguments.begin() + 1, arguments.end());
  const auto options = summary_options(to);
  parse_options("summary " + what, given, options, Catch::Clara::Parser() | Catch::Clara::Arg(names, "file"));
  refuse_others(given, options, allowed->second, what, summary_usage);
  if (what == "commands") {
    if (!names.empty()) fail("summary commands: expected no file, found '" + names.front() + '\'');
    for (const auto& suite : to.suites) (void)suite_of(suite);
    static const std::set<std::string> dtypes{"as_made", "float32", "float16", "bfloat16", "amp"};
    for (const auto& dtype : to.dtypes)
      if (!dtypes.contains(dtype))
        fail("--dtypes: invalid value '" + dtype + "'; expected as_made, float32, float16, bfloat16 or amp");
    DashboardCommands asked{.extra_args = to.extra_args};
    const auto choose = [](auto& list, const auto& given) {
      if (!given.empty()) list = given;
    };
    choose(asked.suites, to.suites), choose(asked.dtypes, to.dtypes), choose(asked.devices, to.devices);
    choose(asked.compilers, to.compilers), choose(asked.modes, to.modes);
    if (!to.output_dir.empty()) asked.folder = to.output_dir;
    out << dashboard_commands(asked);
    return 0;
  }
  if (names.empty()) fail("summary " + what + ": expected a " + (what == "dashboard" ? "folder" : "file"));
  if (what == "dashboard") {
    if (names.size() > 1) fail("summary dashboard: expected one folder, found " + std::to_string(names.size()));
    std::optional<DashboardRuns> before;
    if (!to.previous.empty()) before = read_dashboard(path(to.previous));
    report_dashboard(read_dashboard(path(names[0])), before, {.include_slowdowns = to.include_slowdowns},
                     path(to.output_dir.empty() ? names[0] : to.output_dir), out);
    return 0;
  }
  std::vector<report::CsvTable> files;
  for (const auto& name : names) {
    files.push_back(report::read_csv(path(name)));
    if (files.back().rows.empty())
      throw InputError({files.back().file}, "holds no results; there is nothing to sum up");
  }
  if (what == "perf") {
    summarize_performance(files, out);
  } else if (what == "join") {
    if (to.field.empty()) fail("summary join: expected --field COLUMN");
    const auto text = report::to_csv(join_results(files, to.field));
    if (to.output.empty())
      out << text;
    else
      detail::write_text(path(to.output), text);
  } else {
    for (const auto& file : files) {
      if (files.size() > 1) out << (&file == files.data() ? "" : "\n") << file.file << '\n';
      print_summary(file, {}, {.compat = to.compat, .rows = to.rows}, out);
    }
  }
  return 0;
}

}  // namespace detail

/// Returns the exit code: 1 for what cannot be summed up, which `errors` says.
[[nodiscard]] inline int summary(int argc, char** argv, std::ostream& out, std::ostream& errors,
                                 const std::function<std::string(const std::string&)>& path) {
  try {
    const int code = detail::run_summary({argv + std::min(argc, 1), argv + argc}, out, path);
    if (!out.flush()) throw Error("what is printed cannot be written");
    return code;
  } catch (const std::exception& error) {
    errors << "summary: " << error.what() << '\n';
    return 1;
  }
}

}  // namespace pace::benches::models
