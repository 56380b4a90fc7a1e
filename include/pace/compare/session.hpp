// One comparison from first call to summary: verify, warm up, calibrate, time, verify again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "pace/compare/implementation.hpp"
#include "pace/compare/operands.hpp"
#include "pace/compare/verification.hpp"
#include "pace/core/memory.hpp"
#include "pace/core/result.hpp"
#include "pace/gate/panel.hpp"
#include "pace/measure/calibrate.hpp"
#include "pace/measure/rounds.hpp"
#include "pace/measure/schedule.hpp"
#include "pace/measure/warm_up.hpp"
#include "pace/stats/betting.hpp"
#include "pace/stats/multiplicity.hpp"
#include "pace/stats/summary.hpp"

namespace pace::detail {

/// An implementation as the user named it.
template <class... Operands>
struct Planned {
  std::string name;
  bool is_baseline = false;
  /// Null if refused.
  std::function<std::unique_ptr<Implementation<Operands...>>(const OperandSets<Operands...>&)> make;
  std::string refusal;
};

template <clock::Clock C, class... Operands>
class Session {
 public:
  Session(C& clock, std::string name, const std::tuple<Operands...>& first_operands,
          const std::vector<Planned<Operands...>>& plan, const Options& options, const check::CheckOptions& check,
          std::span<const gate::Stated> stated)
      : clock_(clock), options_(options), check_(check), stated_(stated), first_(first_operands) {
    result_.name = std::move(name);
    result_.clock = clock_.name();
    result_.clock_resolution = clock_.resolution();
    result_.confidence = options_.confidence;
    result_.seed = options_.seed;
    copy_operands(plan);
    for (const auto& planned : plan) {
      auto& row = result_.implementations.emplace_back();
      row.name = planned.name;
      row.is_baseline = planned.is_baseline;
      row.message = planned.refusal;
      implementations_.push_back(planned.make ? planned.make(operands_) : nullptr);
      if (planned.is_baseline) baseline_ = implementations_.size() - 1;
    }
  }

  Result run() {
    verify_all();
    while (!running_.empty()) {
      try {
        measure();
        verify_last_outputs();
        summarize();
        break;
      } catch (const ImplementationThrew& thrown) {
        // The others' samples were taken beside one that is gone: measure again without it.
        give_up(thrown.index, Outcome::threw, thrown.message);
      }
    }
    return std::move(result_);
  }

 private:
  ImplementationResult& row(std::size_t index) { return result_.implementations[index]; }

  /// Takes an implementation out of what is timed; without a baseline nothing is.
  void give_up(std::size_t index, Outcome outcome, std::string message) {
    auto& gone = row(index);
    gone.outcome = outcome;
    gone.message = std::move(message);
    gone.samples.clear();
    gone.time.reset();
    gone.log_ratios.clear();
    gone.speedup.reset();
    std::erase(running_, index);
    if (index != baseline_) return;
    for (const std::size_t other : std::exchange(running_, {}))
      give_up(other, Outcome::refused, "there is no baseline to compare with: '" + gone.name + "' " +
                                           to_string(outcome) + (gone.message.empty() ? "" : ": " + gone.message));
  }

  void copy_operands(const std::vector<Planned<Operands...>>& plan) {
    const auto able = static_cast<std::size_t>(
        std::count_if(plan.begin(), plan.end(), [](const auto& planned) { return planned.make != nullptr; }));
    std::size_t sets = options_.operands == OperandPolicy::shared ? 1 : std::max<std::size_t>(able, 1);
    // The user's own operands serve as the pristine ones: no implementation ever gets hold of them.
    operands_.pristine = tensors_in(first_);
    const double bytes = bytes_of(operands_.pristine);
    // Half of what is free, so that outputs and the implementations' own memory find room as well.
    if (const auto available = available_memory(); sets > 1 && available &&
        bytes * static_cast<double>(sets) > 0.5 * static_cast<double>(*available)) {
      sets = 1;
      options_.operands = OperandPolicy::shared;
      result_.notes.push_back("All implementations share one set of operands: copies for each would not fit in memory.");
    }
    for (std::size_t set = 0; set < sets; ++set) {
      operands_.sets.push_back(clone_operands(first_));
      operands_.tensors.push_back(tensors_in(operands_.sets.back()));
    }
  }

