// Functions of the driver that the runtime lacks, found at run time: nothing links against libcuda.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <string>

#include "pace/core/error.hpp"
#include "pace/cuda/error.hpp"

namespace pace::cuda {

/// The driver's function of that name, as of CUDA 12.0. Throws Refused if the driver has none.
template <class Function>
[[nodiscard]] Function driver_function(const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status{};
  check(cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &status), "looking for the driver");
  if (status != cudaDriverEntryPointSuccess || found == nullptr)
    throw Refused(std::string("the driver has no ") + name + "; expected one of CUDA 12 or later");
  return reinterpret_cast<Function>(found);
}

}  // namespace pace::cuda
