// Comparison: several implementations of one computation, checked against each other and timed side by side.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "pace/check/outputs.hpp"
#include "pace/timing/wall.hpp"
#include "pace/compare/describe.hpp"
#include "pace/compare/implementation.hpp"
#include "pace/compare/operands.hpp"
#include "pace/compare/session.hpp"
#include "pace/core/activity.hpp"
#include "pace/core/error.hpp"
#include "pace/core/options.hpp"
#include "pace/core/result.hpp"
#include "pace/core/run_context.hpp"
#include "pace/gate/count_expectation.hpp"
#include "pace/gate/expectation.hpp"
#include "pace/gate/panel.hpp"
#ifdef PACE_CUDA
#include "pace/gpu/cuda/comparison_clock.hpp"
#include "pace/gpu/cuda/unused_memory.hpp"
#endif

namespace pace {

/// Made by pace::compare. Operands are copied on run(), so that every implementation gets equal values in memory of
/// its own; callables receive them as lvalues and may write to them.
template <class... Operands>
class Comparison {
 public:
  Comparison(std::string name, Operands... operands) : name_(std::move(name)), operands_(std::move(operands)...) {}

  /// The implementation that the others are compared with. `function` is called with the operands and returns a
  /// tensor, several of them (tuple, vector), a number, a c10::IValue, or nothing (then it must write to an operand).
  template <class F>
  Comparison& baseline(std::string name, F function) { return add(std::move(name), std::move(function), true); }

  /// Another implementation. Any number of them.
  template <class F>
  Comparison& candidate(std::string name, F function) { return add(std::move(name), std::move(function), false); }

  /// A candidate that could not be made: it becomes a row with its reason, and no expectation accepts it. `outcome`:
  /// how else it is known to end.
  Comparison& refused(std::string name, std::string reason, Outcome outcome = Outcome::refused) {
    auto& added = plan_.emplace_back();
    added.name = std::move(name);
    added.refusal = std::move(reason);
    added.outcome = outcome;
    return *this;
  }

  /// Every candidate is judged by it; Result has the judgements. The rounds end as soon as every expectation stated is
  /// decided, or the budget is spent.
  Comparison& expect(Expectation expectation) { return expect(std::string(), std::move(expectation)); }
  /// The candidate of that name is judged by it. Throws Error on run() if there is none.
  Comparison& expect(std::string candidate, Expectation expectation) {
    stated_.push_back({std::move(candidate), std::move(expectation)});
    return *this;
  }
  /// The candidate of that name (empty: every candidate) is judged by what one phase of its iterations takes, such as
  /// "backward" of a training step. Throws Error on run() if there is no such phase.
  Comparison& expect_in(std::string phase, std::string candidate, Expectation expectation) {
    stated_.push_back({std::move(candidate), std::move(expectation), std::move(phase)});
    return *this;
  }

  /// What one call does, counted exactly; judged after the rounds, which do not wait for it.
  Comparison& expect(CountExpectation expectation) { return expect(std::string(), std::move(expectation)); }
  Comparison& expect(std::string candidate, CountExpectation expectation) {
    counts_on_device_ = counts_on_device_ || expectation.on_device();
    counted_.push_back({std::move(candidate), std::move(expectation)});
    return *this;
  }

  Comparison& options(const Options& options) { options_ = options; return *this; }
  Comparison& budget(Nanoseconds budget) {
    options_.budget = budget;
    options_.hard_limit = std::max(options_.hard_limit, budget);
    return *this;
  }
  Comparison& check(const check::CheckOptions& options) { check_ = options; return *this; }

  /// Also compares with a float64 reference: the baseline on operands converted to float64. A candidate may be as far
  /// from it as the baseline is, times a factor (see check::CheckOptions).
  Comparison& float64_reference() {
    check_.method = check::CheckOptions::Method::float64_reference;
    return *this;
  }
  /// Likewise, where the baseline has parameters of its own: `function` computes in float64 what the baseline does, and is
  /// called with the operands converted. It is not measured.
  template <class F>
  Comparison& float64_reference(F function) {
    reference_ = maker(std::move(function));
    return float64_reference();
  }

  /// Each round has operands of other values. Before it, untimed, `write` is called with copies of the operands, as
  /// lvalues, that hold the first values, and writes into their tensors; what it draws at random is another number in
  /// each round and the same in each run. All implementations get what it wrote.
  template <class F>
  Comparison& renew_each_round(F write) {
    renew_ = [write = std::move(write)](std::tuple<Operands...>& operands) mutable { std::apply(write, operands); };
    return *this;
  }

