// The comparison as a table for a terminal.
#pragma once

#include <cstddef>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "pace/base/cut_text.hpp"
#include "pace/base/format.hpp"
#include "pace/report/table.hpp"
#include "pace/report/text.hpp"
#include "pace/result/verdict.hpp"
#include "tools/compare_results/outcome.hpp"

namespace pace::tools::compare_results {

/// Returns the paths as `a.json, b.json`.
[[nodiscard]] inline std::string paths_of(const std::vector<SourceFile>& files) {
  std::string text;
  for (const auto& file : files) text += (text.empty() ? "" : ", ") + file.path;
  return text;
}

/// Returns a time, or a dash where there is none.
[[nodiscard]] inline std::string time_text(const std::optional<Nanoseconds>& time) {
  return time ? format_time(*time) : "-";
}

/// Prints the rows of all steps. Below a row that has not passed it prints the message, in lines of at most `width`
/// columns. Below one that has passed it says whether its baseline's time changed.
inline void print_table(const Outcome& outcome, bool colour, std::size_t width, std::ostream& out) {
  report::StreamingTable table({{"comparison", 10, report::Align::left},
                                {"implementation", 14, report::Align::left},
                                {"then", 7},
                                {"now", 7},
                                {outcome.settings.by_speedup ? "speed-up now / then" : "speed now / then", 8},
                                {"verdict", 9, report::Align::left}},
                               colour);
  for (const auto& step : outcome.steps) {
    std::vector<std::vector<report::Cell>> rows;
    for (const auto& each : step.rows) {
      report::Colour hue = report::Colour::green;
      if (each.judgement.verdict == Verdict::undecided || each.is_new) hue = report::Colour::yellow;
      if (!each.judgement.acceptable) hue = report::Colour::red;
      rows.push_back({{report::printable(each.comparison)},
                      {report::printable(each.implementation)},
                      {time_text(each.then)},
                      {time_text(each.now)},
                      {each.factor ? format_factor(*each.factor) : "-"},
                      {verdict_text(each), hue}});
    }
    if (outcome.steps.size() > 1)
      out << "== " << report::printable(paths_of(step.now)) << " against " << report::printable(paths_of(step.then))
          << '\n';
    table.fit(rows);
    out << table.header_if_due(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      out << table.line(rows[i]);
      const bool passed = step.rows[i].judgement.verdict == Verdict::passed;
      const auto& text = passed ? step.rows[i].baseline_change : step.rows[i].judgement.message;
      if (text.empty()) continue;
      for (const auto& line : report::wrap(cut_text(text), width - 6)) out << "      " << line << '\n';
    }
  }
  out << std::to_string(outcome.compared()) << " compared, " << std::to_string(outcome.closed()) << " not acceptable, "
      << std::to_string(outcome.let_through()) << " open and let through";
  if (outcome.new_rows() > 0) out << ", " << std::to_string(outcome.new_rows()) << " new";
  out << '\n';
}

}  // namespace pace::tools::compare_results
