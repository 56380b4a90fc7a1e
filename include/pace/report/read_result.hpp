// Results, read back from the JSON that they were written as.
#pragma once

#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pace/core/error.hpp"
#include "pace/core/result.hpp"
#include "pace/report/json.hpp"

namespace pace::report {

namespace detail {

/// What is not there, or null, leaves `value` as it is: files of earlier versions know fewer things.
template <class T>
void read(const Json& json, const char* key, T& value) {
  if (const auto found = json.find(key); found != json.end() && !found->is_null()) found->get_to(value);
}
inline void read(const Json& json, const char* key, Nanoseconds& time) {
  double count = time.count();
  read(json, key, count);
  time = Nanoseconds(count);
}
template <class T>
void read(const Json& json, const char* key, std::optional<T>& value) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return;
  T content{};
  read(json, key, content);
  value = content;
}

/// JSON has no NaN: null stands for it.
[[nodiscard]] inline std::vector<double> numbers(const Json& json) {
  std::vector<double> all;
  for (const auto& each : json) all.push_back(each.is_null() ? std::nan("") : each.get<double>());
  return all;
}

/// Which of `values` is written as the text at `key`. Throws Error if none is.
template <class E>
[[nodiscard]] E named(const Json& json, const char* key, std::initializer_list<E> values) {
  const auto text = json.at(key).get<std::string>();
  for (const E value : values)
    if (text == to_string(value)) return value;
  throw Error("unknown " + std::string(key) + " '" + text + "'");
}

[[nodiscard]] inline TimeSummary time_from(const Json& json) {
  TimeSummary time;
  read(json, "samples", time.samples);
  read(json, "min_ns", time.min);
  read(json, "q20_ns", time.q20);
  read(json, "median_ns", time.median);
  read(json, "q80_ns", time.q80);
  read(json, "max_ns", time.max);
  read(json, "spread", time.spread);
  if (const auto interval = json.find("interval"); interval != json.end() && !interval->is_null())
    time.interval = {Nanoseconds(interval->at("low_ns").get<double>()),
                     Nanoseconds(interval->at("high_ns").get<double>()), interval->at("confidence").get<double>()};
  return time;
}

[[nodiscard]] inline SpeedupSummary speedup_from(const Json& json) {
  SpeedupSummary speedup;
  read(json, "observations", speedup.observations);
  read(json, "ties", speedup.ties);
  read(json, "q20", speedup.q20);
  read(json, "median", speedup.median);
  read(json, "q80", speedup.q80);
  read(json, "anytime", speedup.anytime);
  if (const auto interval = json.find("interval"); interval != json.end() && !interval->is_null())
    speedup.interval = {interval->at("low").get<double>(), interval->at("high").get<double>(),
                        interval->at("confidence").get<double>()};
  return speedup;
}

[[nodiscard]] inline Conditions conditions_from(const Json& json) {
  Conditions conditions;
  read(json, "steal", conditions.steal);
  read(json, "others", conditions.others);
  read(json, "waiting", conditions.waiting);
  read(json, "throttled", conditions.throttled);
  read(json, "involuntary_switches", conditions.involuntary_switches);
  read(json, "clock_error_ns", conditions.clock_error);
  read(json, "suspended_ns", conditions.suspended);
  read(json, "longest_cycle_ns", conditions.longest_cycle);
  read(json, "median_cycle_ns", conditions.median_cycle);
  read(json, "shortest_cycle_ns", conditions.shortest_cycle);
  read(json, "disturbances", conditions.disturbances);
  if (const auto gpu = json.find("gpu"); gpu != json.end() && !gpu->is_null()) {
    auto& seen = conditions.gpu.emplace();
    read(*gpu, "readings", seen.readings);
    read(*gpu, "lowest_clock_mhz", seen.lowest_clock);
    read(*gpu, "highest_clock_mhz", seen.highest_clock);
    read(*gpu, "hottest_celsius", seen.hottest);
    read(*gpu, "most_power_watts", seen.most_power);
    read(*gpu, "slowed", seen.slowed);
    read(*gpu, "power_limited", seen.power_limited);
    read(*gpu, "suspect_cycles", seen.suspect_cycles);
  }
  return conditions;
}

[[nodiscard]] inline Judgement judgement_from(const Json& json) {
  Judgement judgement;
  read(json, "expectation", judgement.expectation);
  judgement.verdict = named(json, "verdict", {Verdict::passed, Verdict::failed, Verdict::undecided, Verdict::invalid});
  read(json, "acceptable", judgement.acceptable);
  read(json, "unresolved", judgement.unresolved);
  read(json, "message", judgement.message);
  if (const auto speed = json.find("demanded_speed"); speed != json.end() && !speed->is_null()) {
    auto& demanded = judgement.speed.emplace();
    read(*speed, "guard", demanded.guard);
    read(*speed, "limit", demanded.limit);
    read(*speed, "alpha", demanded.alpha);
    read(*speed, "beta", demanded.beta);
    read(*speed, "closes_when_undecided", demanded.closes_when_undecided);
    read(*speed, "allowed_undecided", demanded.allowed_undecided);
  }
  return judgement;
}

inline void read_modes_and_device(const Json& json, ImplementationResult& row) {
  if (const auto modes = json.find("figures"); modes != json.end())
    for (const auto& each : *modes) {
      auto& mode = row.modes.emplace_back();
      read(each, "name", mode.name);
      read(each, "missing", mode.missing);
      if (!each.at("time").is_null()) mode.time = time_from(each.at("time"));
      if (!each.at("speedup").is_null()) mode.speedup = speedup_from(each.at("speedup"));
    }
  if (const auto found = json.find("device_memory"); found != json.end() && !found->is_null()) {
    auto& memory = row.device_memory.emplace();
    read(*found, "peak_bytes", memory.peak);
    read(*found, "reserved_bytes", memory.reserved);
    read(*found, "allocations", memory.allocations);
    read(*found, "driver_allocations", memory.driver_allocations);
  }
  if (const auto found = json.find("device_counts"); found != json.end() && !found->is_null()) {
    auto& counts = row.device_counts.emplace();
    read(*found, "kernels", counts.kernels);
    read(*found, "launches", counts.launches);
    read(*found, "synchronisations", counts.synchronisations);
    read(*found, "graph_nodes", counts.graph_nodes);
  }
}

[[nodiscard]] inline ImplementationResult row_from(const Json& json) {
  ImplementationResult row;
  row.name = json.at("name").get<std::string>();
  row.is_baseline = json.at("baseline").get<bool>();
  row.outcome = named(json, "outcome",
                      {Outcome::measured, Outcome::wrong, Outcome::threw, Outcome::refused, Outcome::unreached,
                       Outcome::crashed, Outcome::timed_out, Outcome::out_of_memory});
  read(json, "message", row.message);
  read(json, "checked", row.checked);
  read(json, "max_abs_error", row.max_abs_error);
  read(json, "first_call_ns", row.first_call);
  read(json, "warm_up_iterations", row.warm_up_iterations);
  read(json, "warmed_up", row.warmed_up);
  if (const auto& time = json.at("time"); !time.is_null()) row.time = time_from(time);
  if (const auto& speedup = json.at("speedup"); !speedup.is_null()) row.speedup = speedup_from(speedup);
  if (const auto samples = json.find("samples_ns"); samples != json.end())
    for (const double sample : numbers(*samples)) row.samples.emplace_back(sample);
  if (const auto ratios = json.find("log_ratios"); ratios != json.end()) row.log_ratios = numbers(*ratios);
  if (const auto judgements = json.find("expectations"); judgements != json.end())
    for (const auto& each : *judgements) row.judgements.push_back(judgement_from(each));
  read_modes_and_device(json, row);
  if (const auto calls = json.find("operator_calls"); calls != json.end() && !calls->is_null()) {
    auto& counts = row.counts.emplace();
    read(json, "operator_calls", counts.operator_calls);
    read(json, "allocations", counts.allocations);
    read(json, "bytes_allocated", counts.bytes_allocated);
  }
  read(json, "why_uncounted", row.why_uncounted);
  read(json, "bytes", row.bytes);
  read(json, "flops", row.flops);
  read(json, "share_of_peak", row.share_of_peak);
  auto& context = row.context;
  read(json, "rounds_per_cycle", context.rounds_per_cycle);
  read(json, "cycle_ns", context.cycle);
  read(json, "allowance", context.allowance);
  read(json, "impossible", context.impossible);
  read(json, "cut_short", context.cut_short);
  read(json, "alpha", context.alpha);
  read(json, "beta", context.beta);
  return row;
}

/// Throws Error unless those of the numbers that are there are at least 0 and in ascending order.
inline void require_ascending(const Json& json, std::initializer_list<const char*> keys) {
  if (json.is_null()) return;
  // Interpolation rounds.
  constexpr double slack = 1 + 1e-9;
  double last = 0;
  std::string names;
  for (const char* key : keys) {
    names += (names.empty() ? "" : ", ") + std::string(key);
    const auto found = json.find(key);
    if (found == json.end() || found->is_null()) continue;
    const auto value = found->get<double>();
    if (!(value >= 0 && value * slack >= last)) throw Error(names + ": expected numbers from 0 on in ascending order");
    last = value;
  }
}

}  // namespace detail

