// The schema of results files, its figures: intervals, times, speed-ups, counts. See schema.hpp.
#pragma once

#include <array>
#include <string_view>
#include <tuple>

#include "pace/report/fields.hpp"
#include "pace/report/json.hpp"
#include "pace/result/counters.hpp"
#include "pace/result/result.hpp"

namespace pace::report {

/// @cond

/// Confidence interval of a time.
template <>
struct Schema<Interval<Nanoseconds>> {
  static constexpr std::string_view name = "interval of a time";
  static constexpr auto fields = std::tuple{
      field("low_ns", &Interval<Nanoseconds>::low, "lower end, ns"),
      field("high_ns", &Interval<Nanoseconds>::high, "upper end, ns"),
      field("confidence", &Interval<Nanoseconds>::confidence, "0.95 is 95 %"),
  };
};
/// Confidence interval of a speed-up.
template <>
struct Schema<Interval<double>> {
  static constexpr std::string_view name = "interval of a speed-up";
  static constexpr auto fields = std::tuple{
      field("low", &Interval<double>::low, "lower end"),
      field("high", &Interval<double>::high, "upper end"),
      field("confidence", &Interval<double>::confidence, "of all candidates of the comparison together"),
  };
};

/// What a clock adds to each call.
template <>
struct Schema<ClockOverhead> {
  static constexpr std::string_view name = "clock_overhead";
  static constexpr auto fields = std::tuple{
      field("added_ns", &ClockOverhead::added, "part of `median_ns` and of the other times, ns"),
      field("error_ns", &ClockOverhead::error, "half the range of its readings on several kernels, ns"),
  };
};

/// Times of one implementation.
template <>
struct Schema<TimeSummary> {
  static constexpr std::string_view name = "time";
  static constexpr auto fields = std::tuple{
      field("median_ns", &TimeSummary::median, "ns per iteration, as the clock read it; verdicts rest on it"),
      field("interval", &TimeSummary::interval, "of the median; null with too few samples"),
      field("min_ns", &TimeSummary::min, "ns per iteration"),
      field("q20_ns", &TimeSummary::q20, "20th percentile, ns per iteration"),
      field("q80_ns", &TimeSummary::q80, "80th percentile, ns per iteration"),
      field("max_ns", &TimeSummary::max, "ns per iteration"),
      field("q99_ns", &TimeSummary::q99, "99th percentile, ns per iteration"),
      field("mean_ns", &TimeSummary::mean, "mean of the samples, ns per iteration"),
      field("spread", &TimeSummary::spread, "scaled median absolute deviation over the median (0.01 is 1 %)"),
      field("samples", &TimeSummary::samples, "number of timed samples"),
      field("clock_overhead", &TimeSummary::overhead,
            "what the clock adds to a call; null: nothing, or not known (then the times are as read)"),
      derived_field("shown_ns", &TimeSummary::shown_median, "`median_ns` less `clock_overhead`, as tables show it"),
      derived_field("shown_interval", &TimeSummary::shown_interval,
                    "its interval, which includes the error of `clock_overhead`"),
  };
};

/// Speed-up of one implementation over the baseline.
template <>
struct Schema<SpeedupSummary> {
  static constexpr std::string_view name = "speedup";
  static constexpr auto fields = std::tuple{
      field("median", &SpeedupSummary::median, "baseline time / own time"),
      field("interval", &SpeedupSummary::interval, "of the median; null with too few observations"),
      field("q20", &SpeedupSummary::q20, "20th percentile"),
      field("q80", &SpeedupSummary::q80, "80th percentile"),
      field("mean", &SpeedupSummary::mean, "mean baseline time / mean own time; 0: unknown"),
      field("observations", &SpeedupSummary::observations, "paired observations"),
      field("ties", &SpeedupSummary::ties, "those in which both sides took equally long"),
      field("anytime", &SpeedupSummary::anytime, "the interval holds whenever the rounds ended"),
  };
};

/// The speed that a gate demands.
template <>
struct Schema<DemandedSpeed> {
  static constexpr std::string_view name = "demanded_speed";
  static constexpr auto fields = std::tuple{
      field("guard", &DemandedSpeed::guard,
            "true: at most `limit` times the baseline's time; false: at least `limit` times as fast"),
      field("limit", &DemandedSpeed::limit, "the factor"),
      field("alpha", &DemandedSpeed::alpha, "of this gate: rate of false passes of claims and false alarms of guards"),
      field("beta", &DemandedSpeed::beta, "of this gate: rate of false failures of claims and false passes of guards"),
      field("closes_when_undecided", &DemandedSpeed::closes_when_undecided, "an open question closes the gate"),
      field("allowed_undecided", &DemandedSpeed::allowed_undecided, "an open question is allowed by name"),
  };
};

/// An expectation and its verdict.
template <>
struct Schema<Judgement> {
  static constexpr std::string_view name = "expectation";
  static constexpr auto fields = std::tuple{
      field("expectation", &Judgement::expectation, "what was expected"),
      required_field("verdict", &Judgement::verdict, "what the figures say of it"),
      field("acceptable", &Judgement::acceptable, "whether the gate is open"),
      field("unresolved", &Judgement::unresolved, "let through without a proof, and not by name"),
      field("deferred", &Judgement::deferred, "left to several processes together (`--processes`)"),
      field("message", &Judgement::message,
            "figures, limit, what to do; if passed, also a worse figure on unseen values"),
      field("demanded_speed", &Judgement::speed, "null where something else was demanded, or there were no figures"),
  };
};

/// One timing mode of a GPU.
template <>
struct Schema<ModeSummary> {
  static constexpr std::string_view name = "mode";
  static constexpr auto fields = std::tuple{
      field("name", &ModeSummary::name, "`cold`, `hot`, `graph`, `host`"),
      field("time", &ModeSummary::time, "null where it is missing"),
      field("speedup", &ModeSummary::speedup, "null for the baseline, and where it is missing"),
      field("missing", &ModeSummary::missing, "why it is"),
  };
};

/// Memory of one call on a GPU.
template <>
struct Schema<DeviceMemory> {
  static constexpr std::string_view name = "device_memory";
  static constexpr auto fields = std::tuple{
      field("peak_bytes", &DeviceMemory::peak, "most bytes allocated at once beyond those before the call"),
      field("reserved_bytes", &DeviceMemory::reserved, "bytes taken from the driver in addition"),
      field("allocations", &DeviceMemory::allocations, "blocks asked for"),
      field("driver_allocations", &DeviceMemory::driver_allocations, "requests to the driver"),
  };
};

/// Counts of one call on a GPU.
template <>
struct Schema<DeviceCounts> {
  static constexpr std::string_view name = "device_counts";
  static constexpr auto fields = std::tuple{
      field("kernels", &DeviceCounts::kernels, "kernels that ran"),
      field("launches", &DeviceCounts::launches, "kernels and graphs that the host launched"),
      field("synchronisations", &DeviceCounts::synchronisations, "waits of the host for the device"),
      field("graph_nodes", &DeviceCounts::graph_nodes,
            "nodes of the call as a CUDA graph; null: it cannot be captured"),
  };
};

/// Energy of one call on a GPU.
template <>
struct Schema<EnergySummary> {
  static constexpr std::string_view name = "energy";
  static constexpr auto fields = std::tuple{
      field("millijoules", &EnergySummary::millijoules, "of the whole board; 0: unknown"),
      field("interval", &EnergySummary::interval, "in millijoules; null with too few moves of the counter"),
      field("moves", &EnergySummary::moves, "moves of the counter that it rests on"),
      field("ratio", &EnergySummary::ratio, "over the baseline's; null for the baseline"),
      field("ratio_interval", &EnergySummary::ratio_interval, "null with too few moves of the counter"),
      field("missing", &EnergySummary::missing, "why it is unknown"),
  };
};

/// Units of counters.
template <>
struct Schema<CounterUnit> {
  static constexpr std::array values{CounterUnit::events, CounterUnit::bytes, CounterUnit::percent};
};

/// A counter of the CPU or of a GPU.
template <>
struct Schema<CounterSummary> {
  static constexpr std::string_view name = "counter";
  static constexpr auto fields = std::tuple{
      required_field("name", &CounterSummary::name, "such as `branch_misses`"),
      field("unit", &CounterSummary::unit, "of the figures; `percent`: of all calls together"),
      field("calls", &CounterSummary::calls, "of each sample"),
      field("low", &CounterSummary::low, "least of one call, of three samples"),
      field("high", &CounterSummary::high, "most of one call"),
      field("baseline_low", &CounterSummary::baseline_low, "the baseline's; null for itself, `percent`, or unknown"),
      field("baseline_high", &CounterSummary::baseline_high, "most of the baseline"),
      field("missing", &CounterSummary::missing, "why it was not counted"),
  };
};

/// Counts of one call.
template <>
struct Schema<CallCounts> {
  static constexpr std::string_view name = "counts";
  static constexpr auto fields = std::tuple{
      field("operator_calls", &CallCounts::operator_calls, "through LibTorch's dispatcher"),
      field("allocations", &CallCounts::allocations, "blocks taken from LibTorch's allocators"),
      field("bytes_allocated", &CallCounts::bytes_allocated, "and their bytes"),
      field("peak_bytes", &CallCounts::peak_bytes,
            "most of these bytes that were held at once; null: calls with equal counts differ in it"),
  };
};

/// Instructions of one call.
template <>
struct Schema<InstructionCount> {
  static constexpr std::string_view name = "instructions";
  static constexpr auto fields = std::tuple{
      field("low", &InstructionCount::low, "fewest instructions of one call, of several counts"),
      field("high", &InstructionCount::high, "most instructions of one call; equal to `low` if the counts agree"),
      field("ratio_low", &InstructionCount::ratio_low, "least ratio to the baseline's; null for the baseline"),
      field("ratio_high", &InstructionCount::ratio_high, "largest ratio to the baseline's; null for the baseline"),
      field("counter", &InstructionCount::counter, "what counted: `callgrind` or `perf`"),
  };
};

/// @endcond

}  // namespace pace::report