  /// What one iteration reads and writes, in bytes: gives GB/s.
  Comparison& bytes(double bytes) { bytes_ = bytes; return *this; }
  /// Floating-point operations of one iteration: gives GFLOP/s.
  Comparison& flops(double flops) { flops_ = flops; return *this; }
  /// What the operands are, in words that tell them from those of other comparisons of the same name. Without it the
  /// tensors' types and sizes, and numbers.
  Comparison& inputs(std::string inputs) { inputs_ = std::move(inputs); return *this; }
  /// Where the calls run, if no operand says so.
  Comparison& device(at::Device device) { device_ = device; return *this; }
  /// A sentence for whoever reads the numbers.
  Comparison& note(std::string note) { notes_.push_back(std::move(note)); return *this; }

  /// Checks, measures and judges; tells the result to the listeners of run_context(), and returns it. An
  /// implementation that is wrong or throws is a row of the result, not an exception. Throws Error if the comparison
  /// itself is ill-formed: no baseline or several, a name twice, an expectation for nobody, senseless options.
  Result run() {
    if (const auto device = device_of_operands(); device.is_cuda()) {
#ifdef PACE_CUDA
      // Last of all, when graphs, operands and outputs are gone.
      const cuda::UnusedMemoryGivenBack afterwards;
      cuda::CudaDevice gpu(device.has_index() ? device.index() : 0);
      cuda::ComparisonClock clock(gpu);
      // A kernel that never ends must be found before the program is killed for it.
      gpu.limit_patience(std::max<Nanoseconds>(detail::time_left(clock), std::chrono::seconds(1)));
      return run(clock);
#else
      throw Error("comparison '" + name_ + "': its operands are on " + device.str() +
                  ", but this program was built without CUDA; build it with --config=cuda");
#endif
    }
    timing::WallClock clock;
    return run(clock);
  }
  template <timing::Clock C>
  Result run(C& clock) {
    check_plan();
    const std::string inputs = inputs_.empty() ? detail::describe_operands(operands_) : inputs_;
    if (Result known; recall(inputs, known)) {
      publish(known);
      return known;
    }
    const AtWork at_work(name_);
    heed_fates();
    activity()->watch(true);
    Options options = options_;
    options.device_counts = options.device_counts || counts_on_device_;
    Result result = detail::run_session(clock, name_, operands_, plan_, options, check_, stated_, reference_, renew_);
    bool held = true;
    result.inputs = inputs;
    if constexpr (requires { clock.device_name(); }) result.device = clock.device_name();
    for (auto& phase : result.phases) {
      phase.inputs = result.inputs;
      phase.device = result.device;
    }
    for (auto& each : result.implementations) {
      each.bytes = bytes_;
      each.flops = flops_;
      if constexpr (requires { clock.hold_against_limits(each); })
        if (each.time && (bytes_ || flops_)) held = clock.hold_against_limits(each) && held;
    }
    if (!held)
      result.notes.push_back("The times are not held against what this GPU can do at most: there was no memory left to "
                             "measure that.");
    const auto rates = gate::share_among_phases(stated_, gate::Rates{options_.alpha, options_.beta});
    gate::judge_all(result, stated_, rates);
    for (auto& phase : result.phases) gate::judge_all(phase, stated_, rates);
    for (const auto& [candidate, expectation] : counted_)
      for (auto& each : result.implementations)
        if (candidate.empty() ? !each.is_baseline : each.name == candidate)
          each.judgements.push_back(expectation.judge(each));
    std::vector<std::string> notes = notes_;
    for (auto& note : result.notes) notes.push_back(std::move(note));
    result.notes = std::move(notes);
    publish(result);
    return result;
  }

 private:
  [[nodiscard]] bool recall(const std::string& inputs, Result& result) const {
    if (!run_context().recall(name_, inputs, result)) return false;
    for (const auto& phase : phases_) {
      auto& part = result.phases.emplace_back();
      if (run_context().recollection->recall(name_ + '/' + phase, part)) part.phase = phase;
      else result.phases.pop_back();
    }
    return true;
  }
  static void publish(const Result& result) {
    run_context().publish(result);
    for (const auto& phase : result.phases) run_context().publish(phase);
  }

  /// Where the calls run: on a GPU if any operand lies there.
  [[nodiscard]] at::Device device_of_operands() const {
    if (device_) return *device_;
    for (const auto& tensor : detail::tensors_in(operands_))
      if (tensor.is_cuda()) return tensor.device();
    return at::kCPU;
  }

