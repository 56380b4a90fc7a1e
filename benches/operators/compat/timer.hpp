// The timers of the compatible flows, and their devices.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>

#include "benches/operators/compat/options.hpp"
#include "benches/timers/benchmarker.hpp"
#include "benches/timers/do_bench.hpp"
#include "benches/timers/summary.hpp"
#include "benches/timers/timed.hpp"
#include "pace/base/error.hpp"
#include "pace/gpu/device.hpp"
#include "pace/subject/random_state.hpp"
#include "pace/timing/wall.hpp"

namespace pace::benches::operators::compat {

using Seconds = std::chrono::duration<double>;
using benches::timers::Milliseconds;

class Timer {
 public:
  using Call = std::function<void()>;

  Timer() = default;
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  virtual ~Timer() = default;

  /// One call on the CPU.
  [[nodiscard]] virtual Seconds cpu(const Call& call) = 0;
  /// One call on the GPU, of many.
  [[nodiscard]] virtual Milliseconds gpu(const Call& call, Generation generation) = 0;
  /// Since any moment.
  [[nodiscard]] virtual Seconds now() = 0;
  /// Waits for the GPU, where there is one.
  virtual void synchronise() = 0;
};

/// Times on the CPU as `timed` does. `C` needs now().
template <class C = timing::WallClock>
class HostTimer : public Timer {
 public:
  explicit HostTimer(C clock = {}) : clock_(std::move(clock)) {}

  [[nodiscard]] Seconds cpu(const Call& call) override {
    constexpr std::uint64_t seed = 1337;
    benches::timers::Timed options;
    options.set_seed = [] { pace::detail::reset_random_state(seed); };
    options.synchronise = [this] { synchronise(); };
    return benches::timers::timed(clock_, call, options);
  }
  [[nodiscard]] Milliseconds gpu(const Call& /*call*/, Generation /*generation*/) override {
    throw Unsupported("this program times on the CPU only: build it with --config=cuda to time on a GPU");
  }
  [[nodiscard]] Seconds now() override { return clock_.now(); }
  /// The originals wait for the GPU around calls on the CPU, too, where there is one.
  void synchronise() override {}

 private:
  C clock_;
};

/// Times on the GPU as `do_bench` does: the old generation takes the mean of the calls; the new one the median, and
/// infinity for a kernel that cannot be launched.
template <gpu::Device D, class C = timing::WallClock>
class DeviceTimer : public HostTimer<C> {
 public:
  using Call = Timer::Call;

  /// `device` must outlive this.
  explicit DeviceTimer(D& device, C clock = {}, benches::timers::DoBench options = {})
      : HostTimer<C>(std::move(clock)), device_(device), options_(std::move(options)) {}

  [[nodiscard]] Milliseconds gpu(const Call& call, Generation generation) override {
    namespace compatible = benches::timers;
    if (generation == Generation::old)
      return compatible::do_bench(device_, call, options_, compatible::Statistic::mean);
    return compatible::or_infinity(
        [&] { return compatible::do_bench(device_, call, options_, compatible::Statistic::median); });
  }
  void synchronise() override { device_.synchronise(); }

 private:
  D& device_;
  benches::timers::DoBench options_;
};

}  // namespace pace::benches::operators::compat
