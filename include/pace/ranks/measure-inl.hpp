// The steps of one comparison on one rank.
#pragma once

#include "pace/ranks/measure.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/base/format.hpp"
#include "pace/compare/pass_over.hpp"
#include "pace/compare/settle.hpp"
#include "pace/gate/demand.hpp"
#include "pace/gate/expectation.hpp"
#include "pace/ranks/sides.hpp"
#include "pace/run/run_context.hpp"
#include "pace/timing/wall.hpp"
#ifdef PACE_CUDA
#include "pace/gpu/cuda/device.hpp"
#include "pace/gpu/cuda/unused_memory.hpp"
#include "pace/gpu/event.hpp"
#endif

namespace pace::ranks::detail {

/// Throws Error unless all ranks run a comparison of this name with these implementations.
inline void agree_on(LockStep& step, const pace::detail::ComparisonPlan& plan) {
  std::string sides;
  for (const auto& each : plan.implementations) sides += (sides.empty() ? " of '" : "', '") + each.name;
  const std::string own = "comparison '" + plan.name + '\'' + (sides.empty() ? sides : sides + '\'');
  step.enter(own);
  step.wait();
  const std::string first = step.meeting().place(0).doing;
  const std::string mine = step.place().doing;
  step.wait();
  if (mine != first)
    throw Error("makes the " + mine + " where rank 0 makes the " + first +
                "; expected all ranks to make the same comparisons in one order");
}

/// Checks each side on each rank, except those with a fault in `known`. Returns the faults of all sides. Throws Error
/// if the baseline has one.
[[nodiscard]] inline std::vector<FaultOfSide> check_all(LockStep& step, const pace::detail::ComparisonPlan& plan,
                                                        Sides& sides, const std::vector<FaultOfSide>& known) {
  std::vector<FaultOfSide> faults = known;
  const auto check = [&](std::size_t side) {
    if (!known[side].why.empty()) return;
    step.enter("a call of '" + plan.implementations[side].name + '\'');
    step.together([&] {
      if (const std::string fault = sides.check(side); !fault.empty()) step.note(fault);
    });
    faults[side] = {step.problems(), step.threw() ? Outcome::threw : Outcome::wrong};
    step.wait();
    step.forget();
  };
  std::size_t baseline = 0;
  while (!plan.implementations[baseline].is_baseline) ++baseline;
  check(baseline);
  if (!faults[baseline].why.empty())
    throw Error("comparison '" + plan.name + "': the baseline '" + plan.implementations[baseline].name +
                "' failed: " + faults[baseline].why);
  for (std::size_t side = 0; side < plan.implementations.size(); ++side)
    if (side != baseline) check(side);
  return faults;
}

/// The sentence on the ranks in each result.
[[nodiscard]] inline std::string describe_ranks(int ranks, const BarrierError& barrier) {
  const std::string are = std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks");
  if (ranks == 1) return are + ", which waits for no other.";
  return are + " in lock-step: a call takes as long as on the slowest one. They leave the barrier before a sample " +
         format_time(barrier.median) + " apart (median of 500; 95 % within " + format_time(barrier.high) + ").";
}

/// Checks again what was timed. `result` is rank 0's; the others have none. Throws Error for an implementation that has
/// become wrong.
inline void check_timed(Rank& rank, LockStep& step, const pace::detail::ComparisonPlan& plan, Sides& sides,
                        const std::optional<Result>& result) {
  std::string timed;
  if (result)
    for (const auto& row : result->implementations) timed += row.outcome == Outcome::measured ? 't' : '-';
  timed = rank.from_first(timed);
  std::vector<FaultOfSide> known(plan.implementations.size());
  const bool any = timed.find('t') != std::string::npos;
  if (!any) return;
  for (std::size_t side = 0; side < known.size(); ++side)
    if (timed[side] != 't' && !plan.implementations[side].is_baseline) known[side].why = "not timed";
  const auto later = check_all(step, plan, sides, known);
  for (std::size_t side = 0; side < known.size(); ++side)
    if (later[side].why != known[side].why)
      throw Error("comparison '" + plan.name + "': '" + plan.implementations[side].name +
                  "' was right at first, but not after the rounds: " + later[side].why);
}

}  // namespace pace::ranks::detail

namespace pace::ranks {

PACE_INLINE std::string unsuitable_option(const Options& options) {
  if (options.audit == Audit::strict)
    return "does not go with --audit strict; why: ranks check outputs on the given values alone; try: --audit off, and "
           "pace::compare with --audit strict for what runs on one GPU";
  if (options.isolate == Isolate::sides)
    return "does not go with --isolate sides; why: each rank runs all sides; try: without it";
  if (options.asks_for_mode_share && options.mode_share > 0)
    return "does not go with --mode-share; why: there are no further timing modes; try: --mode-share 0";
  if (options.device_counts)
    return "does not count kernels (Options::device_counts); why: it has no profiler; try: pace::compare on one GPU";
  if (!options.counters.empty())
    return "does not go with --counters; why: nothing adds up the events of several ranks; try: without it";
  if (options.energy)
    return "does not go with --energy; why: nothing adds up the energy of several GPUs; try: without it";
  return {};
}

}  // namespace pace::ranks

