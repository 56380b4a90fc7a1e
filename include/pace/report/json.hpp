// JsonSink: everything there is, raw samples included, in one JSON document.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "pace/core/output_file.hpp"
#include "pace/report/environment.hpp"
#include "pace/report/sink.hpp"

namespace pace::report {

/// Raised when a reader of the present version would misread the file; new keys alone do not raise it.
inline constexpr int json_schema_version = 1;

/// Keys keep the order in which they are written.
using Json = nlohmann::ordered_json;

namespace detail {

template <class T>
[[nodiscard]] Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

[[nodiscard]] inline Json to_json(const TimeSummary& time) {
  Json interval = nullptr;
  if (time.interval)
    interval = {{"low_ns", time.interval->low.count()},
                {"high_ns", time.interval->high.count()},
                {"confidence", time.interval->confidence}};
  return {{"median_ns", time.median.count()},
          {"interval", std::move(interval)},
          {"min_ns", time.min.count()},
          {"q20_ns", time.q20.count()},
          {"q80_ns", time.q80.count()},
          {"max_ns", time.max.count()},
          {"spread", time.spread},
          {"samples", time.samples}};
}

[[nodiscard]] inline Json to_json(const SpeedupSummary& speedup) {
  Json interval = nullptr;
  if (speedup.interval)
    interval = {
        {"low", speedup.interval->low}, {"high", speedup.interval->high}, {"confidence", speedup.interval->confidence}};
  return {{"median", speedup.median},  {"interval", std::move(interval)},      {"q20", speedup.q20},
          {"q80", speedup.q80},        {"observations", speedup.observations}, {"ties", speedup.ties},
          {"anytime", speedup.anytime}};
}

[[nodiscard]] inline Json to_json(const Conditions& conditions) {
  const auto nanoseconds = [](const std::optional<Nanoseconds>& time) {
    return time ? Json(time->count()) : Json(nullptr);
  };
  Json gpu = nullptr;
  if (const auto& seen = conditions.gpu)
    gpu = {{"readings", seen->readings},
           {"lowest_clock_mhz", seen->lowest_clock},
           {"highest_clock_mhz", seen->highest_clock},
           {"hottest_celsius", seen->hottest},
           {"most_power_watts", seen->most_power},
           {"slowed", seen->slowed},
           {"power_limited", seen->power_limited},
           {"suspect_cycles", seen->suspect_cycles}};
  return {{"steal", or_null(conditions.steal)},
          {"others", or_null(conditions.others)},
          {"waiting", or_null(conditions.waiting)},
          {"throttled", or_null(conditions.throttled)},
          {"involuntary_switches", or_null(conditions.involuntary_switches)},
          {"clock_error_ns", nanoseconds(conditions.clock_error)},
          {"suspended_ns", nanoseconds(conditions.suspended)},
          {"longest_cycle_ns", conditions.longest_cycle.count()},
          {"median_cycle_ns", conditions.median_cycle.count()},
          {"shortest_cycle_ns", conditions.shortest_cycle.count()},
          {"gpu", std::move(gpu)},
          {"disturbances", conditions.disturbances}};
}

[[nodiscard]] inline Json to_json(const Judgement& judgement) {
  Json demanded = nullptr;
  if (const auto& speed = judgement.speed)
    demanded = {{"guard", speed->guard},
                {"limit", speed->limit},
                {"alpha", speed->alpha},
                {"beta", speed->beta},
                {"closes_when_undecided", speed->closes_when_undecided},
                {"allowed_undecided", speed->allowed_undecided}};
  return {{"expectation", judgement.expectation}, {"verdict", to_string(judgement.verdict)},
          {"acceptable", judgement.acceptable},   {"unresolved", judgement.unresolved},
          {"message", judgement.message},         {"demanded_speed", std::move(demanded)}};
}

[[nodiscard]] inline Json to_json(const ImplementationResult& each) {
  Json expectations = Json::array();
  for (const auto& judgement : each.judgements) expectations.push_back(to_json(judgement));
  Json samples = Json::array();
  for (const auto sample : each.samples) samples.push_back(sample.count());
  Json modes = Json::array();
  for (const auto& mode : each.modes)
    modes.push_back({{"name", mode.name},
                     {"time", mode.time ? to_json(*mode.time) : Json(nullptr)},
                     {"speedup", mode.speedup ? to_json(*mode.speedup) : Json(nullptr)},
                     {"missing", mode.missing}});
  Json device_counts = nullptr;
  if (const auto& counts = each.device_counts)
    device_counts = {{"kernels", counts->kernels},
                     {"launches", counts->launches},
                     {"synchronisations", counts->synchronisations},
                     {"graph_nodes", or_null(counts->graph_nodes)}};
  Json device_memory = nullptr;
  if (const auto& memory = each.device_memory)
    device_memory = {{"peak_bytes", memory->peak},
                     {"reserved_bytes", memory->reserved},
                     {"allocations", memory->allocations},
                     {"driver_allocations", memory->driver_allocations}};
  return {{"name", each.name},
          {"baseline", each.is_baseline},
          {"outcome", to_string(each.outcome)},
          {"message", each.message},
          {"checked", each.checked},
          {"max_abs_error", each.checked ? Json(each.max_abs_error) : Json(nullptr)},
          {"first_call_ns", each.first_call.count()},
          {"warm_up_iterations", each.warm_up_iterations},
          {"warmed_up", each.warmed_up},
          {"time", each.time ? to_json(*each.time) : Json(nullptr)},
          {"speedup", each.speedup ? to_json(*each.speedup) : Json(nullptr)},
          {"expectations", std::move(expectations)},
          {"figures", std::move(modes)},
          {"device_memory", std::move(device_memory)},
          {"device_counts", std::move(device_counts)},
          {"operator_calls", each.counts ? Json(each.counts->operator_calls) : Json(nullptr)},
          {"allocations", each.counts ? Json(each.counts->allocations) : Json(nullptr)},
          {"bytes_allocated", each.counts ? Json(each.counts->bytes_allocated) : Json(nullptr)},
          {"bytes", or_null(each.bytes)},
          {"flops", or_null(each.flops)},
          {"share_of_peak", or_null(each.share_of_peak)},
          {"gb_per_s", or_null(each.gigabytes_per_second())},
          {"gflop_per_s", or_null(each.gigaflops_per_second())},
          {"why_uncounted", each.why_uncounted},
          {"rounds_per_cycle", each.context.rounds_per_cycle},
          {"cycle_ns", each.context.cycle.count()},
          {"allowance", each.context.allowance},
          {"impossible", each.context.impossible},
          {"cut_short", each.context.cut_short},
          {"alpha", each.context.alpha},
          {"beta", each.context.beta},
          {"samples_ns", std::move(samples)},
          {"log_ratios", each.log_ratios}};
}

}  // namespace detail

/// One result as an element of the document's `results`. Names ending in `_ns` are nanoseconds (per iteration, except
/// `first_call_ns` and `elapsed_ns`); `samples_ns` are in the order of rounds, `log_ratios` are ln(baseline time / own
/// time) in the order of crossover cycles. What does not exist, or is not finite, is null.
[[nodiscard]] inline Json to_json(const Result& result) {
  Json implementations = Json::array();
  for (const auto& each : result.implementations) implementations.push_back(detail::to_json(each));
  Json controls = Json::array();
  for (const auto& control : result.controls)
    controls.push_back({{"injected", control.injected},
                        {"speedup", detail::to_json(control.speedup)},
                        {"proven_slower", control.proven_slower},
                        {"proven_faster", control.proven_faster}});
  return {{"name", result.name},
          {"iterations", result.iterations},
          {"rounds", result.rounds},
          {"stop_reason", to_string(result.stop_reason)},
          {"elapsed_ns", result.elapsed.count()},
          {"clock", result.clock},
          {"clock_resolution_ns", result.clock_resolution.count()},
          {"device", result.device},
          {"inputs", result.inputs},
          {"confidence", result.confidence},
          {"seed", result.seed},
          {"conditions", detail::to_json(result.conditions)},
          {"controls", std::move(controls)},
          {"missing_device", result.missing_device},
          {"lost_device", result.lost_device},
          {"notes", result.notes},
          {"implementations", std::move(implementations)}};
}

[[nodiscard]] inline Json to_json(const Environment& environment) {
  Json json = {{"date_utc", environment.date_utc},
               {"hostname", environment.hostname},
               {"command_line", environment.command_line},
               {"cpu", environment.cpu},
               {"cores", environment.cores},
               {"cpu_quota", detail::or_null(environment.cpu_quota)},
               {"governor", environment.governor},
               {"turbo", detail::or_null(environment.turbo)},
               {"aslr", detail::or_null(environment.aslr)},
               {"load_average_1min", detail::or_null(environment.load)},
               {"memory_bytes", environment.memory_bytes},
               {"kernel", environment.kernel},
               {"compiler", environment.compiler},
               {"build_flags", environment.build_flags},
               {"optimized", environment.optimized},
               {"commit", environment.commit}};
  for (const auto& [key, value] : environment.extra) json.emplace(key, value);  // keeps what is there
  return json;
}

/// Writes `{"schema_version": ..., "environment": {...}, "results": [...]}`, one result a line. The file is a complete
/// document after every result: each write replaces the closing brackets, in one system call, by the result and the
/// brackets. `earlier` are results of an earlier process, or run, that this one goes on from: they are in the file from
/// the beginning, which replaces what was there under the name, and are not written again when they are published.
class JsonSink final : public Sink {
 public:
  /// Opens the file. Its document has no results at first; what the file held stays until the first one, or finish().
  /// `more` are further keys of the document. Throws Error.
  JsonSink(std::string path, const Environment& environment, const Json& more = Json::object(),
           std::span<const Result> earlier = {})
      : file_(std::move(path), !earlier.empty()), keeps_earlier_(!earlier.empty()) {
    std::string head = "{\n\"schema_version\": " + std::to_string(json_schema_version) +
                       ",\n\"environment\": " + text_of(to_json(environment));
    for (const auto& [key, value] : more.items()) head += ",\n" + text_of(key) + ": " + text_of(value);
    head += ",\n\"results\": [";
    file_.begin_with(head += closing, /*rewritten=*/true);
    for (const auto& result : earlier) append(result);
    file_.replace();
  }

  using Sink::write;
  void write(const Result& result) override {
    if (!result.recalled || !keeps_earlier_) append(result);
  }
  void finish() override { file_.close(); }

 private:
  static constexpr std::string_view closing = "\n]\n}\n";

  void append(const Result& result) {
    const std::string separator = first_ ? "\n" : ",\n";
    file_.replace_tail(closing, separator + text_of(to_json(result)) + std::string(closing));
    first_ = false;
  }

  /// In one line. Bytes that are no UTF-8, in a message from elsewhere, become U+FFFD; they must not lose the result.
  [[nodiscard]] static std::string text_of(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  OutputFile file_;
  bool keeps_earlier_;
  bool first_ = true;
};

}  // namespace pace::report
