// UntouchedBaseline: the baseline's time before any candidate was called, and afterwards.
#pragma once

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "pace/audit/baseline_alone.hpp"
#include "pace/audit/baseline_limit.hpp"
#include "pace/audit/context.hpp"
#include "pace/audit/learn_baseline_limit.hpp"
#include "pace/audit/time_pairs.hpp"
#include "pace/audit/untouched_process.hpp"
#include "pace/base/error.hpp"
#include "pace/base/format.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/subject/forked.hpp"
#include "pace/subject/plan.hpp"
#include "pace/subject/prepare.hpp"
#include "pace/subject/time_left.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/machine_counters.hpp"
#include "pace/verify/candidate_audit.hpp"
#include "pace/verify/expected.hpp"
#include "pace/verify/verified.hpp"

namespace pace::detail {

/// The sizes of the tensors in `output`, in bytes.
[[nodiscard]] inline std::vector<std::int64_t> bytes_of_each(const c10::IValue& output) {
  std::vector<std::int64_t> bytes;
  check::for_each_tensor(output, [&](const at::Tensor& tensor) {
    if (tensor.layout() == at::kStrided) bytes.push_back(static_cast<std::int64_t>(tensor.nbytes()));
  });
  return bytes;
}

/// The baseline in a process without candidates, warmed up like a comparison.
class LoneBaseline {
 public:
  /// Prepares it, which takes as long as in a comparison by `plan`. Both must outlive it. Throws what the baseline
  /// throws.
  LoneBaseline(timing::Clock& clock, const ComparisonPlan& plan)
      : clock_(clock), prepared_(prepare(clock, plan)), check_(plan.check) {
    if (!prepared_.participants.pending(prepared_.participants.baseline())) throw Error("the baseline is refused");
    Implementation& baseline = prepared_.baseline();
    (void)baseline.call(0);
    expected_ = expected_of(baseline, *prepared_.operands, plan.options.seed);
    baseline.expect_outputs_like(expected_.output);
    bytes_of_outputs_ = bytes_of_each(expected_.output);
    std::vector<std::string> notes;
    start_calls_alike(prepared_, expected_, notes);
    (void)time_alone(clock, baseline, prepared_.operands->sets.size(), prepared_.options);
  }

  [[nodiscard]] Nanoseconds time(const Burst& burst) {
    return time_burst(clock_, prepared_.baseline(), prepared_.operands->sets.size(), bytes_of_outputs_, burst);
  }

  [[nodiscard]] Nanoseconds time_on_unseen_values(const UnseenRequest& request) {
    if (!context_) {
      context_.emplace(clock_, prepared_);
      context_->learn(prepared_.baseline(), expected_, check_, [](Expected&, const OperandSet&) {});
    }
    return time_unseen_baseline(*context_, request);
  }

 private:
  timing::Clock& clock_;
  Prepared prepared_;
  check::CheckOptions check_;
  Expected expected_;
  std::vector<std::int64_t> bytes_of_outputs_;
  std::optional<AuditContext> context_;
};

/// A request to the untouched process: a burst, or samples on unseen values.
struct UntouchedRequest {
  Burst burst = {};
  std::optional<UnseenRequest> on_unseen_values = {};
};

/// Finds whether candidates slow the baseline by any means, such as observers, allocators, signals or settings of the C
/// library. Times the baseline alone before the first candidate and after the rounds. If it has become slower, times it
/// in turn with a process forked before: a slower machine slows both. Without that process, CPU time that others took
/// may explain it.
class UntouchedBaseline {
 public:
  /// Forks where that is safe. `clock` and `plan` must outlive it. `samples`: those of the baseline to compare.
  UntouchedBaseline(timing::Clock& clock, const ComparisonPlan& plan, BaselineSamples samples)
      : able_(is_able(clock) && plan.options.audit == Audit::strict && samples != BaselineSamples::none),
        of_rounds_(samples == BaselineSamples::all) {
    if (!able_ || !reason_not_to_fork().empty() || plan.implementations.size() < 2) return;
    untouched_.emplace(
        [&clock, &plan, baseline = std::shared_ptr<LoneBaseline>()](const UntouchedRequest& request) mutable {
          if (!baseline) baseline = std::make_shared<LoneBaseline>(clock, plan);
          if (!request.on_unseen_values) return std::optional(baseline->time(request.burst));
          const OnCpu on_cpu(request.burst.cpu);
          return std::optional(baseline->time_on_unseen_values(*request.on_unseen_values));
        });
  }

