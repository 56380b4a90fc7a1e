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

#include "pace/compare/run.hpp"
#include "pace/subject/callable.hpp"
#include "pace/subject/plan.hpp"

namespace pace {

/// A candidate that could not be made.
struct Refused {
  std::string name;    ///< name of the candidate
  std::string reason;  ///< why it could not be made
  /// Outcome of its row, if another one is known.
  Outcome outcome = Outcome::refused;
};

/// A comparison of several implementations of one computation, made by pace::compare(). run() copies the operands, so
/// that every implementation gets equal values in memory of its own. Callables receive the operands as lvalues and may
/// write to them.
template <class... Operands>
class Comparison {
 public:
  /// Makes a comparison without implementations; see pace::compare().
  Comparison(std::string name, Operands... operands) {
    plan_.name = std::move(name);
    plan_.operands =
        std::make_shared<detail::TypedOperands<Operands...>>(std::tuple<Operands...>(std::move(operands)...));
  }

  /// Adds the implementation that the others are compared with. `function` is called with the operands and returns a
  /// tensor, several tensors (tuple, vector), a number, a c10::IValue, or nothing (then it must write to an operand).
  /// Throws Error if it is a function pointer or a std::function that is null.
  template <class F>
  Comparison& baseline(std::string name, F function) {
    return add(std::move(name), std::move(function), true);
  }

  /// Adds an implementation that is compared with the baseline; there may be any number of them. Throws as above.
  template <class F>
  Comparison& candidate(std::string name, F function) {
    return add(std::move(name), std::move(function), false);
  }

  /// Adds a row for a candidate that could not be made, with the reason. No expectation accepts it.
  Comparison& refused(Refused candidate) {
    plan_.implementations.push_back(
        {.name = std::move(candidate.name), .refusal = std::move(candidate.reason), .outcome = candidate.outcome});
    return *this;
  }

  /// States an expectation of every candidate. Result has the judgements, and AsExpected() asserts them. The rounds end
  /// as soon as every expectation of a time or speed-up is decided, or the budget is spent; they do not wait for other
  /// expectations, such as counts. run() throws Error if the iterations do not have its phase (Expectation::in_phase).
  Comparison& expect(Expectation expectation) { return expect(std::string(), std::move(expectation)); }
  /// States an expectation of the candidate `implementation`; a count may also be expected of the baseline. run()
  /// throws Error if there is no such implementation.
  Comparison& expect(std::string implementation, Expectation expectation) {
    plan_.stated.push_back({std::move(implementation), std::move(expectation)});
    return *this;
  }

