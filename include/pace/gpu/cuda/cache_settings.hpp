// CacheSettings: what of the L2 is kept for whom, which calls can change for each other.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "pace/gpu/cuda/device.hpp"
#include "pace/gpu/cuda/error.hpp"

namespace pace::cuda {

/// The device's limit for lines that survive a flush, and the memory of which the current stream's kernels leave such.
struct CacheSettings {
  std::size_t persisting_bytes = 0;
  cudaAccessPolicyWindow window = {};

  [[nodiscard]] bool operator==(const CacheSettings& other) const {
    return persisting_bytes == other.persisting_bytes && window.num_bytes == other.window.num_bytes &&
           window.base_ptr == other.window.base_ptr;
  }
};

[[nodiscard]] inline CacheSettings read_cache_settings(const CudaDevice& device) {
  cudaStreamAttrValue value{};
  if (!check_if_supported(
          cudaStreamGetAttribute(device.current_stream(), cudaStreamAttributeAccessPolicyWindow, &value),
          "reading the stream's access policy"))
    value = {};
  return {device.persisting_bytes(), value.accessPolicyWindow};
}

inline void restore_cache_settings(const CudaDevice& device, const CacheSettings& settings) {
  cudaStreamAttrValue value{};
  value.accessPolicyWindow = settings.window;
  check_if_supported(cudaStreamSetAttribute(device.current_stream(), cudaStreamAttributeAccessPolicyWindow, &value),
                     "restoring the stream's access policy");
  if (device.persisting_bytes() != settings.persisting_bytes) device.set_persisting_bytes(settings.persisting_bytes);
  device.drop_persisting_lines();
}

}  // namespace pace::cuda
