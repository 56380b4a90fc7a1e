// Definitions of console.hpp; see base/config.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/cut_text.hpp"
#include "pace/base/error.hpp"
#include "pace/base/format.hpp"
#include "pace/base/message_parts.hpp"
#include "pace/report/console.hpp"
#include "pace/report/counted_lines.hpp"
#include "pace/report/environment.hpp"
#include "pace/report/judged.hpp"
#include "pace/report/sink.hpp"
#include "pace/report/summary.hpp"
#include "pace/report/table.hpp"

namespace pace::report {

PACE_INLINE ConsoleSink::ConsoleSink(std::ostream& out, ConsoleStyle style)
    : out_(out),
      style_(std::move(style)),
      width_(style_.width()),
      table_(style_.blocks ? StreamingTable({columns().begin(), columns().begin() + without_rates}, style_.use_colour)
                           : StreamingTable(columns_of_lines(width_), style_.use_colour, /*indent=*/0)) {}

PACE_INLINE void ConsoleSink::introduce(const Environment& environment) {
  introduction_ = one_line(environment) + '\n';
  for (const auto& caution : cautions(environment)) introduction_ += indented("Caution: " + caution, 0, Colour::yellow);
}

PACE_INLINE void ConsoleSink::write(const Result& result) {
  summary_.add(result);
  if (result.recalled) return;
  follow_width();
  const std::string text = first_of_name(result) + (style_.blocks ? block(result) : lines(result));
  std::size_t lines = 0;
  for (const char c : text) lines += c == '\n' ? 1 : 0;
  const std::string header = table_.header_if_due(lines);
  print(std::exchange(introduction_, "") + (header.empty() ? "" : '\n' + header) + text);
}

PACE_INLINE std::string ConsoleSink::first_of_name(const Result& result) {
  if (!result.phase.empty()) return "";
  const auto [first, is_new] = first_inputs_.try_emplace(result.name, result.inputs);
  if (is_new || !result.repeats_name || first->second.empty()) return "";
  return indented("'" + result.name + "' above is " + name_with_inputs(result.name, std::exchange(first->second, "")),
                  remark_indent_of_lines, Colour::dim);
}

PACE_INLINE void ConsoleSink::follow_width() {
  const std::size_t width = style_.width();
  if (width == std::exchange(width_, width) || style_.blocks) return;
  table_ = StreamingTable(columns_of_lines(width), style_.use_colour, /*indent=*/0);
}

PACE_INLINE std::string ConsoleSink::block(const Result& result) {
  std::vector<std::vector<Cell>> rows;
  for (const auto& each : result.implementations) {
    rows.push_back(row(each));
    table_.need_columns(each.flops ? columns().size() : each.bytes ? without_rates + 1 : 0, columns());
  }
  table_.rename(interval_column, format_percent(result.confidence) + " interval");
  table_.rename(speedup_interval_column, format_percent(result.confidence) + " interval");
  table_.fit(rows);
  std::string block = table_.paint(printable(case_name(result)), Colour::bold) +
                      table_.paint("  " + effort(result), Colour::dim) + '\n';
  for (std::size_t i = 0; i < rows.size(); ++i) block += table_.line(rows[i]) + remarks(result.implementations[i]);
  for (const auto& note : result.notes) block += indented("Note: " + note, note_indent, Colour::yellow);
  return block;
}

PACE_INLINE std::string ConsoleSink::lines(const Result& result) {
  std::vector<const ImplementationResult*> shown;
  // The baseline stands in the lines of the candidates, unless there is none or there is something to say of it alone.
  for (const auto& each : result.implementations)
    if (!each.is_baseline || result.implementations.size() == 1 || each.outcome != Outcome::measured ||
        !each.judgements.empty() || each.instructions || each.energy || !each.counters.empty())
      shown.push_back(&each);
  std::vector<std::vector<Cell>> rows;
  for (const auto* each : shown)
    rows.push_back(cells(each == shown.front() ? printable(case_name(result)) : "", result, *each));
  const std::size_t interval_at = shows_baseline(width_) ? 5 : 4;
  table_.rename(interval_at, format_percent(result.confidence) + " interval");
  table_.fit(rows);
  std::string text, reason;
  bool fails = false;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ImplementationResult& each = *shown[i];
    // What disturbed the rounds disturbed all candidates, and is said once.
    const bool is_known = !reason.empty() && each.context.disturbance == reason;
    const std::string more = explanations(each, remark_indent_of_lines, is_known ? reason : "");
    reason = each.context.disturbance;
    fails = fails || at_fault(each.outcome) ||
            std::ranges::any_of(each.judgements, [](const Judgement& one) { return !one.acceptable; });
    text += table_.line(rows[i]);
    for (const auto& line : {instructions_line(each), energy_line(each), counters_line(each)})
      if (!line.empty()) text += indented(line, remark_indent_of_lines, Colour::none);
    text += more;
  }
  // What may explain a failure is not kept back, unless its message says it already.
  for (const auto& note : result.notes)
    if (fails && reason.find(note) == std::string::npos)
      text += indented("Note: " + note, remark_indent_of_lines, Colour::yellow);
  if (!fails && !result.notes.empty()) ++cases_with_notes_;
  return text;
}

