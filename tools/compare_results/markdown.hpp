// What was compared, as Markdown for a pull request: proven changes and closed gates alone, and how many rows remain.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "pace/core/format.hpp"
#include "pace/core/verdict.hpp"
#include "pace/report/text.hpp"
#include "tools/compare_results/outcome.hpp"
#include "tools/compare_results/table.hpp"

namespace pace::tools::compare_results {

namespace detail {

/// Returns text that Markdown shows as it is: a name may hold what Markdown and HTML would interpret, mention an
/// account or an issue, or end a cell of a table.
[[nodiscard]] inline std::string plain_markdown(const std::string& name) {
  std::string text;
  for (const char c : report::printable(name)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view(" /.,;%+='?").find(c) != std::string_view::npos ||
                       static_cast<unsigned char>(c) >= 0x80;
    text += plain ? std::string(1, c) : "&#" + std::to_string(static_cast<int>(c)) + ';';
    // GitHub looks for accounts and issues in what it shows, after entities have become characters.
    if (c == '@' || c == '#') text += "<!-- -->";
  }
  return text;
}

/// A row that is shown, with the step that it is of.
struct Shown {
  const Step* step;
  const Compared* row;
};

/// Returns the rows that are shown: closed gates without figures first, then changes from the largest loss to the
/// largest gain.
[[nodiscard]] inline std::vector<Shown> shown_rows(const Outcome& outcome) {
  std::vector<Shown> rows;
  for (const auto& step : outcome.steps)
    for (const auto& row : step.rows)
      if (is_change(row) || !row.judgement.acceptable) rows.push_back({&step, &row});
  const auto place = [](const Shown& each) { return is_change(*each.row) ? std::log(*each.row->factor) : -1e9; };
  std::ranges::stable_sort(rows, {}, place);
  return rows;
}

}  // namespace detail

/// Returns the comment. `report_url` is linked; empty: there is no link.
[[nodiscard]] inline std::string markdown(const Outcome& outcome, const std::string& report_url) {
  const auto is_slower = [](const Compared& row) { return is_change(row) && row.interval->high < 1; };
  const auto is_faster = [](const Compared& row) { return is_change(row) && row.interval->low > 1; };
  const bool several = outcome.steps.size() > 1;
  const auto rows = detail::shown_rows(outcome);
  std::string text = "### pace: " + std::to_string(outcome.count(is_slower)) + " slower, " +
                     std::to_string(outcome.count(is_faster)) + " faster, of " + std::to_string(outcome.compared()) +
                     "; " + std::to_string(outcome.closed()) + " not acceptable\n\n";
  if (!rows.empty()) {
    text += std::string(several ? "| file " : "") + "| comparison | implementation | then | now | " +
            (outcome.settings.by_speedup ? "speed-up" : "speed") + " now / then | verdict |\n" +
            (several ? "|---" : "") + "|---|---|---:|---:|---:|---|\n";
    for (const auto& [step, row] : rows) {
      if (several) text += "| " + detail::plain_markdown(paths_of(step->now)) + ' ';
      text += "| " + detail::plain_markdown(row->comparison) + " | " + detail::plain_markdown(row->implementation) +
              " | " + time_text(row->then) + " | " + time_text(row->now) + " | ";
      text += row->factor ? format_factor(*row->factor) : "-";
      if (row->interval)
        text += " \\[" + format_factor(row->interval->low) + ", " + format_factor(row->interval->high) + ']';
      const char* const verdict = to_string(row->judgement.verdict);
      text += row->judgement.acceptable ? std::string(" | ") + verdict : std::string(" | **") + verdict + "**";
      // Without an interval the reason is all that there is to say.
      if (!row->interval) text += ": " + detail::plain_markdown(row->judgement.message);
      text += " |\n";
    }
    text += '\n';
  }
  const auto remains = [](const Compared& row) { return !is_change(row) && row.judgement.acceptable; };
  const std::size_t rest = outcome.count(remains);
  const std::size_t open =
      outcome.count([&](const Compared& row) { return remains(row) && row.judgement.verdict == Verdict::undecided; });
  text += "No change is proven of " + std::to_string(rest) + (rows.empty() ? "" : " others");
  if (open > 0) text += ", of which " + std::to_string(open) + " have no verdict";
  text += ".";
  std::size_t needed = 0, within_reach = 0;
  for (const auto& step : outcome.steps)
    for (const auto& row : step.rows)
      if (remains(row) && row.processes_needed) {
        needed = std::max(needed, *row.processes_needed);
        ++within_reach;
      }
  if (needed > 0)
    text += " About " + std::to_string(needed) + " processes on each side would give " +
            (within_reach == open ? "each" : std::to_string(within_reach)) + " of these one.";
  text += '\n';
  if (!report_url.empty()) text += "\n[Report](<" + report_url + ">)\n";
  return text;
}

}  // namespace pace::tools::compare_results
