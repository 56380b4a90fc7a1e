// The compatible timers: how often they call, flush and wait, and how they use the times.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ops/zeros.h>

#include "benches/timers/benchmark_cpu.hpp"
#include "benches/timers/benchmarker.hpp"
#include "benches/timers/do_bench.hpp"
#include "benches/timers/inductor.hpp"
#include "benches/timers/profiling.hpp"
#include "benches/timers/timed.hpp"
#include "benches/timers/timer_clock.hpp"
#include "tests/gpu/fake_device.hpp"

// After LibTorch's headers, which have a CHECK of their own.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace pace::gpu;
using namespace pace::timing;
using namespace pace::benches::timers;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinAbs;
using pace::testing::FakeDevice;
using pace::testing::FakeSubject;

namespace {

[[nodiscard]] long count(const FakeDevice& device, const std::string& what) {
  return std::ranges::count(device.log, what);
}
[[nodiscard]] std::vector<Milliseconds> ms(std::initializer_list<double> values) {
  std::vector<Milliseconds> times;
  for (const double value : values) times.emplace_back(value);
  return times;
}

}  // namespace

TEST_CASE("the statistics agree with the originals") {
  CHECK(lower_median(ms({4, 1, 3, 2})) == Milliseconds(2));
  CHECK(lower_median(ms({3, 1, 2})) == Milliseconds(2));
  CHECK(mean_median(ms({4, 1, 3, 2})) == Milliseconds(2.5));
  CHECK(summarise(ms({4, 1, 4}), Statistic::mean) == Milliseconds(3));
  CHECK(summarise(ms({4, 1, 2, 3}), Statistic::median) == Milliseconds(2));
  CHECK(summarise(ms({4, 1}), Statistic::max) == Milliseconds(4));
  CHECK_THROWS_AS(summarise(std::vector<Milliseconds>{}, Statistic::min), pace::Error);
}

TEST_CASE("print_performance: the lower median of ten readings of ten calls, seeded and waited for as timed is") {
  struct {
    pace::Nanoseconds time{};
    [[nodiscard]] pace::Nanoseconds now() const { return time; }
    void advance(pace::Nanoseconds by) { time += by; }
  } clock;
  std::vector<double> seconds{3, 1, 2, 4};
  std::size_t calls = 0;
  int seeds = 0, waits = 0;
  std::ostringstream out;
  PrintPerformance options{.times = 5, .repeat = 4, .baseline = 0.5};
  options.set_seed = [&] { ++seeds; };
  options.synchronise = [&] { ++waits; };
  const double took = print_performance(
      clock, [&] { clock.advance(std::chrono::duration<double>(seconds[calls++ / 5])); }, options, out);
  CHECK(took == 2);
  CHECK(out.str() == "4.000000\n");
  CHECK(calls == 20);
  CHECK(seeds == 4);
  CHECK(waits == 4 * (1 + 5));
}

TEST_CASE("benchmark_cpu: 20 ms of warm-up, 100 ms, looking at the time after each call") {
  struct {
    pace::Nanoseconds time{};
    pace::Nanoseconds now() const { return time; }
  } clock;
  int calls = 0;
  // The k-th call takes 8 ms; three take 24 > 20. Then 1, 2, 3, ... ms: 14 of them are 105 > 100.
  const auto call = [&] {
    ++calls;
    clock.time += calls <= 3 ? Milliseconds(8) : Milliseconds(calls - 3);
  };
  CHECK(benchmark_cpu(clock, call) == Milliseconds(7.5));
  CHECK(calls == 3 + 14);
  calls = 0;
  CHECK(benchmark_cpu(clock, [&] {
          ++calls;
          clock.time += Milliseconds(200);
        }) == Milliseconds(200));
  CHECK(calls == 2);
}

TEST_CASE("do_bench: 256 MiB zeroed before each call, an estimate with the flush, one wait at the end") {
  FakeDevice device;
  device.launch_cost = 0us;
  int calls = 0;
  // The fake's flush takes 70 ns and the call 930 ns: 1 us together.
  const auto call = [&] {
    ++calls;
    device.work(930ns);
  };
  const auto times = do_bench_times(device, call, {.warm_up = Milliseconds(0.0255), .repeat = Milliseconds(0.1005)});
  // 1, 5 for the estimate, int(25.5) to warm up, int(100.5) timed.
  CHECK(times.size() == 100);
  CHECK(calls == 1 + 5 + 25 + 100);
  CHECK(count(device, "fill") == 5 + 100);
  CHECK(count(device, "synchronise") == 3);
  CHECK_THAT(times[0].count(), WithinAbs(930e-6, 1e-12));
  CHECK(device.buffer_bytes == std::vector<std::size_t>{256u << 20});
  CHECK(device.live == 0);
  CHECK(DoBench{}.warm_up == 25ms);
  CHECK(DoBench{}.repeat == 100ms);
}

