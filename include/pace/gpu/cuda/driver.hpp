// Functions of the driver that the runtime lacks, found at run time, so that nothing links against libcuda.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <string>

#include "pace/core/error.hpp"
#include "pace/gpu/cuda/error.hpp"

namespace pace::cuda {

/// Returns the driver's function `name` in its form of the CUDA version `version` (12030 is 12.3). Throws Unsupported
/// if the driver has none.
template <class Function>
[[nodiscard]] Function driver_function(const char* name, unsigned int version = 12000) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status{};
  check(cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &status), "looking for the driver");
  if (status != cudaDriverEntryPointSuccess || found == nullptr)
    throw Unsupported(std::string("the driver has no ") + name + "; expected one of CUDA " +
                      std::to_string(version / 1000) + '.' + std::to_string(version % 1000 / 10) + " or later");
  return reinterpret_cast<Function>(found);
}

/// Throws Unsupported with the driver's message unless `code` is success, and DeviceLost if a kernel did something
/// illegal before. `what` names the operation, such as `loading FILE`.
inline void require(CUresult code, const std::string& what) {
  if (code == CUDA_SUCCESS) return;
  using ErrorText = CUresult (*)(CUresult, const char**);
  static const auto text_of = driver_function<ErrorText>("cuGetErrorString");
  const char* text = nullptr;
  if (text_of(code, &text) != CUDA_SUCCESS || text == nullptr) text = "an error that the driver has no words for";
  switch (code) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
      throw DeviceLost(what + ": " + text + "; a kernel did something illegal, and the device is lost to this process");
    default:
      throw Unsupported(what + ": " + text);
  }
}

}  // namespace pace::cuda
