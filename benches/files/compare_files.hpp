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
#include <c10/core/Device.h>

#include "benches/files/command_line.hpp"
#include "benches/files/sides.hpp"
#include "benches/loaders/call_inputs.hpp"
#include "benches/loaders/cases.hpp"
#include "benches/loaders/loader.hpp"
#include "benches/rows/prior_failures.hpp"
#include "benches/rows/refusal.hpp"
#include "pace/compare/comparison.hpp"
#include "pace/compare/publish.hpp"
#include "pace/core/activity.hpp"
#include "pace/core/planned_case.hpp"
#include "pace/core/progress.hpp"
#include "pace/core/result.hpp"
#include "pace/core/run_context.hpp"
#include "pace/gate/times.hpp"

namespace pace::benches::files {

class FileComparison {
 public:
  /// `device`: where inputs are; none: where their file says.
  FileComparison(const CommandLine& line, std::vector<Side> sides, std::optional<c10::Device> device)
      : line_(line), device_(device), sides_(std::move(sides), line.libraries) {
    for (const auto& side : sides_.all()) names_.push_back(side.name);
    if (line.speedup_at_least) expectations_.push_back(SpeedupAtLeast(*line.speedup_at_least));
    if (line.no_slower_than) expectations_.push_back(NoSlowerThan(*line.no_slower_than));
    if (line.mean_no_slower_than) expectations_.push_back(MeanNoSlowerThan(*line.mean_no_slower_than));
  }

  /// Measures and publishes a case; what goes wrong is a row. Returns nothing for a case that a dry run or `--case`
  /// passes over.
  [[nodiscard]] std::optional<Result> run(const loaders::Case& one) {
    if (run_context().cases != nullptr && !run_context().cases->passes_over(planned(one)).empty()) return std::nullopt;
    const AtWork at_work(one.name);
    if (progress() != nullptr) progress()->subject(one.name);
    if (auto known = pace::detail::recall(one.name, one.description, {}))
      return pace::detail::publish(*std::move(known));
    const PriorFailures failures(one.name);
    if (const auto* failure = failures.of_inputs())
      return published(refusal(one.name, names_, failure->message, failure->outcome));
    if (const auto* failure = failures.of(0)) return published(without_baseline(one.name, names_, *failure));
    report_step({.what = "inputs"});
    std::optional<loaders::CallInputs> inputs;
    try {
      // A set for each side, one to restore them from, and these.
      inputs.emplace(loaders::make_inputs(one, device_, run_context().options.seed, names_.size() + 2));
    } catch (const std::exception& error) {
      return published(refusal(one.name, names_, error.what()));
    }
    try {
      return compare(one, *inputs, failures);
    } catch (const std::exception& error) {
      // Such as tensors whose memory is smaller than they say. The cases after this one are measured.
      const std::string reason = loaders::reason_of(error);
      return published(refusal(one.name, names_, (one.file.empty() ? "" : one.file + ": ") + reason));
    }
  }

 private:
  [[nodiscard]] PlannedCase planned(const loaders::Case& one) const {
    PlannedCase planned{.name = one.name, .implementations = names_, .inputs = one.description};
    for (const auto& expectation : expectations_) planned.expectations.push_back(expectation.describe());
    const Options& measuring = run_context().options;
    planned.budget = measuring.budget + static_cast<double>(names_.size()) * measuring.warm_up;
    return planned;
  }

  [[nodiscard]] Result compare(const loaders::Case& one, const loaders::CallInputs& inputs,
                               const PriorFailures& failures) {
    auto comparison = pace::compare(one.name, inputs.tensors());
    comparison.inputs(one.description);
    comparison.check(line_.check);
    if (line_.reuses_outputs) comparison.reuses_outputs();
    const c10::Device device =
        inputs.tensors().empty() ? device_.value_or(c10::kCPU) : inputs.tensors().front().device();
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (const auto* failure = failures.of(i)) {
        comparison.refused({.name = names_[i], .reason = failure->message, .outcome = failure->outcome});
        continue;
      }
      std::shared_ptr<loaders::BoundCall> call;
      try {
        activity()->running(static_cast<std::int64_t>(i));
        report_step({.what = "loading " + names_[i]});
        auto& loaded = sides_.get(i, device);
        call = loaded.bind(inputs);
        for (const auto& note : loaded.notes()) comparison.note(note);
      } catch (const std::exception& error) {
        const std::string reason = loaders::reason_of(error);
        if (i == 0)
          return published(without_baseline(one.name, names_, {.outcome = Outcome::refused, .message = reason}));
        comparison.refused({.name = names_[i], .reason = reason});
        continue;
      }
      auto run = [call](const std::vector<at::Tensor>& tensors) { return call->run(tensors); };
      if (i == 0)
        comparison.baseline(names_[i], std::move(run));
      else
        comparison.candidate(names_[i], std::move(run));
    }
    for (const auto& expectation : expectations_) comparison.expect(expectation);
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
