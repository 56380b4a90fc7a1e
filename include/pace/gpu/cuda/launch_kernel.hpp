// launch_kernel: launches a function of the driver's; what of its parameters and resources the driver says.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/gpu/cuda/driver.hpp"

namespace pace::cuda {

/// Size of a launch.
struct LaunchShape {
  std::array<std::uint32_t, 3> grid{1, 1, 1};   ///< blocks in x, y and z
  std::array<std::uint32_t, 3> block{1, 1, 1};  ///< threads of a block in x, y and z
  std::uint32_t dynamic_shared_bytes = 0;       ///< dynamic shared memory of a block
};

/// Queues a kernel on `stream`. `parameters` points to the address of each argument; null: `extra` holds all of them,
/// as for cuLaunchKernelEx. Throws Unsupported, or DeviceLost where the device is lost, with `what` and the driver's
/// message.
inline void launch_kernel(CUfunction function, const LaunchShape& shape, cudaStream_t stream, void** parameters,
                          void** extra, std::vector<CUlaunchAttribute> attributes, const char* what) {
  using LaunchKernel = CUresult (*)(const CUlaunchConfig*, CUfunction, void**, void**);
  static const auto launch = driver_function<LaunchKernel>("cuLaunchKernelEx");
  CUlaunchConfig config{};
  config.gridDimX = shape.grid[0];
  config.gridDimY = shape.grid[1];
  config.gridDimZ = shape.grid[2];
  config.blockDimX = shape.block[0];
  config.blockDimY = shape.block[1];
  config.blockDimZ = shape.block[2];
  config.sharedMemBytes = shape.dynamic_shared_bytes;
  config.hStream = stream;
  config.attrs = attributes.data();
  config.numAttrs = static_cast<unsigned int>(attributes.size());
  // A launch is timed: the text of an error is made where there is one.
  if (const CUresult code = launch(&config, function, parameters, extra); code != CUDA_SUCCESS) require(code, what);
}

/// Sizes of a kernel's parameters, in bytes. Throws Unsupported if the driver cannot say them, and DeviceLost where the
/// device is lost.
[[nodiscard]] inline std::vector<std::size_t> parameter_bytes(CUfunction function) {
  using GetParameter = CUresult (*)(CUfunction, std::size_t, std::size_t*, std::size_t*);
  static const auto get = driver_function<GetParameter>("cuFuncGetParamInfo", 12040);
  std::vector<std::size_t> sizes;
  std::size_t offset = 0, size = 0;
  while (true) {
    const CUresult code = get(function, sizes.size(), &offset, &size);
    // There is no parameter of this number.
    if (code == CUDA_ERROR_INVALID_VALUE) return sizes;
    require(code, "asking for a kernel's parameters");
    sizes.push_back(size);
  }
}

/// An attribute of a kernel; nothing of one that the driver does not know. Throws Unsupported with the driver's
/// message, and DeviceLost where the device is lost.
[[nodiscard]] inline std::optional<int> function_attribute_if_known(CUfunction function, CUfunction_attribute which) {
  using GetAttribute = CUresult (*)(int*, CUfunction_attribute, CUfunction);
  static const auto attribute_of = driver_function<GetAttribute>("cuFuncGetAttribute");
  int value = 0;
  const CUresult code = attribute_of(&value, which, function);
  if (code == CUDA_ERROR_INVALID_VALUE || code == CUDA_ERROR_NOT_SUPPORTED) return std::nullopt;
  require(code, "asking for what a kernel needs");
  return value;
}

/// As function_attribute_if_known(); throws Unsupported for one that the driver does not know, too.
[[nodiscard]] inline int function_attribute(CUfunction function, CUfunction_attribute which) {
  if (const auto value = function_attribute_if_known(function, which)) return *value;
  throw Unsupported("the driver does not know attribute " + std::to_string(static_cast<int>(which)) + " of a kernel");
}

}  // namespace pace::cuda