  /// Times the baseline alone before any candidate is called. `output`: one of its outputs.
  void before_candidates(timing::Clock& clock, const Prepared& prepared, const c10::IValue& output) {
    if (!able_ || !of_rounds_) return;
    bytes_of_outputs_ = bytes_of_each(output);
    before_ = time_steadily(clock, prepared);
  }

  /// CPU seconds that the baseline alone used in a second; 0: unknown.
  [[nodiscard]] double cores() const { return before_ ? before_->cores : 0; }

  /// Returns the time of a call of the untouched baseline on unseen values; nothing without such a process, or an
  /// answer within `longest`.
  [[nodiscard]] std::optional<Nanoseconds> time_on_unseen_values(const UnseenRequest& request, Nanoseconds longest) {
    if (!untouched_) return std::nullopt;
    return untouched_->ask({.burst = {.cpu = ::sched_getcpu()}, .on_unseen_values = request}, longest);
  }

  /// After the rounds of `timed`, with the median `in_rounds` of the baseline: returns why that is not its own time.
  [[nodiscard]] SlowedBaseline after_rounds(timing::Clock& clock, const Prepared& prepared,
                                            const std::vector<std::size_t>& timed, Nanoseconds in_rounds) {
    if (!before_) return {};
    if (untouched_ && untouched_->was_ended())
      return {.by_others =
                  "the process in which no candidate was called has been ended from outside, so that nothing shows how "
                  "long the baseline takes there"};
    const auto pairs = beside_untouched(clock, prepared, in_rounds);
    auto slowed = pairs ? slowed_beside_untouched(*pairs) : slowed_since_before(clock, prepared, in_rounds);
    if (slowed.by_candidate.empty()) return slowed;
    std::string names;
    for (const std::size_t index : timed)
      if (index != prepared.participants.baseline())
        names += (names.empty() ? "'" : ", '") + prepared.result.implementations[index].name + '\'';
    if (names.empty()) names = "a candidate that was dropped";
    slowed.by_candidate +=
        ". Something that " + std::string(timed.size() > 2 ? "one of " : "") + names + " has done slows it";
    return slowed;
  }

 private:
  /// Intervals as wide as that are due to other work.
  static constexpr double steady_share = 0.1;
  static constexpr int tries = 3;
  /// The kernel counts others' CPU time by ticks of up to 10 ms, so that takes this long.
  static constexpr Nanoseconds time_to_know_others = std::chrono::milliseconds(250);
  /// Fewest CPU seconds of others in a second that explain a slow baseline of several threads.
  static constexpr double least_taken_of_threads = 0.1;
  static constexpr Nanoseconds longest_answer = std::chrono::seconds(20);

  /// Only the host's own clock times the CPU alone.
  [[nodiscard]] static bool is_able(timing::Clock& clock) {
    return clock.modes() == nullptr && clock.thread_counters().has_value();
  }

  /// The longest time of a call that counts as fast as before, but for `share`.
  [[nodiscard]] double most_time(double share) const { return (1 + share) * before_->fastest.high; }

  /// Times the baseline alone, `tries` times and for at least `duration`. Returns the last times; nothing once it is as
  /// fast as before but for `share`, or if it cannot be timed so often.
  [[nodiscard]] std::optional<AloneTimes> time_while_slow(timing::Clock& clock, const Prepared& prepared, double share,
                                                          Nanoseconds duration = {}) const {
    // A slow moment, and the place of outputs in the heap, are no candidate's fault.
    constexpr int outputs_apart = 32;
    const Nanoseconds began = clock.now();
    std::optional<AloneTimes> slow;
    for (int i = 0; i < tries || clock.now() - began < duration; ++i) {
      const auto taken = take_memory(bytes_of_outputs_, i * outputs_apart);
      const auto now = time_now(clock, prepared);
      if (!now && i < tries) return std::nullopt;
      if (!now) break;  // no time is left, or it throws: earlier times count
      if (now->fastest.low <= most_time(share)) return std::nullopt;
      slow = now;
    }
    return slow;
  }