  /// Replaces the options of the command line, except for a budget set by budget() before or after.
  Comparison& options(const Options& options) {
    plan_.options = options;
    return with_budget();
  }
  /// Replaces Options::budget, the time of the rounds, and raises Options::hard_limit to it.
  Comparison& budget(Nanoseconds budget) {
    budget_ = budget;
    return with_budget();
  }
  /// Sets how outputs are compared, except for what float64_reference(), order_free() or another of these functions
  /// declares before or after. Throws Error if there is such a declaration and `options` have another method.
  Comparison& check(const check::CheckOptions& options) {
    const check::CheckOptions declared = std::exchange(plan_.check, options);
    if (declared_.empty()) return *this;
    plan_.check.function = declared.function;
    plan_.check.ties_dim = declared.ties_dim;
    plan_.check.ties_operand = declared.ties_operand;
    if (!declared.vectors.empty()) plan_.check.vectors = declared.vectors;
    return declare(declared.method, declared_);
  }
  /// Compares outputs by `function`, which is called with the baseline's and another implementation's, and returns what
  /// is wrong with the latter, in words, or an empty text. What the baseline writes to operands is not passed to it.
  /// Throws Error if it is null, or if another way to compare is declared.
  Comparison& check(check::CheckOptions::Function function) {
    if (function == nullptr) detail::complain_of_null(plan_, "the function of check()");
    plan_.check.function = std::move(function);
    return declare(check::CheckOptions::Method::custom, "check(function)");
  }
  /// Declares that the rows of outputs may come in any order (elements, of an output of one dimension): they are sorted
  /// before they are compared. Outputs with equally many rows have one order, as keys and values do. run() throws Error
  /// if an output is a scalar. Throws Error as above.
  Comparison& order_free() { return declare(check::CheckOptions::Method::order_free, "order_free()"); }
  /// Declares that the vectors of one output, such as eigenvectors, are determined up to their signs. It is the one
  /// output of matrices whose columns, or else rows, have the length 1, unless check::CheckOptions::vectors names
  /// outputs. run() throws Error if there is no such output, or several. Throws Error as above.
  Comparison& sign_free() { return declare(check::CheckOptions::Method::sign_free, "sign_free()"); }
  /// Declares that the vectors of output tensor `output`, counted from 0, are determined up to their signs, whatever
  /// their length: `dim` -1, its columns are; -2, its rows. Called for several outputs, it declares that vectors of
  /// equal index have one sign in all of them, as those of an SVD. check() leaves these outputs as they are. run()
  /// throws Error if there is no such output, if `dim` is another one, or if the outputs have different numbers of
  /// vectors. Throws Error as above.
  Comparison& sign_free(std::size_t output, std::int64_t dim = -1) {
    plan_.check.vectors.push_back({.output = output, .dim = dim});
    return sign_free();
  }
  /// Declares that outputs of type int64 or int32 are indices along dimension `dim` of operand tensor `operand`,
  /// counted from 0, and that indices of equal values are equally right, as of top-k. What they find is compared. run()
  /// throws Error if there are no such outputs, dimension or operand. Throws Error as above.
  Comparison& ties(std::int64_t dim = -1, std::size_t operand = 0) {
    plan_.check.ties_dim = dim;
    plan_.check.ties_operand = operand;
    return declare(check::CheckOptions::Method::ties, "ties()");
  }
  /// Declares that outputs are random numbers, which implementations may draw from generators of their own: means,
  /// variances, shares of zeros and correlations of neighbours are compared, each within 6 standard errors. There must
  /// be at least half as many different numbers as in the baseline's, and other ones in each call where the baseline's
  /// differ from call to call. Throws Error as above.
  Comparison& random() { return declare(check::CheckOptions::Method::random, "random()"); }
  /// Declares that operand tensor `operand`, counted from 0, is a workspace: every implementation may write to it, and
  /// what it leaves there is not compared. run() throws Error if there is no such tensor.
  Comparison& scratch(std::size_t operand) {
    plan_.scratch.push_back(operand);
    return *this;
  }

  /// Declares that operand tensor `operand`, counted from 0, stays the same between calls where the code is used, as
  /// weights do. Implementations may keep what they derive from it, such as packed weights, for as long as its version
  /// (at::Tensor::_version) and its address stay. Without it, that is a note in the result by Audit::strict, or
  /// a fault if calls take more than ten times as long when all operands change. run() throws Error if there is no such
  /// tensor.
  Comparison& keeps(std::size_t operand) {
    plan_.keeps.push_back(operand);
    return *this;
  }

  /// Declares that the functions compute from what they hold by themselves, such as captured tensors, and not from
  /// operand tensors. pace cannot give that other values, so that an answer which is kept from call to call is not
  /// found out. Without it, no claim about the time of functions that return something and have no operand tensors is
  /// proven (Verdict::invalid); guards and figures are as ever.
  Comparison& captures() {
    plan_.captures = true;
    return *this;
  }

  /// Declares that each output is read before the next call is made where the code is used, so that implementations may
  /// return the same memory from all calls, as a CUDA graph does. Without it, a candidate whose later calls overwrite
  /// what earlier ones have returned is wrong, unless the baseline's do so, too.
  Comparison& reuses_outputs() {
    plan_.reuses_outputs = true;
    return *this;
  }
  /// Declares that of the outputs of one implementation. run() throws Error if there is none of that name.
  Comparison& reuses_outputs(std::string implementation) {
    plan_.reuse_outputs.push_back(std::move(implementation));
    return *this;
  }

