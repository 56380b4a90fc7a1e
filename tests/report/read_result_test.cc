// Results survive being written and read: whatever the JSON has is the same again.
#include "pace/report/read_result.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cmath>
#include <string>

using namespace pace;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

/// Everything that a result can hold, none of it as it is by default.
Result full() {
  const TimeSummary time{.samples = 3,
                         .min = Nanoseconds(1.5),
                         .q20 = Nanoseconds(2),
                         .median = Nanoseconds(3),
                         .q80 = Nanoseconds(4),
                         .max = Nanoseconds(5),
                         .interval = Interval<Nanoseconds>{Nanoseconds(2.5), Nanoseconds(3.5), 0.9},
                         .spread = 0.25};
  const SpeedupSummary speedup{.observations = 7,
                               .ties = 1,
                               .q20 = 1.1,
                               .median = 1.2,
                               .q80 = 1.3,
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
  conditions.gpu = GpuConditions{4, 1500, 1980, 60, 500, 0.25, 0.5, 2};
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
  row.context.allowance = 0.002;
  row.context.impossible = "too fast";
  row.context.cut_short = "no time";
  row.figures = {{.name = "cold", .time = time, .speedup = speedup}, {.name = "hot", .missing = "cannot"}};
  row.device_memory = DeviceMemory{1, 2, 3, 4};
  row.device_counts = DeviceCounts{1, 2, 3, 4};
  row.counts = CallCounts{1, 2, 3};
  row.why_uncounted = "two calls differ";
  row.judgements = {{"expected", Verdict::undecided, true, "a message", DemandedSpeed{true, 1.02, 0.003, 0.004, false}},
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

}  // namespace

TEST_CASE("what is written is read again, every bit of it") {
  const auto json = report::to_json(full());
  const Result read = report::result_from(report::Json::parse(json.dump()));
  CHECK(report::to_json(read).dump(1) == json.dump(1));
  CHECK(std::isnan(read["a"].log_ratios.at(1)));
  // What is not written for each row stands elsewhere in the document.
  CHECK(read["a"].context.baseline == "a");
  CHECK(read["a"].context.comparison == "all");
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

TEST_CASE("what is no result is refused in words") {
  const auto read = [](const char* text) { return report::result_from(report::Json::parse(text)); };
  CHECK_THROWS_MATCHES(read(R"({"name": "x", "implementations": [{"name": "a", "baseline": true, "outcome": "fine",
                                "time": null, "speedup": null}]})"),
                       Error, MessageMatches(ContainsSubstring("unknown outcome 'fine'")));
  CHECK_THROWS(read(R"({"name": "x"})"));
  CHECK_THROWS(read(R"({"implementations": []})"));
}