TEST_CASE("do_bench calls at least once, and clears gradients before each timed call only") {
  FakeDevice device;
  int cleared = 0, calls = 0;
  const auto call = [&] {
    ++calls;
    device.work(1s);
  };
  const auto hook = [&] { ++cleared; };
  CHECK_THAT(do_bench(device, call, {.clear_gradients = hook}, Statistic::median).count(), WithinAbs(1000, 0.01));
  CHECK(calls == 1 + 5 + 1 + 1);
  CHECK(cleared == 1);
}

TEST_CASE("a call that takes no time is an error, where the originals divide by zero") {
  FakeDevice device;
  device.launch_cost = 0us;
  CHECK_THROWS_AS(do_bench_cudagraph(device, [] {}), pace::Error);
}

TEST_CASE("do_bench_cudagraph: calls unrolled in one graph, ten launches") {
  FakeDevice device;
  device.launch_cost = 0us;
  int calls = 0;
  const auto call = [&] {
    ++calls;
    device.work(2us);
  };
  const auto times = do_bench_cudagraph_times(device, call, {.repeat = Milliseconds(0.021)});
  CHECK(calls == 1 + 5 + 10);
  CHECK(times.size() == 10);
  CHECK_THAT(times[3].count(), WithinAbs(2e-3, 1e-12));
  CHECK(count(device, "launch") == 10);
  CHECK(count(device, "fill") == 0);
  CHECK(DoBenchCudaGraph{}.repeat == 20ms);
  CHECK(device.current_stream() == FakeDevice::Stream{0});
}

TEST_CASE("Inductor's: five estimates, a hundred fills, at most a hundred calls in 25 ms, the least of both phases") {
  FakeDevice device;
  device.launch_cost = 0us;
  device.l2 = 4096;
  int calls = 0;
  // The second estimate is the fastest of all: 0.4 ms, so int(25 / 0.4) = 62 calls.
  const auto call = [&] { device.work(++calls == 3 ? 400us : 500us); };
  const auto result = inductor_benchmark(device, call);
  CHECK(calls == 1 + 5 + 62);
  CHECK(result.all.size() == 62);
  CHECK_THAT(result.least.count(), WithinAbs(0.4, 1e-12));
  CHECK_THAT(summarise(result.all, Statistic::min).count(), WithinAbs(0.5, 1e-12));
  CHECK(count(device, "fill") == 1 + 5 + 100 + 62);
  CHECK(count(device, "synchronise") == 4);
  CHECK(device.buffer_bytes == std::vector<std::size_t>{4096});

  int fast = 0;
  static_cast<void>(inductor_benchmark(device, [&] {
    ++fast;
    device.work(1us);
  }));
  CHECK(fast == 1 + 5 + 100);
}

TEST_CASE("Inductor's of a graph: called twice before the capture, gradients cleared in it") {
  FakeDevice device;
  device.launch_cost = 0us;
  int calls = 0, cleared = 0;
  const auto result = inductor_benchmark_graph(device,
                                               [&] {
                                                 ++calls;
                                                 device.work(1ms);
                                               },
                                               {.clear_gradients = [&] { ++cleared; }});
  CHECK(calls == 1 + 1 + 1);
  CHECK(cleared == 1);
  CHECK(result.all.size() == 25);
  CHECK(count(device, "launch") == 1 + 5 + 25);
}

TEST_CASE("profiling sums what each call did after its flush; the range goes from first to last") {
  FakeDevice device;
  device.launch_cost = 4us;
  const auto call = [&] {
    device.work(3us);
    device.work(1us);
  };
  const DoBench options{.warm_up = Milliseconds(0.01), .repeat = Milliseconds(0.1)};
  CHECK_THAT(do_bench_using_profiling(device, call, options).count(), WithinAbs(4e-3, 1e-12));
  // The second kernel starts when it is launched, 4 us after the first.
  CHECK_THAT(profiler_benchmark(device, call).count(), WithinAbs(5e-3, 1e-12));
}

