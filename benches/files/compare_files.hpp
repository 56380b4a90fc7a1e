// Compares files case by case.
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/rand_like.h>
#include <c10/core/Device.h>

#include "benches/files/command_line.hpp"
#include "benches/files/loaders/call_inputs.hpp"
#include "benches/files/loaders/cases.hpp"
#include "benches/files/loaders/loader.hpp"
#include "benches/files/loaders/python.hpp"
#include "benches/files/loaders/same_state.hpp"
#include "benches/files/sides.hpp"
#include "benches/rows/prior_failures.hpp"
#include "benches/rows/refusal.hpp"
#include "pace/check/clone_input.hpp"
#include "pace/compare/comparison.hpp"
#include "pace/compare/publish.hpp"
#include "pace/gate/counts.hpp"
#include "pace/gate/times.hpp"
#include "pace/os/activity.hpp"
#include "pace/result/result.hpp"
#include "pace/run/planned_case.hpp"
#include "pace/run/progress.hpp"
#include "pace/run/rounds_watch.hpp"
#include "pace/run/run_context.hpp"

namespace pace::benches::files {

/// Sets of inputs that a comparison of so many sides holds: one for each, one to restore them from, and the first one.
[[nodiscard]] inline std::size_t sets_of_inputs(std::size_t sides) { return sides + 2; }

class FileComparison {
 public:
  /// `device`: where inputs are; none: where their file says.
  FileComparison(const CommandLine& line, std::vector<Side> sides, std::optional<c10::Device> device)
      : line_(line), device_(device), sides_(std::move(sides), line.libraries) {
    for (const auto& side : sides_.all()) names_.push_back(side.name);
    if (line.speedup_at_least) expectations_.push_back(SpeedupAtLeast(*line.speedup_at_least));
    if (line.no_slower_than) expectations_.push_back(NoSlowerThan(*line.no_slower_than));
    if (line.mean_no_slower_than) expectations_.push_back(MeanNoSlowerThan(*line.mean_no_slower_than));
    if (line.peak_memory_at_most) expectations_.push_back(PeakMemoryAtMost(*line.peak_memory_at_most));
  }

  /// Measures and publishes a case; a failure is a row. Returns nothing for a case that a dry run or `--case` passes
  /// over.
  [[nodiscard]] std::optional<Result> run(const loaders::Case& one) {
    if (run_context().cases != nullptr && !run_context().cases->passes_over(planned(one)).empty()) return std::nullopt;
    const AtWork at_work(one.name);
    if (progress() != nullptr) progress()->subject(one.name);
    if (auto known = pace::detail::recall(one.name, one.description, earlier_phases(one.name)))
      return pace::detail::publish(*std::move(known));
    const PriorFailures failures(one.name);
    if (const auto* failure = failures.of_inputs())
      return published(refusal(one.name, names_, failure->message, failure->outcome));
    if (const auto* failure = failures.of(0)) return published(without_baseline(one.name, names_, *failure));
    report_step({.what = "inputs"});
    // Files of inputs and of sides may be programs that hang.
    activity()->watch(true);
    std::optional<loaders::CallInputs> inputs;
    try {
      inputs.emplace(loaders::make_inputs(one, device_, run_context().options.seed, sets_of_inputs(names_.size())));
    } catch (const std::exception& error) {
      return published(refusal(one.name, names_, loaders::reason_of(error)));
    }
    try {
      return compare(one, *inputs, failures);
    } catch (const std::exception& error) {
      // Such as tensors that claim more memory than they have. The cases after this one are measured.
      const std::string reason = loaders::reason_of(error);
      return published(refusal(one.name, names_, (one.file.empty() ? "" : one.file + ": ") + reason));
    }
  }

 private:
  struct Bound {
    std::shared_ptr<loaders::BoundCall> call;
    loaders::Loaded* loaded = nullptr;
    std::vector<std::string> notes;
    Refused refused;  ///< without a name: it is not
  };

  /// A trace has called its module. So its buffers may already hold the values that a call on the same inputs writes,
  /// and the write would not show. Gives such buffers of floating point random numbers, and adds a note.
  static void rewrite_left_values(loaders::BoundCall& call, const loaders::CallInputs& inputs,
                                  std::vector<loaders::Buffer>& state, std::vector<std::string>& notes) {
    if (state.empty()) return;
    std::vector<at::Tensor> tensors;
    try {
      for (const auto& tensor : inputs.tensors()) tensors.push_back(check::clone_input(tensor));
      for (const auto& buffer : state) tensors.push_back(check::clone_input(buffer.value));
      (void)call.run(tensors);
    } catch (const std::exception&) {
      return;  // the comparison finds that out
    }
    for (std::size_t i = 0; i < state.size(); ++i) {
      auto& [name, value] = state[i];
      if (!value.is_floating_point() || !at::equal(value, tensors[inputs.tensors().size() + i])) continue;
      value = check::clone_input(value);
      value.copy_(at::rand_like(value, at::kFloat));
      notes.push_back("The buffer '" + name +
                      "' holds in its file what a call on these inputs writes to it: calls start from random numbers.");
    }
  }

