// Functions of the driver that the runtime lacks, found at run time, so that nothing links against libcuda.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <string>

#include "pace/base/error.hpp"
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

/// Throws Unsupported with the driver's message unless `code` is success, and DeviceLost where loses_device() is true
/// of it. `what` names the operation, such as `loading FILE`.
inline void require(CUresult code, const std::string& what) {
  if (code == CUDA_SUCCESS) return;
  static_assert(CUDA_ERROR_ILLEGAL_ADDRESS == static_cast<CUresult>(cudaErrorIllegalAddress) &&
                CUDA_ERROR_LAUNCH_FAILED == static_cast<CUresult>(cudaErrorLaunchFailure) &&
                CUDA_ERROR_ECC_UNCORRECTABLE == static_cast<CUresult>(cudaErrorECCUncorrectable));
  using ErrorText = CUresult (*)(CUresult, const char**);
  static const auto text_of = driver_function<ErrorText>("cuGetErrorString");
  const char* text = nullptr;
  if (text_of(code, &text) != CUDA_SUCCESS || text == nullptr) text = "an error that the driver has no words for";
  if (loses_device(static_cast<cudaError_t>(code))) throw DeviceLost(what + ": " + text + "; " + device_is_lost);
  throw Unsupported(what + ": " + text);
}

}  // namespace pace::cuda
