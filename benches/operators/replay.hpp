// Replay: recorded operator calls, every back end side by side.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/ivalue.h>

#include "benches/operators/backends/backend.hpp"
#include "benches/operators/backends/valid_inputs.hpp"
#include "benches/operators/backward.hpp"
#include "benches/operators/calls/operator_call.hpp"
#include "benches/operators/count_instructions.hpp"
#include "benches/operators/make_call.hpp"
#include "benches/operators/options.hpp"
#include "benches/operators/peak.hpp"
#include "benches/operators/profile.hpp"
#include "benches/operators/selection.hpp"
#include "benches/operators/slow_compile.hpp"
#include "benches/operators/with_place.hpp"
#include "benches/rows/prior_failures.hpp"
#include "benches/rows/refusal.hpp"
#include "pace/base/cut_text.hpp"
#include "pace/base/message_parts.hpp"
#include "pace/check/check_options.hpp"
#include "pace/check/outputs.hpp"
#include "pace/compare/comparison.hpp"
#include "pace/compare/publish.hpp"
#include "pace/gate/counts.hpp"
#include "pace/gate/times.hpp"
#include "pace/os/activity.hpp"
#include "pace/result/planned_case.hpp"
#include "pace/result/progress.hpp"
#include "pace/result/result.hpp"
#include "pace/result/run_context.hpp"
#include "pace/timing/wall.hpp"
#include "pace/training/implementation.hpp"
#include "pace/verify/expected.hpp"

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
  Replay(ReplayOptions options, benches::operators::BackendRegistry& registry, std::size_t samples_at_once = 128)
      : options_(std::move(options)),
        samples_at_once_(samples_at_once),
        names_(split_list(options_.backends, "--backends")) {
    for (const auto& name : names_) {
      if (std::ranges::count(names_, name) > 1)
        throw InputError({}, "--backends: '" + name + "' is named twice; expected each once");
      backends_.push_back(&registry.find(name));
      if (options_.pass != Pass::forward && !backends_.back()->is_differentiable())
        throw InputError({}, "--backends: '" + name +
                                 "' has no backward pass, since autograd does not follow what it "
                                 "runs; expected others, such as eager,torchscript");
    }
  }

  /// Compares the back ends on every selected sample, one after another, with the options of run_context(). A sample
  /// that cannot be run is a result too; nothing ends the replay. Back ends that compile are asked for some operators'
  /// samples at a time, many at once, before these are measured. What RunContext::cases passes over is left out.
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
  /// Asks once about each case of `all`. Returns the operators of which any is measured, and keeps those that are not.
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
                        .implementations = names_,
                        .inputs = selected.samples[offset].text};
    if (is_gated(selected.op->name)) planned.expectations.push_back(NoSlowerThan(*options_.no_slower_than).describe());
    const Options& measuring = run_context().options;
    // A count of instructions has neither rounds nor an audit.
    if (options_.counter) return planned;
    planned.budget = measuring.budget + static_cast<double>(names_.size()) * measuring.warm_up;
    planned.audit = measuring.audit;
    return planned;
  }

  void prepare(std::span<const Selected> selection) {
    if (options_.pass != Pass::forward) return;  // of these back ends none compiles
    std::vector<std::unique_ptr<benches::operators::OperatorCall>> calls;
    for (const auto& selected : selection)
      for (std::size_t offset = 0; offset < selected.samples.size(); ++offset) {
        const std::string name = case_name(selected, offset);
        if (is_known(name) || passed_over_.contains(name)) continue;
        const AtWork at_work(name);
        try {
          calls.push_back(std::make_unique<benches::operators::OperatorCall>(announced_call_of(selected, offset)));
        } catch (const Error&) {  // says so when its turn comes
        }
      }
    std::vector<const benches::operators::OperatorCall*> pointers;
    for (const auto& call : calls) pointers.push_back(call.get());
    if (!pointers.empty())
      for (auto* backend : backends_) backend->prepare_all(pointers);
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

  /// Lets a call that does not end be noticed, for the lifetime of the object.
  struct Watched {
    Watched() { activity()->watch(true); }
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;
    ~Watched() { activity()->watch(false); }
  };

  [[nodiscard]] benches::operators::OperatorCall differentiable(const benches::operators::OperatorCall& call,
                                                                const GradientCase& gradients) {
    activity()->running(0);
    const Watched watched;
    return with_gradients_by(*backends_.front(), call, gradients.tensors);
  }

  /// `gradients`: which ones a backward pass computes, if there is one. Throws NoBackward where there are none.
  [[nodiscard]] Result run_sample(const Selected& selected, std::size_t offset, const GradientCase& gradients) {
    const std::string name = case_name(selected, offset, gradients.suffix);
    const AtWork at_work(name);
    if (progress() != nullptr) progress()->subject(name);
    report_step({.what = "inputs"});
    const std::string inputs = inputs_of(selected, offset) + gradients.suffix;
    if (auto known = pace::detail::recall(name, inputs, phases_of(*selected.op)))
      return pace::detail::publish(*std::move(known));
    const std::string place = place_of(selected, offset);
    const PriorFailures failures(name, place);
    if (const auto* failure = failures.of_inputs())
      return published(refusal(name, names_, failure->message, failure->outcome));
    // The baseline finds the gradients, before it is compared.
    if (const auto* failure = options_.pass != Pass::forward ? failures.of(0) : nullptr)
      return published(without_baseline(name, names_, *failure));
    try {
      const auto call = call_of(selected, offset, copies());
      if (options_.counter) return published(count_instructions(name, inputs, place, call, failures));
      if (options_.pass != Pass::forward)
        return compare_backends(name, inputs, place, differentiable(call, gradients), failures);
      return compare_backends(name, inputs, place, call, failures);
    } catch (const NoBackward&) {
      throw;
    } catch (const std::exception& error) {
      return published(refusal(name, names_, message_of(error)));
    }
  }

  [[nodiscard]] benches::operators::OperatorCall call_of(const Selected& selected, std::size_t offset,
                                                         std::size_t copies) {
    timing::WallClock clock;
    const Nanoseconds start = clock.now();
    auto call = make_selected_call(selected, offset, options_, run_context().options.seed, copies);
    making_inputs_ += clock.now() - start;
    return call;
  }

  [[nodiscard]] benches::operators::OperatorCall announced_call_of(const Selected& selected, std::size_t offset) {
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

  /// The recorded line, and what the options make of it.
  [[nodiscard]] std::string inputs_of(const Selected& selected, std::size_t offset) const {
    return selected.op->name + ' ' + selected.samples[offset].text + " as " + options_.dtype + " on " +
           options_.device + (options_.channels_last ? ", channels last" : "") +
           (options_.pass == Pass::forward ? "" : ", forward and backward");
  }

  /// `place`: what the messages of failures add, where the call was recorded.
  [[nodiscard]] Result compare_backends(const std::string& name, const std::string& inputs, const std::string& place,
                                        const benches::operators::OperatorCall& call, const PriorFailures& failures) {
    auto comparison = pace::compare(name, call.tensors());
    // One for all back ends, so that they start from equal gradients.
    const OutputGradient gradient(run_context().options.seed);
    comparison.inputs(inputs);
    for (std::size_t i = 0; i < backends_.size(); ++i) {
      if (const auto* failure = failures.of(i)) {
        if (i == 0) return published(without_baseline(name, names_, *failure));
        comparison.refused({.name = names_[i], .reason = failure->message, .outcome = failure->outcome});
        continue;
      }
      std::shared_ptr<benches::operators::Executable> executable;
      try {
        executable = make_ready(i, call);
        if (options_.pass != Pass::forward) {
          const Watched watched;
          require_backward(executable, call, names_[i]);
        }
      } catch (const std::exception& error) {
        if (i == 0)
          return published(
              refusal(name, names_, names_[0] + ": " + add_to_reason(message_of(error), " (" + place + ')')));
        comparison.refused({.name = names_[i], .reason = message_of(error)});
        continue;
      }
      const auto add = [&](auto implementation) {
        if (i == 0)
          comparison.baseline(names_[i], std::move(implementation));
        else
          comparison.candidate(names_[i], std::move(implementation));
      };
      if (options_.pass == Pass::forward) {
        add(with_place(place,
                       [executable](const std::vector<at::Tensor>& tensors) { return executable->run(tensors); }));
      } else {
        auto step = backward_step(executable, gradient);
        step.forward = with_place(place, std::move(step.forward));
        step.backward = with_place(place, std::move(step.backward));
        add(std::move(step));
      }
    }
    if (is_gated(call.name())) {
      const auto guard = NoSlowerThan(*options_.no_slower_than);
      comparison.expect(options_.pass == Pass::backward ? guard.in_phase("backward") : guard);
    }
    configure(comparison, benches::operators::result_is_uninitialised(call.name()));
    // The figures of operators are those of their forward passes.
    const auto work = options_.pass == Pass::forward ? known_work(call) : std::nullopt;
    if (work) comparison.bytes(work->bytes());
    if (work && work->flops) comparison.flops(*work->flops);
    std::optional<at::ScalarType> on_cpu;
    if (!call.tensors().empty() && call.tensors().front().is_cpu()) on_cpu = call.tensors().front().scalar_type();
    OfPeak of_peak(peak_, work, on_cpu);
    // Failures of pace's own work, such as memory that ran out, do not name the place.
    comparison.note(call.signature() + place.substr(std::min(place.find(" at "), place.size())));
    if (options_.clock && call.mutates_inputs())
      comparison.note(
          "The timer's calls write to operands, each to what the one before has left. The call that is checked "
          "follows them, untimed, on restored operands.");
    const auto& clock = call.mutates_inputs() ? options_.clock_of_writers : options_.clock;
    Result result = clock ? comparison.run(*clock) : comparison.run();
    of_peak.complete(result);
    return result;
  }

  /// The work of a call; nothing for one that throws, which its row will say.
  [[nodiscard]] static std::optional<benches::operators::CallWork> known_work(
      const benches::operators::OperatorCall& call) {
    try {
      activity()->running(0);
      return work_of(call);
    } catch (const std::exception&) {
      return std::nullopt;
    }
  }

  /// Instructions in the place of times. The baseline's outputs are those that others are compared with, by
  /// the tolerance of their type.
  [[nodiscard]] Result count_instructions(const std::string& name, const std::string& inputs, const std::string& place,
                                          const benches::operators::OperatorCall& call, const PriorFailures& failures) {
    Result result = refusal(name, names_, "");
    result.inputs = inputs;
    result.seed = run_context().options.seed;
    result.notes.push_back(call.signature());
    c10::IValue expected;
    for (std::size_t i = 0; i < backends_.size(); ++i) {
      auto& row = result.implementations[i];
      row.context.baseline = names_[0];
      row.context.comparison = name;
      if (i > 0 && result.implementations[0].outcome != Outcome::measured) {
        row.message = "there is no baseline to compare with: '" + names_[0] + "' " +
                      to_string(result.implementations[0].outcome) + ": " + result.implementations[0].message;
      } else if (const auto* failure = failures.of(i)) {
        row.outcome = failure->outcome;
        row.message = failure->message;
      } else if (const auto& deadline = run_context().deadline;
                 deadline && timing::WallClock().now() >= deadline->time) {
        row.outcome = Outcome::unreached;
        row.message = deadline->reason;
      } else {
        count_instructions(call, i, expected, row, result.notes);
        if (row.outcome == Outcome::threw) row.message = add_to_reason(std::move(row.message), " (" + place + ')');
      }
      add_ratios(result.implementations[0], row);
      if (i > 0 && options_.instructions_at_most)
        row.judgements.push_back(InstructionsAtMost(*options_.instructions_at_most).judge(row));
    }
    return result;
  }

  /// Enters how checking and counting one back end ended. `expected`: outputs of the first one, which sets them, with a
  /// note if there was nothing to compare.
  void count_instructions(const benches::operators::OperatorCall& call, std::size_t backend, c10::IValue& expected,
                          ImplementationResult& row, std::vector<std::string>& notes) {
    try {
      const auto executable = make_ready(backend, call);
      CountedCalls calls(call, *executable, static_cast<std::int64_t>(backend), run_context().options.seed);
      row.outcome = Outcome::threw;  // what follows is the implementation's own
      activity()->watch(true);
      auto outputs = calls.outputs();
      check::CheckOptions check;
      if (benches::operators::result_is_uninitialised(call.name())) check.method = check::CheckOptions::Method::none;
      check.equal_nan = true;
      // The baseline is compared with itself: what two of its calls do not agree on cannot be asked of others.
      const auto match = check::outputs_match(backend == 0 ? calls.outputs() : expected,
                                              backend == 0 ? outputs : calls.outputs(), check);
      if (backend == 0) expected = std::move(outputs);
      row.checked = match.compared > 0;
      row.max_abs_error = match.max_abs_error;
      if (!row.checked && match.correct && check.method != check::CheckOptions::Method::none) {
        const pace::detail::Agreement agreement{.only_nan = match.only_nan, .empty = match.empty, .message = {}};
        pace::detail::enter_uncompared(agreement.why_uncompared(), row);
        if (backend == 0)
          notes.push_back("Nothing was compared of the outputs of '" + row.name + "': " + describe(*row.uncompared) +
                          '.');
      }
      if (!match.correct) {
        row.outcome = Outcome::wrong;
        row.message = match.message;
      } else {
        const auto found = calls.count(*options_.counter);
        row.instructions = InstructionCount{.low = found.low, .high = found.high, .counter = options_.counter->name()};
        row.outcome = Outcome::measured;
      }
    } catch (const std::exception& error) {
      row.message = cut_text(message_of(error), longest_kept);
    }
    activity()->watch(false);
  }

  /// `uninitialised`: outputs hold nothing, so they are timed and reported as unchecked.
  template <class Comparison>
  void configure(Comparison& comparison, bool uninitialised) const {
    Options options = run_context().options;
    check::CheckOptions check;
    if (options_.repeats) options.max_rounds = *options_.repeats * backends_.size();
    if (options_.accuracy_only) {
      options.max_rounds = backends_.size();
      options.mode_share = 0;
      check.method = check::CheckOptions::Method::cosine;
      check.equal_nan = true;
    }
    if (uninitialised) check.method = check::CheckOptions::Method::none;
    if (options_.accuracy_only || uninitialised) comparison.check(check);
    if (options_.reuses_outputs) comparison.reuses_outputs();
    for (std::size_t backend = 0; backend < backends_.size(); ++backend)
      if (backends_[backend]->reuses_outputs()) comparison.reuses_outputs(names_[backend]);
    comparison.options(options);
  }

  [[nodiscard]] std::unique_ptr<benches::operators::Executable> make_ready(
      std::size_t backend, const benches::operators::OperatorCall& call) {
    activity()->running(static_cast<std::int64_t>(backend));
    timing::WallClock clock;
    auto ready =
        prepare_timed(*backends_[backend], call, [&] { return std::chrono::duration<double>(clock.now()).count(); });
    if (const auto line = slow_compile_line(ready.compile_seconds, names_[backend])) std::cerr << *line << std::endl;
    return std::move(ready.executable);
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
          std::vector<std::unique_ptr<benches::operators::Executable>> models;
          for (auto* backend : backends_) try {
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
    if (is_gated(op.name) && options_.pass != Pass::backward && !options_.clock &&
        options_.device.starts_with("cuda") && run_context().options.clock == ClockChoice::automatic)
      phases.emplace_back(host_phase);
    return phases;
  }

  /// Whether something is expected of the times of this operator.
  [[nodiscard]] bool is_gated(const std::string& op) const {
    return options_.no_slower_than && !options_.reported.contains(op);
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
  std::vector<std::string> names_;
  std::vector<benches::operators::Backend*> backends_;
  /// Names of the cases that are not measured.
  std::set<std::string> passed_over_;
  Nanoseconds making_inputs_{};
  HostPeak peak_{*timing::WallClock().host_bandwidth()};
};

}  // namespace pace::benches::operators
