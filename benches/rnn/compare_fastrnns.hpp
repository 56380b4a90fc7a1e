// Two runs of fastrnns side by side: its --print-json oss, or the JSON of pytest-benchmark, as md, csv, table or json.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "benches/rnn/python_text.hpp"
#include "pace/args/command_line.hpp"
#include "pace/base/error.hpp"
#include "pace/os/parse_json.hpp"
#include "pace/os/read_file.hpp"
#include "pace/report/text.hpp"

namespace pace::benches::rnn {

/// Seconds by `group[test]:fwd` or `group[test]:bwd`.
using Times = std::map<std::string, double>;

namespace detail {

[[nodiscard]] inline Location place_in(const std::string& path, const std::string& text, std::size_t offset) {
  const std::string_view before = std::string_view(text).substr(0, offset);
  Location where{path, 1, 1};
  for (const char c : before) {
    ++where.column;
    if (c != '\n') continue;
    ++where.line;
    where.column = 1;
  }
  return where;
}

/// The full name of one group of a run; `lstm-backward` has the backward steps of `lstm`.
[[nodiscard]] inline std::string full_name(std::string group, const std::string& test) {
  constexpr std::string_view suffix = "-backward";
  const bool backward = group.find("backward") != std::string::npos;
  for (std::size_t at; (at = group.find(suffix)) != std::string::npos;) group.erase(at, suffix.size());
  return group + '[' + test + (backward ? "]:bwd" : "]:fwd");
}

[[nodiscard]] inline Times read_oss(const std::string& path, const nlohmann::json& json, bool as_they_are) {
  constexpr double milliseconds_per_second = 1e3;
  Times times;
  for (const auto& [group, models] : json.items()) {
    if (!models.is_object())
      throw InputError({path}, "'" + group + "': expected an object of models and their times, found " +
                                   std::string(models.type_name()));
    for (const auto& [model, time] : models.items()) {
      if (!time.is_number())
        throw InputError({path}, "'" + group + "', '" + model + "': expected a time, found " +
                                     (time.is_structured() ? time.type_name() : time.dump()));
      times[full_name(group, model)] = time.get<double>() / (as_they_are ? 1 : milliseconds_per_second);
    }
  }
  return times;
}

/// `test_forward[aten-legacy-old]` of group fastrnns is `fastrnns[aten]:fwd` if the file separates the runner from
/// executor and fuser. Then two of those can be compared. Otherwise it is `fastrnns[aten-legacy-old]:fwd`. Other tests
/// keep their names.
[[nodiscard]] inline std::string pytest_name(const nlohmann::json& benchmark) {
  const auto text = [](const nlohmann::json& object, const char* key) {
    return object.is_object() && object.contains(key) && object[key].is_string() ? object[key].get<std::string>() : "";
  };
  const std::string name = text(benchmark, "name"), group = text(benchmark, "group");
  const std::string runner = benchmark.contains("params") ? text(benchmark["params"], "net_name") : "";
  for (const auto& [start, end] : {std::pair{"test_forward[", "]:fwd"}, std::pair{"test_backward[", "]:bwd"}})
    if (name.starts_with(start) && name.ends_with(']')) {
      const std::size_t length = std::string_view(start).size();
      return group + '[' + (runner.empty() ? name.substr(length, name.size() - length - 1) : runner) + end;
    }
  return name;
}

[[nodiscard]] inline Times read_pytest(const std::string& path, const nlohmann::json& benchmarks) {
  Times times;
  for (std::size_t i = 0; i < benchmarks.size(); ++i) {
    const auto& each = benchmarks[i];
    const auto fail = [&](const std::string& expected) {
      throw InputError({path}, "benchmarks[" + std::to_string(i) + "]: expected " + expected);
    };
    if (!each.is_object() || !each.contains("name") || !each["name"].is_string()) fail("an object with a name");
    if (!each.contains("stats") || !each["stats"].is_object() || !each["stats"].contains("mean") ||
        !each["stats"]["mean"].is_number())
      fail("stats with a mean, which is a number");
    const std::string name = pytest_name(each);
    if (!times.emplace(name, each["stats"]["mean"].get<double>()).second)
      fail("each test once, found " + name + " again; a file has one executor and one fuser");
  }
  return times;
}

}  // namespace detail

/// The times of a file. fastrnns' milliseconds become seconds, unless they are to be taken `as_they_are`. Throws
/// InputError naming the file, and the line where it is no JSON.
[[nodiscard]] inline Times read_times(const std::string& path, bool as_they_are = false) {
  const std::string expected = "JSON of fastrnns or of pytest-benchmark", text = read_file(path, expected);
  nlohmann::json json;
  try {
    json = parse_json<nlohmann::json>(text);
  } catch (const nlohmann::json::parse_error& error) {
    // It counts from 1, and past lines that it could not use.
    const std::size_t offset = error.byte == 0 ? 0 : error.byte - 1;
    throw InputError(detail::place_in(path, text, offset),
                     "this is no JSON; expected the JSON of fastrnns --print-json oss, or of pytest-benchmark");
  } catch (const nlohmann::json::exception&) {
    throw InputError({path}, "a number in it is too large; expected times");
  } catch (const Error& error) {
    throw InputError({path}, std::string(error.what()) + "; expected " + expected);
  }
  if (!json.is_object())
    throw InputError({path},
                     "expected an object of groups, or of pytest-benchmark, found " + std::string(json.type_name()));
  if (json.contains("benchmarks") && json["benchmarks"].is_array())
    return detail::read_pytest(path, json["benchmarks"]);
  return detail::read_oss(path, json, as_they_are);
}

/// One line of the comparison; a time that a file lacks is NaN.
struct TimePair {
  std::string name;
  double base, diff;

