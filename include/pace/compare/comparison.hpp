// Comparison: several implementations of one computation, checked against each other and timed side by side.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "pace/compare/callable.hpp"
#include "pace/compare/plan.hpp"
#include "pace/compare/run.hpp"

namespace pace {

/// A candidate that could not be made.
struct Refused {
  std::string name, reason;
  /// How else it is known to end.
  Outcome outcome = Outcome::refused;
};

/// Made by pace::compare. Operands are copied on run(), so that every implementation gets equal values in memory of
/// its own; callables receive them as lvalues and may write to them.
template <class... Operands>
class Comparison {
 public:
  Comparison(std::string name, Operands... operands) {
    plan_.name = std::move(name);
    plan_.operands =
        std::make_shared<detail::TypedOperands<Operands...>>(std::tuple<Operands...>(std::move(operands)...));
  }

  /// The implementation that the others are compared with. `function` is called with the operands and returns a
  /// tensor, several of them (tuple, vector), a number, a c10::IValue, or nothing (then it must write to an operand).
  template <class F>
  Comparison& baseline(std::string name, F function) {
    return add(std::move(name), std::move(function), true);
  }

  /// Another implementation. Any number of them.
  template <class F>
  Comparison& candidate(std::string name, F function) {
    return add(std::move(name), std::move(function), false);
  }

  /// A candidate that could not be made: it becomes a row with its reason, and no expectation accepts it.
  Comparison& refused(Refused candidate) {
    plan_.implementations.push_back(
        {.name = std::move(candidate.name), .refusal = std::move(candidate.reason), .outcome = candidate.outcome});
    return *this;
  }

  /// Every candidate is judged by it; Result has the judgements, and AsExpected() asserts them. The rounds end as soon as
  /// every expectation of a time or speed-up is decided, or the budget is spent; they do not wait for the others, such as
  /// counts. Throws Error on run() if it is of a phase (Expectation::in_phase) that the iterations do not have.
  Comparison& expect(Expectation expectation) { return expect(std::string(), std::move(expectation)); }
  /// The candidate of that name is judged by it; a count may be the baseline's, too. Throws Error on run() if there is none.
  Comparison& expect(std::string implementation, Expectation expectation) {
    plan_.stated.push_back({std::move(implementation), std::move(expectation)});
    return *this;
  }

  /// In place of the command line's. What budget() sets stays, whichever of the two is called first.
  Comparison& options(const Options& options) {
    plan_.options = options;
    return with_budget();
  }
  /// How long the rounds may take, in place of Options::budget; Options::hard_limit grows with it.
  Comparison& budget(Nanoseconds budget) {
    budget_ = budget;
    return with_budget();
  }
  /// How outputs are compared. What float64_reference() sets stays, whichever of the two is called first; throws Error for
  /// another method beside it.
  Comparison& check(const check::CheckOptions& options) {
    plan_.check = options;
    return by_reference_ ? with_reference() : *this;
  }

  /// Also compares with a float64 reference: the baseline on operands converted to float64. A candidate may be as far
  /// from it as the baseline is, times a factor (see check::CheckOptions). Throws Error if check() was given another method
  /// than the default one.
  Comparison& float64_reference() {
    by_reference_ = true;
    return with_reference();
  }
  /// The same where the baseline has parameters of its own: `function` computes in float64 what the baseline does, and is
  /// called with the operands converted. It is not measured.
  template <class F>
  Comparison& float64_reference(F function) {
    plan_.reference = maker(std::move(function));
    return float64_reference();
  }

  /// Each round has operands of other values. Before it, untimed, `write` is called with copies of the operands, as
  /// lvalues, that hold the first values, and writes into their tensors; what it draws at random is another number in
  /// each round and the same in each run. All implementations get what it wrote.
  template <class F>
  Comparison& renew_each_round(F write) {
    plan_.renew = [write = std::move(write)](detail::OperandSet& operands) mutable {
      std::apply(write, static_cast<detail::TypedOperands<Operands...>&>(operands).values);
    };
    return *this;
  }

  /// What one iteration reads and writes, in bytes: gives GB/s.
  Comparison& bytes(double bytes) {
    plan_.bytes = bytes;
    return *this;
  }
  /// Floating-point operations of one iteration: gives GFLOP/s.
  Comparison& flops(double flops) {
    plan_.flops = flops;
    return *this;
  }
  /// What the operands are, in words that tell them from those of other comparisons of the same name. Without it the
  /// tensors' types and sizes, and numbers.
  Comparison& inputs(std::string inputs) {
    plan_.inputs = std::move(inputs);
    return *this;
  }
  /// Where the calls run, if no operand says so.
  Comparison& device(at::Device device) {
    plan_.device = device;
    return *this;
  }
  /// A sentence that is printed beside the numbers.
  Comparison& note(std::string note) {
    plan_.notes.push_back(std::move(note));
    return *this;
  }

  /// Checks, measures and judges; publishes the result to the listeners of run_context(), and returns it. An
  /// implementation that is wrong or throws is a row of the result, not an exception. Throws Error if the comparison
  /// itself is ill-formed: no baseline or several, a name twice, an expectation of no implementation, senseless options.
  Result run() { return detail::run_comparison(plan_); }
  /// The same by `clock`, such as a test's.
  Result run(timing::Clock& clock) { return detail::run_comparison(plan_, clock); }

 private:
  template <class F>
  Comparison& add(std::string name, F function, bool is_baseline) {
    plan_.add({.name = std::move(name), .is_baseline = is_baseline, .make = maker(std::move(function))},
              detail::phases_of_implementation<F, Operands...>());
    return *this;
  }

  /// Built only once the operand sets exist; copies of the callable make run() repeatable.
  template <class F>
  [[nodiscard]] static detail::MakeImplementation maker(F function) {
    return [function = std::move(function)](const detail::OperandSets& operands) {
      return detail::ImplementationOf<F, Operands...>::make(function, operands);
    };
  }

  Comparison& with_budget() {
    if (budget_) {
      plan_.options.budget = *budget_;
      plan_.options.hard_limit = std::max(plan_.options.hard_limit, *budget_);
    }
    return *this;
  }
  Comparison& with_reference() {
    detail::check_by_reference(plan_);
    return *this;
  }

  detail::ComparisonPlan plan_;
  /// What budget() was given, and whether float64_reference() was called.
  std::optional<Nanoseconds> budget_ = {};
  bool by_reference_ = false;
};

/// Starts a comparison: `pace::compare("softmax", x).baseline("eager", f).candidate("mine", g).run()`.
/// `name` is the case in tables and files; `operands` are what every implementation is called with.
template <class... Operands>
[[nodiscard]] Comparison<std::decay_t<Operands>...> compare(std::string name, Operands&&... operands) {
  return Comparison<std::decay_t<Operands>...>(std::move(name), std::forward<Operands>(operands)...);
}

}  // namespace pace
