// Kernels of a call on the CPU, timed in their place by the ranges that the call reports to LibTorch's profiler.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/equal.h>

#include "pace/base/error.hpp"
#include "pace/base/format.hpp"
#include "pace/kernels/attempt.hpp"
#include "pace/kernels/host_memory.hpp"
#include "pace/kernels/options.hpp"
#include "pace/kernels/ranges.hpp"
#include "pace/kernels/record_ranges.hpp"
#include "pace/kernels/report.hpp"
#include "pace/report/machine.hpp"
#include "pace/timing/wall.hpp"

namespace pace::kernel::detail {

/// Whether `tensor` still has the values of `copy`. False if it holds NaN.
[[nodiscard]] inline bool same_values(const at::Tensor& tensor, const at::Tensor& copy) {
  return !tensor.defined() || at::equal(tensor, copy);
}

/// Times of each kernel over several calls, which must all run the same ones.
class KernelTimes {
 public:
  /// Adds the times of one call. Throws Unsupported if its kernels differ from the first call's.
  void add(const std::string& name, RangesOfCall call) {
    if (calls_++ == 0) {
      for (const auto& each : call.kernels) kernels_.push_back({each.symbol, {}});
      ranges_ = call.ranges;
    }
    std::size_t same = 0;
    while (same < kernels_.size() && same < call.kernels.size() && kernels_[same].first == call.kernels[same].symbol)
      ++same;
    if (same < kernels_.size() || same < call.kernels.size())
      throw Unsupported(name + ": kernel " + std::to_string(same) + " is " + symbol(kernels_, same) +
                        " in its first call and " + symbol(call.kernels, same) + " in call " + std::to_string(calls_) +
                        "; expected a call that runs the same kernels each time");
    for (std::size_t i = 0; i < kernels_.size(); ++i) kernels_[i].second.push_back(call.kernels[i].time);
  }

  [[nodiscard]] std::size_t ranges() const { return ranges_; }
  [[nodiscard]] std::vector<Kernel> kernels() const {
    std::vector<Kernel> kernels;
    for (const auto& [symbol, times] : kernels_) {
      Kernel& kernel = kernels.emplace_back();
      kernel.symbol = symbol;
      kernel.name = without_graph(symbol);
      kernel.profiled = summary_of(times);
    }
    return kernels;
  }

 private:
  static std::string symbol(const auto& kernels, std::size_t i) {
    if (i >= kernels.size()) return "none";
    if constexpr (requires { kernels[i].symbol; })
      return kernels[i].symbol;
    else
      return kernels[i].first;
  }

  std::vector<std::pair<std::string, std::vector<Nanoseconds>>> kernels_;
  std::size_t calls_ = 0, ranges_ = 0;
};

/// Times the kernels of `call()` on the CPU. `restore()` restores the values of the operands, outside of all times.
/// `clock` has time(body); `recorder` has cost(), record(call) and elsewhere(). Recorded calls and other calls take
/// turns, so that both run under the same conditions.
template <class Clock, class Recorder>
[[nodiscard]] KernelReport observe_kernels(const KernelsOptions& options, std::string name,
                                           const std::function<void()>& call, const std::function<void()>& restore,
                                           Clock& clock, Recorder& recorder) {
  KernelReport report{.name = std::move(name), .by_ranges = true};
  const RangeCost cost = recorder.cost();
  const auto once = [&] {
    restore();
    return clock.time(call);
  };
  // Code that compiles itself, or searches for the best algorithm, needs two calls.
  constexpr int warm_up = 3;
  Nanoseconds about{};
  for (int i = 0; i < warm_up; ++i) about = once();
  const double affordable = options.budget / std::max(about, Nanoseconds(1));
  const auto most = static_cast<double>(std::max(options.most_calls, options.least_calls));
  const auto pairs = static_cast<std::size_t>(
      std::clamp(affordable, static_cast<double>(std::max<std::size_t>(2, options.least_calls)), most) / 2);
  std::vector<Nanoseconds> whole;
  KernelTimes times;
  for (std::size_t i = 0; i < pairs; ++i) {
    whole.push_back(once());
    restore();
    times.add(report.name, kernels_of(recorder.record(call), cost));
    report.elsewhere = std::max(report.elsewhere, recorder.elsewhere());
  }
  report.kernels = times.kernels();
  const KernelTime calls = summary_of(std::move(whole));
  report.whole = calls.median;
  // A kernel is rarely interrupted, and a call often: what interrupts it would look like unlisted work.
  constexpr double busy = 1.5;
  if (calls.median > busy * calls.least)
    report.notes.push_back("the fastest call took " + format_time(calls.least) + ", half of them " +
                           format_time(calls.median) + " or more; why: other work of this machine interrupts calls, " +
                           "and counts as time in no listed kernel; try: again on an idle machine");
  if (report.kernels.empty())
    throw Unsupported(report.name + ": no kernel was seen in this call of " + format_time(report.whole) +
                      " on the CPU\nwhy: none of its code announces itself, as LibTorch's operators do\ntry: compile "
                      "a package with Inductor's option cpp.enable_kernel_profile");
  for (Kernel& kernel : report.kernels) learn(options.providers, kernel, report);
  report.recording = cost.all * static_cast<double>(times.ranges());
  return report;
}

/// As observe_kernels(), with the wall clock and LibTorch's profiler, and with the bandwidth of this machine's memory.
[[nodiscard]] inline KernelReport call_kernels(const KernelsOptions& options, std::string name,
                                               const std::function<void()>& call,
                                               const std::function<void()>& restore) {
  timing::WallClock clock;
  RangeRecorder recorder;
  KernelReport report = observe_kernels(options, std::move(name), call, restore, clock, recorder);
  const int threads = at::get_num_threads();
  report.device = report::machine::cpu("") + ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
  if (options.peak_bandwidth) report.peak_bandwidth = measure_host_memory(clock).most();
  return report;
}

}  // namespace pace::kernel::detail
