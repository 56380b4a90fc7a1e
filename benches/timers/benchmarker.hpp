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
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "benches/timers/summary.hpp"
#include "pace/base/error.hpp"
#include "pace/check/ivalue.hpp"

namespace pace::benches::timers {

/// The time that `measure()` returns, or infinity if it throws an error that contains "invalid configuration". When we
/// try configurations, a kernel that asks for more than the device has is the slowest of all, not an error.
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

  /// `cpu` is for the device type "cpu", `gpu` for every other one without a timer of its own. `name`: the original's
  /// class in the names of counters, such as `InductorBenchmarker`.
  Benchmarker(Timer cpu, Timer gpu, std::string name = "Benchmarker")
      : cpu_(std::move(cpu)), gpu_(std::move(gpu)), name_(std::move(name)) {}

  /// Devices of this type are timed by `timer`. Throws InputError if they already have one, unless `override_it`.
  void register_timer(const std::string& device_type, Timer timer, bool override_it = false) {
    if (registered_.contains(device_type) && !override_it)
      throw InputError({}, "device type '" + device_type + "' already has a timer; expected override_it to replace it");
    registered_[device_type] = std::move(timer);
  }

  /// `devices`: of all tensors among the arguments, such as "cpu" or "cuda:0". Throws InputError if there are none, or
  /// several.
  [[nodiscard]] static std::string infer_device(std::span<const std::string> devices) {
    if (devices.empty())
      throw InputError({}, "no tensor among the arguments to tell the device by; expected one, or a device's name");
    for (const auto& device : devices)
      if (device != devices[0])
        throw InputError({}, "tensors on " + devices[0] + " and on " + device + "; expected all on one device");
    return devices[0];
  }

  /// The same of all tensors in the arguments of a call, at any depth of lists, tuples and dictionaries.
  [[nodiscard]] static std::string infer_device_of(const c10::IValue& arguments) {
    std::vector<std::string> devices;
    for (const auto& tensor : check::tensors_of(arguments))
      if (tensor.defined()) devices.push_back(tensor.device().str());
    return infer_device(devices);
  }

  [[nodiscard]] Milliseconds benchmark(const std::function<void()>& function, std::span<const std::string> devices) {
    return benchmark(function, infer_device(devices));
  }
  [[nodiscard]] Milliseconds benchmark(const std::function<void()>& function, const std::string& device) {
    count("benchmark");
    const std::string type = device.substr(0, device.find(':'));
    if (const auto found = registered_.find(type); found != registered_.end()) return found->second(function);
    return type == "cpu" ? benchmark_cpu(function) : benchmark_gpu(function);
  }
  [[nodiscard]] Milliseconds benchmark_cpu(const std::function<void()>& function) {
    count("benchmark_cpu");
    return cpu_(function);
  }
  [[nodiscard]] Milliseconds benchmark_gpu(const std::function<void()>& function) {
    count("benchmark_gpu");
    return or_infinity([&] { return gpu_(function); });
  }

  /// How often each of the functions above was called, by the original's names: `benchmarking.CLASS.FUNCTION`.
  [[nodiscard]] const std::map<std::string, std::int64_t>& counters() const { return counters_; }

 private:
  void count(const std::string& function) { ++counters_["benchmarking." + name_ + '.' + function]; }

  Timer cpu_, gpu_;
  std::string name_;
  std::map<std::string, Timer> registered_;
  std::map<std::string, std::int64_t> counters_;
};

}  // namespace pace::benches::timers
