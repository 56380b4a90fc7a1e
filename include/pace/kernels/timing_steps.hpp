// take_steps: times the kernels of a graph step by step, so that a step that fails costs no other step its figures.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "pace/kernels/attempt.hpp"
#include "pace/kernels/report.hpp"

namespace pace::kernel {

/// What times the kernels of a graph. Each function may throw.
struct TimingSteps {
  std::function<void()> profile;            ///< sets Kernel::profiled and KernelReport::profiled_span
  std::function<void()> measure_peak;       ///< sets KernelReport::peak_bandwidth; empty: not asked for
  std::function<void()> prepare_replays;    ///< must precede the following ones
  std::function<void()> time_whole;         ///< sets KernelReport::whole
  std::function<void(std::size_t)> replay;  ///< times the kernel of this index alone
  std::function<void()> synchronise;        ///< called after a failure; throws DeviceLost if that has broken the device
};

/// Takes the steps for a report that lists the kernels. `only_as_a_whole` is the reason why no kernel of the graph can
/// be replayed alone, empty if some can. A step that fails leaves a note or, in Kernel::why_not_alone, a reason; where
/// the time of the whole is missing, it is the one by the profiler. Throws DeviceLost alone.
inline void take_steps(KernelReport& report, const std::string& only_as_a_whole, const TimingSteps& steps) {
  // Returns why a step has failed; empty if it has not.
  const auto attempt = [&](const auto& step) {
    auto failure = failure_of(step);
    if (!failure.empty()) steps.synchronise();
    return failure;
  };
  const auto none_alone = [&](const std::string& why) {
    report.whole = report.profiled_span;
    for (Kernel& kernel : report.kernels)
      if (kernel.why_not_alone.empty()) kernel.why_not_alone = why;
  };
  if (const auto failure = attempt(steps.profile); !failure.empty())
    report.notes.push_back("the profiler has no times of the kernels in their place: " + failure);
  if (steps.measure_peak)
    if (const auto failure = attempt(steps.measure_peak); !failure.empty())
      report.notes.push_back("the peak bandwidth of the memory could not be measured: " + failure);
  if (!only_as_a_whole.empty()) return none_alone(only_as_a_whole);
  if (const auto failure = attempt(steps.prepare_replays); !failure.empty())
    return none_alone("no kernel of this graph could be replayed alone: " + failure);
  if (const auto failure = attempt(steps.time_whole); !failure.empty()) {
    report.whole = report.profiled_span;
    report.notes.push_back("the whole could not be repeated, so that its time is the one by the profiler: " + failure);
  }
  for (std::size_t i = 0; i < report.kernels.size(); ++i) {
    Kernel& kernel = report.kernels[i];
    if (kernel.why_not_alone.empty()) kernel.why_not_alone = attempt([&] { steps.replay(i); });
  }
}

}  // namespace pace::kernel
