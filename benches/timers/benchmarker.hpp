// Benchmarker: picks a compatible timer by device, counts calls, and turns a launch that cannot be into infinity.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "benches/timers/summary.hpp"
#include "pace/core/error.hpp"

namespace pace::benches::timers {

/// The time that `measure()` returns; infinity if it throws something that says "invalid configuration": a kernel
/// that asks for more than the device has is the slowest of all, not an error, where configurations are tried out.
template <class Measure>
[[nodiscard]] Milliseconds or_infinity(Measure&& measure) {
  try {
    return measure();
  } catch (const std::exception& error) {
    if (std::string(error.what()).find("invalid configuration") == std::string::npos) throw;
    return Milliseconds(std::numeric_limits<double>::infinity());
  }
}

class Benchmarker {
 public:
  using Timer = std::function<Milliseconds(const std::function<void()>&)>;

  /// `cpu` is for the device type "cpu", `gpu` for every other one without a timer of its own.
  Benchmarker(Timer cpu, Timer gpu) : cpu_(std::move(cpu)), gpu_(std::move(gpu)) {}

  /// Devices of this type are timed by `timer`. Throws InputError if they already have one, unless `override_it`.
  void register_timer(const std::string& device_type, Timer timer, bool override_it = false) {
    if (registered_.contains(device_type) && !override_it)
      throw InputError({}, "device type '" + device_type + "' already has a timer; expected override_it to replace it");
    registered_[device_type] = std::move(timer);
  }

  /// `devices` are those of all tensors among the arguments, such as "cpu" or "cuda:0". Throws InputError if there are
  /// none, or several.
  [[nodiscard]] static std::string infer_device(std::span<const std::string> devices) {
    if (devices.empty())
      throw InputError({}, "no tensor among the arguments to tell the device by; expected one, or a device's name");
    for (const auto& device : devices)
      if (device != devices[0])
        throw InputError({}, "tensors on " + devices[0] + " and on " + device + "; expected all on one device");
    return devices[0];
  }

  [[nodiscard]] Milliseconds benchmark(const std::function<void()>& function, std::span<const std::string> devices) {
    return benchmark(function, infer_device(devices));
  }
  [[nodiscard]] Milliseconds benchmark(const std::function<void()>& function, const std::string& device) {
    ++counters_["benchmark"];
    const std::string type = device.substr(0, device.find(':'));
    if (const auto found = registered_.find(type); found != registered_.end()) return found->second(function);
    return type == "cpu" ? benchmark_cpu(function) : benchmark_gpu(function);
  }
  [[nodiscard]] Milliseconds benchmark_cpu(const std::function<void()>& function) {
    ++counters_["benchmark_cpu"];
    return cpu_(function);
  }
  [[nodiscard]] Milliseconds benchmark_gpu(const std::function<void()>& function) {
    ++counters_["benchmark_gpu"];
    return or_infinity([&] { return gpu_(function); });
  }

  /// How often each of the functions above was called.
  [[nodiscard]] const std::map<std::string, std::int64_t>& counters() const { return counters_; }

 private:
  Timer cpu_, gpu_;
  std::map<std::string, Timer> registered_;
  std::map<std::string, std::int64_t> counters_;
};

}  // namespace pace::benches::timers