  [[nodiscard]] double percent() const { return (diff / base - 1) * 100; }
};

/// By name.
[[nodiscard]] inline std::vector<TimePair> pair_up(const Times& base, const Times& diff) {
  std::set<std::string> names;
  for (const auto* times : {&base, &diff})
    for (const auto& [name, time] : *times) names.insert(name);
  const auto time = [](const Times& times, const std::string& name) {
    const auto found = times.find(name);
    return found == times.end() ? std::numeric_limits<double>::quiet_NaN() : found->second;
  };
  std::vector<TimePair> pairs;
  for (const auto& name : names) pairs.push_back({name, time(base, name), time(diff, name)});
  return pairs;
}

enum class CompareFormat { markdown, csv, table, json };

namespace detail {

/// `text` with spaces up to `width`, behind it or, right-aligned, before it.
[[nodiscard]] inline std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::string spaces(text.size() < width ? width - text.size() : 0, ' ');
  return right ? spaces + text : text + spaces;
}

[[nodiscard]] inline std::string compare_line(CompareFormat format, const std::array<std::string, 4>& cells) {
  constexpr std::array<std::size_t, 4> widths{48, 13, 15, 10};
  const bool markdown = format == CompareFormat::markdown, csv = format == CompareFormat::csv;
  std::string line = markdown ? "| " : "";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += markdown ? " | " : csv ? ", " : " ";
    line += csv ? cells[i] : padded(cells[i], widths[i], i > 0);
  }
  return line + (markdown ? " |\n" : "\n");
}

}  // namespace detail

inline void print_comparison(const std::vector<TimePair>& pairs, CompareFormat format, std::ostream& out) {
  if (format == CompareFormat::json) {
    std::string text = "[";
    for (const auto& each : pairs)
      text += (&each == pairs.data() ? "[" : ", [") + json_string(each.name) + ", " + json_number(each.base) + ", " +
              json_number(each.diff) + ']';
    out << text << "]\n";
    return;
  }
  out << detail::compare_line(format, {"name", "base time (s)", "diff time (s)", "% change"});
  if (format == CompareFormat::markdown) out << detail::compare_line(format, {":---", "---:", "---:", "---:"});
  const char* const percent = format == CompareFormat::csv ? "%.2f" : "%.1f";
  for (const auto& each : pairs)
    out << detail::compare_line(
        format, {report::printable(each.name), python_format("%.6f", each.base), python_format("%.6f", each.diff),
                 python_format(percent, each.percent()) + '%'});
}

/// All of the program but main; `resolve` finds a file that was named. Returns the exit code: 0, or 1 with a
/// message on `err`.
[[nodiscard]] inline int compare_fastrnns(int argc, const char* const* argv, std::ostream& out, std::ostream& err,
                                          const std::function<std::string(const std::string&)>& resolve) {
  std::vector<std::string> files;
  CompareFormat format = CompareFormat::markdown;
  bool compat = false;
  const args::Groups options{{"Options",
                              {{"--format", "how the comparison is printed",
                                args::choice(format, {{"md", CompareFormat::markdown},
                                                      {"csv", CompareFormat::csv},
                                                      {"table", CompareFormat::table},
                                                      {"json", CompareFormat::json}})},
                               {"--compat", "fastrnns' milliseconds under a heading that says seconds, as the original",
                                args::flag(compat)}}}};
  try {
    if (args::parse(options, {argv + std::min(argc, 1), argv + argc}, {.words = &files}).help) {
      out << "bazel run //benches/rnn:compare_fastrnns -- base.json diff.json OPTIONS: times of two runs, each of "
             "fastrnns --print-json oss, or of pytest-benchmark\n"
          << args::help(options);
      return 0;
    }
    if (files.size() != 2) throw InputError({}, "expected two files: base.json and diff.json");
    const auto &base = files[0], &diff = files[1];
    const Times before = read_times(resolve(base), compat), after = read_times(resolve(diff), compat);
    const auto pairs = pair_up(before, after);
    if (pairs.empty()) throw InputError({}, base + " and " + diff + " have no times; expected one at least");
    print_comparison(pairs, format, out);
    out << std::flush;
    if (!out) throw Error("cannot write the comparison: the output is closed or full");
    return 0;
  } catch (const std::exception& error) {
    err << "compare_fastrnns: " << report::printable(error.what()) << '\n';
    return 1;
  }
}

}  // namespace pace::benches::rnn
