// Roster: the implementations of one comparison and their operands, and which implementations are still measured.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pace/compare/implementation.hpp"
#include "pace/compare/operands.hpp"
#include "pace/compare/phases.hpp"
#include "pace/compare/plan.hpp"
#include "pace/compare/time_left.hpp"
#include "pace/compare/verification.hpp"
#include "pace/core/result.hpp"

namespace pace::detail {

/// What all steps of a comparison work on. A step reports through `result`, and takes out implementations that fail.
struct Roster {
  Options options;
  check::CheckOptions check;
  Result result = {};
  /// As the user gave them.
  const OperandSet& first;
  /// For each round.
  RenewOperands renew = {};
  OperandSets operands = {};
  /// As many as rows of the result; null if refused.
  std::vector<std::unique_ptr<Implementation>> implementations = {};
  std::size_t baseline = 0;
  /// What computes in float64 if such a reference is asked for; null: the baseline. Gone after the first calls.
  std::unique_ptr<Implementation> reference = {};
  /// Indices of the implementations that are correct so far, ascending.
  std::vector<std::size_t> running = {};
  /// Samples of the last rounds, if iterations have phases; each has as many vectors of samples as were running then.
  std::vector<PhaseSamples> phases = {};
  /// What the baseline was found to compute; nothing before its first call.
  Expected expected = {};

  ImplementationResult& row(std::size_t index) { return result.implementations[index]; }
  [[nodiscard]] bool checks() const { return check.method != check::CheckOptions::Method::none; }
  [[nodiscard]] bool is_running(std::size_t index) const {
    return std::find(running.begin(), running.end(), index) != running.end();
  }

  /// A row for each, which says so far that it was refused.
  void add_rows(const std::vector<Planned>& plan) {
    for (const auto& planned : plan) {
      auto& added = result.implementations.emplace_back();
      added.name = planned.name;
      added.is_baseline = planned.is_baseline;
      added.message = planned.refusal;
      added.outcome = planned.outcome;
      added.context.comparison = result.name;
      implementations.push_back(planned.make ? planned.make(operands) : nullptr);
      if (planned.make) implementations.back()->index = implementations.size() - 1;
      if (planned.is_baseline) baseline = implementations.size() - 1;
    }
  }

  /// `available` are the bytes that are left where the operands lie, if that is known.
  void copy_operands(std::optional<std::int64_t> available) {
    const auto able = static_cast<std::size_t>(std::count_if(implementations.begin(), implementations.end(),
                                                             [](const auto& each) { return each != nullptr; }));
    std::size_t sets = options.operands == OperandPolicy::shared ? 1 : std::max<std::size_t>(able, 1);
    // The user's own operands serve as the pristine ones: no implementation ever gets hold of them.
    operands.pristine = first.tensors();
    const double bytes = bytes_of(operands.pristine);
    // Half of what is free, so that outputs and the implementations' own memory find room as well.
    if (sets > 1 && available && bytes * static_cast<double>(sets) > 0.5 * static_cast<double>(*available)) {
      sets = 1;
      options.operands = OperandPolicy::shared;
      result.notes.push_back("All implementations share one set of operands: copies for each would not fit in memory.");
    }
    for (std::size_t set = 0; set < sets; ++set) {
      operands.sets.push_back(first.clone());
      operands.tensors.push_back(operands.sets.back()->tensors());
    }
  }

  /// Takes an implementation out of what is timed; without a baseline nothing is.
  void give_up(std::size_t index, Outcome outcome, std::string message) {
    auto& gone = row(index);
    gone.outcome = outcome;
    gone.message = std::move(message);
    gone.samples.clear();
    gone.time.reset();
    gone.log_ratios.clear();
    gone.speedup.reset();
    std::erase(running, index);
    if (index != baseline) return;
    for (const std::size_t other : std::exchange(running, {})) give_up_without_baseline(other);
  }

  void give_up_without_baseline(std::size_t index) {
    const auto& lost = row(baseline);
    if (lost.outcome == Outcome::unreached) return give_up(index, Outcome::unreached, lost.message);
    give_up(index, Outcome::refused,
            "there is no baseline to compare with: '" + lost.name + "' " + to_string(lost.outcome) +
                (lost.message.empty() ? "" : ": " + lost.message));
  }

  void give_up_failed(std::size_t index, const Failure& failure) {
    const bool missing = failure.device == Failure::Device::missing, lost = failure.device == Failure::Device::lost;
    if (missing) result.missing_device = failure.message;
    const auto outcome = failure.out_of_memory ? Outcome::out_of_memory : Outcome::threw;
    give_up(index, missing ? Outcome::refused : outcome, failure.message);
    if (lost) lose_device("'" + row(index).name + "': " + failure.message);
  }

  /// Memory ran out for pace's own work, such as copies of operands: all that is not known yet stays unknown.
  void run_out_of_memory(const std::string& message) {
    if (implementations[baseline] == nullptr) return;
    give_up(baseline, Outcome::out_of_memory, message);
    for (std::size_t index = 0; index < implementations.size(); ++index) {
      const bool known = row(index).outcome != Outcome::refused || !row(index).message.empty();
      if (implementations[index] != nullptr && !known) give_up_without_baseline(index);
    }
  }

  /// What is left is not measured. `how` names the culprit, if that is known.
  void lose_device(std::string how) {
    result.lost_device = std::move(how);
    // What cannot run any more is not to blame.
    for (const std::size_t other : std::exchange(running, {}))
      give_up(other, Outcome::unreached, "the device was lost to this process by " + result.lost_device);
  }

  /// Drops the implementations that remain.
  void out_of_time() { give_up(baseline, Outcome::unreached, deadline_reason()); }
};

}  // namespace pace::detail
