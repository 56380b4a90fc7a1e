// Summaries as one program: `summary print F.csv`, `summary dashboard FOLDER`, and so on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "benches/models/driver/dashboard_report.hpp"
#include "benches/models/driver/join.hpp"
#include "benches/models/driver/summary.hpp"
#include "benches/models/suite.hpp"
#include "pace/args/command_line.hpp"
#include "pace/base/error.hpp"
#include "pace/report/text.hpp"

namespace pace::benches::models {

namespace detail {

inline constexpr const char* summary_usage =
    "summary print FILE... [--compat] [--rows]         a line for each column of each file\n"
    "summary perf FILE...                              a line for each file\n"
    "summary join FILE... --field COLUMN [--output FILE]   one column of all files side by side\n"
    "summary dashboard FOLDER [--previous FOLDER] [--archive FOLDER [--date DATE]] [--output-dir FOLDER]\n"
    "    [--include-slowdowns]                         tables, graphs and a comment of a folder of result files\n"
    "summary commands [--suites S]... [--dtypes T]... [--devices D]... [--compilers C]... [--training] [--inference]\n"
    "    [--output-dir FOLDER] [--extra-args ARGUMENTS]    the commands whose files a dashboard is made of\n";

struct SummaryArguments {
  std::string field, output, previous, output_dir, extra_args, archive, date;
  std::vector<std::string> suites, dtypes, devices, compilers, modes;
  bool compat = false, rows = false, include_slowdowns = false;
};

[[nodiscard]] inline args::Groups summary_options(SummaryArguments& to) {
  const auto mode = [&to](const char* name) {
    return args::Value{"", "", [&to, name](const std::string&) { return to.modes.emplace_back(name), true; }, ""};
  };
  return {
      {"print",
       {{"--compat", "as torchbench sums up", args::flag(to.compat)},
        {"--rows", "the rows, too", args::flag(to.rows)}}},
      {"join",
       {{"--field", "the column to join", args::text(to.field, "column", "a column")},
        {"--output", "where the joined table goes", args::file(to.output)}}},
      {"dashboard",
       {{"--previous", "an earlier run's files; else the latest of --archive before --date", args::folder(to.previous)},
        {"--archive", "earlier runs, each in a folder named by its date, for graphs over time",
         args::folder(to.archive)},
        {"--date",
         "add this run to the archive as that of this date",
         {"YYYY-MM-DD", "a date such as 2026-11-25, which more may follow",
          [&to](const std::string& text) { return is_archive_date(to.date = text); }, ""}},
        {"--output-dir", "where files go; of commands: where theirs do", args::folder(to.output_dir)},
        {"--include-slowdowns", "slow-downs count as they are", args::flag(to.include_slowdowns)}}},
      {"commands",
       {{"--suites", "again for another", args::each(to.suites, "suite", "a suite")},
        {"--dtypes", "again for another", args::each(to.dtypes, "type", "a type")},
        {"--devices", "again for another", args::each(to.devices, "device", "a device")},
        {"--compilers", "again for another", args::each(to.compilers, "back end", "a back end")},
        {"--training", "commands for training", mode("training")},
        {"--inference", "commands for inference", mode("inference")},
        {"--extra-args", "behind each command", args::text(to.extra_args, "arguments", "arguments")}}}};
}

[[nodiscard]] inline int run_summary(const std::vector<std::string>& arguments, std::ostream& out,
                                     const std::function<std::string(const std::string&)>& path) {
  SummaryArguments to;
  const auto options = summary_options(to);
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h") {
    out << summary_usage << args::help(options);
    return arguments.empty() ? 1 : 0;
  }
  const std::string what = arguments[0];
  std::vector<std::string> names;
  const auto fail = [&](const std::string& message) { throw InputError({}, message + '\n' + summary_usage); };
  static const std::map<std::string, std::vector<std::string>> summaries{
      {"print", {"--compat", "--rows"}},
      {"perf", {}},
      {"join", {"--field", "--output"}},
      {"dashboard", {"--previous", "--archive", "--date", "--output-dir", "--include-slowdowns"}},
      {"commands",
       {"--suites", "--dtypes", "--devices", "--compilers", "--training", "--inference", "--output-dir",
        "--extra-args"}}};
  const auto allowed = summaries.find(what);
  if (allowed == summaries.end()) fail("there is no summary '" + what + '\'');
  const auto given = args::parse(options, {arguments.begin() + 1, arguments.end()}, {.words = &names});
  if (given.help) {
    out << summary_usage << args::help(options);
    return 0;
  }
  args::allow_only(given, allowed->second, what);
  if (what == "commands") {
    if (!names.empty()) fail("summary commands: expected no file, found '" + names.front() + '\'');
    for (const auto& suite : to.suites) (void)suite_of(suite);
    static const std::set<std::string> dtypes{"as_made", "float32", "float16", "bfloat16", "amp"};
    for (const auto& dtype : to.dtypes)
      if (!dtypes.contains(dtype))
        fail("--dtypes: invalid value '" + dtype + "'; expected as_made, float32, float16, bfloat16 or amp");
    DashboardCommands commands{.extra_args = to.extra_args};
    const auto choose = [](auto& list, const auto& given) {
      if (!given.empty()) list = given;
    };
    choose(commands.suites, to.suites), choose(commands.dtypes, to.dtypes), choose(commands.devices, to.devices);
    choose(commands.compilers, to.compilers), choose(commands.modes, to.modes);
    if (!to.output_dir.empty()) commands.folder = to.output_dir;
    out << dashboard_commands(commands);
    return 0;
  }
  if (names.empty()) fail("summary " + what + ": expected a " + (what == "dashboard" ? "folder" : "file"));
  if (what == "dashboard") {
    if (names.size() > 1) fail("summary dashboard: expected one folder, found " + std::to_string(names.size()));
    if (!to.date.empty() && to.archive.empty()) fail("--date: expected --archive beside it");
    DashboardPast past;
    if (!to.archive.empty()) past.archive = read_archive(path(to.archive));
    // A run of the archive itself is held against those before it.
    for (std::size_t i = 0; i < past.archive.size(); ++i) {
      std::error_code error;
      if (!std::filesystem::equivalent(std::filesystem::path(path(to.archive)) / past.archive[i].date, path(names[0]),
                                       error))
        continue;
      past.now = past.archive[i].date;
      past.archive.resize(i);
    }
    if (!to.date.empty()) {
      require_new_date(path(to.archive), to.date);
      // What came later is no past of a run that is added belatedly.
      std::erase_if(past.archive, [&to](const ArchivedRuns& runs) { return runs.date >= to.date; });
      past.now = to.date;
    }
    if (!to.previous.empty())
      past.before = read_dashboard(path(to.previous));
    else if (!past.archive.empty())
      past.before = past.archive.back().runs;
    const auto runs = read_dashboard(path(names[0]));
    report_dashboard(runs, past, {.include_slowdowns = to.include_slowdowns},
                     path(to.output_dir.empty() ? names[0] : to.output_dir), out);
    // Last, so that a report that fails can be made again with the same date.
    if (!to.date.empty()) add_to_archive(path(names[0]), path(to.archive), to.date);
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
    errors << "summary: " << report::printable_lines(error.what()) << '\n';
    return 1;
  }
}

}  // namespace pace::benches::models
