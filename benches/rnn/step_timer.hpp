// StepTimer: events between which the parts of a training step are timed; on the host, or in a device's stream.
#pragma once

#include <concepts>
#include <string>
#include <utility>

#include <c10/core/Device.h>

#include "pace/base/error.hpp"
#include "pace/base/units.hpp"
#include "pace/gpu/device.hpp"
#include "pace/gpu/owned.hpp"
#include "pace/timing/wall.hpp"
#ifdef PACE_CUDA
#include "pace/gpu/cuda/device.hpp"
#endif

namespace pace::benches::rnn {

/// `record` marks the moment when everything so far is done. `elapsed` returns the time between two of them after a
/// `synchronise`. `on_host`: they are read from the clock that `now` reads.
template <class T>
concept StepTimer = requires(T& timer, typename T::Event& event, const typename T::Event& recorded) {
  { timer.make_event() } -> std::same_as<typename T::Event>;
  timer.record(event);
  timer.synchronise();
  { timer.elapsed(recorded, recorded) } -> std::same_as<Nanoseconds>;
  { timer.now() } -> std::same_as<Nanoseconds>;
  { T::on_host } -> std::convertible_to<bool>;
};

/// For models on the CPU. `C` needs now().
template <class C = timing::WallClock>
class HostTimer {
 public:
  using Event = Nanoseconds;
  static constexpr bool on_host = true;

  explicit HostTimer(C clock = {}) : clock_(std::move(clock)) {}

  [[nodiscard]] Event make_event() const { return {}; }
  void record(Event& event) { event = clock_.now(); }
  void synchronise() const {}
  [[nodiscard]] Nanoseconds elapsed(const Event& start, const Event& end) const { return end - start; }
  [[nodiscard]] Nanoseconds now() { return clock_.now(); }

 private:
  C clock_;
};

/// For models on a device: events in its current stream.
template <gpu::Device D>
class DeviceTimer {
 public:
  using Event = gpu::Owned<D, typename D::Event>;
  static constexpr bool on_host = false;

  /// `device` must outlive this and all events.
  explicit DeviceTimer(D& device) : device_(device) {}

  [[nodiscard]] Event make_event() { return gpu::own_event(device_); }
  void record(Event& event) { device_.record(event.get(), device_.current_stream()); }
  void synchronise() { device_.synchronise(); }
  [[nodiscard]] Nanoseconds elapsed(const Event& start, const Event& end) {
    return device_.elapsed(start.get(), end.get());
  }
  [[nodiscard]] Nanoseconds now() { return device_.now(); }

 private:
  D& device_;
};

static_assert(StepTimer<HostTimer<>>);

/// Where fastrnns takes the times of steps on `device`, which --device names `name`: by events on a GPU that is called
/// `cuda` and nothing else. `cuda:0` is timed by the host's clock, which waits for nothing.
[[nodiscard]] inline c10::Device timed_device(const std::string& name, const c10::Device& device) {
  return name == "cuda" ? device : c10::Device(c10::kCPU);
}

/// Calls `use` with the timer of a device; `cuda:1` is as much a GPU as `cuda` is. Throws Unsupported for a GPU if this
/// program was built without CUDA.
template <class Use>
decltype(auto) with_step_timer(const c10::Device& device, Use&& use) {
#ifdef PACE_CUDA
  if (device.is_cuda()) {
    cuda::CudaDevice gpu(device.has_index() ? device.index() : 0);
    DeviceTimer timer(gpu);
    return use(timer);
  }
#endif
  if (!device.is_cpu())
    throw Unsupported("cannot time on " + device.str() +
                      ": this program was built for the CPU; build it with --config=cuda");
  HostTimer<> timer;
  return use(timer);
}

}  // namespace pace::benches::rnn
