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
  /// Outcome of its row, if you know a better one.
  Outcome outcome = Outcome::refused;
};

/// Several implementations of one computation; pace::compare() makes it. run() copies the operands, so that each
/// implementation gets equal values in memory of its own. Callables receive the operands as lvalues and may write to
/// them.
template <class... Operands>
class Comparison {
 public:
  /// Makes a comparison without implementations; see pace::compare().
  Comparison(std::string name, Operands... operands) {
    plan_.name = std::move(name);
    plan_.operands =
        std::make_shared<detail::TypedOperands<Operands...>>(std::tuple<Operands...>(std::move(operands)...));
  }

  /// Adds the implementation that the others are compared with. `function` takes the operands. It returns a tensor,
  /// several tensors (tuple, vector), a number, a c10::IValue, or nothing (then it must write to an operand). Throws
  /// Error if it is a null function pointer or std::function.
  template <class F>
  Comparison& baseline(std::string name, F function) {
    return add(std::move(name), std::move(function), true);
  }

  /// Adds an implementation to compare with the baseline; you may add any number. Throws as above.
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
  /// when every expectation of a time or speed-up is decided, or the budget is spent. They do not wait for others, such
  /// as counts. run() throws Error if iterations lack its phase (Expectation::in_phase).
  Comparison& expect(Expectation expectation) { return expect(std::string(), std::move(expectation)); }
  /// States an expectation of the candidate `implementation`. You may also expect a count of the baseline. run() throws
  /// Error if there is no such implementation.
  Comparison& expect(std::string implementation, Expectation expectation) {
    plan_.stated.push_back({std::move(implementation), std::move(expectation)});
    return *this;
  }

  /// Replaces the options of the command line. Keeps a budget that you set by budget(), before or after.
  Comparison& options(const Options& options) {
    plan_.options = options;
    return with_budget();
  }
  /// Replaces Options::budget, the time of the rounds, and raises Options::hard_limit to it.
  Comparison& budget(Nanoseconds budget) {
    budget_ = budget;
    return with_budget();
  }
  /// Sets how to compare outputs. Keeps what float64_reference(), order_free() or a similar function declares, before
  /// or after. Throws Error if there is such a declaration and `options` have a different method.
  Comparison& check(const check::CheckOptions& options) {
    const check::CheckOptions declared = std::exchange(plan_.check, options);
    if (declared_.empty()) return *this;
    plan_.check.function = declared.function;
    plan_.check.ties_dim = declared.ties_dim;
    plan_.check.ties_operand = declared.ties_operand;
    if (!declared.vectors.empty()) plan_.check.vectors = declared.vectors;
    return declare(declared.method, declared_);
  }
  /// Compares outputs by `function`. It takes the baseline's and an implementation's output, and returns the fault as
  /// text, or an empty text. It does not see what calls write to operands. Throws Error if it is null, or if another
  /// way to compare is declared.
  Comparison& compare_outputs(check::CheckOptions::Function function) {
    if (function == nullptr) detail::complain_of_null(plan_, "the function of compare_outputs()");
    plan_.check.function = std::move(function);
    return declare(check::CheckOptions::Method::custom, "compare_outputs(function)");
  }
  /// Declares that outputs' rows (elements in one dimension) may come in any order; they are sorted before comparing.
  /// Outputs with equally many rows share one order, like keys and values. run() throws Error if an output is a scalar.
  /// Throws Error as above.
  Comparison& order_free() { return declare(check::CheckOptions::Method::order_free, "order_free()"); }
  /// Declares that one output's vectors, such as eigenvectors, are determined up to their signs. It is the one output
  /// of matrices whose columns, or else rows, have length 1, unless check::CheckOptions::vectors names outputs. run()
  /// throws Error if there is no such output, or several. Throws Error as above.
  Comparison& sign_free() { return declare(check::CheckOptions::Method::sign_free, "sign_free()"); }
  /// Declares that the vectors of output tensor `output`, counted from 0, are determined up to their signs, at any
  /// length. `dim` -1: its columns; -2: its rows. If you call it for several outputs, vectors of equal index share one
  /// sign, as in an SVD. check() keeps these outputs. run() throws Error if there is no such output, for any other
  /// `dim`, or if the outputs differ in their number of vectors. Throws Error as above.
  Comparison& sign_free(std::size_t output, std::int64_t dim = -1) {
    plan_.check.vectors.push_back({.output = output, .dim = dim});
    return sign_free();
  }
  /// Declares that outputs of type int64 or int32 are indices along dimension `dim` of operand tensor `operand`,
  /// counted from 0. Indices of equal values are equally right, as for top-k; the values they find are compared. run()
  /// throws Error if there are no such outputs, dimension or operand. Throws Error as above.
  Comparison& ties(std::int64_t dim = -1, std::size_t operand = 0) {
    plan_.check.ties_dim = dim;
    plan_.check.ties_operand = operand;
    return declare(check::CheckOptions::Method::ties, "ties()");
  }
  /// Declares that outputs are random numbers, which implementations may draw from their own generators. Means,
  /// variances, shares of zeros and correlations of neighbours must agree within 6 standard errors each. At least half
  /// as many different numbers as in the baseline's outputs must occur. They must change from call to call if the
  /// baseline's do. Throws Error as above.
  Comparison& random() { return declare(check::CheckOptions::Method::random, "random()"); }
  /// Declares that operand tensor `operand`, counted from 0, is a workspace. Every implementation may write to it, and
  /// its contents are not compared. run() throws Error if there is no such tensor.
  Comparison& scratch(std::size_t operand) {
    plan_.scratch.push_back(operand);
    return *this;
  }

