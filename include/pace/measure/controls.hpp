// Controls: the baseline against itself, and against itself with calls added, inside the rounds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "pace/base/format.hpp"
#include "pace/result/options.hpp"
#include "pace/result/result.hpp"
#include "pace/stats/cycle.hpp"
#include "pace/stats/sequential_test.hpp"
#include "pace/stats/summary.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/rounds.hpp"
#include "pace/timing/schedule.hpp"
#include "pace/timing/subject.hpp"

namespace pace::detail {

/// Summarizes a control with the true speed-up `injected`: 1, or below 1 for a slowdown. On an undisturbed machine, 1
/// is proven neither slower nor faster, and a slowdown slower.
[[nodiscard]] inline ControlSummary judge_control(std::span<const double> log_ratios, double injected, double alpha,
                                                  double confidence) {
  ControlSummary control{.injected = injected, .speedup = stats::summarize_watched_speedup(log_ratios, confidence)};
  const auto test = stats::sequential_test(log_ratios, 0);
  control.proven_slower = test.below().p_value() <= alpha;
  control.proven_faster = test.above().p_value() <= alpha;
  return control;
}

/// Runs control cycles between the cycles of a comparison, for at most a tenth of the time. Allocates nothing during
/// the rounds.
class Controls final : public timing::RoundObserver {
 public:
  /// Largest share of the rounds' time for controls.
  static constexpr double share = 0.1;
  /// Share of calls added to a sample of the slowed control; at least one call.
  static constexpr double slowdown = 0.05;

  /// Samples `baseline` with `iterations` calls on any of `sets` operand sets.
  Controls(timing::Clock& clock, timing::Subject& baseline, std::size_t sets, std::int64_t iterations,
           const Options& options)
      : clock_(clock),
        baseline_(baseline),
        iterations_(iterations),
        added_(std::max<std::int64_t>(1, std::llround(slowdown * static_cast<double>(iterations)))),
        // Two sets, if there are two, swap as in the comparison.
        schedule_(2, sets >= 2 ? options.operands : OperandPolicy::shared, options.seed + 1) {
    same_.reserve(options.max_rounds);
    slowed_.reserve(options.max_rounds);
  }

  void cycle_ended(const timing::Rounds& so_far) override {
    if (same_.size() == same_.capacity() || took_ + longest_ > share * so_far.elapsed) return;
    const Nanoseconds start = clock_.now();
    add_cycle(same_, 0);
    add_cycle(slowed_, added_);
    const Nanoseconds took = clock_.now() - start;
    took_ += took;
    longest_ = std::max(longest_, took);
  }

  [[nodiscard]] Nanoseconds took() const override { return took_; }

  /// The baseline against itself, then against itself slowed. Empty without a cycle.
  [[nodiscard]] std::vector<ControlSummary> summarize(double alpha, double confidence) const {
    if (same_.empty() || slowed_.empty()) return {};
    const auto iterations = static_cast<double>(iterations_);
    return {judge_control(same_, 1, alpha, confidence),
            judge_control(slowed_, iterations / (iterations + static_cast<double>(added_)), alpha, confidence)};
  }

 private:
  void add_cycle(std::vector<double>& log_ratios, std::int64_t added) {
    Nanoseconds times[2][2] = {};
    const auto turns = schedule_.next_cycle();
    for (std::size_t i = 0; i < turns.size(); ++i) {
      const auto [side, operands] = turns[i];
      const std::int64_t iterations = iterations_ + (side == 1 ? added : 0);
      times[side][i / 2] = timing::take_sample(clock_, baseline_, operands, iterations);
    }
    const double ratio = stats::log_ratio_of_cycle(times[0], times[1]);
    if (std::isfinite(ratio)) log_ratios.push_back(ratio);
  }

  timing::Clock& clock_;
  timing::Subject& baseline_;
  std::int64_t iterations_, added_;
  timing::Schedule schedule_;
  std::vector<double> same_, slowed_;
  Nanoseconds took_{}, longest_{};
};

/// Describes the controls in one sentence.
[[nodiscard]] inline std::string describe_controls(const std::vector<ControlSummary>& controls) {
  std::string text = "Controls: the baseline";
  for (const auto& control : controls) {
    const bool slowed = control.injected < 1;
    text += slowed ? ", slowed to " + format_significant(control.injected, 4) + 'x' : std::string(" against itself");
    text += ": " + format_significant(control.speedup.median, 4) + 'x';
    if (const auto& interval = control.speedup.interval)
      text += " [" + format_significant(interval->low, 4) + "x, " + format_significant(interval->high, 4) + "x]";
    if (slowed) text += control.proven_slower ? " (detected)" : " (not detected in so few cycles)";
  }
  return text + "; " + std::to_string(controls.empty() ? 0 : controls.front().speedup.observations) + " cycles each.";
}

/// Returns why the controls allow no verdict; empty if they do.
[[nodiscard]] inline std::string control_alarm(const std::vector<ControlSummary>& controls) {
  for (const auto& control : controls) {
    if (control.injected < 1 && control.proven_faster)
      return "The control failed: the baseline with calls added was proven faster than itself.";
    if (control.injected >= 1 && (control.proven_faster || control.proven_slower))
      return "The control failed: the baseline was proven to differ from itself.";
  }
  return {};
}

}  // namespace pace::detail
