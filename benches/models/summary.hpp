// Summaries as one program: `summary print F.csv`, `summary dashboard FOLDER`, and so on.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "benches/models/driver/dashboard_report.hpp"
#include "benches/models/driver/join.hpp"
#include "benches/models/driver/summary.hpp"
#include "benches/models/suite.hpp"
#include "benches/models/tool.hpp"
#include "pace/args/command_line.hpp"
#include "pace/base/error.hpp"

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
         "add this run to the archive under this date",
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

/// Throws InputError with the usage behind `message`.
[[noreturn]] inline void refuse_summary(const std::string& message) {
  throw InputError({}, message + '\n' + summary_usage);
}

inline void print_commands(const SummaryArguments& to, std::ostream& out) {
  for (const auto& suite : to.suites) (void)suite_of(suite);
  static const std::set<std::string> dtypes{"as_made", "float32", "float16", "bfloat16", "amp"};
  for (const auto& dtype : to.dtypes)
    if (!dtypes.contains(dtype))
      refuse_summary("--dtypes: invalid value '" + dtype + "'; expected as_made, float32, float16, bfloat16 or amp");
  DashboardCommands commands{.extra_args = to.extra_args};
  const auto choose = [](auto& list, const auto& given) {
    if (!given.empty()) list = given;
  };
  choose(commands.suites, to.suites), choose(commands.dtypes, to.dtypes), choose(commands.devices, to.devices);
  choose(commands.compilers, to.compilers), choose(commands.modes, to.modes), choose(commands.folder, to.output_dir);
  out << dashboard_commands(commands);
}

/// Returns the earlier runs to compare the runs in `folder` with. `archive`: empty without one.
[[nodiscard]] inline DashboardPast past_of(const std::string& folder, const std::string& archive,
                                           const SummaryArguments& to, const UserPath& path) {
  DashboardPast past;
  if (!archive.empty()) past.archive = read_archive(archive);
  // A run of the archive itself is held against those before it.
  for (std::size_t i = 0; i < past.archive.size(); ++i) {
    std::error_code error;
    if (!std::filesystem::equivalent(std::filesystem::path(archive) / past.archive[i].date, folder, error)) continue;
    past.now = past.archive[i].date;
    past.archive.resize(i);
  }
  if (!to.date.empty()) {
    require_new_date(archive, to.date);
    // Later runs are no past of a run that is added belatedly.
    std::erase_if(past.archive, [&to](const ArchivedRuns& runs) { return runs.date >= to.date; });
    past.now = to.date;
  }
  if (!to.previous.empty())
    past.before = read_dashboard(path(to.previous));
  else if (!past.archive.empty())
    past.before = past.archive.back().runs;
  return past;
}

inline void summarize_dashboard(const std::vector<std::string>& names, const SummaryArguments& to, std::ostream& out,
                                const UserPath& path) {
  if (names.size() > 1) refuse_summary("summary dashboard: expected one folder, found " + std::to_string(names.size()));
  if (!to.date.empty() && to.archive.empty()) refuse_summary("--date: expected --archive beside it");
  const std::string folder = path(names[0]), archive = to.archive.empty() ? "" : path(to.archive);
  const DashboardPast past = past_of(folder, archive, to, path);
  report_dashboard(read_dashboard(folder), past, {.include_slowdowns = to.include_slowdowns},
                   to.output_dir.empty() ? folder : path(to.output_dir), out);
  // Last, so that a report that fails can be made again with the same date.
  if (!to.date.empty()) add_to_archive(folder, archive, to.date);
}

inline void summarize_files(const std::string& what, const std::vector<report::CsvTable>& files,
                            const SummaryArguments& to, std::ostream& out, const UserPath& path) {
  if (what == "perf") return summarize_performance(files, out);
  if (what == "join") {
    if (to.field.empty()) refuse_summary("summary join: expected --field COLUMN");
    const auto text = report::to_csv(join_results(files, to.field));
    if (!to.output.empty()) return write_text(path(to.output), text);
    out << text;
    return;
  }
  for (const auto& file : files) {
    if (files.size() > 1) out << (&file == files.data() ? "" : "\n") << file.file << '\n';
    print_summary(file, {}, {.compat = to.compat, .rows = to.rows}, out);
  }
}

[[nodiscard]] inline int run_summary(const std::vector<std::string>& arguments, std::ostream& out,
                                     const UserPath& path) {
  SummaryArguments to;
  const auto options = summary_options(to);
  const auto help = [&](int code) { return out << summary_usage << args::help(options), code; };
  if (arguments.empty()) return help(1);
  if (arguments[0] == "--help" || arguments[0] == "-h") return help(0);
  const std::string what = arguments[0];
  std::vector<std::string> names;
  static const std::map<std::string, std::vector<std::string>> summaries{
      {"print", {"--compat", "--rows"}},
      {"perf", {}},
      {"join", {"--field", "--output"}},
      {"dashboard", {"--previous", "--archive", "--date", "--output-dir", "--include-slowdowns"}},
      {"commands",
       {"--suites", "--dtypes", "--devices", "--compilers", "--training", "--inference", "--output-dir",
        "--extra-args"}}};
  const auto allowed = summaries.find(what);
  if (allowed == summaries.end()) refuse_summary("there is no summary '" + what + '\'');
  const auto given = args::parse(options, {arguments.begin() + 1, arguments.end()}, {.words = &names});
  if (given.help) return help(0);
  args::allow_only(given, allowed->second, what);
  if (what == "commands") {
    if (!names.empty()) refuse_summary("summary commands: expected no file, found '" + names.front() + '\'');
    return print_commands(to, out), 0;
  }
  if (names.empty()) refuse_summary("summary " + what + ": expected a " + (what == "dashboard" ? "folder" : "file"));
  if (what == "dashboard") return summarize_dashboard(names, to, out, path), 0;
  std::vector<report::CsvTable> files;
  for (const auto& name : names) {
    files.push_back(report::read_csv(path(name)));
    if (files.back().rows.empty())
      throw InputError({files.back().file}, "holds no results; there is nothing to sum up");
  }
  summarize_files(what, files, to, out, path);
  return 0;
}

}  // namespace detail

/// Returns the exit code: 1 for results that cannot be summed up, which `errors` names.
[[nodiscard]] inline int summary(int argc, char** argv, std::ostream& out, std::ostream& errors, const UserPath& path) {
  return detail::run_tool("summary", detail::run_summary, argc, argv, out, errors, path);
}

}  // namespace pace::benches::models
