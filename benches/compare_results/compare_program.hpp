// The program that compares files of results: its command line, its table, its exit code.
#pragma once

#include <charconv>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "benches/compare_results/two_sides.hpp"
#include "pace/core/format.hpp"
#include "pace/report/table.hpp"
#include "pace/report/text.hpp"

namespace pace::benches::compare_results {

/// Exit codes: every gate open, at least one closed, nothing compared; none closed, but at least one let through undecided
/// (as of a program that measures).
inline constexpr int all_acceptable = 0, not_acceptable = 1, not_compared = 2, not_resolved = 43;

inline constexpr std::string_view compare_usage =
    R"(compare_results OLD.json NEW.json [options]
compare_results --old OLD.json... --new NEW.json... [options]

Judges results of two builds or two days that --json or --save-baseline wrote, implementation by implementation. Each
file is one process; several files a side (of different processes, in a number fixed beforehand) show how much processes
differ, and from five in all on the verdict rests on that. With fewer it rests on --process-spread.

  --no-slower-than FACTOR    fail what is proven to take more than this times the old time (defaults to 1.02)
  --speedup-at-least FACTOR  instead: pass only what is proven to be this much faster
  --by time|speedup          compare times, or speed-ups over the baseline of each file's own run (defaults to time)
  --process-spread SHARE     standard deviation of times between processes as a share of the time, if you know it: 0.01
                             is 1 % (0.000001 to 10; where it is not given, a side's own scatter counts from five
                             processes in all on, and 0.05 with fewer)
  --undecided-fails          an open question closes the gate (exit code 1)
  --allow-undecided          exit code 0, not 43, for a guard that is let through undecided
  --alpha RATE, --beta RATE  wrong verdicts on the costly side and on the cheap side, per comparison (0.001, 0.01)
  --allow KEY                this may differ: a key of the environment, such as libtorch, compiler or build_flags, or
                             device, clock or inputs of a comparison
  --help

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

/// Throws InputError.
[[nodiscard]] inline CommandLine parse_command_line(const std::vector<std::string>& words, const Resolve& resolve) {
  CommandLine line;
  bool undecided_fails = false;
  std::vector<std::string>* files = nullptr;
  std::vector<std::string> positional;
  /// What each option was given, and which of the two limits.
  std::map<std::string, std::string> values;
  std::string limit;
  const auto fail = [](const std::string& message) { throw InputError({}, message + "; see --help"); };
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string word = words[i], given;
    bool has_given = false;
    if (const auto equals = word.find('='); word.starts_with("--") && equals != std::string::npos) {
      given = word.substr(equals + 1);
      word.resize(equals);
      has_given = true;
    }
    const auto value = [&] {
      if (!has_given && ++i == words.size()) fail(word + ": expected a value after it");
      return has_given ? given : words[i];
    };
    // One of two values would have no effect.
    const auto only_value = [&] {
      const std::string text = value();
      const auto [before, is_new] = values.emplace(word, text);
      if (!is_new && before->second != text)
        fail(word + ": is given twice, as '" + before->second + "' and as '" + text + "'; expected it once");
      return text;
    };
    const auto number = [&](double least, double most, const char* range) {
      const std::string text = only_value();
      double read = 0;
      const auto end = std::from_chars(text.data(), text.data() + text.size(), read);
      if (end.ec != std::errc() || end.ptr != text.data() + text.size() || !(read >= least && read <= most))
        fail(word + ": invalid value '" + text + "'; expected a number from " + range);
      return read;
    };
    const auto factor = [&] {
      if (!limit.empty() && limit != word)
        fail(limit + " and " + word +
             " do not go together, since files are compared by one limit; expected one of them");
      limit = word;
      return number(1e-3, 1e6, "0.001 to 1000000");
    };
    if (word == "--old" || word == "--new") {
      files = word == "--old" ? &line.then : &line.now;
      if (has_given) files->push_back(resolve(given));
      continue;
    }
    if (!word.starts_with("--")) {
      (files == nullptr ? positional : *files).push_back(resolve(word));
      continue;
    }
    files = nullptr;
    const bool is_flag = word == "--help" || word == "--undecided-fails" || word == "--allow-undecided";
    if (is_flag && has_given) fail(word + ": takes no value, found '" + given + "'");
    if (word == "--help")
      line.help = true;
    else if (word == "--no-slower-than")
      line.settings.expectation = NoSlowerThan(factor());
    else if (word == "--speedup-at-least")
      line.settings.expectation = SpeedupAtLeast(factor());
    else if (word == "--process-spread")
      line.settings.spread = number(1e-6, 10, "0.000001 to 10");
    else if (word == "--alpha")
      line.settings.family.alpha = number(1e-9, 0.49, "0.000000001 to 0.49");
    else if (word == "--beta")
      line.settings.family.beta = number(1e-9, 0.49, "0.000000001 to 0.49");
    else if (word == "--undecided-fails")
      undecided_fails = true;
    else if (word == "--allow-undecided")
      line.allow_undecided = true;
    else if (word == "--allow") {
      const std::string key = value();
      std::string known;
      for (const auto* keys : {&report::identity_keys(), &report::measurement_keys()})
        for (const auto& each : *keys) known += (known.empty() ? "" : ", ") + each;
      if ((", " + known + ",").find(", " + key + ',') == std::string::npos)
        fail("--allow: '" + key + "' is no key that is compared; these are: " + known);
      line.settings.allowed.push_back(key);
    } else if (word == "--by") {
      const std::string what = only_value();
      if (what != "time" && what != "speedup") fail("--by: invalid value '" + what + "'; expected time or speedup");
      line.settings.by_speedup = what == "speedup";
    } else {
      fail("unknown option " + word);
    }
  }
  if (undecided_fails) line.settings.expectation = line.settings.expectation.when_undecided(WhenUndecided::close);
  if (line.help) return line;
  if (undecided_fails && line.allow_undecided) fail("--undecided-fails and --allow-undecided contradict each other");
  if (!positional.empty()) {
    if (positional.size() != 2 || !line.then.empty() || !line.now.empty())
      fail("expected OLD.json and NEW.json, or --old and --new with files after them");
    line.then = {positional[0]};
    line.now = {positional[1]};
  }
  if (line.then.empty() || line.now.empty()) fail("expected at least one file on each side");
  return line;
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
      out << compare_usage;
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

}  // namespace pace::benches::compare_results
