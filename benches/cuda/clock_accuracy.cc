// How true each clock is on this GPU: errors against CUPTI's durations, coldness, and a sample's cost on the host. With
// the argument `hits`, only kernels for a profiler to count the L2's hits of: see run_for_hit_counters. With `shown`,
// only the times that pace shows: the cold and the graph clock's, less what pace measures that they add.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "benches/cuda/coldness.hpp"
#include "benches/cuda/subjects.hpp"
#include "benches/timers/do_bench.hpp"
#include "benches/timers/inductor.hpp"
#include "benches/timers/profiling.hpp"
#include "pace/gpu/cuda/clock_overhead.hpp"
#include "pace/gpu/cuda/device.hpp"
#include "pace/gpu/cuda/limits.hpp"
#include "pace/gpu/event.hpp"
#include "pace/gpu/graph.hpp"
#include "pace/gpu/overhead.hpp"
#include "pace/gpu/profiler.hpp"

using namespace pace;
using namespace pace::benches::accuracy;
using cuda::CudaDevice;
namespace compatible = pace::benches::timers;

namespace {

using Times = std::map<std::string, std::vector<double>>;  // us per call

[[nodiscard]] double median(std::vector<double> values) {
  if (values.empty()) return std::nan("");
  std::ranges::sort(values);
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

struct Clocks {
  explicit Clocks(CudaDevice& device) : device(device) {}
  CudaDevice& device;
  pace::gpu::EventClock<CudaDevice> unblocked{device}, blocked{device};
  pace::gpu::GraphClock<CudaDevice> graph{device}, cold{device, {.cold = true, .calls = 32}};
  pace::gpu::ProfilerClock<CudaDevice> profiler{device}, cold_profiler{device, {.cold = true}};
  pace::gpu::Overhead in_graph, in_cold;
  /// As pace::compare measures it for the times that it shows.
  ClockOverhead shown_of_graph, shown_of_cold;
  bool others = true;  ///< times by timers of PyTorch and Triton as well
};

void measure_subject(Clocks& clocks, Subject& subject, Times& times) {
  auto& device = clocks.device;
  auto& op = subject;
  for (int i = 0; i < 3; ++i) op.run(0, 1);
  const double estimate = clocks.graph.sample(op, 0, 5).count() / 5;
  const auto calls = static_cast<std::int64_t>(std::clamp(1e6 / estimate, 4.0, 200.0));
  const double us = 1e-3 / static_cast<double>(calls);
  const double kernels = clocks.graph.kernels_per_call();

  std::vector<std::function<void()>> turns{
      [&] { times["CUPTI"].push_back(us * clocks.profiler.time([&] { op.run(0, calls); }).count()); },
      [&] { times["CUPTI cold"].push_back(1e-3 / 12 * clocks.cold_profiler.sample(op, 0, 12).count()); },
      [&] {
        const Nanoseconds each = clocks.graph.sample(op, 0, calls) / static_cast<double>(calls);
        times["graph"].push_back(1e-3 * each.count());
        times["graph, gaps removed"].push_back(1e-3 * clocks.in_graph.remove_from(each, kernels).count());
        times["graph, as shown"].push_back(1e-3 * std::max(0.0, (each - clocks.shown_of_graph.added).count()));
      },
      [&] { times["event"].push_back(us * clocks.unblocked.sample(op, 0, calls).count()); },
      [&] { times["event, blocked"].push_back(us * clocks.blocked.sample(op, 0, calls).count()); },
      [&] {
        static_cast<void>(clocks.cold.sample(op, 0, 12));
        std::vector<double> each;
        for (const auto time : clocks.cold.last_times()) each.push_back(1e-3 * time.count());
        times["cold"].push_back(median(each));
        times["cold, as shown"].push_back(std::max(0.0, median(each) - 1e-3 * clocks.shown_of_cold.added.count()));
        times["cold, pair removed"].push_back(1e-3 *
                                              pace::gpu::Overhead(clocks.in_cold.per_call, clocks.in_graph.per_kernel)
                                                  .remove_from(Nanoseconds(1e3 * median(each)), kernels)
                                                  .count());
      },
  };
  std::mt19937 random(1);
  for (int round = 0; round < 9; ++round) {
    std::shuffle(turns.begin(), turns.end(), random);
    for (const auto& turn : turns) {
      // Each from the same state: a profiler that starts up gives the GPU milliseconds to cool, and the clock to rise.
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      turn();
    }
  }
  if (!clocks.others) return;
  const auto call = [&] { op.run(0, 1); };
  using compatible::Statistic;
  const auto add = [&](const char* name, compatible::Milliseconds time) { times[name].push_back(1e3 * time.count()); };
  add("do_bench", compatible::do_bench(device, call, {}, Statistic::median));
  add("do_bench_cudagraph", compatible::do_bench_cudagraph(device, call, {}, Statistic::median));
  add("Inductor", compatible::inductor_benchmark(device, call).least);
  add("Inductor, profiler", compatible::profiler_benchmark(device, call));
}

/// Finds the time that the clocks add: the median of five short kernels. They are no subjects, but are measured like
/// them.
void calibrate(Clocks& clocks) {
  std::vector<double> in_graph, in_cold;
  for (const auto& make : calibration_subjects()) {
    Subject subject = make();
    subject.calls[0]();
    Times times;
    measure_subject(clocks, subject, times);
    clocks.graph.forget();
    clocks.cold.forget();
    in_graph.push_back(median(times.at("graph")) - median(times.at("CUPTI")));
    in_cold.push_back(median(times.at("cold")) - median(times.at("CUPTI cold")));
    std::printf("%s: CUPTI %.3f us, in a graph %.3f us\n", subject.name.c_str(), median(times.at("CUPTI")),
                median(times.at("graph")));
  }
  const auto middle = [](const std::vector<double>& us) {
    const Nanoseconds each(1e3 * std::max(0.0, median(us)));
    return pace::gpu::Overhead{each, each};
  };
  clocks.in_graph = middle(in_graph);
  clocks.in_cold = middle(in_cold);
  Subject shortest = calibration_subjects()[0]();
  const auto overhead = pace::gpu::measure_overhead(clocks.graph, clocks.profiler, shortest);
  std::printf("measure_overhead says %.3f us in a graph\n", 1e-3 * overhead.per_call.count());
}

void show_errors(const std::vector<std::pair<std::string, Times>>& all, bool others) {
  std::vector<std::string> hot{"graph", "graph, gaps removed", "graph, as shown", "event", "event, blocked"};
  std::vector<std::string> cold{"cold", "cold, pair removed", "cold, as shown"};
  if (others) hot.push_back("do_bench_cudagraph");
  if (others) cold.insert(cold.end(), {"do_bench", "Inductor", "Inductor, profiler"});
  std::vector<std::string> columns{"CUPTI"};
  columns.insert(columns.end(), hot.begin(), hot.end());
  columns.push_back("CUPTI cold");
  columns.insert(columns.end(), cold.begin(), cold.end());
  std::printf("\nMedian time of a call, us\n%-22s", "");
  for (const auto& column : columns) std::printf(" %19s", column.c_str());
  for (const auto& [name, times] : all) {
    std::printf("\n%-22s", name.c_str());
    for (const auto& column : columns) std::printf(" %19.2f", median(times.at(column)));
  }
  const auto show = [&](const std::string& column, const char* reference) {
    std::vector<double> errors, shares, within, of_limit;
    for (const auto& [name, times] : all) {
      const double truth = median(times.at(reference)), error = std::abs(median(times.at(column)) - truth);
      errors.push_back(error);
      shares.push_back(100 * error / truth);
      within.push_back(error <= std::max(0.2, 0.005 * truth) ? 1 : 0);
      of_limit.push_back(error / std::max(0.15, 0.005 * truth));
    }
    std::printf("%-22s %12.3f %12.2f %12.3f %9.0f of %zu %17.2f\n", column.c_str(), median(errors), median(shares),
                *std::ranges::max_element(errors), std::accumulate(within.begin(), within.end(), 0.0), within.size(),
                median(of_limit));
  };
  std::printf("\n\nError against CUPTI, hot%13s %12s %12s %15s %18s\n", "median, us", "median, %", "largest, us",
              "<= .2 us|.5 %", "of .15 us|.5 %");
  for (const auto& column : hot) show(column, "CUPTI");
  std::printf("Error against CUPTI, cold\n");
  for (const auto& column : cold) show(column, "CUPTI cold");
}

void show_host_cost(Clocks& clocks) {
  Subject subject = add(1 << 20);
  auto& op = subject;
  const auto show = [&](const char* name, auto& clock, std::int64_t calls) {
    static_cast<void>(clock.sample(op, 0, calls));
    constexpr int samples = 200;
    Nanoseconds on_device{};
    const Nanoseconds start = clocks.device.now();
    for (int i = 0; i < samples; ++i) on_device += clock.sample(op, 0, calls);
    const double beyond = 1e-3 * (clocks.device.now() - start - on_device).count() / samples;
    std::printf("%-16s %4lld calls a sample: %8.2f us beyond the timed work, %6.3f us a call\n", name,
                static_cast<long long>(calls), beyond, beyond / static_cast<double>(calls));
  };
  std::printf("\nHost cost of a sample (add 1 Mi)\n");
  for (const std::int64_t calls : {1, 20, 256}) show("graph", clocks.graph, calls);
  show("cold", clocks.cold, 32);
  show("event, blocked", clocks.blocked, 20);
}

/// Measures what pace::compare measures once per process, and how long that takes.
void measure_what_is_added(Clocks& clocks) {
  for (const bool cold : {false, true}) {
    const Nanoseconds start = clocks.device.now();
    const ClockOverhead overhead = cuda::measure_clock_overhead(clocks.device, cold);
    (cold ? clocks.shown_of_cold : clocks.shown_of_graph) = overhead;
    std::printf("%s times are shown less %.3f +- %.3f us, measured in %.0f ms\n", cold ? "cold" : "graph",
                1e-3 * overhead.added.count(), 1e-3 * overhead.error.count(),
                1e-6 * (clocks.device.now() - start).count());
  }
}

/// `others`: other timers, the cost of a sample and the coldness as well.
void run(bool others) {
  CudaDevice device;
  std::printf("%s, compute capability %d.%d, L2 %.0f MiB\n", device.name().c_str(), device.properties().major,
              device.properties().minor, static_cast<double>(device.l2_bytes()) / (1 << 20));
  const auto limits = cuda::measure_limits(device);
  std::printf(
      "memory, GB/s: copy %.0f, read %.0f, write %.0f; products, TFLOP/s: float32 %.1f, TF32 %.1f, bf16 %.1f, "
      "f16 %.1f\n",
      1e-9 * limits.copy, 1e-9 * limits.read, 1e-9 * limits.write, 1e-12 * limits.float32, 1e-12 * limits.tf32,
      1e-12 * limits.bf16, 1e-12 * limits.f16);
  Clocks clocks(device);
  clocks.others = others;
  clocks.blocked.warmed_up();
  measure_what_is_added(clocks);
  calibrate(clocks);
  std::printf(
      "added to a kernel: in a graph %.3f us, between a pair of events behind a flush %.3f us; an empty pair "
      "in a graph reads %.3f us, in a stream %.3f us\n",
      1e-3 * clocks.in_graph.per_call.count(), 1e-3 * clocks.in_cold.per_call.count(),
      1e-3 * clocks.graph.resolution().count(), 1e-3 * clocks.unblocked.resolution().count());
  for (const auto& subjects : {accuracy_subjects(), unseen_subjects()}) {
    std::vector<std::pair<std::string, Times>> all;
    for (const auto& make : subjects) {
      Subject subject = make();
      Times times;
      measure_subject(clocks, subject, times);
      clocks.graph.forget();
      clocks.cold.forget();
      all.emplace_back(subject.name, std::move(times));
    }
    show_errors(all, others);
  }
  std::printf("streams that could not be blocked in time: %lld\n", static_cast<long long>(clocks.blocked.time_outs()));
  if (!others) return;
  show_host_cost(clocks);
  show_coldness(device, limits);
  show_residual_hits(device);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 1 && std::string(argv[1]) == "hits") {
      CudaDevice device;
      run_for_hit_counters(device);
    } else {
      run(/*others=*/argc == 1 || std::string(argv[1]) != "shown");
    }
  } catch (const DeviceMissing& error) {
    std::printf("skipped: %s\n", error.what());
    return 4;  // as Catch2 has it where every test was skipped
  } catch (const std::exception& error) {
    std::fprintf(stderr, "clock_accuracy: %s\n", error.what());
    return 1;
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    std::fprintf(stderr,
                 "clock_accuracy: not all that was printed could be written: the standard output is closed or full\n");
    return 1;
  }
  return 0;
}
