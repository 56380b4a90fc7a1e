// measure: one comparison on one rank, from the agreement of all ranks to the result of rank 0.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "pace/base/config.hpp"
#include "pace/base/function_ref.hpp"
#include "pace/ranks/lock_step.hpp"
#include "pace/ranks/rank.hpp"
#include "pace/result/options.hpp"
#include "pace/result/result.hpp"
#include "pace/subject/plan.hpp"
#include "pace/timing/clock.hpp"

namespace pace::ranks {

/// Returns which of the options several ranks cannot follow, as the end of a sentence; empty if they can follow all.
[[nodiscard]] std::string unsuitable_option(const Options& options);

}  // namespace pace::ranks

namespace pace::ranks::detail {

/// Why a side is not compared.
struct FaultOfSide {
  /// The ranks where it is wrong or throws, and why; empty if there are none.
  std::string why = {};
  Outcome outcome = Outcome::wrong;
};

/// What rank 0 knows before it compares.
struct Checked {
  timing::Clock& clock;
  std::vector<FaultOfSide> faults = {};  ///< of each side
  std::vector<std::string> notes = {};
};

/// Makes and runs rank 0's comparison.
using Compare = FunctionRef<Result(const Checked&, Conductor&)>;

/// Throws Error for options and expectations that several ranks cannot follow.
void refuse_options(const pace::detail::ComparisonPlan& plan);

/// Takes this rank's part in a comparison of all: agrees on its name, measures the barrier, checks each implementation
/// on each rank, times them, and checks them again. Rank 0 compares by `compare`, and hands over the result. Throws
/// Error as Comparison::run() does.
void measure(Rank& rank, const pace::detail::ComparisonPlan& plan, const LocalClock& local, Compare compare);

/// Calls `use` with the clock of the operands' device. Throws Error for a GPU in a program without CUDA.
void with_local_clock(const pace::detail::ComparisonPlan& plan, FunctionRef<void(const LocalClock&)> use);

/// Runs `comparison` with that clock.
template <class C>
void run_on_local_clock(C& comparison, const pace::detail::ComparisonPlan& plan, Rank&) {
  with_local_clock(plan, [&](const LocalClock& local) { comparison.run(local); });
}

}  // namespace pace::ranks::detail

#ifdef PACE_HEADER_ONLY
#include "pace/ranks/measure-inl.hpp"
#endif