TEST_CASE("a timer of the host is a clock, too") {
  struct Host {
    [[nodiscard]] pace::Nanoseconds now() const { return time; }
    pace::Nanoseconds time{};
  } host;
  TimerClock<Host> clock(
      host, "benchmark_cpu",
      [](Host& on, const std::function<void()>& function) { return benchmark_cpu(on, function); }, 30ns);
  int calls = 0;
  const auto call = [&] {
    host.time += 3ms;
    ++calls;
  };
  CHECK_THAT(clock.time(call).count(), WithinAbs(3e6, 1e-3));
  CHECK(calls == 1);
  CHECK(clock.now() == host.time);
  CHECK(clock.resolution() == pace::Nanoseconds(30));
}

TEST_CASE("a sample of calls that write to their operands ends with one on restored operands") {
  for (const LastCall last : {LastCall::timed, LastCall::anew}) {
    FakeDevice device;
    device.launch_cost = 0us;
    TimerClock<FakeDevice> clock(
        device, "thrice",
        [](FakeDevice& on, const std::function<void()>& call) {
          for (int i = 0; i < 3; ++i) call();
          on.synchronise();
          return Milliseconds(7e-3);
        },
        500ns, last);
    FakeSubject subject(device);
    CHECK_THAT(clock.sample(subject, 4, 2).count(), WithinAbs(14e3, 1e-9));
    const bool anew = last == LastCall::anew;
    CHECK(subject.runs == (anew ? 4 : 3));
    CHECK(subject.prepared == (anew ? 2 : 1));
    // The output comes from the first call since operands were restored, or from the third.
    CHECK(subject.output == (anew ? 4 : 3));
    CHECK(subject.sets == std::vector<std::size_t>(anew ? 4 : 3, 4));
  }
}

TEST_CASE("calls that differ in how much they do are told apart by the flush before each") {
  FakeDevice device;
  device.launch_cost = 0us;
  int calls = 0, profiled = 0;
  pace::Nanoseconds worked{};
  const auto uneven = [&] {
    const int kernels = ++calls % 3;
    for (int i = 0; i < kernels; ++i) device.work(1us);
    if (!device.tracing) return;
    ++profiled;
    worked += kernels * pace::Nanoseconds(1us);
  };
  const DoBench options{.warm_up = Milliseconds(0.01), .repeat = Milliseconds(0.1)};
  const Milliseconds found = do_bench_using_profiling(device, uneven, options);
  REQUIRE(profiled > 3);
  CHECK_THAT(found.count(), WithinAbs(Milliseconds(worked).count() / profiled, 1e-12));

  // A call that fills, too, cannot be told from a flush where calls differ.
  const auto fills = [&] {
    if (++calls % 2 == 0) device.work(1us, "fill");
  };
  CHECK_THROWS_WITH(do_bench_using_profiling(device, fills, options),
                    ContainsSubstring("of them may be flushes of the cache; expected one flush for each call"));
}

TEST_CASE("activities belong to the call in which the host queued them, whenever they start") {
  using pace::gpu::Activity;
  const auto activity = [](const char* name, pace::Nanoseconds start, std::uint64_t correlation) {
    return Activity{Activity::Kind::kernel, name, start, 1us, 0, correlation};
  };
  // The second call's first kernel runs in another stream, beside the first call's; a graph has one id.
  const auto calls = pace::benches::timers::detail::split_calls(
      {activity("flush", 0us, 1), activity("b1", 1us, 5), activity("a1", 2us, 2), activity("a2", 3us, 2),
       activity("flush", 4us, 4), activity("b2", 5us, 6)},
      2);
  REQUIRE(calls.size() == 2);
  REQUIRE(calls[0].size() == 2);
  CHECK(calls[0][0].name == "a1");
  CHECK(calls[0][1].name == "a2");
  REQUIRE(calls[1].size() == 2);
  CHECK(calls[1][0].name == "b1");
  CHECK(calls[1][1].name == "b2");
}