PACE_INLINE void ConsoleSink::finish() {
  std::string text;
  for (const auto& line : summary_.lines()) text += line + '\n';
  if (cases_with_notes_ > 0)
    text += "  " + std::to_string(cases_with_notes_) +
            (cases_with_notes_ == 1 ? " case has notes" : " cases have notes") + ", which --verbose shows\n";
  if (!text.empty()) print(text);
}

PACE_INLINE const std::vector<Column>& ConsoleSink::columns() {
  static const std::vector<Column> all{
      {"implementation", 14, Align::left},
      {"median", 7},
      {"95 % interval", 13, Align::left},
      {"spread", 6},
      {"speed-up", 8},
      {"95 % interval", 13, Align::left},
      {"1st call", 8},
      {"check", 7, Align::left},
      {"verdict", 9, Align::left},
      {"GB/s", 6},
      {"GFLOP/s", 7},
  };
  return all;
}

PACE_INLINE std::vector<Column> ConsoleSink::columns_of_lines(std::size_t width) {
  // The figures take what they take, and the name has the rest, as far as that is pleasant to read.
  constexpr std::size_t least = 16, most = 40, figures = 60, baseline = 10;
  const std::size_t taken = figures + (shows_baseline(width) ? baseline : 0);
  const std::size_t name = width < taken + least ? least : std::min(most, width - taken);
  std::vector<Column> all{{"case", name, Align::left}, {"candidate", 12, Align::left}};
  if (shows_baseline(width)) all.push_back({"baseline", baseline - 2});
  all.insert(all.end(),
             {{"time", 7}, {"speed-up", 8}, {"95 % interval", 14, Align::left}, {"verdict", 9, Align::left}});
  return all;
}

PACE_INLINE std::vector<Cell> ConsoleSink::cells(const std::string& name, const Result& result,
                                                 const ImplementationResult& each) const {
  const std::size_t space = columns_of_lines(width_).front().width;
  std::vector<Cell> cells{{style_.shortens ? shortened(name, space) : name, Colour::bold}, {printable(each.name)}};
  if (shows_baseline(width_)) {
    const auto found =
        std::ranges::find_if(result.implementations, [](const ImplementationResult& one) { return one.is_baseline; });
    const bool known = found != result.implementations.end() && found->time && !each.is_baseline;
    cells.push_back({known ? format_time(found->time->shown_median()) : "", Colour::dim});
  }
  cells.push_back({each.time ? format_time(each.time->shown_median()) : ""});
  cells.push_back(speedup(each));
  cells.push_back({each.speedup && each.speedup->interval ? interval(*each.speedup->interval) : ""});
  cells.push_back(verdict_or_outcome(each));
  return cells;
}

PACE_INLINE std::vector<Cell> ConsoleSink::row(const ImplementationResult& each) {
  std::vector<Cell> cells{{printable(each.name)}};
  const bool ran = each.first_call.count() > 0;
  if (each.time) {
    cells.push_back({format_time(each.time->shown_median())});
    cells.push_back({interval(*each.time)});
    cells.push_back({format_significant(100 * each.time->spread, 2) + " %"});
  } else {
    cells.insert(cells.end(), 3, Cell{});
  }
  cells.push_back(speedup(each));
  cells.push_back({each.speedup && each.speedup->interval ? interval(*each.speedup->interval) : ""});
  cells.push_back({ran ? format_time(each.first_call) : ""});
  cells.push_back(check(each));
  cells.push_back(verdict(each));
  cells.push_back({rate(each.gigabytes_per_second())});
  cells.push_back({rate(each.gigaflops_per_second())});
  return cells;
}

