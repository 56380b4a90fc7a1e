// Inductor's benchmarker of GPU code, plain and of a captured graph.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "benches/timers/do_bench.hpp"
#include "benches/timers/summary.hpp"
#include "pace/gpu/capture.hpp"
#include "pace/gpu/device.hpp"
#include "pace/gpu/owned.hpp"

namespace pace::benches::timers {

struct InductorBenchmark {
  int estimation = 5, memory_warm_up = 100;
  std::int64_t calls = 100;
  Milliseconds longest{25};
  std::function<void()> clear_gradients = {};
};

struct InductorTimes {
  /// The least of both phases: the original returns it unless asked for all.
  Milliseconds least{};
  /// The times of the second phase.
  std::vector<Milliseconds> all;
};

template <gpu::Device D, class F>
[[nodiscard]] InductorTimes inductor_benchmark(D& device, F&& function, const InductorBenchmark& options = {}) {
  device.synchronise();
  function();
  device.synchronise();
  // As large as the L2, and zeroed once where it is made.
  const auto buffer = gpu::own_buffer(device, device.l2_bytes());
  const auto stream = device.current_stream();
  device.fill(buffer.get(), stream);
  const auto estimated = flushed_calls(device, function, buffer.get(), options.clear_gradients, options.estimation);
  const Milliseconds estimate = summarise(estimated, Statistic::min);
  std::int64_t calls = options.calls;
  if (estimate.count() > 0) calls = std::min(calls, detail::times_in(options.longest, estimate));
  for (int i = 0; i < options.memory_warm_up; ++i) device.fill(buffer.get(), stream);
  InductorTimes result;
  result.all = flushed_calls(device, function, buffer.get(), options.clear_gradients, calls);
  result.least = std::min(estimate, summarise(result.all, Statistic::min));
  return result;
}

/// The same of a graph of one call. Gradients are cleared inside the capture, which is to say once.
template <gpu::Device D, class F>
[[nodiscard]] InductorTimes inductor_benchmark_graph(D& device, F&& function, InductorBenchmark options = {}) {
  device.synchronise();
  function();
  device.synchronise();
  const auto side = device.take_stream();
  {
    const gpu::OnStream<D> on(device, side);
    function();
    device.synchronise(side);
  }
  const auto graph = gpu::capture(device, side, [&] {
    detail::call_if_set(options.clear_gradients);
    function();
  });
  device.synchronise(side);
  options.clear_gradients = {};
  const auto stream = device.current_stream();
  return inductor_benchmark(device, [&] { device.launch(graph.get(), stream); }, options);
}

}  // namespace pace::benches::timers
