// Definitions of csv.hpp; see base/config.hpp.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "pace/report/csv.hpp"
#include "pace/report/csv_text.hpp"
#include "pace/report/judged.hpp"
#include "pace/report/sink.hpp"

namespace pace::report {

PACE_INLINE CsvSink::CsvSink(std::string path, std::span<const Result> earlier)
    : file_(std::move(path), !earlier.empty()), keeps_earlier_(!earlier.empty()) {
  file_.begin_with(header());
  for (const auto& result : earlier) append(result);
  file_.replace();
}

PACE_INLINE std::string_view CsvSink::header() {
  return "case,implementation,baseline,outcome,correct,max_abs_error,median_ns,interval_low_ns,interval_high_ns,"
         "min_ns,q20_ns,q80_ns,max_ns,spread,samples,speedup,speedup_low,speedup_high,observations,ties,confidence,"
         "first_call_ns,warm_up_iterations,warmed_up,iterations,rounds,gb_per_s,gflop_per_s,verdict,expectation,"
         "message,clock,seed,steal,others,waiting,throttled,involuntary_switches,longest_cycle_ns,median_cycle_ns,"
         "clock_error_ns,stop_reason,disturbance,operator_calls,allocations,bytes_allocated,"
         "device,inputs,mean_ns,q99_ns,speedup_mean,instructions_low,instructions_high,instructions_ratio_low,"
         "instructions_ratio_high,share_of_peak,shown_ns,clock_adds_ns,clock_adds_error_ns,peak_bytes,energy_mj,"
         "energy_low_mj,energy_high_mj,energy_ratio\n";
}

PACE_INLINE void CsvSink::write(const Result& result) {
  if (!result.recalled || !keeps_earlier_) append(result);
}

PACE_INLINE std::string CsvSink::row(const Result& result, const ImplementationResult& each) {
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
  row.member(time, &TimeSummary::mean).member(time, &TimeSummary::q99).member(speedup, &SpeedupSummary::mean);
  const auto& instructions = each.instructions;
  row.member(instructions, &InstructionCount::low).member(instructions, &InstructionCount::high);
  row.number(instructions ? instructions->ratio_low : std::nullopt);
  row.number(instructions ? instructions->ratio_high : std::nullopt).number(each.share_of_peak);
  row.number(time ? std::optional(time->shown_median()) : std::nullopt);
  const auto overhead = time ? time->overhead : std::nullopt;
  row.member(overhead, &ClockOverhead::added).member(overhead, &ClockOverhead::error);
  row.number(each.counts ? each.counts->peak_bytes : std::nullopt);
  const auto& energy = each.energy;
  const bool has_energy = energy && energy->missing.empty();
  row.number(has_energy ? std::optional(energy->millijoules) : std::nullopt).bounds(energy);
  row.number(energy ? energy->ratio : std::nullopt);
  return row.line();
}

PACE_INLINE std::string CsvSink::expectations(const ImplementationResult& each) {
  std::string text;
  for (const auto& judgement : each.judgements) text += (text.empty() ? "" : "; ") + judgement.expectation;
  return text;
}

PACE_INLINE void CsvSink::append(const Result& result) {
  std::string rows;
  for (const auto& each : result.implementations) rows += row(result, each);
  file_.append(rows);
}

}  // namespace pace::report
