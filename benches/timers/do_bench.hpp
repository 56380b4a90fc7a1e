// do_bench and do_bench_cudagraph: Triton's timers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "benches/timers/summary.hpp"
#include "pace/gpu/capture.hpp"
#include "pace/gpu/device.hpp"
#include "pace/gpu/owned.hpp"

namespace pace::benches::timers {

struct DoBench {
  Milliseconds warm_up{25}, repeat{100};
  /// Called before each timed call, outside of its time: to set gradients to nothing.
  std::function<void()> clear_gradients = {};
  /// Zeroed before each timed call.
  std::size_t flush_bytes = std::size_t{256} << 20;
};

struct DoBenchCudaGraph {
  Milliseconds repeat{20};
  std::function<void()> clear_gradients = {};
  static constexpr int replays = 10;
};

namespace detail {

inline constexpr int estimated_calls = 5;

/// One pair of events around five calls of `step`, divided by five.
template <gpu::Device D, class Step>
[[nodiscard]] Milliseconds estimate(D& device, Step&& step) {
  const gpu::EventPair<D> pair(device);
  const auto stream = device.current_stream();
  device.record(pair.start.get(), stream);
  for (int i = 0; i < estimated_calls; ++i) step();
  device.record(pair.stop.get(), stream);
  device.synchronise();
  return Milliseconds(device.elapsed(pair.start.get(), pair.stop.get())) / estimated_calls;
}

}  // namespace detail

/// Returns the times of `count` calls of `function` on `device`. Each is between two events, after `clear_gradients`
/// (which may be empty) and a fill of `buffer`, which flushes the cache. Waits for the device once, at the end.
template <gpu::Device D, class F>
[[nodiscard]] std::vector<Milliseconds> flushed_calls(D& device, F&& function, const typename D::Buffer& buffer,
                                                      const std::function<void()>& clear_gradients,
                                                      std::int64_t count) {
  std::vector<gpu::EventPair<D>> pairs;
  for (std::int64_t i = 0; i < count; ++i) pairs.emplace_back(device);
  const auto stream = device.current_stream();
  for (const auto& pair : pairs) {
    detail::call_if_set(clear_gradients);
    device.fill(buffer, stream);
    device.record(pair.start.get(), stream);
    function();
    device.record(pair.stop.get(), stream);
  }
  device.synchronise();
  std::vector<Milliseconds> times;
  for (const auto& pair : pairs) times.push_back(device.elapsed(pair.start.get(), pair.stop.get()));
  return times;
}

namespace detail {

/// The parts that time calls, once they are warm: memory that flushes the cache, and how many calls fit into the time.
template <gpu::Device D>
struct Flushed {
  gpu::Owned<D, typename D::Buffer> buffer;
  std::int64_t repeats;
};

/// The first call, the estimate and the warm-up of do_bench.
template <gpu::Device D, class F>
[[nodiscard]] Flushed<D> warm_up(D& device, F&& function, const DoBench& options) {
  function();
  device.synchronise();
  auto buffer = gpu::own_buffer(device, options.flush_bytes);
  const auto stream = device.current_stream();
  const Milliseconds estimate = detail::estimate(device, [&] {
    device.fill(buffer.get(), stream);
    function();
  });
  const std::int64_t warm_ups = times_in(options.warm_up, estimate);
  const std::int64_t repeats = times_in(options.repeat, estimate);
  for (std::int64_t i = 0; i < warm_ups; ++i) function();
  return {std::move(buffer), repeats};
}

}  // namespace detail

/// All times. The estimate includes the flush; the warm-up does not flush. Throws Error where the original divides by
/// zero.
template <gpu::Device D, class F>
[[nodiscard]] std::vector<Milliseconds> do_bench_times(D& device, F&& function, const DoBench& options = {}) {
  const auto flushed = detail::warm_up(device, function, options);
  return flushed_calls(device, function, flushed.buffer.get(), options.clear_gradients, flushed.repeats);
}

template <gpu::Device D, class F>
[[nodiscard]] Milliseconds do_bench(D& device, F&& function, const DoBench& options = {},
                                    Statistic statistic = Statistic::mean) {
  return summarise(do_bench_times(device, function, options), statistic);
}

/// One time per launch of a graph of many calls: the launch's time, divided by the number of calls. No flush.
template <gpu::Device D, class F>
[[nodiscard]] std::vector<Milliseconds> do_bench_cudagraph_times(D& device, F&& function,
                                                                 const DoBenchCudaGraph& options = {}) {
  const auto stream = device.take_stream();
  const gpu::OnStream<D> on(device, stream);
  function();
  const Milliseconds estimate = detail::estimate(device, function);
  const std::int64_t repeats = detail::times_in(options.repeat, estimate);
  const auto graph = gpu::capture(device, stream, [&] {
    for (std::int64_t i = 0; i < repeats; ++i) {
      detail::call_if_set(options.clear_gradients);
      function();
    }
  });
  device.synchronise();
  std::vector<Milliseconds> times;
  for (int i = 0; i < DoBenchCudaGraph::replays; ++i) {
    const gpu::EventPair<D> pair(device);
    device.record(pair.start.get(), stream);
    device.launch(graph.get(), stream);
    device.record(pair.stop.get(), stream);
    device.synchronise();
    times.push_back(Milliseconds(device.elapsed(pair.start.get(), pair.stop.get())) / static_cast<double>(repeats));
  }
  return times;
}

template <gpu::Device D, class F>
[[nodiscard]] Milliseconds do_bench_cudagraph(D& device, F&& function, const DoBenchCudaGraph& options = {},
                                              Statistic statistic = Statistic::mean) {
  return summarise(do_bench_cudagraph_times(device, function, options), statistic);
}

}  // namespace pace::benches::timers
