// Replay: recorded operator calls, every back end side by side.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iostream>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "benches/operators/backends/backend.hpp"
#include "benches/operators/backward.hpp"
#include "benches/operators/calls/operator_call.hpp"
#include "benches/operators/compare_backends.hpp"
#include "benches/operators/count_instructions.hpp"
#include "benches/operators/make_call.hpp"
#include "benches/operators/options.hpp"
#include "benches/operators/profile.hpp"
#include "benches/operators/replay_backends.hpp"
#include "benches/operators/selection.hpp"
#include "benches/operators/with_place.hpp"
#include "benches/rows/prior_failures.hpp"
#include "benches/rows/refusal.hpp"
#include "pace/base/message_parts.hpp"
#include "pace/compare/publish.hpp"
#include "pace/gate/counts.hpp"
#include "pace/gate/times.hpp"
#include "pace/os/activity.hpp"
#include "pace/result/result.hpp"
#include "pace/run/planned_case.hpp"
#include "pace/run/progress.hpp"
#include "pace/run/run_context.hpp"
#include "pace/timing/wall.hpp"

namespace pace::benches::operators {

/// Hears of a replay as it goes.
class ReplayListener {
 public:
  virtual ~ReplayListener() = default;
  virtual void begin(const Selected& /*selected*/) {}
  /// Called for each sample with its result, which may be one of refusals only.
  virtual void result(const Selected& selected, std::size_t offset, const Result& result) = 0;
  /// `elapsed` since begin(), packages and checks included.
  virtual void end(const Selected& /*selected*/, Nanoseconds /*elapsed*/) {}
};

class Replay {
 public:
  /// Throws InputError for a back end that is not known, named twice, or without the passes that are asked for.
  Replay(ReplayOptions options, BackendRegistry& registry, std::size_t samples_at_once = 128)
      : options_(std::move(options)), samples_at_once_(samples_at_once), backends_(options_, registry) {}
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  /// Compares the back ends on every selected sample, one after another, with the options of run_context(). A sample
  /// that cannot be run is a result too; nothing ends the replay. Back ends that compile are asked for some operators'
  /// samples at a time, many at once, before these are measured. Samples that RunContext::cases passes over are left
  /// out.
  void run(const std::vector<Selected>& all, ReplayListener& listener) {
    const auto selection = chosen_of(all);
    for (std::size_t begin = 0; begin < selection.size();) {
      std::size_t end = begin, samples = 0;
      do samples += selection[end++].samples.size();
      while (end < selection.size() && samples + selection[end].samples.size() <= samples_at_once_);
      prepare(std::span(selection).subspan(begin, end - begin));
      for (; begin < end; ++begin) run_operator(selection[begin], listener);
    }
  }

