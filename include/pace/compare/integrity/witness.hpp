// BaselineWitness: the baseline's time before any candidate was called, against its time afterwards.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/empty.h>

#include "pace/check/ivalue.hpp"
#include "pace/compare/expected.hpp"
#include "pace/compare/integrity/baseline_alone.hpp"
#include "pace/compare/integrity/forked.hpp"
#include "pace/compare/integrity/untouched_process.hpp"
#include "pace/compare/plan.hpp"
#include "pace/compare/prepare.hpp"
#include "pace/compare/time_left.hpp"
#include "pace/compare/verified.hpp"
#include "pace/core/format.hpp"
#include "pace/timing/clock.hpp"

namespace pace::detail {

/// Finds that something which candidates have done slows the baseline, whatever that is: observers, an allocator,
/// signals, settings of the C library. The baseline is timed alone before the first call of a candidate and after the
/// rounds. If it is slower then, a process that was forked before the comparison times it at the same moment: if the
/// machine has become slower, so has the baseline there.
class BaselineWitness {
 public:
  /// One that sees nothing, for a process in which no baseline is timed beside a candidate.
  BaselineWitness() = default;
  /// Forks, where that is safe. `clock` and `plan` must outlive it.
  BaselineWitness(timing::Clock& clock, const ComparisonPlan& plan) : able_(is_able(clock)) {
    if (able_ && reason_not_to_fork().empty() && plan.implementations.size() > 1)
      untouched_.emplace([&clock, &plan] { return time_in_new_process(clock, plan); });
  }

  /// Times the baseline of `prepared` alone, before any candidate is called. `output`: what a call of it returns.
  void before_candidates(timing::Clock& clock, const Prepared& prepared, const Options& options,
                         const c10::IValue& output) {
    if (!able_) return;
    check::for_each_tensor(output, [&](const at::Tensor& tensor) {
      if (tensor.layout() == at::kStrided) bytes_of_outputs_.push_back(static_cast<std::int64_t>(tensor.nbytes()));
    });
    before_ = time_steadily(clock, prepared, options);
  }

  /// CPU seconds that the baseline alone used in a second; 0: unknown.
  [[nodiscard]] double cores() const { return before_ ? before_->cores : 0; }

  /// After the rounds of `timed`, in which a call of the baseline took `in_rounds` in the median: returns why that is
  /// not its own time, as a clause; empty if it is about as fast as before.
  [[nodiscard]] std::string after_rounds(timing::Clock& clock, const Prepared& prepared, const Options& options,
                                         const std::vector<std::size_t>& timed, Nanoseconds in_rounds) {
    if (!before_ || in_rounds.count() <= (1 + slowed_share) * before_->slowest.high) return {};
    std::optional<AloneTimes> now;
    // What slows it for a moment, or where its outputs happen to lie in the heap, is no candidate's doing.
    for (int i = 0; i < tries; ++i) {
      const auto taken = take_memory(i);
      now = time_now(clock, prepared, options);
      if (!now || !slower_than(*now, *before_)) return {};
    }
    if (untouched_ && !elsewhere_) elsewhere_ = untouched_->ask(std::min(longest_answer, time_left(clock)));
    if (elsewhere_ ? !slower_than(*now, *elsewhere_) : !slower_than(*now, *before_, slowed_share_without_process))
      return {};
    const auto in_time = [](double nanoseconds) { return format_time(Nanoseconds(nanoseconds)); };
    std::string text = "the baseline alone takes " + in_time(now->fastest.low) +
                       " or more after the rounds, and took " + in_time(before_->slowest.high) +
                       " or less before any candidate was called";
    if (elsewhere_)
      text += "; a process in which none was called takes " + in_time(elsewhere_->slowest.high) + " at the same time";
    std::string names;
    for (const std::size_t index : timed)
      if (index != prepared.participants.baseline())
        names += (names.empty() ? "'" : ", '") + prepared.result.implementations[index].name + '\'';
    return text + ". Something that " + (timed.size() > 2 ? "one of " : "") + names + " has done slows it";
  }

 private:
  /// Takes memory in which outputs of the baseline may have lain, more in each try, so that they lie elsewhere: how far
  /// apart operands and outputs are decides how fast the same code is, and what candidates allocate may change that.
  [[nodiscard]] std::vector<at::Tensor> take_memory(int number_of_try) const {
    constexpr int blocks_more = 32;
    constexpr std::int64_t most_bytes = 1 << 28;
    std::vector<at::Tensor> taken;
    std::int64_t left = most_bytes;
    for (int i = 0; i < blocks_more * number_of_try; ++i)
      for (const std::int64_t bytes : bytes_of_outputs_) {
        left -= bytes;
        if (left >= 0) taken.push_back(at::empty({bytes}, at::kByte));
      }
    return taken;
  }

  /// Where no other process can show whether the machine has become slower, so much slower counts.
  static constexpr double slowed_share_without_process = 1;
  /// Intervals as wide as that are due to other work.
  static constexpr double steady_share = 0.1;
  static constexpr int tries = 3;
  static constexpr Nanoseconds longest_answer = std::chrono::seconds(20);

  /// Only by the host's own clock is the baseline's time the CPU's alone.
  [[nodiscard]] static bool is_able(timing::Clock& clock) {
    return clock.modes() == nullptr && clock.thread_counters().has_value();
  }

  [[nodiscard]] static std::optional<AloneTimes> time_now(timing::Clock& clock, const Prepared& prepared,
                                                          Options options) {
    options.budget = std::min(options.budget, time_left(clock));
    if (options.budget.count() <= 0) return std::nullopt;
    try {
      return time_alone(clock, prepared.baseline(), prepared.operands->sets.size(), options);
    } catch (...) {
      return std::nullopt;  // it will throw in the rounds, too, where that has consequences
    }
  }

  /// The best of some tries, which end as soon as other work on the machine does not widen the intervals.
  [[nodiscard]] static std::optional<AloneTimes> time_steadily(timing::Clock& clock, const Prepared& prepared,
                                                               const Options& options) {
    auto best = time_now(clock, prepared, options);
    for (int i = 1; i < tries && best && best->slowest.high > (1 + steady_share) * best->fastest.low; ++i) {
      const auto again = time_now(clock, prepared, options);
      if (again && again->slowest.high < best->slowest.high) best = again;
    }
    return best;
  }

  /// The same steps as in a comparison, without a candidate.
  [[nodiscard]] static std::optional<AloneTimes> time_in_new_process(timing::Clock& clock, const ComparisonPlan& plan) {
    const Prepared prepared = prepare(clock, plan);
    if (!prepared.participants.pending(prepared.participants.baseline())) return std::nullopt;
    Implementation& baseline = prepared.baseline();
    (void)baseline.call(0);
    const Expected expected = expected_of(baseline, *prepared.operands, plan.options.seed);
    baseline.expect_outputs_like(expected.output);
    Verified verified{.participants = prepared.participants, .result = prepared.result, .options = prepared.options};
    start_calls_alike(prepared, expected, verified);
    return time_steadily(clock, prepared, verified.options);
  }

  bool able_ = false;
  std::optional<UntouchedProcess<AloneTimes>> untouched_;
  std::optional<AloneTimes> before_, elsewhere_;
  std::vector<std::int64_t> bytes_of_outputs_ = {};
};

}  // namespace pace::detail
