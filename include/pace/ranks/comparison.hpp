// Comparison: implementations that all ranks of a run execute together, checked on each rank and timed by the slowest.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "pace/compare/comparison.hpp"
#include "pace/ranks/lock_step.hpp"
#include "pace/ranks/measure.hpp"
#include "pace/ranks/rank.hpp"
#include "pace/subject/callable.hpp"
#include "pace/subject/plan.hpp"

namespace pace::ranks {

/// Several implementations of one computation of all ranks; ranks::compare() makes it. Each rank gives operands and
/// functions of its own. Functions take the operands as pace::Comparison's do.
template <class... Operands>
class Comparison {
 public:
  /// Makes a comparison without implementations; see ranks::compare().
  Comparison(Rank& rank, std::string name, Operands... operands) : rank_(rank), operands_(std::move(operands)...) {
    plan_.name = std::move(name);
    plan_.operands = std::make_shared<pace::detail::TypedOperands<Operands...>>(operands_);
  }

  /// Adds the implementation that the others are compared with.
  template <class F>
  Comparison& baseline(std::string name, F function) {
    return add(std::move(name), std::move(function), true);
  }
  /// Adds an implementation to compare with the baseline; you may add any number.
  template <class F>
  Comparison& candidate(std::string name, F function) {
    return add(std::move(name), std::move(function), false);
  }
  /// States an expectation of every candidate.
  Comparison& expect(Expectation expectation) { return expect(std::string(), std::move(expectation)); }
  /// States an expectation of the candidate `implementation`.
  Comparison& expect(std::string implementation, Expectation expectation) {
    plan_.stated.push_back({implementation, expectation});
    return also([implementation = std::move(implementation), expectation = std::move(expectation)](auto& comparison) {
      comparison.expect(implementation, expectation);
    });
  }
  /// Replaces the options of the command line. Ranks check outputs before and after the rounds, which is all of their
  /// audit, so `standard` is the same as `off`.
  Comparison& options(const Options& options) {
    plan_.options = options;
    return *this;
  }
  /// Replaces Options::budget, the time of the rounds, and raises Options::hard_limit to it.
  Comparison& budget(Nanoseconds budget) {
    plan_.options.budget = budget;
    plan_.options.hard_limit = std::max(plan_.options.hard_limit, budget);
    return *this;
  }
  /// Sets how each rank compares outputs. Ranks learn no tolerances. Throws Error for a float64 reference, which has no
  /// meaning here.
  Comparison& check(const check::CheckOptions& options) {
    if (options.method == check::CheckOptions::Method::float64_reference)
      throw Error("ranks::compare: outputs cannot be compared with a float64 reference; expected another method");
    plan_.check = options;
    return *this;
  }
  /// Declares that operand tensor `operand`, counted from 0, is a workspace.
  Comparison& scratch(std::size_t operand) {
    plan_.scratch.push_back(operand);
    return also([operand](auto& comparison) { comparison.scratch(operand); });
  }
  /// Declares that each output is read before the next call.
  Comparison& reuses_outputs() {
    return also([](auto& comparison) { comparison.reuses_outputs(); });
  }
  /// Sets the bytes that one iteration moves on a rank, for a bandwidth in GB/s.
  Comparison& bytes(double bytes) {
    return also([bytes](auto& comparison) { comparison.bytes(bytes); });
  }
  /// Sets the floating-point operations of one iteration on a rank.
  Comparison& flops(double flops) {
    return also([flops](auto& comparison) { comparison.flops(flops); });
  }
  /// Describes the operands, to tell apart comparisons of the same name.
  Comparison& inputs(const std::string& inputs) {
    plan_.inputs = inputs;
    return also([inputs](auto& comparison) { comparison.inputs(inputs); });
  }
  /// Adds a sentence that is printed with the figures.
  Comparison& note(const std::string& note) {
    return also([note](auto& comparison) { comparison.note(note); });
  }

