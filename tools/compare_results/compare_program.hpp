// The program that compares files of results: its command line, its table, its exit code.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "tools/compare_results/two_sides.hpp"
#include "pace/args/command_line.hpp"
#include "pace/core/format.hpp"
#include "pace/report/table.hpp"
#include "pace/report/text.hpp"

namespace pace::tools::compare_results {

/// Exit codes: every gate open, at least one closed, nothing compared; none closed, but at least one let through
/// undecided (as of a program that measures).
inline constexpr int all_acceptable = 0, not_acceptable = 1, not_compared = 2, not_resolved = 43;

inline constexpr std::string_view compare_usage =
    R"(compare_results OLD.json NEW.json [options]
compare_results --old OLD.json... --new NEW.json... [options]

Judges results of two builds or two days that --json or --save-baseline wrote, implementation by implementation. Each
file is one process; several files a side (of different processes, in a number fixed beforehand) show how much processes
differ, and from five in all on the verdict rests on that. With fewer it rests on --process-spread.

Exit code: 0 if all passed, 1 if one is not acceptable, 2 if files cannot be read or compared, 43 if none failed but one
could not be decided.
)";

namespace detail {

struct CommandLine {
  std::vector<std::string> then, now;
  report::Settings settings{.expectation = NoSlowerThan(1.02)};
  bool help = false, allow_undecided = false;
};

/// A file name of the command line as the system finds it.
using Resolve = std::function<std::string(const std::string&)>;

/// Options whose values are no settings yet.
struct Limits {
  std::optional<double> no_slower_than, speedup_at_least;
  bool undecided_fails = false;
};

/// The options; `line` and `limits` must outlive them.
[[nodiscard]] inline args::Groups compare_options(CommandLine& line, Limits& limits) {
  using args::Option;
  auto& settings = line.settings;
  return {
      {"Files",
       {Option("--old", "results before, one file a process", args::each(line.then, "file", "a file name")).as_words(),
        Option("--new", "results now, one file a process", args::each(line.now, "file", "a file name")).as_words(),
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
          ""}}}},
      {"Judging",
       {Option("--no-slower-than", "fail what is proven to take more than this times the old time",
               args::factor(limits.no_slower_than))
            .once()
            .by_default("1.02"),
        Option("--speedup-at-least", "instead: pass only what is proven to be this much faster",
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
        {"--undecided-fails", "an open question closes the gate (exit code 1)", args::flag(limits.undecided_fails)},
        Option("--allow-undecided", "exit code 0, not 43, for a guard that is let through undecided",
               args::flag(line.allow_undecided))
            .excludes({"--undecided-fails"}, "they contradict each other")}}};
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
    if (positional.size() != 2 || !line.then.empty() || !line.now.empty())
      fail("expected OLD.json and NEW.json, or --old and --new with files after them");
    line.then = {positional[0]};
    line.now = {positional[1]};
  }
  if (line.then.empty() || line.now.empty()) fail("expected at least one file on each side");
  for (auto* const side : {&line.then, &line.now})
    for (auto& path : *side) path = resolve(path);
  return line;
}

[[nodiscard]] inline std::string help_of_compare() {
  CommandLine line;
  Limits limits;
  return std::string(compare_usage) + args::help(compare_options(line, limits));
}

inline void print(const std::vector<Compared>& all, bool by_speedup, bool colour, std::ostream& out) {
  report::StreamingTable table({{"comparison", 10, report::Align::left},
                                {"implementation", 14, report::Align::left},
                                {"then", 7},
                                {"now", 7},
                                {by_speedup ? "speed-up now / then" : "speed now / then", 8},
                                {"verdict", 9, report::Align::left}},
                               colour);
  std::vector<std::vector<report::Cell>> rows;
  for (const auto& each : all) {
    const auto time = [](const std::optional<Nanoseconds>& value) { return value ? format_time(*value) : "-"; };
    report::Colour hue = report::Colour::green;
    if (each.judgement.verdict == Verdict::undecided) hue = report::Colour::yellow;
    if (!each.judgement.acceptable) hue = report::Colour::red;
    rows.push_back({{report::printable(each.comparison)},
                    {report::printable(each.implementation)},
                    {time(each.then)},
                    {time(each.now)},
                    {each.factor ? format_factor(*each.factor) : "-"},
                    {to_string(each.judgement.verdict), hue}});
  }
  table.fit(rows);
  out << table.header_if_due(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out << table.line(rows[i]);
    if (all[i].judgement.verdict == Verdict::passed) continue;
    for (const auto& line : report::wrap(all[i].judgement.message, 114)) out << "      " << line << '\n';
  }
}

}  // namespace detail

/// All of the program but finding out its arguments. Returns the exit code.
[[nodiscard]] inline int compare_program(
    const std::vector<std::string>& words, std::ostream& out, std::ostream& err, bool colour = false,
    const detail::Resolve& resolve = [](const std::string& path) { return path; }) {
  try {
    const auto line = detail::parse_command_line(words, resolve);
    if (line.help) {
      out << detail::help_of_compare();
      return all_acceptable;
    }
    std::vector<report::ResultsFile> then, now;
    for (const auto& path : line.then) then.push_back(report::read_results_file(path));
    for (const auto& path : line.now) now.push_back(report::read_results_file(path));
    const auto all = compare_sides(then, now, line.settings);
    if (all.empty()) throw Error("the files hold no results to compare");
    detail::print(all, line.settings.by_speedup, colour, out);
    std::size_t closed = 0, open = 0, unresolved = 0;
    for (const auto& each : all) {
      closed += !each.judgement.acceptable;
      open += each.judgement.acceptable && each.judgement.verdict != Verdict::passed;
      unresolved += each.judgement.unresolved;
    }
    out << all.size() << " compared, " << closed << " not acceptable, " << open << " open and let through\n"
        << std::flush;
    if (!out) throw Error("cannot write the table: the output is closed or full");
    if (closed > 0) return not_acceptable;
    return unresolved > 0 && !line.allow_undecided ? not_resolved : all_acceptable;
  } catch (const std::exception& error) {
    err << "compare_results: " << report::printable_lines(error.what()) << '\n';
    return not_compared;
  }
}

}  // namespace pace::tools::compare_results
