// Results survive being written and read: every field of the JSON is the same again.
#include "pace/report/json.hpp"

#include <nlohmann/json.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>

#include <cmath>
#include <cstddef>
#include <optional>
#include <string>

using namespace pace;
using Catch::Matchers::Message;

namespace {

/// Everything that a result can hold, none of it as it is by default.
Result full() {
  const TimeSummary time{.samples = 3,
                         .min = Nanoseconds(1.5),
                         .q20 = Nanoseconds(2),
                         .median = Nanoseconds(3),
                         .q80 = Nanoseconds(4),
                         .max = Nanoseconds(5),
                         .q99 = Nanoseconds(4.5),
                         .mean = Nanoseconds(3.25),
                         .interval = Interval<Nanoseconds>{Nanoseconds(2.5), Nanoseconds(3.5), 0.9},
                         .spread = 0.25,
                         .overhead = pace::ClockOverhead{Nanoseconds(0.5), Nanoseconds(0.125)}};
  const SpeedupSummary speedup{.observations = 7,
                               .ties = 1,
                               .q20 = 1.1,
                               .median = 1.2,
                               .q80 = 1.3,
                               .mean = 1.4,
                               .interval = Interval<double>{1.15, 1.25, 0.9},
                               .anytime = true};
  Result result;
  result.name = "all";
  result.iterations = 11;
  result.rounds = 12;
  result.stop_reason = StopReason::rule;
  result.elapsed = Nanoseconds(1e6);
  result.clock = "graph";
  result.clock_resolution = Nanoseconds(20);
  result.device = "NVIDIA H200";
  result.inputs = "Float[16, 1024]";
  result.confidence = 0.9;
  result.seed = 18446744073709551615u;
  auto& conditions = result.conditions;
  conditions.steal = 0.1;
  conditions.others = 0.2;
  conditions.waiting = 0.3;
  conditions.throttled = 0.4;
  conditions.involuntary_switches = 5;
  conditions.clock_error = Nanoseconds(-6);
  conditions.suspended = Nanoseconds(7);
  conditions.longest_cycle = Nanoseconds(8);
  conditions.median_cycle = Nanoseconds(9);
  conditions.shortest_cycle = Nanoseconds(10);
  conditions.interrupted_cycles = 5;
  conditions.gpu = GpuConditions{4, 1500, 1980, 60, 500, 0.25, 0.5, 2, 3, Nanoseconds(7e6), 1, 0.5, {"process 7"}};
  conditions.disturbances = {"One.", "Two."};
  result.controls = {{.injected = 0.95, .speedup = speedup, .proven_slower = true, .proven_faster = true}};
  result.missing_device = "cuda:0";
  result.lost_device = "'b': gone";
  result.notes = {"A note."};
  ImplementationResult row;
  row.name = "a";
  row.is_baseline = true;
  row.outcome = Outcome::measured;
  row.message = "said";
  row.checked = true;
  row.uncompared = Uncompared::empty_or_nan;
  row.max_abs_error = 0.5;
  row.first_call = Nanoseconds(100);
  row.warm_up_iterations = 13;
  row.warmed_up = true;
  row.samples = {Nanoseconds(1), Nanoseconds(2.25)};
  row.time = time;
  row.log_ratios = {0.5, std::nan(""), -0.125};
  row.speedup = speedup;
  row.context.rounds_per_cycle = 2;
  row.context.cycle = Nanoseconds(77);
  row.context.alpha = 0.01;
  row.context.beta = 0.02;
  row.context.enter({pace::Severity::impossible, "too fast"});
  row.context.enter({pace::Severity::unchecked, "it was not checked further", "Measure longer"});
  row.context.enter({pace::Severity::cut_short, "no time"});
  row.modes = {{.name = "cold", .time = time, .speedup = speedup}, {.name = "hot", .missing = "cannot"}};
  row.device_memory = DeviceMemory{1, 2, 3, 4};
  row.device_counts = DeviceCounts{1, 2, 3, 4};
  row.counts = CallCounts{1, 2, 3, 4};
  row.why_uncounted = "two calls differ";
  row.instructions = InstructionCount{1, 2, 0.5, 1.5, "callgrind"};
  row.energy =
      EnergySummary{1200, Interval<double>{1190, 1210, 0.95}, 40, 1.5, Interval<double>{1.4, 1.6, 0.998}, "no counter"};
  row.counters = {{"dram_bytes", CounterUnit::bytes, 32, 1.5, 2.5, 0.5, 0.75, ""},
                  {.name = "cycles", .missing = "none here"}};
  row.judgements = {
      {"expected", Verdict::undecided, true, "a message", DemandedSpeed{true, 1.02, 0.003, 0.004, false, true}},
      {"other", Verdict::failed, false, "no", {}}};
  row.bytes = 14;
  row.flops = 15;
  row.share_of_peak = 0.75;
  ImplementationResult other;
  other.name = "b";
  other.outcome = Outcome::threw;
  other.message = "gone";
  result.implementations = {row, other};
  return result;
}

void same(const std::optional<TimeSummary>& read, const std::optional<TimeSummary>& written) {
  REQUIRE(read.has_value() == written.has_value());
  if (!read) return;
  CHECK(read->samples == written->samples);
  CHECK(read->min == written->min);
  CHECK(read->q20 == written->q20);
  CHECK(read->median == written->median);
  CHECK(read->q80 == written->q80);
  CHECK(read->max == written->max);
  CHECK(read->q99 == written->q99);
  CHECK(read->mean == written->mean);
  CHECK(read->spread == written->spread);
  REQUIRE(read->overhead.has_value() == written->overhead.has_value());
  if (read->overhead) CHECK(read->overhead->added == written->overhead->added);
  if (read->overhead) CHECK(read->overhead->error == written->overhead->error);
  CHECK(read->interval->low == written->interval->low);
  CHECK(read->interval->high == written->interval->high);
  CHECK(read->interval->confidence == written->interval->confidence);
}

void same(const std::optional<SpeedupSummary>& read, const std::optional<SpeedupSummary>& written) {
  REQUIRE(read.has_value() == written.has_value());
  if (!read) return;
  CHECK(read->observations == written->observations);
  CHECK(read->ties == written->ties);
  CHECK(read->q20 == written->q20);
  CHECK(read->median == written->median);
  CHECK(read->q80 == written->q80);
  CHECK(read->mean == written->mean);
  CHECK(read->anytime == written->anytime);
  CHECK(read->interval->low == written->interval->low);
  CHECK(read->interval->high == written->interval->high);
  CHECK(read->interval->confidence == written->interval->confidence);
}

void same(const Conditions& read, const Conditions& written) {
  CHECK(read.steal == written.steal);
  CHECK(read.others == written.others);
  CHECK(read.waiting == written.waiting);
  CHECK(read.throttled == written.throttled);
  CHECK(read.involuntary_switches == written.involuntary_switches);
  CHECK(read.interrupted_cycles == written.interrupted_cycles);
  CHECK(read.clock_error == written.clock_error);
  CHECK(read.suspended == written.suspended);
  CHECK(read.longest_cycle == written.longest_cycle);
  CHECK(read.median_cycle == written.median_cycle);
  CHECK(read.shortest_cycle == written.shortest_cycle);
  CHECK(read.disturbances == written.disturbances);
  REQUIRE(read.gpu.has_value());
  CHECK(read.gpu->readings == written.gpu->readings);
  CHECK(read.gpu->lowest_clock == written.gpu->lowest_clock);
  CHECK(read.gpu->highest_clock == written.gpu->highest_clock);
  CHECK(read.gpu->hottest == written.gpu->hottest);
  CHECK(read.gpu->most_power == written.gpu->most_power);
  CHECK(read.gpu->slowed == written.gpu->slowed);
  CHECK(read.gpu->power_limited == written.gpu->power_limited);
  CHECK(read.gpu->suspect_cycles == written.gpu->suspect_cycles);
  CHECK(read.gpu->dropped_cycles == written.gpu->dropped_cycles);
  CHECK(read.gpu->paused == written.gpu->paused);
  CHECK(read.gpu->other_processes == written.gpu->other_processes);
  CHECK(read.gpu->others == written.gpu->others);
  CHECK(read.gpu->sharing == written.gpu->sharing);
}

void same(const Judgement& read, const Judgement& written) {
  CHECK(read.expectation == written.expectation);
  CHECK(read.verdict == written.verdict);
  CHECK(read.acceptable == written.acceptable);
  CHECK(read.message == written.message);
  REQUIRE(read.speed.has_value() == written.speed.has_value());
  if (!read.speed) return;
  CHECK(read.speed->guard == written.speed->guard);
  CHECK(read.speed->limit == written.speed->limit);
  CHECK(read.speed->alpha == written.speed->alpha);
  CHECK(read.speed->beta == written.speed->beta);
  CHECK(read.speed->closes_when_undecided == written.speed->closes_when_undecided);
  CHECK(read.speed->allowed_undecided == written.speed->allowed_undecided);
}

void same(const GateContext& read, const GateContext& written) {
  CHECK(read.rounds_per_cycle == written.rounds_per_cycle);
  CHECK(read.cycle == written.cycle);
  CHECK(read.alpha == written.alpha);
  CHECK(read.beta == written.beta);
  CHECK(read.clock == "graph");
  for (const auto severity : {pace::Severity::impossible, pace::Severity::unproven, pace::Severity::too_brief,
                              pace::Severity::unchecked, pace::Severity::cut_short})
    CHECK(read.describe(severity) == written.describe(severity));
}

void same_on_device(const ImplementationResult& read, const ImplementationResult& written) {
  REQUIRE(read.modes.size() == written.modes.size());
  for (std::size_t i = 0; i < read.modes.size(); ++i) {
    CHECK(read.modes[i].name == written.modes[i].name);
    CHECK(read.modes[i].missing == written.modes[i].missing);
    same(read.modes[i].time, written.modes[i].time);
    same(read.modes[i].speedup, written.modes[i].speedup);
  }
  CHECK(read.device_counts == written.device_counts);
  REQUIRE(read.device_memory.has_value() == written.device_memory.has_value());
  if (!read.device_memory) return;
  CHECK(read.device_memory->peak == written.device_memory->peak);
  CHECK(read.device_memory->reserved == written.device_memory->reserved);
  CHECK(read.device_memory->allocations == written.device_memory->allocations);
  CHECK(read.device_memory->driver_allocations == written.device_memory->driver_allocations);
}

void same(const ImplementationResult& read, const ImplementationResult& written) {
  CHECK(read.name == written.name);
  CHECK(read.is_baseline == written.is_baseline);
  CHECK(read.outcome == written.outcome);
  CHECK(read.message == written.message);
  CHECK(read.checked == written.checked);
  CHECK(read.uncompared == written.uncompared);
  CHECK(read.max_abs_error == written.max_abs_error);
  CHECK(read.first_call == written.first_call);
  CHECK(read.warm_up_iterations == written.warm_up_iterations);
  CHECK(read.warmed_up == written.warmed_up);
  CHECK(read.samples == written.samples);
  REQUIRE(read.log_ratios.size() == written.log_ratios.size());
  for (std::size_t i = 0; i < read.log_ratios.size(); ++i)
    if (!std::isnan(written.log_ratios[i])) CHECK(read.log_ratios[i] == written.log_ratios[i]);
  same(read.time, written.time);
  same(read.speedup, written.speedup);
  same(read.context, written.context);
  same_on_device(read, written);
  REQUIRE(read.energy.has_value() == written.energy.has_value());
  if (read.energy) {
    CHECK(read.energy->millijoules == written.energy->millijoules);
    CHECK(read.energy->interval->high == written.energy->interval->high);
    CHECK(read.energy->moves == written.energy->moves);
    CHECK(read.energy->ratio == written.energy->ratio);
    CHECK(read.energy->ratio_interval->confidence == written.energy->ratio_interval->confidence);
    CHECK(read.energy->missing == written.energy->missing);
  }
  REQUIRE(read.counters.size() == written.counters.size());
  for (std::size_t i = 0; i < read.counters.size(); ++i) {
    CHECK(read.counters[i].name == written.counters[i].name);
    CHECK(read.counters[i].unit == written.counters[i].unit);
    CHECK(read.counters[i].calls == written.counters[i].calls);
    CHECK(read.counters[i].low == written.counters[i].low);
    CHECK(read.counters[i].high == written.counters[i].high);
    CHECK(read.counters[i].baseline_low == written.counters[i].baseline_low);
    CHECK(read.counters[i].baseline_high == written.counters[i].baseline_high);
    CHECK(read.counters[i].missing == written.counters[i].missing);
  }
  CHECK(read.counts == written.counts);
  if (read.counts) CHECK(read.counts->peak_bytes == written.counts->peak_bytes);
  CHECK(read.why_uncounted == written.why_uncounted);
  REQUIRE(read.judgements.size() == written.judgements.size());
  for (std::size_t i = 0; i < read.judgements.size(); ++i) same(read.judgements[i], written.judgements[i]);
  CHECK(read.bytes == written.bytes);
  CHECK(read.flops == written.flops);
  CHECK(read.share_of_peak == written.share_of_peak);
}

}  // namespace

