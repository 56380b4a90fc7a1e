// Operator calls as benchmarks of google/benchmark, and its figures beside pace's own.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iomanip>
#include <locale>
#include <map>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <c10/core/InferenceMode.h>

#include "benches/files/aot/device.hpp"
#include "benches/operators/backends/backend.hpp"
#include "benches/operators/backends/work.hpp"
#include "benches/operators/calls/operator_call.hpp"
#include "benches/operators/make_call.hpp"
#include "benches/operators/options.hpp"
#include "benches/operators/replay.hpp"
#include "benches/operators/selection.hpp"
#include "pace/base/format.hpp"
#include "pace/base/units.hpp"
#include "pace/report/text.hpp"
#include "pace/result/result.hpp"
#ifdef PACE_CUDA
#include "benches/timers/do_bench.hpp"
#include "pace/gpu/cuda/device.hpp"
#include "pace/gpu/owned.hpp"
#endif

namespace pace::benches::operators {

namespace detail {

/// Rates of a call with known work: bytes and floating-point operations per second.
inline void add_counters(benchmark::State& state, const OperatorCall& call) {
  const auto work = work_of(call);
  if (!work) return;
  state.SetBytesProcessed(static_cast<std::int64_t>(work->bytes() * static_cast<double>(state.iterations())));
  if (work->flops)
    state.counters["FLOP/s"] = benchmark::Counter(*work->flops, benchmark::Counter::kIsIterationInvariantRate,
                                                  benchmark::Counter::OneK::kIs1000);
}

/// Runs the call as often as google/benchmark asks for, on the tensors of `call` each time. Operands keep the values
/// that a call writes, so values drift, but shapes do not. On a GPU a call is timed by a pair of events after the L2
/// cache was flushed.
inline void run_benchmark(benchmark::State& state, Backend& backend, const OperatorCall& call) {
  const auto executable = backend.prepare(call);
  static_cast<void>(executable->run(call.tensors()));
  [[maybe_unused]] const at::Device device = call.tensors().empty() ? at::kCPU : call.tensors().front().device();
#ifdef PACE_CUDA
  if (device.is_cuda()) {
    cuda::CudaDevice gpu(device.index());
    const auto buffer = gpu::own_buffer(gpu, gpu.l2_bytes());
    for ([[maybe_unused]] auto _ : state) {
      const auto times =
          timers::flushed_calls(gpu, [&] { static_cast<void>(executable->run(call.tensors())); }, buffer.get(), {}, 1);
      state.SetIterationTime(std::chrono::duration<double>(times.front()).count());
    }
    return add_counters(state, call);
  }
#endif
  for ([[maybe_unused]] auto _ : state) {
    auto result = executable->run(call.tensors());
    benchmark::DoNotOptimize(result);
  }
  add_counters(state, call);
}

/// The name of the benchmark of a back end on a sample.
[[nodiscard]] inline std::string benchmark_name(const std::string& case_name, const std::string& backend) {
  return case_name + '/' + backend;
}

}  // namespace detail

/// Registers every back end on every selected sample with google/benchmark, as `CASE/BACKEND`. Inputs are made when
/// their turn comes and freed after it. A call that cannot be run is an error of its benchmark. Everything that is
/// given must outlive the run of the benchmarks. Throws InputError for a back end that is not known.
inline void register_benchmarks(const std::vector<Selected>& selection, const ReplayOptions& options,
                                const BackendRegistry& registry, std::uint64_t seed) {
  std::vector<Backend*> backends;
  for (const auto& name : split_list(options.backends, "--backends")) backends.push_back(&registry.find(name));
  const bool on_gpu = !aot::parse_device(options.device).is_cpu();
  for (const auto& selected : selection)
    for (std::size_t offset = 0; offset < selected.samples.size(); ++offset)
      for (auto* backend : backends) {
        auto* added = benchmark::RegisterBenchmark(
            detail::benchmark_name(case_name(selected, offset), backend->name()).c_str(),
            [&options, &selected, offset, backend, seed](benchmark::State& state) {
              try {
                const c10::InferenceMode inference;
                detail::run_benchmark(state, *backend, make_selected_call(selected, offset, options, seed, 1));
              } catch (const std::exception& error) {
                state.SkipWithError(error.what());
              }
            });
        // Threads of LibTorch's own work for a call, too.
        if (on_gpu)
          added->UseManualTime();
        else
          added->UseRealTime();
      }
}

/// Prints as google/benchmark's console does, and keeps the mean time of an iteration by the name of the benchmark:
/// over all repetitions, where there are several.
class CollectingReporter final : public benchmark::ConsoleReporter {
 public:
  CollectingReporter() : ConsoleReporter(OO_Tabular) {}
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const auto& run : runs) {
      auto& known = means_[run.run_name.function_name];
      if (run.error_occurred || run.iterations == 0) continue;
      const Nanoseconds mean(1e9 * run.real_accumulated_time / static_cast<double>(run.iterations));
      if (run.run_type == Run::RT_Iteration)
        known.push_back(mean);
      else if (run.aggregate_name == "mean")
        known = {mean};  // with --benchmark_report_aggregates_only the only one there is
    }
    ConsoleReporter::ReportRuns(runs);
  }

  /// Names of the benchmarks that were run, with their times; none of one that failed.
  [[nodiscard]] std::map<std::string, std::optional<Nanoseconds>> times() const {
    std::map<std::string, std::optional<Nanoseconds>> times;
    for (const auto& [name, means] : means_) {
      auto& time = times[name];
      Nanoseconds sum{};
      for (const Nanoseconds each : means) sum += each;
      if (!means.empty()) time = sum / static_cast<double>(means.size());
    }
    return times;
  }

 private:
  std::map<std::string, std::vector<Nanoseconds>> means_;
};

