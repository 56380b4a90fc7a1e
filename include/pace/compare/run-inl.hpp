// The stages of a comparison: prepare, verify, calibrate, run rounds, check integrity, judge, publish. Each
// stage is a function in the file of its name, which takes values and returns one.
#pragma once

#include "pace/compare/run.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <c10/core/Device.h>

#include "pace/compare/calibrate.hpp"
#include "pace/compare/integrity/checker.hpp"
#include "pace/compare/judge.hpp"
#include "pace/compare/prepare.hpp"
#include "pace/compare/publish.hpp"
#include "pace/compare/rounds.hpp"
#include "pace/compare/time_left.hpp"
#include "pace/compare/timing_modes.hpp"
#include "pace/compare/verify.hpp"
#include "pace/core/activity.hpp"
#include "pace/core/error.hpp"
#include "pace/core/exit_guard.hpp"
#include "pace/gate/panel.hpp"
#include "pace/timing/wall.hpp"
#ifdef PACE_CUDA
#include "pace/gpu/cuda/comparison_clock.hpp"
#include "pace/gpu/cuda/unused_memory.hpp"
#endif

namespace pace::detail {

/// One pass over the participants: calibrate, run rounds, check integrity, time other modes. Here exceptions of the
/// user's code become values: an implementation that throws is dropped, and the others are to be measured again without
/// it.
[[nodiscard]] inline Measurement measure_once(timing::Clock& clock, const ComparisonPlan& plan,
                                              const gate::Rates& rates, const Prepared& prepared,
                                              const Verified& verified, IntegrityChecker& integrity,
                                              Participants left) {
  Measurement pass{.participants = std::move(left)};
  auto& participants = pass.participants;
  try {
    integrity.begin_pass();
    if (time_left(clock).count() <= 0) return participants.run_out_of_time(deadline_reason()), pass;
    pass.mode = select_mode(clock, prepared, participants.remaining());
    participants.drop(pass.mode.dropped);
    if (participants.empty()) return pass;

    const auto& timed = participants.remaining();
    auto panels = watch_expectations(clock, prepared, timed, plan.stated, rates);
    const auto cycles = fewest_cycles(panels, timed.size() - 1, prepared.options.confidence, rates);
    pass.calibration = calibrate(clock, prepared, verified, timed, cycles, /*gated=*/!panels.empty());
    if (pass.calibration.iterations == 0) return participants.run_out_of_time(deadline_reason()), pass;

    pass.samples = take_samples(clock, prepared, pass.calibration, std::move(panels), integrity);

    pass.findings = integrity.check();
    participants.drop(pass.findings.dropped);
    pass.again = pass.findings.measure_again && !participants.empty();
    if (!pass.again) pass.other = time_other_modes(clock, prepared, verified.options, participants);
  } catch (...) {
    enter_exception(clock, participants);
    pass.again = !participants.empty();
  }
  return pass;
}

/// Figures without verdicts, and the tests that the verdicts rest on.
struct Measured {
  Result result;
  std::vector<gate::Panel> panels;
};

/// Runs all stages that need the operands, which are released afterwards.
[[nodiscard]] inline Measured measure(timing::Clock& clock, const ComparisonPlan& plan, const gate::Rates& rates) {
  Prepared prepared = prepare(clock, plan);
  const ExitGuard no_exit("inside the comparison '" + plan.name + "'");
  IntegrityChecker integrity(clock, prepared);
  const Verified verified = verify(clock, prepared, integrity, plan.check);
  Measurement measurement{.participants = verified.participants, .again = !verified.participants.empty()};
  while (measurement.again)
    measurement = measure_once(clock, plan, rates, prepared, verified, integrity, measurement.participants);
  return {summarize(clock, prepared, verified, measurement), std::move(measurement.samples.panels)};
}

PACE_INLINE Result run_comparison(const ComparisonPlan& plan, timing::Clock& clock) {
  validate(plan);
  if (auto known = recall(plan)) return publish(*std::move(known));
  const AtWork at_work(plan.name);
  activity()->watch(true);
  const gate::Rates rates = gate::share_among_phases(plan.stated, gate::Rates{plan.options.alpha, plan.options.beta});

  auto [result, panels] = measure(clock, plan, rates);
  judge(clock, plan, rates, panels, result);
  result.notes.insert(result.notes.begin(), plan.notes.begin(), plan.notes.end());
  return publish(std::move(result));
}

/// Returns the device on which the calls run: that of the plan, or else the GPU of the operands, or else the CPU.
[[nodiscard]] inline at::Device device_of(const ComparisonPlan& plan) {
  if (plan.device) return *plan.device;
  for (const auto& tensor : plan.operands->tensors())
    if (tensor.is_cuda()) return tensor.device();
  return at::kCPU;
}

PACE_INLINE Result run_comparison(const ComparisonPlan& plan) {
  if (const auto device = device_of(plan); device.is_cuda()) {
#ifdef PACE_CUDA
    // This comes last, when graphs, operands and outputs are released.
    const cuda::UnusedMemoryGivenBack afterwards;
    cuda::CudaDevice gpu(device.has_index() ? device.index() : 0);
    cuda::ComparisonClock clock(gpu);
    // A kernel that never ends must be found before the program is killed for it.
    gpu.limit_call_timeout(std::max<Nanoseconds>(time_left(clock), std::chrono::seconds(1)));
    return run_comparison(plan, clock);
#else
    throw Error("comparison '" + plan.name + "': its operands are on " + device.str() +
                ", but this program was built without CUDA; build it with --config=cuda");
#endif
  }
  timing::WallClock clock;
  return run_comparison(plan, clock);
}

}  // namespace pace::detail