  /// The first call of each, timed; then a checked one. Those that fail are not timed.
  void verify_all() {
    std::optional<Expected> expected;
    const auto first = [&](std::size_t index) {
      auto& implementation = *implementations_[index];
      try {
        operands_.restore_all(0);
        row(index).first_call = clock_.time([&] { (void)implementation.call(0); });
        if (index == baseline_) {
          expected = expect(implementation, operands_, options_.seed);
          add_reference(*expected);
        }
        const c10::IValue output = checked_call(implementation, operands_, 0, options_.seed);
        const Verification verification = verify(*expected, output, operands_, 0, check_);
        row(index).checked = verification.compared;
        row(index).max_abs_error = verification.max_abs_error;
        if (!verification.correct && index == baseline_) {
          result_.notes.push_back("The baseline does not repeat itself, so nothing was checked: " + verification.message +
                                  ".");
          check_.method = check::CheckOptions::Method::none;
          row(index).checked = false;
        } else if (!verification.correct) {
          return give_up(index, Outcome::wrong, verification.message);
        }
        implementation.expect_outputs_like(output);
        row(index).outcome = Outcome::measured;
        running_.push_back(index);
      } catch (...) {
        give_up(index, Outcome::threw, current_message());
      }
    };
    if (implementations_[baseline_]) first(baseline_);
    for (std::size_t index = 0; index < implementations_.size(); ++index) {
      if (index == baseline_ || !implementations_[index]) continue;
      if (row(baseline_).outcome == Outcome::measured) first(index);
      else give_up(index, Outcome::refused, "there is no baseline to compare with: '" + row(baseline_).name + "' " +
                                                to_string(row(baseline_).outcome) + ": " + row(baseline_).message);
    }
    std::sort(running_.begin(), running_.end());
    expected_ = std::move(expected);
  }

  void add_reference(Expected& expected) {
    if (check_.method != check::CheckOptions::Method::float64_reference) return;
    try {
      auto as_double = clone_operands(first_);
      // The callable takes the operands by their static types, so the conversion happens inside the tensors.
      for (auto& tensor : tensors_in(as_double))
        if (tensor.is_floating_point()) tensor.set_data(tensor.to(at::kDouble));
      operands_.sets.push_back(std::move(as_double));
      reset_random_state(options_.seed);
      expected.reference = check::clone_ivalue(implementations_[baseline_]->call(operands_.sets.size() - 1));
    } catch (...) {
      check_.method = check::CheckOptions::Method::allclose;
      result_.notes.push_back("The baseline has no float64 reference, so outputs were compared directly: " +
                              current_message());
    }
    // Without its tensors in operands_.tensors, the extra set was never part of the rounds.
    operands_.sets.resize(operands_.tensors.size());
  }

  void measure() {
    std::vector<measure::Operation> operations;
    for (const std::size_t index : running_) operations.push_back(implementations_[index]->operation(index));
    const std::size_t count = operations.size();
    rounds_per_cycle_ = count;

    std::vector<Nanoseconds> estimates;
    for (std::size_t i = 0; i < count; ++i) {
      const auto warmed = measure::warm_up(clock_, operations[i], i % operands_.sets.size(), options_);
      row(running_[i]).warm_up_iterations = warmed.iterations;
      row(running_[i]).warmed_up = warmed.settled;
      estimates.push_back(warmed.estimate);
    }

    const double each_confidence = stats::simultaneous_confidence(options_.confidence, count - 1);
    gate::Panel panel({options_.alpha, options_.beta});
    if (options_.stop == StopPolicy::decided)
      panel = gate::watch_all(result_, running_, stated_, {options_.alpha, options_.beta});
    std::size_t fewest_cycles = stats::fewest_for_median_interval(each_confidence);
    if (!panel.empty())
      fewest_cycles = std::max(fewest_cycles,
                               stats::fewest_for_rejection(std::min(options_.alpha, options_.beta) / panel.size()));
    // So that a budget holds the fewest cycles an interval, or a verdict, needs.
    const Nanoseconds longest = options_.budget / static_cast<double>(fewest_cycles * count * count);
    const auto calibration = measure::calibrate(clock_, std::span<const measure::Operation>(operations), estimates,
                                                operands_.sets.size(), longest, options_);
    result_.iterations = calibration.iterations;
    if (!calibration.reached_target)
      result_.notes.push_back("Samples of the fastest implementation are shorter than wanted, since the slowest one "
                              "takes so much longer; a larger budget would allow longer ones.");

    measure::Schedule schedule(count, options_.operands, options_.seed);
    // With nothing expected, the budget is spent.
    const auto enough = [&](const measure::Rounds& so_far) {
      if (panel.empty()) return false;
      panel.add_cycle(so_far.samples, so_far.rounds - count, count);
      return panel.decided();
    };
    auto rounds = measure::run_rounds(clock_, std::span<const measure::Operation>(operations), calibration.iterations,
                                      schedule, fewest_cycles, options_, enough);
    result_.rounds = rounds.rounds;
    result_.stop_reason = rounds.stop_reason;
    result_.elapsed = rounds.elapsed;
    watched_ = !panel.empty();
    for (std::size_t i = 0; i < count; ++i) {
      auto& each = row(running_[i]);
      each.samples = std::move(rounds.samples[i]);
      each.context.baseline = row(baseline_).name;
      each.context.rounds_per_cycle = count;
      each.context.cycle = rounds.elapsed * (static_cast<double>(count) / static_cast<double>(rounds.rounds));
      each.context.alpha = stats::alpha_share(options_.alpha, count - 1);
      each.context.beta = stats::alpha_share(options_.beta, count - 1);
    }
  }