  template <class F>
  Comparison& add(std::string name, F function, bool is_baseline) {
    auto phases = detail::phases_of_implementation<F, Operands...>();
    const bool first = std::none_of(plan_.begin(), plan_.end(), [](const auto& each) { return each.make != nullptr; });
    if (!first && phases != phases_)
      throw Error("comparison '" + name_ + "': '" + name + "' has other phases than those before it; expected either "
                  "training steps or plain callables");
    phases_ = std::move(phases);
    auto& added = plan_.emplace_back();
    added.name = std::move(name);
    added.is_baseline = is_baseline;
    added.make = maker(std::move(function));
    return *this;
  }

  /// Built only once the operand sets exist; copies of the callable make run() repeatable.
  template <class F>
  [[nodiscard]] static detail::MakeImplementation<Operands...> maker(F function) {
    return [function = std::move(function)](const detail::OperandSets<Operands...>& operands) mutable
               -> std::unique_ptr<detail::Implementation<Operands...>> {
      return std::make_unique<typename detail::ImplementationOf<F, Operands...>::type>(function, operands);
    };
  }

  /// Whoever has ended an earlier process of this run does not get another chance.
  void heed_fates() {
    RunContext::Fate fate;
    while (run_context().recollection != nullptr && run_context().recollection->next_fate(name_, fate)) {
      const auto index = static_cast<std::size_t>(fate.implementation < 0 ? 0 : fate.implementation);
      if (index >= plan_.size()) continue;
      plan_[index].make = nullptr;
      plan_[index].refusal = std::move(fate.message);
      plan_[index].outcome = fate.outcome;
    }
  }

  void check_plan() const {
    validate(options_);
    const auto complain = [&](const std::string& what) { throw Error("comparison '" + name_ + "': " + what); };
    if (std::count_if(plan_.begin(), plan_.end(), [](const auto& each) { return each.is_baseline; }) != 1)
      complain("needs exactly one baseline; call .baseline(name, function) once");
    for (auto each = plan_.begin(); each != plan_.end(); ++each)
      if (std::any_of(plan_.begin(), each, [&](const auto& other) { return other.name == each->name; }))
        complain("has two implementations named '" + each->name + "'; each needs a name of its own");
    const auto planned = [&](const std::string& name, bool as_candidate) {
      return std::any_of(plan_.begin(), plan_.end(), [&](const auto& each) {
        return each.name == name && !(as_candidate && each.is_baseline);
      });
    };
    for (const auto& [candidate, expectation] : counted_)
      if (!candidate.empty() && !planned(candidate, false))
        complain("expects something of '" + candidate + "', which is not one of its implementations");
    for (const auto& [candidate, expectation, phase] : stated_) {
      if (!phase.empty() && std::find(phases_.begin(), phases_.end(), phase) == phases_.end())
        complain("expects something of the phase '" + phase + "', which its iterations do not have");
      if (!candidate.empty() && !planned(candidate, true))
        complain("expects something of '" + candidate + "', which is not one of its candidates");
      const std::string& reference = expectation.demand().reference;
      if (!reference.empty() && !planned(reference, false))
        complain("expects something to be faster than '" + reference + "', which is not one of its implementations");
      if (!candidate.empty() && candidate == reference)
        complain("expects '" + candidate + "' to be faster than itself");
    }
  }

  std::string name_, inputs_;
  std::tuple<Operands...> operands_;
  std::vector<detail::Planned<Operands...>> plan_;
  detail::MakeImplementation<Operands...> reference_;
  detail::RenewOperands<Operands...> renew_;
  /// The phases of each iteration; empty: iterations are timed as a whole.
  std::vector<std::string> phases_;
  std::vector<gate::Stated> stated_;
  std::vector<StatedCount> counted_;
  bool counts_on_device_ = false;
  Options options_ = run_context().options;
  check::CheckOptions check_;
  std::optional<double> bytes_, flops_;
  std::optional<at::Device> device_;
  std::vector<std::string> notes_;
};

/// Starts a comparison: `pace::compare("softmax", x).baseline("eager", f).candidate("mine", g).run()`.
/// `name` is the case in tables and files; `operands` are what every implementation is called with.
template <class... Operands>
[[nodiscard]] Comparison<std::decay_t<Operands>...> compare(std::string name, Operands&&... operands) {
  return Comparison<std::decay_t<Operands>...>(std::move(name), std::forward<Operands>(operands)...);
}

}  // namespace pace