namespace pace::ranks::detail {

PACE_INLINE void refuse_options(const pace::detail::ComparisonPlan& plan) {
  const auto refuse = [&](const std::string& what) {
    throw Error("comparison '" + plan.name + "' of several ranks: " + what);
  };
  if (const auto reason = unsuitable_option(plan.options); !reason.empty()) refuse(reason);
  for (const auto& [implementation, expectation] : plan.stated) {
    if (!expectation.needs_counter().empty())
      refuse("cannot judge a " + expectation.describe() +
             "; why: nothing adds up the events of several ranks; try: pace::compare in one process");
    if (expectation.needs_energy())
      refuse("cannot judge a " + expectation.describe() +
             "; why: nothing adds up the energy of several GPUs; try: pace::compare on one GPU");
    if (expectation.needs_device_counts())
      refuse("cannot judge a " + expectation.describe() +
             "; why: nothing counts kernels on ranks; try: pace::compare "
             "on one GPU");
  }
}

PACE_INLINE void measure(Rank& rank, const pace::detail::ComparisonPlan& plan, const LocalClock& local,
                         Compare compare) {
  if (rank.number() == 0 && run_context().cases != nullptr) rank.hand_over(pace::detail::describe(plan));
  // All ranks pass over the same comparisons.
  if (const auto passed_over = pace::detail::settle_without_measuring(plan)) {
    if (rank.number() == 0) rank.hand_over(*passed_over);
    return;
  }
  LockStep step(rank.meeting(), rank.number(), local);
  agree_on(step, plan);
  const BarrierError barrier = step.measure_barrier();
  std::optional<Sides> sides(std::in_place, plan);
  const std::vector<FaultOfSide> none(plan.implementations.size());
  const std::vector<FaultOfSide> faults = check_all(step, plan, *sides, none);
  const bool calls_add_up = sides->calls_add_up();

  std::optional<Result> result;
  if (rank.number() != 0) {
    serve(step, plan, *sides);
  } else {
    // The comparison has operands of its own.
    sides.reset();
    Conductor conductor(step, plan);
    std::string device = local.device;
    if (!device.empty() && rank.count() > 1) device = std::to_string(rank.count()) + " x " + device;
    LockStepClock clock(step, conductor, barrier, local.leads_in && !calls_add_up, std::move(device));
    result =
        compare(Checked{.clock = clock, .faults = faults, .notes = {describe_ranks(rank.count(), barrier)}}, conductor);
    conductor.end();
    sides.emplace(plan);
  }
  check_timed(rank, step, plan, *sides, result);
  if (result) rank.hand_over(*result);
  step.enter("");
}

PACE_INLINE void with_local_clock(const pace::detail::ComparisonPlan& plan, FunctionRef<void(const LocalClock&)> use) {
  at::Device device = at::kCPU;
  for (const auto& tensor : plan.operands->tensors())
    if (tensor.is_cuda()) device = tensor.device();
  if (!device.is_cuda()) {
    timing::WallClock clock;
    return use({.clock = clock});
  }
#ifdef PACE_CUDA
  if (const ClockChoice asked = plan.options.clock; asked != ClockChoice::automatic && asked != ClockChoice::hot)
    throw Error("comparison '" + plan.name + "' of several ranks: does not go with --clock " + to_string(asked) +
                "; why: a graph or a flush would part the ranks; try: --clock hot");
  for (const auto& [implementation, expectation] : plan.stated)
    if (expectation.taken_on() == gate::TakenOn::host)
      throw Error("comparison '" + plan.name + "' of several ranks: cannot judge a " + expectation.describe() +
                  " on the host; why: times are the GPU's; try: without .on_host()");
  const cuda::UnusedMemoryGivenBack afterwards;
  cuda::CudaDevice gpu(device.index());
  // A block of the stream would have to end on all ranks at once.
  gpu::EventClock<cuda::CudaDevice> clock(gpu, {.block = false});
  use({.clock = clock,
       .settle = [&] { gpu.synchronise(); },
       .leads_in = true,
       .device = gpu.name(),
       .reads_machine = true});
#else
  throw Error("comparison '" + plan.name + "': its operands are on " + device.str() +
              ", but this program was built without CUDA; build it with --config=cuda");
#endif
}

}  // namespace pace::ranks::detail