  /// What the last timed call returned must be right as well. Where the call writes to operands or draws random
  /// numbers, its last sample applied it many times over; one more timed call from the first state stands in for it.
  void verify_last_outputs() {
    if (check_.method == check::CheckOptions::Method::none) return;
    const auto timed = running_;
    for (const std::size_t index : timed) {
      if (std::find(running_.begin(), running_.end(), index) == running_.end()) continue;
      auto& implementation = *implementations_[index];
      std::optional<std::size_t> set;
      if (!operands_.mutated.empty() || expected_->random) {
        set = 0;
        operands_.restore_all(*set);
        reset_random_state(options_.seed);
        (void)measure::take_sample(clock_, implementation.operation(index), *set, 1);
      }
      const c10::IValue output = implementation.take_output();
      const Verification verification = verify(*expected_, output, operands_, set, check_);
      row(index).max_abs_error = std::max(row(index).max_abs_error, verification.max_abs_error);
      if (!verification.correct)
        give_up(index, Outcome::wrong, "correct at first, but not in the last timed call: " + verification.message);
    }
  }

  void summarize() {
    const std::size_t candidates = running_.empty() ? 0 : running_.size() - 1;
    const double each_confidence = stats::simultaneous_confidence(options_.confidence, candidates);
    for (const std::size_t index : running_) {
      auto& each = row(index);
      each.time = stats::summarize_times(each.samples, options_.confidence);
      if (index == baseline_) continue;
      each.log_ratios = stats::paired_log_ratios(row(baseline_).samples, each.samples, rounds_per_cycle_);
      if (each.log_ratios.empty()) continue;
      each.speedup = watched_ ? stats::summarize_watched_speedup(each.log_ratios, each_confidence)
                              : stats::summarize_speedup(each.log_ratios, each_confidence);
    }
  }

  C& clock_;
  Options options_;
  check::CheckOptions check_;
  Result result_;
  std::span<const gate::Stated> stated_;
  /// Whether expectations looked at the figures while they were taken, and may have ended the rounds.
  bool watched_ = false;
  const std::tuple<Operands...>& first_;
  OperandSets<Operands...> operands_;
  std::vector<std::unique_ptr<Implementation<Operands...>>> implementations_;
  std::size_t baseline_ = 0;
  /// Indices of the implementations that are correct so far, ascending.
  std::vector<std::size_t> running_;
  std::optional<Expected> expected_;
  /// How many were timed together; verify_last_outputs may have taken some out since.
  std::size_t rounds_per_cycle_ = 1;
};

template <clock::Clock C, class... Operands>
[[nodiscard]] Result run_session(C& clock, const std::string& name, const std::tuple<Operands...>& operands,
                                 const std::vector<Planned<Operands...>>& plan, const Options& options,
                                 const check::CheckOptions& check, std::span<const gate::Stated> stated) {
  return Session<C, Operands...>(clock, name, operands, plan, options, check, stated).run();
}

}  // namespace pace::detail