  /// Checks, times and judges the implementations. All ranks call it. ranks::run() returns the result, as do rank 0's
  /// listeners. A candidate that is wrong or throws on any rank is a row of the result, which names the rank. Throws
  /// Error if the ranks make different comparisons, or if the baseline throws. So it does for an implementation that is
  /// wrong only after the rounds, and for what ranks cannot follow, such as Audit::strict. Times by the wall clock, or
  /// by events on the GPU of the operands.
  void run() { detail::run_on_local_clock(*this, plan_, rank_); }
  /// The same with a clock of this rank, such as a test's fake clock.
  void run(timing::Clock& clock) { run({.clock = clock}); }
  /// For run(): takes all steps of this rank with its clock.
  void run(const detail::LocalClock& local) {
    detail::refuse_options(plan_);
    plan_.options.audit = Audit::off;
    detail::measure(rank_, plan_, local, [&](const detail::Checked& checked, detail::Conductor& conductor) {
      pace::Comparison<Operands...> comparison = std::apply(
          [&](const Operands&... each) { return pace::Comparison<Operands...>(plan_.name, each...); }, operands_);
      comparison.options(plan_.options);
      check::CheckOptions check = plan_.check;
      // The other ranks would call with their given values meanwhile, and a collective of both would never end.
      check.learn_tolerances = false;
      comparison.check(check);
      for (const auto& step : also_) step(comparison);
      for (const auto& add_side : sides_) add_side(comparison, checked, conductor);
      for (const auto& note : checked.notes) comparison.note(note);
      return comparison.run(checked.clock);
    });
  }

 private:
  using Plain = pace::Comparison<Operands...>;

  template <class F>
  Comparison& add(std::string name, F function, bool is_baseline) {
    static_assert(
        !requires { pace::detail::ImplementationOf<F, Operands...>::phases(); },
        "pace: ranks::compare takes plain callables, not training steps with phases");
    const std::size_t side = plan_.implementations.size();
    if (pace::detail::ImplementationOf<F, Operands...>::has_no_function(function))
      pace::detail::complain_of_null(plan_, "the function of '" + name + '\'');
    plan_.add({.name = name,
               .is_baseline = is_baseline,
               .make =
                   [function](const pace::detail::OperandSets& operands) {
                     return pace::detail::ImplementationOf<F, Operands...>::make(function, operands);
                   }},
              {});
    sides_.push_back([=](Plain& comparison, const detail::Checked& checked, detail::Conductor& conductor) {
      if (const auto& fault = checked.faults[side]; !fault.why.empty()) {
        comparison.refused({.name = name, .reason = fault.why, .outcome = fault.outcome});
      } else if (is_baseline) {
        comparison.baseline(name, detail::OnAllRanks<F>(conductor, side, function));
      } else {
        comparison.candidate(name, detail::OnAllRanks<F>(conductor, side, function));
      }
    });
    return *this;
  }

  Comparison& also(std::function<void(Plain&)> step) {
    also_.push_back(std::move(step));
    return *this;
  }

  Rank& rank_;
  std::tuple<Operands...> operands_;
  pace::detail::ComparisonPlan plan_;
  /// What rank 0 makes its pace::Comparison of.
  std::vector<std::function<void(Plain&)>> also_;
  std::vector<std::function<void(Plain&, const detail::Checked&, detail::Conductor&)>> sides_;
};

/// Returns a comparison without implementations, as in `pace::ranks::compare(rank, "all-reduce", x).baseline("nccl",
/// f).candidate("mine", g).run()`. All ranks make the same comparisons in one order, each with `operands` of its own.
template <class... Operands>
[[nodiscard]] Comparison<std::decay_t<Operands>...> compare(Rank& rank, std::string name, Operands&&... operands) {
  return Comparison<std::decay_t<Operands>...>(rank, std::move(name), std::forward<Operands>(operands)...);
}

}  // namespace pace::ranks
