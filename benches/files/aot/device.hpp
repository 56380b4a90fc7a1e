// The devices that subjects run on: whether this program can use one, its name, the memory that it has left.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>

#include <c10/core/Device.h>

#include "pace/base/error.hpp"
#include "pace/os/memory.hpp"

#ifdef PACE_CUDA
#include "pace/gpu/cuda/facts.hpp"
#endif

namespace pace::benches::aot {

/// `cpu`, `cuda` (the first GPU) or `cuda:1`. Throws InputError for anything else, and for a device that is not there
/// or that this program was built without.
[[nodiscard]] inline at::Device parse_device(const std::string& name) {
  const auto refuse = [&](const std::string& why) -> at::Device {
    throw InputError({}, "--device: expected cpu, cuda or cuda:NUMBER, found '" + name + "'" + why);
  };
  at::Device device(at::kCPU);
  try {
    device = at::Device(name);
  } catch (const std::exception&) {
    return refuse("");
  }
  if (device.is_cpu() && !device.has_index()) return device;
  if (!device.is_cuda()) return refuse("");
#ifdef PACE_CUDA
  const int count = cuda::device_count(), index = device.has_index() ? device.index() : 0;
  if (index >= count) return refuse("; this machine has " + std::to_string(count) + " CUDA devices");
  return {at::kCUDA, static_cast<c10::DeviceIndex>(index)};
#else
  return refuse("; this program was built without CUDA: build it with --config=cuda");
#endif
}

/// Bytes that can still be allocated there; none where that is not known.
[[nodiscard]] inline std::optional<std::int64_t> available_memory_on([[maybe_unused]] const at::Device& device) {
#ifdef PACE_CUDA
  if (device.is_cuda()) return cuda::available_memory(device.index());
#endif
  return available_memory();
}

/// The properties that distinguish the device from others that code could be compiled for; empty for the CPU.
[[nodiscard]] inline std::string device_model([[maybe_unused]] const at::Device& device) {
#ifdef PACE_CUDA
  if (device.is_cuda()) return cuda::device_name(device.index());
#endif
  return {};
}

}  // namespace pace::benches::aot