  /// Compares outputs with a float64 reference, which is the baseline on operands converted to float64. The error of a
  /// candidate may be the error of the baseline times a factor (see check::CheckOptions). Throws Error if check() was
  /// called with a method other than the default one.
  Comparison& float64_reference() {
    return declare(check::CheckOptions::Method::float64_reference, "float64_reference()");
  }
  /// Compares outputs with a float64 reference for a baseline with parameters: `function` computes in float64 what the
  /// baseline computes. It is called with the operands converted to float64, and is not timed. Throws as above.
  template <class F>
  Comparison& float64_reference(F function) {
    refuse_null(function, "the function of the float64 reference");
    plan_.reference = maker(std::move(function));
    return float64_reference();
  }

  /// Gives the operands other values in each round. Before each round, untimed, `write` is called with copies of the
  /// operands, as lvalues with the first values, and writes into their tensors. Its random numbers differ between
  /// rounds and are equal in each run. All implementations get the same values.
  template <class F>
  Comparison& renew_each_round(F write) {
    if (detail::is_null(write)) detail::complain_of_null(plan_, "the function of renew_each_round()");
    plan_.renew = [write = std::move(write)](detail::OperandSet& operands) mutable {
      std::apply(write, static_cast<detail::TypedOperands<Operands...>&>(operands).values);
    };
    return *this;
  }

  /// Sets the bytes that one iteration reads and writes, for a bandwidth in GB/s.
  Comparison& bytes(double bytes) {
    plan_.bytes = bytes;
    return *this;
  }
  /// Sets the floating-point operations of one iteration, for a computing rate in GFLOP/s.
  Comparison& flops(double flops) {
    plan_.flops = flops;
    return *this;
  }
  /// Sets a description of the operands that distinguishes them from those of other comparisons of the same name. The
  /// default consists of the types and sizes of tensors, and of numbers.
  Comparison& inputs(std::string inputs) {
    plan_.inputs = std::move(inputs);
    return *this;
  }
  /// Sets the device on which the calls run; the default is the GPU of the operands, or else the CPU.
  Comparison& device(at::Device device) {
    plan_.device = device;
    return *this;
  }
  /// Adds a sentence that is printed with the figures.
  Comparison& note(std::string note) {
    plan_.notes.push_back(std::move(note));
    return *this;
  }

  /// Checks, times and judges the implementations, publishes the result to the listeners of run_context(), and returns
  /// it. An implementation that is wrong or throws is a row of the result, not an exception. Throws Error if the
  /// comparison is ill-formed: no baseline or several, a name that occurs twice, an expectation of an unknown
  /// implementation, an operand that is no dense, strided tensor (sparse, nested, mkldnn), or options out of range.
  Result run() { return detail::run_comparison(plan_); }
  /// Runs the comparison as above with `clock`, such as the fake clock of a test.
  Result run(timing::Clock& clock) { return detail::run_comparison(plan_, clock); }

 private:
  template <class F>
  Comparison& add(std::string name, F function, bool is_baseline) {  // NOLINT(performance-unnecessary-value-param)
    refuse_null(function, "the function of '" + name + '\'');
    plan_.add({.name = std::move(name), .is_baseline = is_baseline, .make = maker(std::move(function))},
              detail::phases_of_implementation<F, Operands...>());
    return *this;
  }

  /// Throws Error with the name of the comparison if a function pointer or a std::function is null.
  template <class F>
  void refuse_null(const F& function, const std::string& which) const {
    if (detail::ImplementationOf<F, Operands...>::has_no_function(function)) detail::complain_of_null(plan_, which);
  }

  /// Returns a function that makes the implementation once the operand sets exist. It copies the callable, so that
  /// run() can be repeated.
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
  Comparison& declare(check::CheckOptions::Method method, const std::string& name) {
    detail::check_by(plan_, method, name);
    declared_ = name;
    return *this;
  }

  detail::ComparisonPlan plan_;
  std::optional<Nanoseconds> budget_ = {};  ///< budget set by budget()
  std::string declared_ = {};               ///< the function that declared the method of comparison; empty: none
};

/// Returns a comparison without implementations, as in
/// `pace::compare("softmax", x).baseline("eager", f).candidate("mine", g).run()`. `name` is its name in tables and
/// files; `operands` are the arguments of every implementation.
template <class... Operands>
[[nodiscard]] Comparison<std::decay_t<Operands>...> compare(std::string name, Operands&&... operands) {
  return Comparison<std::decay_t<Operands>...>(std::move(name), std::forward<Operands>(operands)...);
}

}  // namespace pace