PACE_INLINE std::string ConsoleSink::interval(const TimeSummary& time) {
  const auto shown = time.shown_interval();
  if (!shown) return "";
  const double unit = unit_for(time.shown_median()).nanoseconds;
  return '[' + format_significant(shown->low.count() / unit) + ", " + format_significant(shown->high.count() / unit) +
         ']';
}

PACE_INLINE std::string ConsoleSink::interval(const Interval<double>& factors) {
  return '[' + format_significant(factors.low) + ", " + format_significant(factors.high) + ']';
}

PACE_INLINE std::string ConsoleSink::rate(const std::optional<double>& value) {
  return value ? format_significant(*value) : "";
}

PACE_INLINE Cell ConsoleSink::speedup(const ImplementationResult& each) {
  if (each.is_baseline) return {"baseline", Colour::dim};
  if (!each.speedup) return {};
  Cell cell{format_factor(each.speedup->median)};
  if (each.speedup->interval && each.speedup->interval->low > 1) cell.colour = Colour::green;
  if (each.speedup->interval && each.speedup->interval->high < 1) cell.colour = Colour::red;
  return cell;
}

PACE_INLINE Cell ConsoleSink::check(const ImplementationResult& each) {
  switch (each.outcome) {
    case Outcome::measured:
      return each.checked ? Cell{"correct"} : Cell{"unchecked", Colour::yellow};
    case Outcome::wrong:
      return {"WRONG", Colour::red};
    case Outcome::refused:
    case Outcome::unreached:
      return {to_string(each.outcome), Colour::yellow};
    default:
      return {to_string(each.outcome), Colour::red};
  }
}

PACE_INLINE Cell ConsoleSink::verdict(const ImplementationResult& each) {
  const auto worst = worst_verdict(each);
  if (!worst) return {"-", Colour::dim};
  switch (*worst) {
    case Verdict::passed:
      return {"passed", Colour::green};
    case Verdict::failed:
      return {"failed", Colour::red};
    case Verdict::undecided:
      return {"undecided", Colour::yellow};
    case Verdict::invalid:
      return {"invalid", Colour::red};
  }
  return {"?"};
}

PACE_INLINE Cell ConsoleSink::verdict_or_outcome(const ImplementationResult& each) {
  if (each.outcome != Outcome::measured) return check(each);
  if (worst_verdict(each)) return verdict(each);
  // Nothing was expected of its times.
  return each.checked ? Cell{"correct", Colour::dim} : check(each);
}

PACE_INLINE std::string ConsoleSink::effort(const Result& result) {
  const auto is_counted = [](const ImplementationResult& each) { return each.instructions.has_value(); };
  if (result.stop_reason == StopReason::not_started)
    return std::ranges::any_of(result.implementations, is_counted) ? "(instructions were counted, nothing was timed)"
                                                                   : "(nothing was timed)";
  return '(' + std::to_string(result.rounds) + (result.rounds == 1 ? " round of " : " rounds of ") +
         std::to_string(result.iterations) + (result.iterations == 1 ? " iteration in " : " iterations in ") +
         format_time(result.elapsed) + gpu_clock(result) + ')';
}

PACE_INLINE std::string ConsoleSink::gpu_clock(const Result& result) {
  const auto& gpu = result.conditions.gpu;
  constexpr std::size_t fewest_readings = 2;
  if (!gpu || gpu->highest_clock <= 0 || gpu->readings < fewest_readings) return "";
  const auto megahertz = [](double clock) { return format_fixed(clock, 0); };
  return gpu->lowest_clock < gpu->highest_clock
             ? "; the GPU's clock floats, " + megahertz(gpu->lowest_clock) + " to " + megahertz(gpu->highest_clock) +
                   " MHz"
             : "; the GPU's clock stays at " + megahertz(gpu->highest_clock) + " MHz";
}

PACE_INLINE std::string ConsoleSink::modes(const ImplementationResult& each) {
  std::string text, missing, added;
  for (const auto& mode : each.modes) {
    if (!mode.time)
      missing += "; no " + mode.name + ": " + mode.missing;
    else
      text += (text.empty() ? "" : ", ") + mode.name + ' ' + format_time(mode.time->shown_median());
    if (mode.speedup) text += ' ' + format_factor(mode.speedup->median);
    if (mode.speedup && mode.speedup->interval) text += ' ' + format_interval(*mode.speedup->interval);
  }
  if (each.share_of_peak) text += (text.empty() ? "" : ", ") + format_percent(*each.share_of_peak) + " of the peak";
  if (each.device_memory && !text.empty())
    text += ", memory " + format_significant(1e-6 * static_cast<double>(each.device_memory->peak)) + " MB";
  else if (!each.device_memory && each.counts && each.counts->peak_bytes.value_or(0) > 0)
    text += (text.empty() ? "memory " : ", memory ") +
            format_significant(1e-6 * static_cast<double>(*each.counts->peak_bytes)) + " MB";
  // The figures of these clocks are shown without it.
  for (const auto& mode : each.modes)
    if (mode.time && mode.time->overhead)
      added += (added.empty() ? "; the clocks add " : ", ") + format_time(mode.time->overhead->added) + " \u00b1 " +
               format_time(mode.time->overhead->error) + " (" + mode.name + ')';
  return text + missing + added;
}

