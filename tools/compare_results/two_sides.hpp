// Comparing files of results, old with new, without measuring anything.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pace/report/stored_baseline.hpp"

namespace pace::tools::compare_results {

/// One implementation of one comparison. Times are medians over the processes of a side.
struct Compared {
  std::string comparison, implementation;
  std::optional<Nanoseconds> then, now;
  /// Time then / time now, or the ratio of the speed-ups.
  std::optional<double> factor;
  Judgement judgement;
};

namespace detail {

/// Geometric mean, as befits what the test compares.
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

}  // namespace detail

/// Every implementation that either side knows, in the order of the new side, then what only the old one has. Throws
/// Error if the files of the two sides are not of one machine and build, or of one side not of different processes.
[[nodiscard]] inline std::vector<Compared> compare_sides(const std::vector<report::ResultsFile>& then,
                                                         const std::vector<report::ResultsFile>& now,
                                                         const report::Settings& settings) {
  if (then.empty() || now.empty()) throw Error("needs at least one file on each side");
  for (const auto* side : {&then, &now})
    if (const auto what = report::inconsistent(*side, settings.allowed); !what.empty()) throw Error(what);
  if (const auto what =
          report::differences(then.front().header.environment, now.front().header.environment, settings.allowed);
      !what.empty())
    throw Error(then.front().path + " and " + now.front().path + " are of different machines or builds: " + what +
                ". Times of one say nothing of the other; what may differ is named with --allow");
  std::vector<Compared> all;
  const auto add = [&](const Result& result, const ImplementationResult& row) {
    for (const auto& known : all)
      if (known.comparison == result.name && known.implementation == row.name) return;
    if (settings.by_speedup && row.is_baseline) return;
    Compared compared{result.name, row.name, {}, {}, {}, {}};
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
    const std::string reference = "the old results";
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
    else
      compared.judgement =
          report::judge(settings, row.name, old_rows.rows, new_rows.rows, reference, result.implementations.size());
    all.push_back(std::move(compared));
  };
  for (const auto* side : {&now, &then})
    for (const auto& file : *side)
      for (const auto& result : file.results)
        for (const auto& row : result.implementations) add(result, row);
  return all;
}

}  // namespace pace::tools::compare_results