  /// Declares that operand tensor `operand`, counted from 0, stays the same between calls in real use, as weights do.
  /// Implementations may keep what they derive from it, such as packed weights, while its version
  /// (at::Tensor::_version) and address stay. Undeclared, this is a note in the result by Audit::strict. It is a fault
  /// if calls take over ten times as long when all operands change. run() throws Error if there is no such tensor.
  Comparison& constant(std::size_t operand) {
    plan_.constant.push_back(operand);
    return *this;
  }

  /// Declares that the functions compute from tensors they hold, such as captured ones, instead of operands. pace
  /// cannot pass these unseen values, so it cannot detect cached results. Undeclared, no claim about the time of
  /// functions that return something and have no operand tensors is proven (Verdict::invalid). Guards and figures stay
  /// the same.
  Comparison& captures() {
    plan_.captures = true;
    return *this;
  }

  /// Declares that real code reads each output before the next call. Implementations may then return the same memory
  /// from all calls, as a CUDA graph does. Undeclared, a candidate whose later calls overwrite earlier outputs is
  /// wrong, unless the baseline's do so too.
  Comparison& reuses_outputs() {
    plan_.reuses_outputs = true;
    return *this;
  }
  /// Declares the same for one implementation. run() throws Error if there is none of that name.
  Comparison& reuses_outputs(std::string implementation) {
    plan_.reuse_outputs.push_back(std::move(implementation));
    return *this;
  }

  /// Compares outputs with a float64 reference: the baseline on operands converted to float64. A candidate's error may
  /// be the baseline's times a factor (see check::CheckOptions). Throws Error if check() was called with a method other
  /// than the default.
  Comparison& float64_reference() {
    return declare(check::CheckOptions::Method::float64_reference, "float64_reference()");
  }
  /// The same for a baseline with parameters: `function` computes in float64 the baseline's outputs. It takes the
  /// operands converted to float64, and is not timed. Throws as above.
  template <class F>
  Comparison& float64_reference(F function) {
    refuse_null(function, "the function of the float64 reference");
    plan_.reference = maker(std::move(function));
    return float64_reference();
  }

  /// Gives the operands unseen values in each round. Before each round, untimed, `write` gets copies of the operands as
  /// lvalues, and writes into their tensors. Its random numbers differ between rounds, and repeat with the same
  /// Options::check_seed. All implementations get the same values.
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
  /// Describes the operands, to tell apart comparisons of the same name. The default has the types and sizes of
  /// tensors, and numbers.
  Comparison& inputs(std::string inputs) {
    plan_.inputs = std::move(inputs);
    return *this;
  }
  /// Sets the device on which the calls run. The default is the GPU of the operands, or else the CPU.
  Comparison& device(at::Device device) {
    plan_.device = device;
    return *this;
  }
  /// Adds a sentence that is printed with the figures.
  Comparison& note(std::string note) {
    plan_.notes.push_back(std::move(note));
    return *this;
  }
  /// Adds the sentences that `notes` returns once all calls are made, such as the choice of an autotuner. If it
  /// throws, whatever it is, a note says so.
  Comparison& late_notes(std::function<std::vector<std::string>()> notes) {
    if (notes == nullptr) detail::complain_of_null(plan_, "the function of late_notes()");
    plan_.late_notes.push_back(std::move(notes));
    return *this;
  }

  /// Checks, times and judges the implementations. Publishes the result to the listeners of run_context(), and returns
  /// it. An implementation that is wrong or throws becomes a row of the result, not an exception. Throws Error if the
  /// comparison is ill-formed. It is if there is no baseline or several, if names are equal, or if you expect something
  /// of an unknown implementation. Likewise if an operand is not dense and strided (sparse, nested, mkldnn), or options
  /// are out of range.
  Result run() { return detail::run_comparison(plan_); }
  /// Runs the comparison as above with `clock`, such as a test's fake clock.
  Result run(timing::Clock& clock) { return detail::run_comparison(plan_, clock); }

 private:
  template <class F>
  Comparison& add(std::string name, F function, bool is_baseline) {  // NOLINT(performance-unnecessary-value-param)
    refuse_null(function, "the function of '" + name + '\'');
    plan_.add({.name = std::move(name), .is_baseline = is_baseline, .make = maker(std::move(function))},
              detail::phases_of_implementation<F, Operands...>());
    return *this;
  }

  /// Throws Error with the comparison's name if a function pointer or a std::function is null.
  template <class F>
  void refuse_null(const F& function, const std::string& which) const {
    if (detail::ImplementationOf<F, Operands...>::has_no_function(function)) detail::complain_of_null(plan_, which);
  }

  /// Returns a function that makes the implementation once the operand sets exist. It copies the callable, so that you
  /// can repeat run().
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
  std::optional<Nanoseconds> budget_ = {};  ///< from budget()
  std::string declared_ = {};               ///< the function that declared how to compare outputs; empty: none
};

/// Returns a comparison without implementations, as in `pace::compare("softmax", x).baseline("eager",
/// f).candidate("mine", g).run()`. `name` is its name in tables and files. `operands` are the arguments of every
/// implementation.
template <class... Operands>
[[nodiscard]] Comparison<std::decay_t<Operands>...> compare(std::string name, Operands&&... operands) {
  return Comparison<std::decay_t<Operands>...>(std::move(name), std::forward<Operands>(operands)...);
}

}  // namespace pace
