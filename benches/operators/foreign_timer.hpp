// Timers of PyTorch and Triton as the clock of pace's own comparisons.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "benches/files/aot/device.hpp"
#include "benches/timers/benchmark_cpu.hpp"
#include "benches/timers/timer_clock.hpp"
#include "pace/base/error.hpp"
#include "pace/base/units.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/wall.hpp"
#ifdef PACE_CUDA
#include "benches/timers/do_bench.hpp"
#include "benches/timers/inductor.hpp"
#include "benches/timers/profiling.hpp"
#include "pace/gpu/cuda/device.hpp"
#endif

namespace pace::benches::operators {

namespace detail {

/// A timer and its source of time.
template <class D>
struct OwningClock {
  D device;
  timers::TimerClock<D> clock;

  /// `make_device` is called with nothing, since devices are not copied.
  template <class MakeDevice>
  OwningClock(MakeDevice make_device, const std::string& name, typename timers::TimerClock<D>::Timer timer,
              Nanoseconds resolution, timers::LastCall last_call)
      : device(make_device()), clock(device, name, std::move(timer), resolution, last_call) {}
  OwningClock(const OwningClock&) = delete;
  OwningClock& operator=(const OwningClock&) = delete;
};

template <class D, class MakeDevice>
[[nodiscard]] std::shared_ptr<timing::Clock> owning_clock(MakeDevice make_device, const std::string& name,
                                                          typename timers::TimerClock<D>::Timer timer,
                                                          Nanoseconds resolution, timers::LastCall last_call) {
  const auto whole = std::make_shared<OwningClock<D>>(make_device, name, std::move(timer), resolution, last_call);
  return {whole, &whole->clock};
}

}  // namespace detail

/// Throws InputError for a timer (foreign_timers) that is not for `device`, or a device that is not there.
inline void require_foreign_timer(const std::string& name, const std::string& device) {
  const at::Device where = aot::parse_device(device);
  if (where.is_cpu() != (name == "benchmark_cpu"))
    throw InputError({}, "--timer " + name + " does not time on --device " + device + "; expected " +
                             (where.is_cpu() ? "benchmark_cpu there, or --device cuda"
                                             : "do_bench or another one of a GPU there, or --device cpu"));
}

/// Returns a clock that takes the figures of the timer `name` as samples. Throws as require_foreign_timer() does.
[[nodiscard]] inline std::shared_ptr<timing::Clock> foreign_timer(const std::string& name, const std::string& device,
                                                                  timers::LastCall last_call) {
  using Call = std::function<void()>;
  require_foreign_timer(name, device);
  const at::Device where = aot::parse_device(device);
  if (where.is_cpu())
    return detail::owning_clock<timing::WallClock>(
        [] { return timing::WallClock(); }, name,
        [](timing::WallClock& on, const Call& call) { return timers::benchmark_cpu(on, call); },
        timing::WallClock().resolution(), last_call);
#ifdef PACE_CUDA
  using cuda::CudaDevice;
  const auto on_gpu = [&](timers::TimerClock<CudaDevice>::Timer timer) {
    constexpr Nanoseconds of_events(500);  // as documented
    return detail::owning_clock<CudaDevice>([&] { return CudaDevice(where.index()); }, name, std::move(timer),
                                            of_events, last_call);
  };
  using timers::Statistic;
  if (name == "do_bench")
    return on_gpu([](CudaDevice& on, const Call& call) { return timers::do_bench(on, call, {}, Statistic::median); });
  if (name == "do_bench_cudagraph")
    return on_gpu(
        [](CudaDevice& on, const Call& call) { return timers::do_bench_cudagraph(on, call, {}, Statistic::median); });
  if (name == "do_bench_using_profiling")
    return on_gpu([](CudaDevice& on, const Call& call) { return timers::do_bench_using_profiling(on, call); });
  if (name == "inductor")
    return on_gpu([](CudaDevice& on, const Call& call) { return timers::inductor_benchmark(on, call).least; });
  if (name == "inductor_cudagraph")
    return on_gpu([](CudaDevice& on, const Call& call) { return timers::inductor_benchmark_graph(on, call).least; });
  if (name == "profiler")
    return on_gpu([](CudaDevice& on, const Call& call) { return timers::profiler_benchmark(on, call); });
#endif
  throw InputError({}, "--timer: no timer is called '" + name + "'");
}

}  // namespace pace::benches::operators