TEST_CASE("a written result is read again, every bit of it") {
  const auto json = report::to_json(full());
  const Result read = report::result_from(report::Json::parse(json.dump()));
  CHECK(report::to_json(read).dump(1) == json.dump(1));
  CHECK(std::isnan(read["a"].log_ratios.at(1)));
  // Comparing JSON with JSON that was written again does not show a field written with another's value.
  const Result all = full();
  CHECK(read.name == all.name);
  CHECK(read.iterations == all.iterations);
  CHECK(read.rounds == all.rounds);
  CHECK(read.stop_reason == all.stop_reason);
  CHECK(read.elapsed == all.elapsed);
  CHECK(read.clock == all.clock);
  CHECK(read.clock_resolution == all.clock_resolution);
  CHECK(read.device == all.device);
  CHECK(read.inputs == all.inputs);
  CHECK(read.confidence == all.confidence);
  CHECK(read.seed == all.seed);
  CHECK(read.missing_device == all.missing_device);
  CHECK(read.lost_device == all.lost_device);
  CHECK(read.notes == all.notes);
  same(read.conditions, all.conditions);
  REQUIRE(read.controls.size() == 1);
  CHECK(read.controls[0].injected == all.controls[0].injected);
  CHECK(read.controls[0].proven_slower == all.controls[0].proven_slower);
  CHECK(read.controls[0].proven_faster == all.controls[0].proven_faster);
  same(read.controls[0].speedup, all.controls[0].speedup);
  REQUIRE(read.implementations.size() == all.implementations.size());
  for (std::size_t i = 0; i < all.implementations.size(); ++i) same(read.implementations[i], all.implementations[i]);
  // Fields that are not written for each row stand elsewhere in the document.
  CHECK(read["a"].context.baseline == "a");
  CHECK(read["a"].context.comparison == "all");
  CHECK(read["a"].context.iterations == 11);
  CHECK(read["a"].context.disturbance == "One. Two.");
  CHECK(read["b"].context.disturbance == "");
}

