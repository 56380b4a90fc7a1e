// CacheSettings: the settings of the L2 cache. One call can influence the next by them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "pace/gpu/cuda/device.hpp"
#include "pace/gpu/cuda/error.hpp"

namespace pace::cuda {

/// Settings of persisting lines in the L2 cache, which survive a flush.
struct CacheSettings {
  std::size_t persisting_bytes = 0;    ///< the device's limit for persisting lines
  cudaAccessPolicyWindow window = {};  ///< memory whose lines persist when the current stream's kernels access it

  /// Compares the limit, and the address and the size of the window.
  [[nodiscard]] bool operator==(const CacheSettings& other) const {
    return persisting_bytes == other.persisting_bytes && window.num_bytes == other.window.num_bytes &&
           window.base_ptr == other.window.base_ptr;
  }
};

/// Returns the settings of `device` and its current stream. Throws as check() does.
[[nodiscard]] inline CacheSettings read_cache_settings(const CudaDevice& device) {
  cudaStreamAttrValue value{};
  if (!check_if_supported(
          cudaStreamGetAttribute(device.current_stream(), cudaStreamAttributeAccessPolicyWindow, &value),
          "reading the stream's access policy"))
    value = {};
  return {device.persisting_bytes(), value.accessPolicyWindow};
}

/// Sets the settings of `device` and its current stream, and makes persisting lines ordinary ones. Throws as check()
/// does.
inline void restore_cache_settings(const CudaDevice& device, const CacheSettings& settings) {
  cudaStreamAttrValue value{};
  value.accessPolicyWindow = settings.window;
  check_if_supported(cudaStreamSetAttribute(device.current_stream(), cudaStreamAttributeAccessPolicyWindow, &value),
                     "restoring the stream's access policy");
  if (device.persisting_bytes() != settings.persisting_bytes) device.set_persisting_bytes(settings.persisting_bytes);
  device.drop_persisting_lines();
}

}  // namespace pace::cuda
