// The comparison as Markdown for a pull request: proven changes and closed gates alone, and how many rows remain.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "pace/base/format.hpp"
#include "pace/base/message_parts.hpp"
#include "pace/report/text.hpp"
#include "pace/result/verdict.hpp"
#include "tools/compare_results/outcome.hpp"
#include "tools/compare_results/table.hpp"

namespace pace::tools::compare_results {

namespace detail {

/// Returns text with each character that Markdown or HTML could interpret as an entity.
[[nodiscard]] inline std::string with_entities(const std::string& plain) {
  std::string text;
  for (const char c : plain) {
    const bool inert = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == ' ' ||
                       static_cast<unsigned char>(c) >= 0x80;
    text += inert ? std::string(1, c) : "&#" + std::to_string(static_cast<int>(c)) + ';';
    // Addresses of mail are looked for after entities have become characters.
    if (c == '@') text += "<!-- -->";
  }
  return text;
}

/// Returns a name or a message as code, which Markdown shows as it is. Outside of code, GitHub makes links of addresses
/// such as `www.x`, of `GH-12`, `owner/repository#1` and the hashes of commits, and mentions accounts.
[[nodiscard]] inline std::string as_code(const std::string& name) {
  const std::string text = report::printable(name);
  if (text.empty()) return "(empty)";
  // A vertical bar ends a cell of a table, in code as well, and behind a backslash nothing in Markdown keeps it.
  if (text.find('|') != std::string::npos) return "<code>" + with_entities(text) + "</code>";
  std::size_t longest = 0, run = 0;
  for (const char c : text) longest = std::max(longest, run = c == '`' ? run + 1 : 0);
  const std::string fence(longest + 1, '`');
  // One blank on both sides is left out again.
  const auto needs_blank = [](char end) { return end == '`' || end == ' '; };
  const std::string blank = needs_blank(text.front()) || needs_blank(text.back()) ? " " : "";
  return fence + blank + text + blank + fence;
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
      if (several) text += "| " + detail::as_code(paths_of(step->now)) + ' ';
      text += "| " + detail::as_code(row->comparison) + " | " + detail::as_code(row->implementation) + " | " +
              time_text(row->then) + " | " + time_text(row->now) + " | ";
      text += row->factor ? format_factor(*row->factor) : "-";
      if (row->interval)
        text += " \\[" + format_factor(row->interval->low) + ", " + format_factor(row->interval->high) + ']';
      const char* const verdict = verdict_text(*row);
      text += row->judgement.acceptable ? std::string(" | ") + verdict : std::string(" | **") + verdict + "**";
      // Without an interval the reason is all that there is to say.
      if (!row->interval) text += ": " + detail::as_code(in_one_line(row->judgement.message));
      text += " |\n";
    }
    text += '\n';
  }
  const auto remains = [](const Compared& row) { return !is_change(row) && row.judgement.acceptable && !row.is_new; };
  const std::size_t rest = outcome.count(remains);
  const std::size_t open =
      outcome.count([&](const Compared& row) { return remains(row) && row.judgement.verdict == Verdict::undecided; });
  text += "No change is proven of " + std::to_string(rest) + (rows.empty() ? "" : rest == 1 ? " other" : " others");
  if (open > 0) text += "; " + std::to_string(open) + " of them have no verdict";
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
  if (const auto count = outcome.count([](const Compared& row) { return !row.baseline_change.empty(); }); count > 0)
    text += " The baseline's time changed as well in the comparisons of " + std::to_string(count) +
            (count == 1 ? " row" : " rows") +
            ": the machine may have changed, and not the code. Speed-ups (`--by speedup`) tell these apart.";
  if (const auto count = outcome.new_rows(); count > 0)
    text += ' ' + std::to_string(count) + (count == 1 ? " is new, and has" : " are new, and have") +
            " nothing to be compared with.";
  text += '\n';
  if (!report_url.empty()) text += "\n[Report](<" + report_url + ">)\n";
  return text;
}

}  // namespace pace::tools::compare_results
