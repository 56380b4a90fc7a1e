// Comparing files of results, old with new, without measuring anything.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pace/report/stored_baseline.hpp"

namespace pace::tools::compare_results {

/// Effect of a row that the old results do not have on the exit code.
enum class WhenNew { pass, fail };

/// One implementation of one comparison. Times are geometric means over the processes of a side.
struct Compared {
  std::string comparison, implementation;
  std::optional<Nanoseconds> then, now;
  /// Time then / time now, or the ratio of the speed-ups.
  std::optional<double> factor;
  /// Interval of `factor`; absent where there is no verdict by figures.
  std::optional<Interval<double>> interval;
  Judgement judgement;
  /// Whether no file of the old side has the row, so that there is nothing to compare it with.
  bool is_new = false;
  /// Says that the time of the comparison's baseline changed as well, where times are compared; else empty.
  std::string baseline_change;
  /// Processes with figures on each side.
  std::size_t processes_then = 0, processes_now = 0;
  /// Processes on each side that would settle an undecided verdict, and the rounds and the time of rounds of all of
  /// them. Absent where no number would, or none is known.
  std::optional<std::size_t> processes_needed, rounds_needed;
  std::optional<Nanoseconds> time_needed;
};

/// Returns the word of the column of verdicts: `new` where nothing could be compared because the row is new.
[[nodiscard]] inline const char* verdict_text(const Compared& each) {
  return each.is_new ? "new" : to_string(each.judgement.verdict);
}

/// A change that is proven: the interval does not hold 1.
[[nodiscard]] inline bool is_change(const Compared& each) {
  return each.interval && (each.interval->low > 1 || each.interval->high < 1);
}

namespace detail {

/// Geometric mean, since the test compares logarithms.
[[nodiscard]] inline std::optional<double> centre(const std::vector<const ImplementationResult*>& rows,
                                                  bool by_speedup) {
  double sum = 0;
  std::size_t count = 0;
  for (const auto* row : rows)
    if (const auto number = report::detail::number_of(*row, by_speedup)) {
      sum += *number;
      ++count;
    }
  return count == 0 ? std::nullopt : std::optional(sum / static_cast<double>(count));
}

/// Returns the cost of a verdict: so many processes of each side, which last as long as those so far.
inline void add_forecast(Compared& compared, std::size_t needed, const std::vector<const Result*>& then,
                         const std::vector<const Result*>& now) {
  compared.processes_needed = needed;
  double rounds = 0;
  Nanoseconds time{};
  for (const auto* side : {&then, &now})
    for (const auto* result : *side) {
      const double share = static_cast<double>(needed) / static_cast<double>(side->size());
      rounds += share * static_cast<double>(result->rounds);
      time += share * result->elapsed;
    }
  if (!(rounds > 0)) return;
  compared.rounds_needed = static_cast<std::size_t>(std::ceil(rounds));
  compared.time_needed = time;
  compared.judgement.message +=
      ": " + std::to_string(*compared.rounds_needed) + " rounds in all, which take " + format_time(time);
}

/// Returns up to three of the implementations in the files, as `'case' (eager), ...`.
[[nodiscard]] inline std::string some_names(const std::vector<report::ResultsFile>& files) {
  std::string text;
  std::size_t count = 0;
  for (const auto& file : files)
    for (const auto& result : file.results)
      for (const auto& row : result.implementations)
        if (++count <= 3) text += (text.empty() ? "'" : ", '") + result.name + "' (" + row.name + ')';
  return count == 0 ? "nothing" : count > 3 ? text + " and " + std::to_string(count - 3) + " more" : text;
}

/// Says of each row with figures whether the time of its comparison's baseline changed too: proven, or by at least half
/// of a change that is proven of the row. Times alone do not tell such a change from another speed of the machine.
inline void add_baseline_changes(std::vector<Compared>& all, const std::vector<report::ResultsFile>& now) {
  const auto log_of = [](const Compared& row) { return row.factor ? std::log(*row.factor) : 0; };
  for (auto& row : all) {
    if (!row.factor || !row.interval) continue;
    const auto found = report::detail::find(now, row.comparison, row.implementation);
    const Compared* baseline = nullptr;
    for (const auto* result : found.results)
      for (const auto& other : result->implementations)
        for (const auto& each : all)
          if (other.is_baseline && each.comparison == row.comparison && each.implementation == other.name)
            baseline = &each;
    if (baseline == nullptr || !baseline->factor) continue;
    const double share = log_of(*baseline) / log_of(row);
    if (!is_change(*baseline) && !(is_change(row) && share >= 0.5)) continue;
    const std::string factor = format_factor(1 / *baseline->factor);
    row.baseline_change =
        baseline == &row ? "It is the baseline. If its code is as it was, the machine is slower or faster than then"
                         : "The baseline '" + baseline->implementation + "' takes " + factor +
                               " its old time, so that the machine may have changed and not the code";
    row.baseline_change += "; compare speed-ups, from which that cancels (--by speedup)";
    row.judgement.message += '\n' + row.baseline_change;
  }
}

/// Returns the judgement of a row that the old results do not have. An implementation that is wrong or does not run is
/// judged as any other, for any `when_new`.
[[nodiscard]] inline Judgement judge_new(const report::Settings& settings, const report::detail::Found& rows,
                                         const std::string& reference, WhenNew when_new, bool& is_new) {
  gate::Demand demand = settings.expectation.demand();
  demand.quantity = gate::Quantity::time;
  Judgement judgement;
  for (const auto* row : rows.rows)
    if (gate::judge_without_figures(demand, *row, nullptr, judgement) && judgement.verdict == Verdict::failed) {
      judgement.expectation = report::describe(settings, reference);
      return judgement;
    }
  is_new = true;
  const std::string what =
      '\'' + rows.rows.front()->name + "' is new: " + reference + " do not have it, so nothing is compared";
  return {report::describe(settings, reference), Verdict::invalid, when_new == WhenNew::pass,
          what + (when_new == WhenNew::pass ? ""
                                            : "; measure it with the old build as well, or leave out --new-rows fail")};
}

/// Throws Error unless an implementation of a comparison is on both sides.
inline void require_common(const std::vector<report::ResultsFile>& then, const std::vector<report::ResultsFile>& now) {
  bool empty = true;
  for (const auto& file : now)
    for (const auto& result : file.results)
      for (const auto& row : result.implementations) {
        if (!report::detail::find(then, result.name, row.name).rows.empty()) return;
        empty = false;
      }
  for (const auto& file : then) empty = empty && file.results.empty();
  if (empty) throw Error("the files hold no results to compare");
  throw Error(then.front().path + " and " + now.front().path + " have nothing in common: the first side has " +
              some_names(then) + ", the second one " + some_names(now) +
              "; expected results of the same comparisons and implementations");
}

}  // namespace detail

/// Every implementation that either side knows, in the order of the new side, then those that only the old one has. The
/// comparisons of one result share its error rates; there are `steps` of them. A row that only the new side has passes
/// or fails as `when_new` says. Throws Error if the files of the two sides are not of one machine and build, of one
/// side not of different processes, or have nothing in common.
[[nodiscard]] inline std::vector<Compared> compare_sides(const std::vector<report::ResultsFile>& then,
                                                         const std::vector<report::ResultsFile>& now,
                                                         const report::Settings& settings, std::size_t steps = 1,
                                                         WhenNew when_new = WhenNew::pass) {
  if (then.empty() || now.empty()) throw Error("needs at least one file on each side");
  for (const auto* side : {&then, &now})
    if (const auto what = report::inconsistent(*side, settings.allowed); !what.empty()) throw Error(what);
  if (const auto what =
          report::differences(then.front().header.environment, now.front().header.environment, settings.allowed);
      !what.empty())
    throw Error(then.front().path + " and " + now.front().path + " are of different machines or builds: " + what +
                ". Times of one say nothing of the other; what may differ is named with --allow");
  detail::require_common(then, now);
  std::vector<Compared> all;
  const std::string reference = "the old results";
  const auto judge = [&](Compared& compared, const report::detail::Found& old_rows,
                         const report::detail::Found& new_rows, std::size_t gates) {
    const auto verdict =
        report::judge(settings, compared.implementation, old_rows.rows, new_rows.rows, reference, gates);
    compared.judgement = verdict.judgement;
    if (const auto& evidence = verdict.evidence)
      compared.interval = Interval<double>{std::exp(evidence->interval.low), std::exp(evidence->interval.high),
                                           evidence->interval.confidence};
    if (verdict.processes_needed)
      detail::add_forecast(compared, *verdict.processes_needed, old_rows.results, new_rows.results);
  };
  const auto count = [&](const std::vector<const ImplementationResult*>& rows) {
    return static_cast<std::size_t>(std::ranges::count_if(
        rows, [&](const auto* row) { return report::detail::number_of(*row, settings.by_speedup).has_value(); }));
  };
  const auto add = [&](const Result& result, const ImplementationResult& row) {
    for (const auto& known : all)
      if (known.comparison == result.name && known.implementation == row.name) return;
    if (settings.by_speedup && row.is_baseline) return;
    Compared compared;
    compared.comparison = result.name;
    compared.implementation = row.name;
    const auto old_rows = report::detail::find(then, result.name, row.name),
               new_rows = report::detail::find(now, result.name, row.name);
    const auto time = [](const std::optional<double>& log) {
      return log ? std::optional(Nanoseconds(std::exp(-*log))) : std::nullopt;
    };
    compared.then = time(detail::centre(old_rows.rows, false));
    compared.now = time(detail::centre(new_rows.rows, false));
    const auto before = detail::centre(old_rows.rows, settings.by_speedup);
    const auto after = detail::centre(new_rows.rows, settings.by_speedup);
    if (before && after) compared.factor = std::exp(*after - *before);
    compared.processes_then = count(old_rows.rows);
    compared.processes_now = count(new_rows.rows);
    auto otherwise = report::detail::first_measurement_difference(old_rows, result, settings.allowed);
    if (otherwise.empty()) otherwise = report::detail::first_measurement_difference(new_rows, result, settings.allowed);
    if (!otherwise.empty())
      compared.judgement = {report::describe(settings, reference), Verdict::invalid, false,
                            '\'' + row.name + "' cannot be compared with " + reference +
                                ": it was measured otherwise: " + otherwise +
                                "; what may differ is named with --allow"};
    else if (old_rows.twice || new_rows.twice)
      compared.judgement = {report::describe(settings, reference), Verdict::invalid, false,
                            '\'' + result.name + "' is in a file twice; give each case a name of its own"};
    else if (old_rows.rows.empty())
      compared.judgement = detail::judge_new(settings, new_rows, reference, when_new, compared.is_new);
    else
      judge(compared, old_rows, new_rows, steps * result.implementations.size());
    all.push_back(std::move(compared));
  };
  for (const auto* side : {&now, &then})
    for (const auto& file : *side)
      for (const auto& result : file.results)
        for (const auto& row : result.implementations) add(result, row);
  // By speed-up the baselines, which may be all that is on both sides, have no row.
  if (std::ranges::all_of(all, &Compared::is_new))
    throw Error(then.front().path + " and " + now.front().path + " have nothing in common that can be compared" +
                (settings.by_speedup ? " by speed-up" : "") +
                ": each row of the second side is new; expected results of the same implementations");
  if (!settings.by_speedup) detail::add_baseline_changes(all, now);
  return all;
}

}  // namespace pace::tools::compare_results