TEST_CASE("the device comes from all tensors among the arguments, at any depth") {
  const at::Tensor host = at::zeros({2}), elsewhere = at::zeros({2}, at::TensorOptions().device(at::kMeta));
  const auto tuple = [](std::vector<c10::IValue> values) { return c10::ivalue::Tuple::create(std::move(values)); };
  CHECK(Benchmarker::infer_device_of(tuple({host, 3, c10::IValue(std::vector<at::Tensor>{host})})) == "cpu");
  CHECK(Benchmarker::infer_device_of(tuple({2.0, tuple({elsewhere})})) == "meta");
  CHECK_THROWS_WITH(Benchmarker::infer_device_of(tuple({host, c10::IValue(std::vector<at::Tensor>{elsewhere})})),
                    ContainsSubstring("tensors on cpu and on meta"));
  CHECK_THROWS_WITH(Benchmarker::infer_device_of(tuple({1, "text"})),
                    ContainsSubstring("no tensor among the arguments"));

  const auto one = [](double value) { return [value](const auto&) { return Milliseconds(value); }; };
  Benchmarker benchmarker(one(1), one(2), "InductorBenchmarker");
  CHECK(benchmarker.benchmark([] {}, Benchmarker::infer_device_of(elsewhere)) == Milliseconds(2));
  CHECK(benchmarker.benchmark([] {}, Benchmarker::infer_device_of(host)) == Milliseconds(1));
  const std::map<std::string, std::int64_t> expected{{"benchmarking.InductorBenchmarker.benchmark", 2},
                                                     {"benchmarking.InductorBenchmarker.benchmark_cpu", 1},
                                                     {"benchmarking.InductorBenchmarker.benchmark_gpu", 1}};
  CHECK(benchmarker.counters() == expected);
}

TEST_CASE("the device is inferred from the arguments, and timers are registered by its type") {
  const auto one = [](double value) { return [value](const auto&) { return Milliseconds(value); }; };
  Benchmarker benchmarker(one(1), one(2));
  const auto call = [] {};
  using Devices = std::vector<std::string>;
  CHECK(benchmarker.benchmark(call, Devices{"cpu", "cpu"}) == Milliseconds(1));
  CHECK(benchmarker.benchmark(call, Devices{"cuda:0"}) == Milliseconds(2));
  CHECK_THROWS_AS(benchmarker.benchmark(call, Devices{"cuda:0", "cuda:1"}), pace::InputError);
  CHECK_THROWS_AS(benchmarker.benchmark(call, Devices{}), pace::InputError);
  benchmarker.register_timer("cuda", one(3));
  CHECK(benchmarker.benchmark(call, "cuda:1") == Milliseconds(3));
  CHECK_THROWS_AS(benchmarker.register_timer("cuda", one(4)), pace::InputError);
  benchmarker.register_timer("cuda", one(4), true);
  CHECK(benchmarker.benchmark(call, "cuda:1") == Milliseconds(4));
  CHECK(benchmarker.counters().at("benchmarking.Benchmarker.benchmark") == 4);
  CHECK(benchmarker.counters().at("benchmarking.Benchmarker.benchmark_cpu") == 1);
  CHECK(benchmarker.counters().at("benchmarking.Benchmarker.benchmark_gpu") == 1);
}

TEST_CASE("a launch that cannot be is the slowest of all, other errors are errors") {
  const auto fails = [](const char* what) { return [what]() -> Milliseconds { throw std::runtime_error(what); }; };
  CHECK(std::isinf(or_infinity(fails("CUDA error: invalid configuration argument")).count()));
  CHECK_THROWS_AS(or_infinity(fails("out of memory")), std::runtime_error);
}

TEST_CASE("a timer is a clock: its figure for one call, times the iterations") {
  FakeDevice device;
  device.launch_cost = 0us;
  FakeSubject subject{device, 2us};
  TimerClock<FakeDevice> clock(device, "do_bench", [](FakeDevice& device, const std::function<void()>& function) {
    return do_bench(device, function, {.warm_up = Milliseconds(0.01), .repeat = Milliseconds(0.05)});
  });
  CHECK_THAT(clock.sample(subject, 1, 10).count(), WithinAbs(20e3, 1e-6));
  CHECK(subject.prepared == 1);
  CHECK(clock.name() == "do_bench");
}

TEST_CASE("outside of samples a clock by a timer calls once, and waits for the device before and after") {
  FakeDevice device;
  device.launch_cost = 0us;
  int timings = 0, calls = 0;
  TimerClock<FakeDevice> clock(device, "do_bench", [&](FakeDevice& /*device*/, const std::function<void()>& /*call*/) {
    ++timings;
    return Milliseconds(7);
  });
  device.work(50us);  // work still running belongs to no call
  const auto call = [&] {
    device.work(2us);
    ++calls;
  };
  // The fake device takes 1 ns to read its clock.
  CHECK_THAT(clock.time(call).count(), WithinAbs(2e3 + 1, 1e-6));
  CHECK(calls == 1);
  CHECK(timings == 0);
}
