// Inspector: looks, outside the timed code, for implementations that are right or fast only as long as they are looked
// at in the expected way.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pace/check/outputs.hpp"
#include "pace/compare/answers.hpp"
#include "pace/compare/background.hpp"
#include "pace/compare/call_counter.hpp"
#include "pace/compare/fresh_answers.hpp"
#include "pace/compare/implementation.hpp"
#include "pace/compare/novelty.hpp"
#include "pace/compare/observed_call.hpp"
#include "pace/compare/operands.hpp"
#include "pace/compare/random_state.hpp"
#include "pace/compare/surroundings.hpp"
#include "pace/compare/verification.hpp"
#include "pace/core/random.hpp"
#include "pace/core/result.hpp"

namespace pace::detail {

/// Every function that examines an implementation returns what is wrong, in words; empty if nothing is.
class Inspector {
 public:
  Inspector(OperandSets& operands, const OperandSet& first, std::uint64_t seed)
      : operands_(operands), first_(first), seed_(seed), random_(seed) {}

  /// Learns from the baseline what is right, for the given values and for others.
  void learn(Implementation& baseline, const Expected& expected, const check::CheckOptions& check,
             const AddReference& add_reference) {
    answers_.emplace(operands_, expected, check);
    if (check.fresh_values && check.method != check::CheckOptions::Method::none)
      answers_->fresh = find_fresh_answers(baseline, operands_, first_, expected, check, seed_of(true), add_reference);
    answers_->imitate(call(baseline, nullptr));
    repair(0);
  }

  /// Before the first call of an implementation.
  void start() {
    surroundings_ = Surroundings::now();
    busy_before_ = background_work_goes_on();
  }

  /// After the last of its calls before timing: leaves everything as start() found it.
  void finish() {
    repair(0);
    surroundings_.restore();
  }

  /// After the first calls of an implementation were found correct: calls it on fresh values and on the given ones, and
  /// counts what it does, into `row`.
  [[nodiscard]] std::string examine(Implementation& implementation, ImplementationResult& row) {
    if (auto problem = disturbance(); !problem.empty()) return problem;
    const bool checked = answers_->check.method != check::CheckOptions::Method::none;
    const ObservedCall fresh = call(implementation, fresh_values());
    if (checked) {
      if (auto problem = answers_->judge(fresh, renews()); !problem.empty()) return problem;
    }
    const ObservedCall given = call(implementation, nullptr);
    if (checked) {
      if (auto problem = answers_->judge(given, false); !problem.empty())
        return "correct at first, but not later: " + problem;
    }
    if (auto problem = count(implementation, row, fresh, given); !problem.empty()) return problem;
    return disturbance();
  }

  /// One or more calls as they are timed, on the values given, and as many after these were overwritten by fresh ones:
  /// the last one's output must be that of the fresh ones.
  [[nodiscard]] std::string audit(Implementation& implementation, std::int64_t iterations) {
    const std::size_t set = random_.below(operands_.sets.size());
    const bool renewed = renews();
    const bool once = !operands_.mutated.empty() || answers_->given.random;
    const auto some = [&] {
      const auto most = static_cast<std::size_t>(std::max<std::int64_t>(1, iterations / 2));
      return once ? 1 : 1 + static_cast<std::int64_t>(random_.below(most));
    };
    // What was done before is noted, but need not be this one's doing.
    if (changed_settings_.empty()) changed_settings_ = surroundings_changed();
    notice_changed_operands(set);
    repair(set);
    const auto run = [&](std::int64_t count) { implementation.run(set, count); };
    const auto prepare = [&] { implementation.prepare(set); };
    prepare();
    run(some());
    if (auto problem = changed_operand(operands_, operands_.pristine, set); !problem.empty())
      return in_timed_call(problem);
    prepare();
    try {
      write_values(operands_, fresh_values(), set);
    } catch (const Error& error) {
      repair(set);
      return in_timed_call(std::string("it changes what an operand is: ") + error.what());
    }
    reset_random_state(seed_of(renewed));
    run(some());
    ObservedCall last;
    {
      const CallCounter converting;
      last.output = implementation.take_output();
      last.late = converting.counts();
    }
    last.at_return = check::clone_ivalue(last.output);
    auto problem = answers_->judge(last, renewed, set);
    repair(set);
    if (problem.empty()) problem = surroundings_changed();
    return problem.empty() ? problem : in_timed_call(problem);
  }

  /// For a clock that replays what it captured: `replay()` takes a sample on set 0, whose output must be that of the
  /// fresh values, which lie in the memory that was captured. Nothing is asked of calls that write to operands or draw
  /// random numbers, which a sample makes many times over.
  [[nodiscard]] std::string audit_replay(Implementation& implementation, FunctionRef<void()> replay) {
    if (!renews() || !operands_.mutated.empty() || answers_->given.random) return {};
    write_values(operands_, fresh_values(), 0);
    replay();
    ObservedCall last;
    last.output = implementation.take_output();
    last.at_return = check::clone_ivalue(last.output);
    const auto problem = answers_->judge(last, true);
    repair(0);
    return problem.empty() ? problem : in_timed_call(problem);
  }

