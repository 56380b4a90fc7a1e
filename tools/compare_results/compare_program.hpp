// The program that compares files of results: its command line, its table, its exit code.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "pace/args/command_line.hpp"
#include "pace/base/cut_text.hpp"
#include "pace/os/output_file.hpp"
#include "pace/os/same_file.hpp"
#include "pace/os/terminal.hpp"
#include "pace/report/results_file.hpp"
#include "pace/report/text.hpp"
#include "tools/compare_results/json.hpp"
#include "tools/compare_results/markdown.hpp"
#include "tools/compare_results/outcome.hpp"
#include "tools/compare_results/table.hpp"

namespace pace::tools::compare_results {

inline constexpr std::string_view compare_usage =
    R"(compare_results OLD.json NEW.json [options]
compare_results --old OLD.json... --new NEW.json... [options]
compare_results --series FIRST.json SECOND.json... [options]

Judges results of two builds or two days that --json or --save-baseline wrote, implementation by implementation. Each
file is one process; several files a side (of different processes, in a number fixed beforehand) show how much processes
differ, and from five in all on the verdict rests on that. With fewer it rests on --process-spread. A file of a series
is compared with the first one, so that many small losses add up to one that is seen; all files share the error rates.

A row that the old results do not have is `new`, and passes unless --new-rows fail is given.

Exit code: 0 if all passed, 1 if one is not acceptable, 2 if files cannot be read or nothing is compared, 43 if none
failed but one could not be decided, or the last line of a file was cut off.
)";