  /// The phases that an earlier run has of a case: on a GPU a guard is about the host's time, too.
  [[nodiscard]] static std::vector<std::string> earlier_phases(const std::string& name) {
    auto* const earlier = run_context().recollection;
    if (earlier == nullptr || !earlier->knows(name + '/' + host_phase)) return {};
    return {host_phase};
  }

  [[nodiscard]] PlannedCase planned(const loaders::Case& one) const {
    PlannedCase planned{.name = one.name, .implementations = names_, .inputs = one.description};
    for (const auto& expectation : expectations_) planned.expectations.push_back(expectation.describe());
    const Options& measuring = run_context().options;
    planned.budget = measuring.budget + static_cast<double>(names_.size()) * measuring.warm_up;
    planned.audit = measuring.audit;
    return planned;
  }

  [[nodiscard]] Result compare(const loaders::Case& one, const loaders::CallInputs& inputs,
                               const PriorFailures& failures) {
    const c10::Device device =
        inputs.tensors().empty() ? device_.value_or(c10::kCPU) : inputs.tensors().front().device();
    // The baseline's state between calls is an operand: each side gets its own, and starts each call from the same.
    std::vector<at::Tensor> operands = inputs.tensors();
    std::vector<loaders::Buffer> state;
    std::vector<Bound> sides;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      auto& side = sides.emplace_back();
      if (const auto* failure = failures.of(i)) {
        side.refused = {.name = names_[i], .reason = failure->message, .outcome = failure->outcome};
        continue;
      }
      try {
        activity()->running(static_cast<std::int64_t>(i));
        report_step({.what = "loading " + names_[i]});
        auto& loaded = sides_.get(i, device);
        side.loaded = &loaded;
        side.call = loaded.bind(inputs);
        if (i == 0) {
          state = side.call->state();
          rewrite_left_values(*side.call, inputs, state, side.notes);
        }
        side.call->also_take(state);
        loaders::require_same_state(names_[0], state, names_[i], side.call->state());
        for (auto& note : loaded.notes()) side.notes.push_back(std::move(note));
      } catch (const std::exception& error) {
        const std::string reason = loaders::reason_of(error);
        if (i == 0)
          return published(without_baseline(one.name, names_, {.outcome = Outcome::refused, .message = reason}));
        side.refused = {.name = names_[i], .reason = reason};
      }
    }
    for (const auto& buffer : state) operands.push_back(buffer.value);
    auto comparison = pace::compare(one.name, operands);
    comparison.inputs(one.description);
    comparison.check(line_.check);
    if (line_.reuses_outputs) comparison.reuses_outputs();
    if (line_.captures) comparison.captures();
    for (const auto operand : line_.scratch) comparison.scratch(operand);
    for (const auto operand : line_.constant) comparison.constant(operand);
    for (std::size_t i = 0; i < state.size(); ++i)
      comparison.note("Operand tensor " + std::to_string(inputs.tensors().size() + i) +
                      " (counted from 0) is the buffer '" + state[i].name + "' of " + names_[0] +
                      ", which calls write to: each side has its own, with the same values before each call.");
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (!sides[i].refused.name.empty()) {
        comparison.refused(std::move(sides[i].refused));
        continue;
      }
      for (auto& note : sides[i].notes) comparison.note(std::move(note));
      comparison.late_notes([loaded = sides[i].loaded, &name = names_[i]] { return loaded->late_notes(name); });
      auto run = [call = sides[i].call](const std::vector<at::Tensor>& tensors) { return call->run(tensors); };
      if (i == 0)
        comparison.baseline(names_[i], std::move(run));
      else
        comparison.candidate(names_[i], std::move(run));
    }
    for (const auto& expectation : expectations_) comparison.expect(expectation);
    const RoundsWatch watch(loaders::in_rounds());
    return comparison.run();
  }

  [[nodiscard]] static Result published(Result result) { return pace::detail::publish(std::move(result)); }

  const CommandLine& line_;
  std::optional<c10::Device> device_;
  LoadedSides sides_;
  std::vector<std::string> names_;
  std::vector<Expectation> expectations_;
};

}  // namespace pace::benches::files