  /// What was changed for all implementations since start(), by settings or by threads that go on working. Settings are
  /// put back.
  [[nodiscard]] std::string disturbance() {
    if (auto problem = surroundings_changed(); !problem.empty()) return problem;
    if (!changed_settings_.empty()) return std::exchange(changed_settings_, {});
    if (!busy_before_ && background_work_goes_on())
      return "threads go on computing after its calls have returned, which slows whatever is timed beside it";
    return {};
  }

  /// Looks for operands that the baseline leaves alone and that do not hold the values of this round, or else their first
  /// ones, in all sets, and gives them those.
  void notice_changes() {
    for (std::size_t set = 0; set < operands_.sets.size(); ++set) {
      notice_changed_operands(set);
      repair(set);
    }
  }
  /// Whether any did not, then or before an audit; which, and forgets it.
  [[nodiscard]] bool operands_changed() const { return !changed_operands_.empty(); }
  [[nodiscard]] std::string take_changed_operands() { return std::exchange(changed_operands_, {}); }

  /// Gives the operands of a set their first values, whatever was done to them.
  void repair(std::size_t set) {
    try {
      operands_.restore_all(set);
    } catch (...) {  // of another shape, or without memory
      operands_.sets[set] = first_.clone();
      operands_.tensors[set] = operands_.sets[set]->tensors();
    }
  }

  /// Whether its calls take longer on values that it has not seen before: single calls, at most `time` long together.
  [[nodiscard]] std::string probe_novelty(timing::Clock& clock, Implementation& implementation, Nanoseconds time) {
    if (!renews()) return {};
    const auto values = answers_->fresh.operands->clone();
    const auto tensors = values->tensors();
    const auto timed_call = [&] {
      implementation.prepare(0);
      write_values(operands_, &tensors, 0);
      return clock.time([&] { implementation.run(0, 1); });
    };
    const Nanoseconds start = clock.now();
    (void)timed_call();
    const std::size_t pairs = affordable_pairs(time, clock.now() - start);
    auto problem = pairs == 0 ? std::string() : find_novelty_effect(clock, pairs, timed_call, [&] { halve(tensors); });
    repair(0);
    return problem;
  }

 private:
  [[nodiscard]] static std::string in_timed_call(const std::string& problem) {
    return "correct at first, but not in a timed call: " + problem;
  }

  void notice_changed_operands(std::size_t set) {
    if (!changed_operands_.empty()) return;
    const auto changed = changed_operand(operands_, operands_.values(), set);
    if (!changed.empty()) changed_operands_ = in_timed_call(changed);
  }

  /// Whether there are other values than those given that the baseline takes.
  [[nodiscard]] bool renews() const { return answers_->fresh.renewal != Renewal::none; }

  [[nodiscard]] std::uint64_t seed_of(bool renewed) const { return renewed ? seed_ + 1 : seed_; }

  [[nodiscard]] const std::vector<at::Tensor>* fresh_values() const {
    return renews() ? &answers_->fresh.values : nullptr;
  }

  [[nodiscard]] ObservedCall call(Implementation& implementation, const std::vector<at::Tensor>* values) {
    return observe_call(implementation, operands_, values, seed_of(values != nullptr), answers_->given.output);
  }

  [[nodiscard]] std::string surroundings_changed() {
    const std::string changes = surroundings_.changes_to(Surroundings::now());
    if (changes.empty()) return {};
    surroundings_.restore();
    return "it changes what all implementations share, and leaves it so: " + changes;
  }

  /// Counts of one call, if they are the same whenever the operands are.
  [[nodiscard]] std::string count(Implementation& implementation, ImplementationResult& row, const ObservedCall& fresh,
                                  const ObservedCall& given) {
    row.counts = given.counts;
    if (fresh.counts == given.counts) return {};
    const ObservedCall again = call(implementation, nullptr);
    if (again.counts != given.counts) {
      row.counts.reset();
      row.why_uncounted =
          "its calls differ on the same operands (" + text_of(given.counts) + ", then " + text_of(again.counts) + ')';
    }
    if (!renews()) return {};
    // More on fresh values, every time, and less as soon as they are known: part of the answer is kept.
    const auto values = answers_->fresh.operands->clone();
    const auto tensors = values->tensors();
    CallCounts first, second;
    for (int trial = 0; trial < 3; ++trial) {
      halve(tensors);
      first = call(implementation, &tensors).counts;
      second = call(implementation, &tensors).counts;
      const bool more = first.operator_calls > second.operator_calls || first.bytes_allocated > second.bytes_allocated;
      if (!more) return {};
    }
    return "it does less on values that it has seen before (" + text_of(first) + " on fresh values, " +
           text_of(second) + " on the same ones again): it keeps answers";
  }

  [[nodiscard]] static std::string text_of(const CallCounts& counts) {
    return std::to_string(counts.operator_calls) + " operator calls and " + std::to_string(counts.bytes_allocated) +
           " bytes allocated";
  }

  OperandSets& operands_;
  const OperandSet& first_;
  std::uint64_t seed_;
  SplitMix64 random_;
  std::optional<Answers> answers_;
  Surroundings surroundings_ = Surroundings::now();
  bool busy_before_ = false;
  std::string changed_operands_, changed_settings_;
};

}  // namespace pace::detail