  /// Returns why no back end could run the sample, as far as that shows without a measurement; empty: nothing shows. It
  /// makes no tensor and needs no GPU, so that the memory of one is not looked at.
  [[nodiscard]] std::string problem(const Selected& selected, std::size_t offset) const {
    auto generate = generate_options(options_, run_context().options.seed);
    const bool on_cpu = generate.device.is_cpu();
    if (!on_cpu) generate.device = c10::kCPU;
    try {
      (void)make_announced_call(selected.op->name, selected.samples[offset], generate, on_cpu ? copies() : 0,
                                options_.channels_last);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  }

  /// Time that making inputs took so far.
  [[nodiscard]] Nanoseconds making_inputs() const { return making_inputs_; }

 private:
  /// Asks once about each case of `all`. Returns the operators with any case to measure, and keeps the others.
  [[nodiscard]] std::vector<Selected> chosen_of(const std::vector<Selected>& all) {
    if (run_context().cases == nullptr) return all;
    std::vector<Selected> chosen;
    for (const auto& selected : all) {
      bool any = false;
      for (std::size_t offset = 0; offset < selected.samples.size(); ++offset)
        for (const auto& gradients : gradient_cases(selected.samples[offset], options_.pass)) {
          const std::string name = case_name(selected, offset, gradients.suffix);
          if (run_context().cases->passes_over(planned(selected, offset, gradients)).empty())
            any = true;
          else
            passed_over_.insert(name);
        }
      if (any) chosen.push_back(selected);
    }
    return chosen;
  }

  [[nodiscard]] PlannedCase planned(const Selected& selected, std::size_t offset, const GradientCase& gradients) const {
    PlannedCase planned{.name = case_name(selected, offset, gradients.suffix),
                        .implementations = backends_.names(),
                        .inputs = selected.samples[offset].text};
    if (options_.gates(selected.op->name))
      planned.expectations.push_back(NoSlowerThan(*options_.no_slower_than).describe());
    if (options_.peak_memory_at_most)
      planned.expectations.push_back(PeakMemoryAtMost(*options_.peak_memory_at_most).describe());
    const Options& measuring = run_context().options;
    // A count of instructions has neither rounds nor an audit.
    if (options_.counter) return planned;
    planned.budget = measuring.budget + static_cast<double>(backends_.size()) * measuring.warm_up;
    planned.audit = measuring.audit;
    return planned;
  }

  void prepare(std::span<const Selected> selection) {
    if (options_.pass != Pass::forward) return;  // of these back ends none compiles
    std::vector<std::unique_ptr<OperatorCall>> calls;
    for (const auto& selected : selection)
      for (std::size_t offset = 0; offset < selected.samples.size(); ++offset) {
        const std::string name = case_name(selected, offset);
        if (is_known(name) || passed_over_.contains(name)) continue;
        const AtWork at_work(name);
        try {
          calls.push_back(std::make_unique<OperatorCall>(announced_call_of(selected, offset)));
        } catch (const Error&) {  // says so when its turn comes
        }
      }
    std::vector<const OperatorCall*> pointers;
    for (const auto& call : calls) pointers.push_back(call.get());
    if (!pointers.empty())
      for (auto* backend : backends_.all()) backend->prepare_all(pointers);
  }

  void run_operator(const Selected& selected, ReplayListener& listener) {
    timing::WallClock clock;
    const Nanoseconds start = clock.now();
    listener.begin(selected);
    for (std::size_t offset = 0; offset < selected.samples.size(); ++offset) {
      for (const auto& gradients : gradient_cases(selected.samples[offset], options_.pass)) {
        if (passed_over_.contains(case_name(selected, offset, gradients.suffix))) continue;
        if (options_.pass == Pass::forward) {
          listener.result(selected, offset, run_sample(selected, offset, {}));
          continue;
        }
        try {
          const Result result = run_sample(selected, offset, gradients);
          const auto* part = options_.pass == Pass::backward ? backward_of(result) : nullptr;
          listener.result(selected, offset, part != nullptr ? *part : result);
        } catch (const NoBackward& error) {
          std::cerr << "Skipping " << case_name(selected, offset, gradients.suffix) << ": " << error.what()
                    << std::endl;
        }
      }
    }
    if (!options_.traces.empty()) trace(selected);
    listener.end(selected, clock.now() - start);
  }

  /// The part of a result that is about the backward pass; null where nothing was timed.
  [[nodiscard]] static const Result* backward_of(const Result& result) {
    const auto found = std::ranges::find(result.phases, "backward", &Result::phase);
    return found == result.phases.end() ? nullptr : &*found;
  }

  [[nodiscard]] OperatorCall differentiable(const OperatorCall& call, const GradientCase& gradients) {
    activity()->running(0);
    const Watched watched;
    return with_gradients_by(*backends_.all().front(), call, gradients.tensors);
  }

  /// `gradients`: which ones a backward pass computes, if there is one. Throws NoBackward where there are none.
  [[nodiscard]] Result run_sample(const Selected& selected, std::size_t offset, const GradientCase& gradients) {
    const ReplayedCase one{.name = case_name(selected, offset, gradients.suffix),
                           .inputs = inputs_of(selected, offset) + gradients.suffix,
                           .place = place_of(selected, offset)};
    const AtWork at_work(one.name);
    if (progress() != nullptr) progress()->subject(one.name);
    report_step({.what = "inputs"});
    if (auto known = pace::detail::recall(one.name, one.inputs, phases_of(*selected.op)))
      return pace::detail::publish(*std::move(known));
    const PriorFailures failures(one.name, one.place);
    if (const auto* failure = failures.of_inputs())
      return published(refusal(one.name, backends_.names(), failure->message, failure->outcome));
    // The baseline finds the gradients, before it is compared.
    if (const auto* failure = options_.pass != Pass::forward ? failures.of(0) : nullptr)
      return published(without_baseline(one.name, backends_.names(), *failure));
    try {
      const auto call = call_of(selected, offset, copies());
      if (options_.counter) return published(instructions_.run(one, call, failures));
      if (options_.pass == Pass::forward) return times_.run(one, call, failures);
      return times_.run(one, differentiable(call, gradients), failures);
    } catch (const NoBackward&) {
      throw;
    } catch (const std::exception& error) {
      return published(refusal(one.name, backends_.names(), message_of(error)));
    }
  }

  [[nodiscard]] OperatorCall call_of(const Selected& selected, std::size_t offset, std::size_t copies) {
    timing::WallClock clock;
    const Nanoseconds start = clock.now();
    auto call = make_selected_call(selected, offset, options_, run_context().options.seed, copies);
    making_inputs_ += clock.now() - start;
    return call;
  }

  [[nodiscard]] OperatorCall announced_call_of(const Selected& selected, std::size_t offset) {
    timing::WallClock clock;
    const Nanoseconds start = clock.now();
    auto call =
        make_announced_call(selected.op->name, selected.samples[offset],
                            generate_options(options_, run_context().options.seed), copies(), options_.channels_last);
    making_inputs_ += clock.now() - start;
    return call;
  }

  /// Sets of inputs that a comparison holds: the call's, the ones to restore them from, one for each back end.
  [[nodiscard]] std::size_t copies() const { return backends_.size() + 2; }

  /// The recorded line, and the options' changes to it.
  [[nodiscard]] std::string inputs_of(const Selected& selected, std::size_t offset) const {
    return selected.op->name + ' ' + selected.samples[offset].text + " as " + options_.dtype + " on " +
           options_.device + (options_.channels_last ? ", channels last" : "") +
           (options_.pass == Pass::forward ? "" : ", forward and backward");
  }

  /// Runs everything that can be run once more, for the trace alone.
  void trace(const Selected& selected) {
    try {
      OperatorTrace trace(options_.traces, selected.op->name);
      for (std::size_t offset = 0; offset < selected.samples.size(); ++offset) {
        const std::string name = case_name(selected, offset);
        if (passed_over_.contains(name) || !PriorFailures(name).empty()) continue;
        const AtWork at_work(name);
        try {
          const auto call = call_of(selected, offset, 1);
          std::vector<std::unique_ptr<Executable>> models;
          for (auto* backend : backends_.all()) try {
              models.push_back(backend->prepare(call));
            } catch (const Unsupported&) {  // its row says so
            }
          run_for_trace(offset, models, call.tensors());
        } catch (const std::exception& error) {
          std::cerr << "no trace of " << case_name(selected, offset) << ": " << error.what() << std::endl;
        }
      }
      trace.save();
    } catch (const Unsupported& error) {
      std::cerr << "no trace of " << selected.op->name << ": " << error.what() << std::endl;
    }
  }

  /// The phases of the results of an operator: on a GPU a guard is about the host's time, too.
  template <class Op>
  [[nodiscard]] std::vector<std::string> phases_of(const Op& op) const {
    std::vector<std::string> phases;
    if (options_.pass != Pass::forward) phases = pace::detail::training_phases();
    // A guard of one phase is about the device alone.
    if (options_.gates(op.name) && options_.pass != Pass::backward && !options_.clock &&
        options_.device.starts_with("cuda") && run_context().options.clock == ClockChoice::automatic)
      phases.emplace_back(host_phase);
    return phases;
  }

  [[nodiscard]] static bool is_known(const std::string& name) {
    return run_context().recollection != nullptr && run_context().recollection->knows(name);
  }

  [[nodiscard]] static Result published(Result result) {
    run_context().publish(result);
    return result;
  }

  ReplayOptions options_;
  /// Enough that starting a compiler is a small part of it, few enough that results come early.
  std::size_t samples_at_once_;
  ReplayBackends backends_;
  /// Names of the cases that are not measured.
  std::set<std::string> passed_over_;
  Nanoseconds making_inputs_{};
  BackendComparison times_{options_, backends_};
  InstructionComparison instructions_{options_, backends_};
};

}  // namespace pace::benches::operators
