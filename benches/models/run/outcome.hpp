// The meaning of an exception for a model: its status, and the words for it.
#pragma once

#include <string>

#include <ATen/Context.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/Device.h>
#include <c10/util/Exception.h>

#include "pace/base/error.hpp"
#include "pace/subject/implementation.hpp"

namespace pace::benches::models {

/// An exception in the course of a run.
struct Failed {
  std::string message;
  bool out_of_memory = false;
  /// A model that says of itself that it does not run so.
  bool not_implemented = false;
  /// Nothing more can run on the device.
  bool device_lost = false;
};

namespace detail {

/// The line that names the error: the first, but the last where TorchScript's interpreter prints its stack first.
[[nodiscard]] inline std::string telling_line(std::string message) {
  while (!message.empty() && message.back() == '\n') message.pop_back();
  if (message.starts_with("The following operation failed in the TorchScript interpreter"))
    return message.substr(message.rfind('\n') + 1);
  return message.substr(0, message.find('\n'));
}

}  // namespace detail

/// The failure that the exception being handled amounts to.
[[nodiscard]] inline Failed current_failed() {
  const auto failure = pace::detail::current_failure();
  Failed failed{.message = detail::telling_line(failure.message),
                .out_of_memory = failure.out_of_memory,
                .device_lost = failure.device == pace::detail::Failure::Device::lost};
  try {
    throw;
  } catch (const c10::NotImplementedError&) {
    failed.not_implemented = true;
  } catch (...) {
  }
  return failed;
}

/// A device from its name: `cpu`, `cuda`, `cuda:1`. Throws InputError if it names no device, DeviceMissing if this
/// machine or this LibTorch does not have it.
[[nodiscard]] inline c10::Device find_device(const std::string& name) {
  const auto device = [&] {
    try {
      return c10::Device(name);
    } catch (const c10::Error&) {
      throw InputError({}, "no device is called '" + name + "'; expected cpu, cuda or cuda:N");
    }
  }();
  if (device.is_cpu()) return device;
  if (!device.is_cuda()) throw InputError({}, "models run on cpu and on cuda, not on '" + name + "'");
  const auto& cuda = at::detail::getCUDAHooks();
  const int count = cuda.hasCUDA() ? static_cast<int>(cuda.deviceCount()) : 0;
  if (count <= (device.has_index() ? device.index() : 0))
    throw DeviceMissing("there is no device " + name + ": LibTorch sees " + std::to_string(count) +
                        " CUDA devices; expected --device cpu, or a machine with one");
  return device.has_index() ? device : c10::Device(c10::kCUDA, 0);
}

/// Waits until a GPU is done; nothing on a CPU.
inline void synchronise(c10::Device device) {
  if (device.is_cuda()) at::detail::getCUDAHooks().deviceSynchronize(device.index());
}

}  // namespace pace::benches::models