/// Throws Error, or an exception of the JSON library, if a result as `to_json` makes it holds figures that no measurement
/// has: times or speed-ups below 0, or a median outside of its quantiles.
inline void require_figures(const Json& json) {
  using detail::require_ascending;
  for (const auto& row : json.at("implementations")) {
    const auto& time = row.at("time");
    require_ascending(time, {"min_ns", "q20_ns", "median_ns", "q80_ns", "max_ns"});
    if (!time.is_null()) {
      require_ascending(time, {"spread"});
      require_ascending(time.at("interval"), {"low_ns", "high_ns"});
    }
    const auto& speedup = row.at("speedup");
    require_ascending(speedup, {"q20", "median", "q80"});
    if (!speedup.is_null()) require_ascending(speedup.at("interval"), {"low", "high"});
    for (const double sample : detail::numbers(row.at("samples_ns")))
      if (sample < 0) throw Error("samples_ns: expected times from 0 on");
  }
}

/// What `to_json` made of a result. Throws Error, or an exception of the JSON library, if something is missing or is not
/// what it should be.
[[nodiscard]] inline Result result_from(const Json& json) {
  using detail::read;
  Result result;
  result.name = json.at("name").get<std::string>();
  read(json, "iterations", result.iterations);
  read(json, "rounds", result.rounds);
  if (json.contains("stop_reason"))
    result.stop_reason = detail::named(
        json, "stop_reason",
        {StopReason::not_started, StopReason::budget, StopReason::max_rounds, StopReason::rule, StopReason::deadline});
  read(json, "elapsed_ns", result.elapsed);
  read(json, "clock", result.clock);
  read(json, "clock_resolution_ns", result.clock_resolution);
  read(json, "device", result.device);
  read(json, "inputs", result.inputs);
  read(json, "confidence", result.confidence);
  read(json, "seed", result.seed);
  if (json.contains("conditions")) result.conditions = detail::conditions_from(json.at("conditions"));
  if (json.contains("controls"))
    for (const auto& each : json.at("controls")) {
      auto& control = result.controls.emplace_back();
      read(each, "injected", control.injected);
      control.speedup = detail::speedup_from(each.at("speedup"));
      read(each, "proven_slower", control.proven_slower);
      read(each, "proven_faster", control.proven_faster);
    }
  read(json, "missing_device", result.missing_device);
  read(json, "lost_device", result.lost_device);
  read(json, "notes", result.notes);
  std::string disturbance, baseline;
  for (const auto& sentence : result.conditions.disturbances)
    disturbance += (disturbance.empty() ? "" : " ") + sentence;
  for (const auto& each : json.at("implementations")) {
    auto row = detail::row_from(each);
    for (const auto& known : result.implementations)
      if (known.name == row.name) throw Error("'" + row.name + "' twice in '" + result.name + "'");
    if (row.is_baseline) baseline = row.name;
    result.implementations.push_back(std::move(row));
  }
  for (auto& row : result.implementations) {
    row.context.comparison = result.name;
    row.context.iterations = result.iterations;
    if (!row.time) continue;  // never got as far as the rounds
    row.context.disturbance = disturbance;
    row.context.baseline = baseline;
  }
  return result;
}

}  // namespace pace::report