/// Returns the samples that google/benchmark ran a benchmark of, one by one. `times` has the names of those.
[[nodiscard]] inline std::vector<Selected> benchmarked(const std::vector<Selected>& selection,
                                                       const std::vector<std::string>& backends,
                                                       const std::map<std::string, std::optional<Nanoseconds>>& times) {
  std::vector<Selected> found;
  for (const auto& selected : selection)
    for (std::size_t offset = 0; offset < selected.samples.size(); ++offset)
      if (std::ranges::any_of(backends, [&](const std::string& backend) {
            return times.contains(detail::benchmark_name(case_name(selected, offset), backend));
          }))
        found.push_back({selected.op, selected.first + offset, selected.samples.subspan(offset, 1)});
  return found;
}

/// Hears pace's own replay of the same samples and prints a line for each benchmark that was run. The line has
/// google/benchmark's mean, pace's mean and median with its interval, and the ratio of the two means.
class SideBySide final : public ReplayListener {
 public:
  /// `times`: from CollectingReporter.
  SideBySide(std::map<std::string, std::optional<Nanoseconds>> times, std::ostream& out)
      : times_(std::move(times)), out_(out) {}

  /// Prints the names of the columns.
  void head() {
    line("case/back end", "google/benchmark", "pace, mean", "pace, median", "95 % interval", "ratio of means");
  }

  void result(const Selected& selected, std::size_t offset, const Result& result) override {
    for (const auto& row : result.implementations) {
      const std::string name = detail::benchmark_name(case_name(selected, offset), row.name);
      const auto known = times_.find(name);
      if (known == times_.end()) continue;  // a filter left it out
      const auto& theirs = known->second;
      const std::string other = theirs ? format_time(*theirs) : "-";
      if (row.outcome != Outcome::measured || !row.time) {
        complete_ = false;
        line(name, other, to_string(row.outcome), "-", "-", "-");
        out_ << "    " << report::printable(row.message.substr(0, row.message.find('\n'))) << '\n';
        continue;
      }
      complete_ = complete_ && theirs;
      line(name, other, format_time(row.time->mean), format_time(row.time->median),
           row.time->interval
               ? '[' + format_time(row.time->interval->low) + ", " + format_time(row.time->interval->high) + ']'
               : "-",
           theirs ? format_factor(*theirs / row.time->mean) : "-");
    }
    out_ << std::flush;
  }

  /// Whether every line so far has both figures.
  [[nodiscard]] bool is_complete() const { return complete_; }

 private:
  void line(const std::string& name, const std::string& theirs, const std::string& mean, const std::string& median,
            const std::string& interval, const std::string& ratio) {
    std::ostringstream text;
    text.imbue(std::locale::classic());
    text << std::left << std::setw(56) << name << std::right << std::setw(17) << theirs << std::setw(12) << mean
         << std::setw(13) << median << std::setw(22) << interval << std::setw(15) << ratio;
    out_ << text.str() << '\n';
  }

  std::map<std::string, std::optional<Nanoseconds>> times_;
  std::ostream& out_;
  bool complete_ = true;
};

}  // namespace pace::benches::operators