  /// Without the other process: the slow-down since before any candidate.
  [[nodiscard]] SlowedBaseline slowed_since_before(timing::Clock& clock, const Prepared& prepared,
                                                   Nanoseconds in_rounds) const {
    if (in_rounds.count() <= most_time(slowed_share_without_process)) return {};
    const auto counters_before = clock.timed_counters();
    const auto now = time_while_slow(clock, prepared, slowed_share_without_process, time_to_know_others);
    const auto counters_after = clock.timed_counters();
    const double not_slow = (1 + slowed_share_without_process) * before_->slowest.high;
    if (!now || now->fastest.low <= not_slow) return {};
    const std::string text = "the baseline alone takes " + format_time(Nanoseconds(now->fastest.low)) +
                             " or more after the rounds, and took " + format_time(Nanoseconds(before_->slowest.high)) +
                             " or less before any candidate was called";
    const auto taken = counters_before && counters_after
                           ? timing::cores_taken_between(*counters_before, *counters_after, at::get_num_threads())
                           : std::nullopt;
    // A thread put aside keeps all others waiting, so a small share of a CPU delays them by any factor.
    const bool by_others = taken && (at::get_num_threads() > 1 ? *taken >= least_taken_of_threads
                                                               : (1 - *taken) * now->fastest.low <= not_slow);
    if (by_others)
      return {.by_others = "other work slowed the baseline: " + text + ", and in each second meanwhile " +
                           format_significant(*taken) +
                           " CPU seconds more than were idle went to other processes or machines"};
    return {.by_candidate = text};
  }

  /// The verdict by `pairs` of times here and in the other process.
  [[nodiscard]] static SlowedBaseline slowed_beside_untouched(const std::vector<TimePair>& pairs) {
    if (!slower_here(pairs, slowed_share)) return {};
    return {.by_candidate = "the baseline alone takes " + format_time(median_of(pairs, &TimePair::here)) +
                            " after the rounds, and in a process in which no candidate was called " +
                            format_time(median_of(pairs, &TimePair::there)) + " at the same time, measured in turn " +
                            std::to_string(pairs.size()) + " times"};
  }

  /// If the baseline seems slower, times it here and in the untouched process, in turn and on one CPU, since other
  /// threads load CPUs differently. Returns nothing without such a process, or an answer.
  [[nodiscard]] std::optional<std::vector<TimePair>> beside_untouched(timing::Clock& clock, const Prepared& prepared,
                                                                      Nanoseconds in_rounds) {
    if (!untouched_) return std::nullopt;
    if (in_rounds.count() <= most_time(slowed_share) || !time_while_slow(clock, prepared, slowed_share))
      return std::vector<TimePair>();
    constexpr double most_samples = 5;
    const Nanoseconds of_each = 2 * static_cast<double>(pairs_of_decision) * Burst::states * before_->of_sample;
    const double samples = most_alone_share * prepared.options.budget / of_each - 1;  // one of them warms up
    Burst burst{.iterations = before_->iterations, .samples = static_cast<int>(std::clamp(samples, 1.0, most_samples))};
    const auto here = [&]() -> std::optional<Nanoseconds> {
      try {
        return time_burst(clock, prepared.baseline(), prepared.operands->sets.size(), bytes_of_outputs_, burst);
      } catch (...) {
        return std::nullopt;  // as in time_now()
      }
    };
    const auto there = [&] { return untouched_->ask({.burst = burst}, std::min(longest_answer, time_left(clock))); };
    // The first burst prepares.
    if (!there()) return std::nullopt;
    auto pairs = take_pairs(clock, slowed_share, [&](std::size_t number) -> std::optional<TimePair> {
      if (time_left(clock).count() <= 0) return std::nullopt;
      burst.number = number;
      burst.cpu = ::sched_getcpu();
      const bool here_first = number % 2 == 0;
      const auto first = here_first ? here() : there();
      const auto second = here_first ? there() : here();
      if (!first || !second) return std::nullopt;
      return here_first ? TimePair{*first, *second} : TimePair{*second, *first};
    });
    return pairs.empty() ? std::nullopt : std::optional(std::move(pairs));
  }

  [[nodiscard]] static std::optional<AloneTimes> time_now(timing::Clock& clock, const Prepared& prepared) {
    Options options = prepared.options;
    options.budget = std::min(options.budget, time_left(clock));
    if (options.budget.count() <= 0) return std::nullopt;
    try {
      return time_alone(clock, prepared.baseline(), prepared.operands->sets.size(), options);
    } catch (...) {
      return std::nullopt;  // the rounds or checks handle what it throws
    }
  }

  /// The best of some tries, until intervals are narrow.
  [[nodiscard]] static std::optional<AloneTimes> time_steadily(timing::Clock& clock, const Prepared& prepared) {
    auto best = time_now(clock, prepared);
    for (int i = 1; i < tries && best && best->slowest.high > (1 + steady_share) * best->fastest.low; ++i) {
      const auto again = time_now(clock, prepared);
      if (again && again->slowest.high < best->slowest.high) best = again;
    }
    return best;
  }

  bool able_, of_rounds_;
  std::optional<UntouchedProcess<UntouchedRequest, Nanoseconds>> untouched_;
  std::optional<AloneTimes> before_;
  std::vector<std::int64_t> bytes_of_outputs_ = {};
};

}  // namespace pace::detail