TEST_CASE("a result of an earlier version has what it has") {
  const auto read = report::result_from(report::Json::parse(
      R"({"name": "old", "implementations": [{"name": "a", "baseline": true, "outcome": "measured",
          "time": {"median_ns": 5}, "speedup": null}]})"));
  CHECK(read["a"].time->median == Nanoseconds(5));
  CHECK_FALSE(read["a"].time->interval);
  CHECK(read["a"].judgements.empty());
}

TEST_CASE("JSON that is no result is refused in words") {
  const auto read = [](const char* text) { return report::result_from(report::Json::parse(text)); };
  CHECK_THROWS_MATCHES(
      read(R"({"name": "x", "implementations": [{"name": "a", "baseline": true, "outcome": "fine",
                                "time": null, "speedup": null}]})"),
      Error,
      Message("implementations: element 1: outcome: expected one of measured, wrong, threw, refused, unreached, "
              "crashed, timed out, out of memory, found \"fine\""));
  CHECK_THROWS_MATCHES(read(R"({"name": "x", "implementations": [{"name": "a", "baseline": true, "outcome": "wrong",
                                "time": {"median_ns": "fast"}}]})"),
                       Error,
                       Message("implementations: element 1: time: median_ns: expected a number, found \"fast\""));
  CHECK_THROWS_MATCHES(read(R"({"name": "x", "iterations": 1.5, "implementations": []})"), Error,
                       Message("iterations: expected a whole number, found 1.5"));
  CHECK_THROWS_MATCHES(read(R"({"name": "x", "rounds": -1, "implementations": []})"), Error,
                       Message("rounds: expected a whole number from 0 on, found -1"));
  CHECK_THROWS_MATCHES(read(R"({"name": "x", "notes": ["a", 2], "implementations": []})"), Error,
                       Message("notes: element 2: expected a text, found 2"));
  CHECK_THROWS_MATCHES(read(R"({"name": "x"})"), Error, Message("has no \"implementations\""));
  CHECK_THROWS(read(R"({"implementations": []})"));
}
