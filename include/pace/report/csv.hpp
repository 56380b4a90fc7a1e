// CsvSink: one row per case and implementation.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "pace/core/output_file.hpp"
#include "pace/report/csv_row.hpp"
#include "pace/report/judged.hpp"
#include "pace/report/sink.hpp"

namespace pace::report {

/// Writes RFC 4180 with `\n` as the line end: a field with a comma, a quote or a line end stands in quotes. The first
/// row names the columns. Times are nanoseconds per iteration. A figure that does not exist leaves its field empty; one
/// that is not finite is `nan`, `inf` or `-inf`. New columns are only ever added at the end.
///
/// | column | meaning |
/// |---|---|
/// | case, implementation, baseline | what was measured; `true` for the implementation that others are compared with |
/// | outcome | measured, wrong, threw, refused, unreached, crashed, timed out, out of memory |
/// | correct | `true`, `false`, or empty if the outputs were not compared |
/// | max_abs_error | largest absolute difference to the baseline's outputs |
/// | median_ns, interval_low_ns, interval_high_ns | time per iteration and the interval of the median |
/// | min_ns, q20_ns, q80_ns, max_ns | quantiles of the samples |
/// | spread | scaled median absolute deviation over the median (0.01 is 1 %) |
/// | samples | timed samples of this implementation |
/// | speedup, speedup_low, speedup_high | baseline time / own time, and its interval |
/// | observations, ties | paired observations behind the speed-up, and those where both sides took equally long |
/// | confidence | of all speed-up intervals of the case together |
/// | first_call_ns | the very first call, apart from all others |
/// | warm_up_iterations, warmed_up | calls before timing, and whether the times had settled by then |
/// | iterations, rounds | calls per sample, and rounds of the case |
/// | gb_per_s, gflop_per_s | at the median time, if bytes and flops were declared (1e9, not 2^30) |
/// | verdict | worst of the case's own expectations: passed, undecided, invalid, failed; empty if there are none |
/// | expectation, message | what was expected (`; ` between several), and everything that is not fine |
/// | clock, seed | what timed it, and what repeats its order and inputs |
/// | steal, others, waiting, throttled | shares of time that others took during the rounds (see Conditions) |
/// | involuntary_switches, longest_cycle_ns, median_cycle_ns, clock_error_ns | figures of the rounds (see Conditions) |
/// | stop_reason, disturbance | why the rounds ended, and why no verdict may rest on them |
/// | operator_calls, allocations, bytes_allocated | exact counts of one call |
/// | device, inputs | the GPU (empty: the CPU), and types and sizes of what was called with |
class CsvSink final : public Sink {
 public:
  /// Opens the file, which begins with the header; what it held stays until the first result, or finish(). Throws Error.
  /// `earlier`: see JsonSink.
  explicit CsvSink(std::string path, std::span<const Result> earlier = {})
      : file_(std::move(path), !earlier.empty()), keeps_earlier_(!earlier.empty()) {
    file_.begin_with(header());
    for (const auto& result : earlier) append(result);
    file_.replace();
  }

  [[nodiscard]] static std::string_view header() {
    return "case,implementation,baseline,outcome,correct,max_abs_error,median_ns,interval_low_ns,interval_high_ns,"
           "min_ns,q20_ns,q80_ns,max_ns,spread,samples,speedup,speedup_low,speedup_high,observations,ties,confidence,"
           "first_call_ns,warm_up_iterations,warmed_up,iterations,rounds,gb_per_s,gflop_per_s,verdict,expectation,"
           "message,clock,seed,steal,others,waiting,throttled,involuntary_switches,longest_cycle_ns,median_cycle_ns,"
           "clock_error_ns,stop_reason,disturbance,operator_calls,allocations,bytes_allocated,"
           "device,inputs\n";
  }

  using Sink::write;
  void write(const Result& result) override {
    if (!result.recalled || !keeps_earlier_) append(result);
  }
  void finish() override { file_.close(); }

  [[nodiscard]] static std::string row(const Result& result, const ImplementationResult& each) {
    const bool ran = each.outcome == Outcome::measured || each.first_call.count() > 0;
    const auto& time = each.time;
    const auto& speedup = each.speedup;
    CsvRow row;  // in the order of the header
    row.text(result.name).text(each.name).flag(each.is_baseline).text(to_string(each.outcome)).flag(is_correct(each));
    row.number(each.checked ? std::optional(each.max_abs_error) : std::nullopt);
    row.member(time, &TimeSummary::median).bounds(time);
    row.member(time, &TimeSummary::min).member(time, &TimeSummary::q20).member(time, &TimeSummary::q80);
    row.member(time, &TimeSummary::max).member(time, &TimeSummary::spread).member(time, &TimeSummary::samples);
    row.member(speedup, &SpeedupSummary::median).bounds(speedup);
    row.member(speedup, &SpeedupSummary::observations).member(speedup, &SpeedupSummary::ties);
    row.number(result.confidence);
    row.number(ran ? std::optional(each.first_call) : std::nullopt);
    row.number(each.warm_up_iterations).flag(ran ? std::optional(each.warmed_up) : std::nullopt);
    row.number(result.iterations).number(result.rounds);
    row.number(each.gigabytes_per_second()).number(each.gigaflops_per_second());
    const auto verdict = worst_verdict(each);
    row.text(verdict ? to_string(*verdict) : "").text(expectations(each)).text(all_messages(each));
    row.text(result.clock).number(result.seed);
    const auto& conditions = result.conditions;
    row.number(conditions.steal).number(conditions.others).number(conditions.waiting).number(conditions.throttled);
    row.number(conditions.involuntary_switches);
    const bool has_cycles = conditions.longest_cycle.count() != 0;
    row.number(has_cycles ? std::optional(conditions.longest_cycle) : std::nullopt);
    row.number(has_cycles ? std::optional(conditions.median_cycle) : std::nullopt);
    row.number(conditions.clock_error);
    row.text(to_string(result.stop_reason)).text(each.context.disturbance);
    row.member(each.counts, &CallCounts::operator_calls).member(each.counts, &CallCounts::allocations);
    row.member(each.counts, &CallCounts::bytes_allocated);
    row.text(result.device).text(result.inputs);
    return row.line();
  }

 private:
  [[nodiscard]] static std::string expectations(const ImplementationResult& each) {
    std::string text;
    for (const auto& judgement : each.judgements) text += (text.empty() ? "" : "; ") + judgement.expectation;
    return text;
  }

  void append(const Result& result) {
    std::string rows;
    for (const auto& each : result.implementations) rows += row(result, each);
    file_.append(rows);
  }

  OutputFile file_;
  bool keeps_earlier_;
};

}  // namespace pace::report