namespace detail {

struct CommandLine {
  std::vector<std::string> then, now, series;
  std::string markdown, report_url, json, html;
  report::Settings settings{.expectation = NoSlowerThan(1.02)};
  bool help = false, allow_undecided = false;
  WhenNew when_new = WhenNew::pass;
};

/// Runs tools/report with these arguments. Throws Error if it does not write a page of all files.
using MakePage = std::function<void(const std::vector<std::string>&)>;

/// A file name of the command line as the system finds it.
using Resolve = std::function<std::string(const std::string&)>;

/// Options whose values are no settings yet.
struct Limits {
  std::optional<double> no_slower_than, speedup_at_least;
  bool undecided_fails = false;
};

[[nodiscard]] inline args::Group compared_files(CommandLine& line) {
  using args::Option;
  auto& settings = line.settings;
  return {
      "Files",
      {Option("--old", "results before, one file a process", args::each(line.then, "file", "a file name")).as_words(),
       Option("--new", "results now, one file a process", args::each(line.now, "file", "a file name")).as_words(),
       Option("--series", "results of one process each, every one judged against the first",
              args::each(line.series, "file", "a file name"))
           .as_words()
           .excludes({"--old", "--new"}, "each file of a series is a side of its own; expected one of them"),
       {"--allow",
        "this may differ: a key of the environment, such as libtorch, compiler or build_flags, or device, clock or "
        "inputs of a comparison; again for another",
        {"key", "",
         [&settings](const std::string& key) {
           std::string known;
           for (const auto* keys : {&report::identity_keys(), &report::measurement_keys()})
             for (const auto& each : *keys) known += (known.empty() ? "" : ", ") + each;
           if ((", " + known + ",").find(", " + key + ',') == std::string::npos)
             throw InputError({}, "--allow: '" + key + "' is no key that is compared; these are: " + known);
           return settings.allowed.push_back(key), true;
         },
         ""}}}};
}

[[nodiscard]] inline args::Group output_options(CommandLine& line) {
  using args::Option;
  return {
      "Outputs",
      {Option("--markdown",
              "a comment for a pull request: proven changes and closed gates alone; -: on the standard "
              "output, in the place of the table",
              args::text(line.markdown, "file", "a file name or -"))
           .once(),
       Option("--report-url", "the comment links to this page",
              {"URL", "an address that begins with http:// or https://, without blanks and angle brackets",
               [&line](const std::string& url) {
                 line.report_url = url;
                 // Other schemes, such as javascript:, would run code of the command line in a reader's browser.
                 return (url.starts_with("http://") || url.starts_with("https://")) &&
                        url.find_first_of(" <>\n\r\t") == std::string::npos;
               },
               ""})
           .once()
           .needs({"--markdown"}),
       Option("--json", "every row, as JSON Lines", args::text(line.json, "file", "a file name")).once(),
       Option("--html", "a page for a browser, with these verdicts and the results of all files", args::file(line.html))
           .once()}};
}

[[nodiscard]] inline args::Group judging_options(CommandLine& line, Limits& limits) {
  using args::Option;
  auto& settings = line.settings;
  return {
      "Judging",
      {Option("--no-slower-than", "fail a row that is proven to take more than this times the old time",
              args::factor(limits.no_slower_than))
           .once()
           .by_default("1.02"),
       Option("--speedup-at-least", "instead: pass only a row that is proven to be this much faster",
              args::factor(limits.speedup_at_least))
           .once()
           .excludes({"--no-slower-than"}, "files are compared by one limit; expected one of them"),
       Option("--by", "compare times, or speed-ups over the baseline of each file's own run",
              args::choice(settings.by_speedup, {{"time", false}, {"speedup", true}}))
           .once(),
       Option(
           "--process-spread",
           "standard deviation of times between processes as a share of the time, if you know it: 0.01 is 1 % (where "
           "it is not given, a side's own scatter counts from five processes in all on, and 0.05 with fewer)",
           args::number(settings.spread, 1e-6, 10, "0.01", "share"))
           .once(),
       Option("--alpha", "false passes of claims and false alarms of guards, per comparison",
              args::number(settings.family.alpha, 1e-9, 0.49, "0.001", "rate"))
           .once(),
       Option("--beta", "false failures of claims and false passes of guards, per comparison",
              args::number(settings.family.beta, 1e-9, 0.49, "0.01", "rate"))
           .once(),
       Option("--new-rows", "whether a row that the old results do not have passes or fails",
              args::choice(line.when_new, {{"pass", WhenNew::pass}, {"fail", WhenNew::fail}}))
           .once(),
       {"--undecided-fails", "an open question closes the gate (exit code 1)", args::flag(limits.undecided_fails)},
       Option("--allow-undecided", "exit code 0, not 43, for a guard that is let through undecided",
              args::flag(line.allow_undecided))
           .excludes({"--undecided-fails"}, "they contradict each other")}};
}

/// The options; `line` and `limits` must outlive them.
[[nodiscard]] inline args::Groups compare_options(CommandLine& line, Limits& limits) {
  return {compared_files(line), output_options(line), judging_options(line, limits)};
}

/// Throws InputError if an output would replace an input.
inline void require_other_file(const std::string& option, const std::string& output, const CommandLine& line) {
  for (const auto* inputs : {&line.then, &line.now, &line.series})
    for (const auto& input : *inputs) {
      std::error_code none;
      if (std::filesystem::equivalent(output, input, none))
        throw InputError({}, option + ": " + output + " is one of the files that are compared; expected another one");
    }
}

/// Throws InputError if a file is given twice, even under two names: it would be compared with itself.
inline void require_different_files(const CommandLine& line) {
  std::vector<std::string> known;
  for (const auto* inputs : {&line.then, &line.now, &line.series})
    for (const auto& input : *inputs) {
      for (const auto& other : known) {
        std::error_code ignored;  // a file that cannot be read is refused where it is read
        if (std::filesystem::equivalent(input, other, ignored))
          throw InputError({}, input + ": is given twice" + (input == other ? "" : ", as " + other) +
                                   "; expected each file once, since no file is a second measurement of itself");
      }
      known.push_back(input);
    }
}

/// Throws InputError if two outputs would be one file.
inline void require_other_outputs(const CommandLine& line) {
  const std::vector<std::pair<std::string, std::string>> outputs{
      {"--markdown", line.markdown}, {"--json", line.json}, {"--html", line.html}};
  for (std::size_t i = 0; i < outputs.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (!outputs[i].second.empty() && !outputs[j].second.empty() && same_path(outputs[i].second, outputs[j].second))
        throw InputError({}, outputs[i].first + ": " + outputs[i].second + " is the file of " + outputs[j].first +
                                 " as well; expected another one");
}

/// Throws InputError if an input is a pipe, since it is empty by the time the program that makes the page reads it.
inline void require_files(const std::string& option, const CommandLine& line) {
  for (const auto* inputs : {&line.then, &line.now, &line.series})
    for (const auto& input : *inputs) {
      std::error_code none;
      if (std::filesystem::is_fifo(input, none))
        throw InputError({}, option + ": " + input + " is a pipe, which can be read only once; expected regular files");
    }
}

/// Throws InputError.
[[nodiscard]] inline CommandLine parse_command_line(const std::vector<std::string>& words, const Resolve& resolve) {
  CommandLine line;
  Limits limits;
  std::vector<std::string> positional;
  const auto fail = [](const std::string& message) { throw InputError({}, message + "; see --help"); };
  line.help = args::parse(compare_options(line, limits), words, {.words = &positional}).help;
  if (line.help) return line;
  if (limits.no_slower_than) line.settings.expectation = NoSlowerThan(*limits.no_slower_than);
  if (limits.speedup_at_least) line.settings.expectation = SpeedupAtLeast(*limits.speedup_at_least);
  if (limits.undecided_fails)
    line.settings.expectation = line.settings.expectation.when_undecided(WhenUndecided::close);
  if (!positional.empty()) {
    if (positional.size() != 2 || !line.then.empty() || !line.now.empty() || !line.series.empty())
      fail("expected OLD.json and NEW.json, or --old and --new, or --series, with files after them");
    line.then = {positional[0]};
    line.now = {positional[1]};
  }
  if (!line.series.empty()) {
    if (line.series.size() < 2) fail("--series: expected two files or more, found one");
  } else if (line.then.empty() || line.now.empty()) {
    fail("expected at least one file on each side");
  }
  for (auto* const side : {&line.then, &line.now, &line.series})
    for (auto& path : *side) {
      if (path.empty()) fail("the name of a file is empty");
      path = resolve(path);
    }
  if (!line.markdown.empty() && line.markdown != "-") line.markdown = resolve(line.markdown);
  for (auto* const output : {&line.json, &line.html})
    if (!output->empty()) *output = resolve(*output);
  require_other_file("--markdown", line.markdown, line);
  require_other_file("--json", line.json, line);
  require_other_file("--html", line.html, line);
  if (!line.html.empty()) require_files("--html", line);
  require_different_files(line);
  require_other_outputs(line);
  return line;
}

[[nodiscard]] inline std::string help_of_compare(std::size_t width) {
  CommandLine line;
  Limits limits;
  std::string text;
  for (const auto& each : report::wrap(compare_usage, width)) text += each + '\n';
  return text + args::help(compare_options(line, limits), width);
}

/// Reads the files of a side. Single samples are not kept: verdicts rest on medians.
[[nodiscard]] inline std::vector<report::ResultsFile> read_side(const std::vector<std::string>& paths) {
  std::vector<report::ResultsFile> files;
  for (const auto& path : paths) files.push_back(report::read_results_file(path, report::Keep::summaries));
  return files;
}

[[nodiscard]] inline std::vector<SourceFile> sources_of(const std::vector<report::ResultsFile>& files) {
  std::vector<SourceFile> sources;
  for (const auto& file : files) {
    const auto& environment = file.header.environment;
    sources.push_back({file.path, environment.date_utc, environment.commit, environment.hostname, file.cut_off});
  }
  return sources;
}

/// Reads all files and compares them: both sides, or each file of a series with its first one.
[[nodiscard]] inline Outcome compare_files(const CommandLine& line) {
  Outcome outcome{.settings = line.settings, .steps = {}, .allow_undecided = line.allow_undecided};
  const auto add = [&](const std::vector<report::ResultsFile>& then, const std::vector<report::ResultsFile>& now,
                       std::size_t steps) {
    outcome.steps.push_back(
        {sources_of(then), sources_of(now), compare_sides(then, now, line.settings, steps, line.when_new)});
  };
  if (line.series.empty()) {
    add(read_side(line.then), read_side(line.now), 1);
  } else {
    const auto first = read_side({line.series.front()});
    for (std::size_t i = 1; i < line.series.size(); ++i) {
      const auto other = read_side({line.series[i]});
      if (report::same_process(first.front(), other.front()))
        throw Error(line.series[i] + " and " + line.series.front() +
                    " hold the same process; a copy is no second measurement");
      add(first, other, line.series.size() - 1);
    }
  }
  if (outcome.compared() == 0) throw Error("the files hold no results to compare");
  return outcome;
}

/// Removes a file in its destructor.
struct FinalRemoval {
  std::string path;
  ~FinalRemoval() {
    std::error_code none;
    std::filesystem::remove(path, none);
  }
};

inline void write_file(const std::string& path, const std::string& text) {
  OutputFile file(path);
  file.append(text);
  file.close();
}

/// Writes the page of all files and their comparison.
inline void write_page(const CommandLine& line, const Outcome& outcome, const MakePage& make_page) {
  const std::string verdicts = line.html + ".verdicts";
  write_file(verdicts, json_lines(outcome));
  const FinalRemoval removal{verdicts};
  std::vector<std::string> words{verdicts};
  for (const auto* files : {&line.then, &line.now, &line.series})
    for (const auto& file : *files)
      if (std::ranges::find(words, file) == words.end()) words.push_back(file);
  words.push_back("--output");
  words.push_back(line.html);
  make_page(words);
}

}  // namespace detail

/// All of the program but finding out its arguments. Lines of text have at most `width` columns. Returns the exit code;
/// whether `out` has taken everything is the caller's to look at.
[[nodiscard]] inline int compare_program(
    const std::vector<std::string>& words, std::ostream& out, std::ostream& err, bool colour = false,
    const detail::Resolve& resolve = [](const std::string& path) { return path; },
    const detail::MakePage& make_page = [](const std::vector<std::string>&) { throw Error("--html: no page is made"); },
    std::size_t width = width_without_terminal) {
  try {
    const auto line = detail::parse_command_line(words, resolve);
    if (line.help) {
      out << detail::help_of_compare(width);
      return all_acceptable;
    }
    const Outcome outcome = detail::compare_files(line);
    if (!line.json.empty()) detail::write_file(line.json, json_lines(outcome));
    if (!line.html.empty()) detail::write_page(line, outcome, make_page);
    const bool prints_markdown = line.markdown == "-";
    if (!line.markdown.empty() && !prints_markdown)
      detail::write_file(line.markdown, markdown(outcome, line.report_url));
    if (prints_markdown)
      out << markdown(outcome, line.report_url);
    else
      print_table(outcome, colour, width, out);
    for (const auto& path : outcome.cut_off())
      err << "compare_results: " << report::printable(path)
          << ": its last line was cut off, as by a run that was ended; that result is left out\n";
    if (outcome.exit_code() == not_compared)
      err << "compare_results: nothing is compared: no row has figures on both sides; measure the same implementations "
             "before and after\n";
    return outcome.exit_code();
  } catch (const std::exception& error) {
    err << "compare_results: " << report::printable_lines(cut_text(error.what())) << '\n';
    return not_compared;
  }
}

}  // namespace pace::tools::compare_results