PACE_INLINE std::string ConsoleSink::tails(const ImplementationResult& each) {
  if (!each.time) return "";
  const TimeSummary& time = *each.time;
  if (!(time.mean > high_mean * time.median) && !(time.q99 > high_quantile * time.median)) return "";
  std::string text =
      "mean " + format_time(time.shown(time.mean)) + ", 99 % quantile " + format_time(time.shown(time.q99));
  if (each.speedup && each.speedup->mean > 0) text += ", speed-up of the means " + format_factor(each.speedup->mean);
  return text;
}

PACE_INLINE std::string ConsoleSink::explanations(const ImplementationResult& each, std::size_t indent,
                                                  const std::string& known) const {
  std::string text;
  // A judgement repeats the reason, and says what to do.
  const std::string reason = MessageParts::of("", each.message).why;
  const bool is_repeated = !reason.empty() && std::ranges::any_of(each.judgements, [&](const Judgement& one) {
    return !one.acceptable && one.message.find(reason) != std::string::npos;
  });
  if (each.outcome != Outcome::measured && !is_repeated)
    text += indented(std::string(to_string(each.outcome)) + ": " + each.message, indent,
                     at_fault(each.outcome) ? Colour::red : Colour::yellow);
  for (const auto& judgement : each.judgements)
    // A guard that was let through undecided is no success either.
    if (!judgement.acceptable || judgement.verdict != Verdict::passed) {
      std::string message = judgement.message;
      if (const auto at = message.find(known); !known.empty() && at != std::string::npos)
        message.replace(at, known.size(), "the same as above.");
      text += indented(judgement.expectation + ": " + to_string(judgement.verdict) + ": " + message, indent,
                       judgement.verdict == Verdict::undecided ? Colour::yellow : Colour::red);
    } else if (!judgement.near_limit.empty()) {
      text +=
          indented(judgement.expectation + ": passed, near its limit: " + judgement.near_limit, indent, Colour::none);
    }
  if (style_.beside_assertions) each.examined->shown = true;
  return text;
}

PACE_INLINE std::string ConsoleSink::remarks(const ImplementationResult& each) const {
  std::string text;
  for (const auto& line : {instructions_line(each), energy_line(each), counters_line(each)})
    if (!line.empty()) text += indented(line, remark_indent, Colour::none);
  if (const auto line = tails(each); !line.empty()) text += indented(line, remark_indent, Colour::dim);
  if (const auto line = modes(each); !line.empty()) text += indented(line, remark_indent, Colour::dim);
  return text + explanations(each, remark_indent, "");
}

PACE_INLINE std::string ConsoleSink::indented(const std::string& text, std::size_t indent, Colour colour) const {
  // A compiler's message may run to thousands of lines; CSV and JSON keep more of it (longest_kept). TorchScript prints
  // the cause in its last line, so that lines go from the middle. A word longer than a line stays whole in wrap(), and
  // may be a message as a whole.
  constexpr std::size_t most = 13, shown = 6, shortest = 200;
  const auto lines = wrap(text, width_ - indent);
  std::string block;
  std::size_t left = longest_shown;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i == shown && lines.size() > most) {
      i = lines.size() - shown;
      block += std::string(indent, ' ') + "... (" + std::to_string(i - shown) + " of " + std::to_string(lines.size()) +
               " lines are left out here) ...\n";
    }
    const std::string line = cut_text(lines[i], std::max(left, shortest));
    block += std::string(indent, ' ') + table_.paint(line, colour) + '\n';
    left -= std::min(left, line.size());
  }
  return block;
}

PACE_INLINE void ConsoleSink::print(const std::string& text) {
  out_ << text << std::flush;
  if (!out_) throw Error("cannot write the table of results: the output is closed or full");
}

}  // namespace pace::report
