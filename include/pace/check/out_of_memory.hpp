// means_out_of_memory: whether an error says that the device's or the host's memory ran out.
#pragma once

#include <c10/util/Exception.h>

#include <new>
#include <string_view>

namespace pace::check {

/// Whether `error` says that the device's or the host's memory ran out. No single type says so: LibTorch's allocator
/// throws c10::OutOfMemoryError on a GPU and a plain c10::Error on the CPU. Failed allocations of the driver, cuBLAS
/// and cuDNN have their status in the text.
[[nodiscard]] inline bool means_out_of_memory(const std::exception& error) {
  if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr) return true;
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return true;
  const auto* const from_torch = dynamic_cast<const c10::Error*>(&error);
  const std::string_view message = from_torch != nullptr ? from_torch->what_without_backtrace() : error.what();
  for (const std::string_view phrase :
       {"CUDA out of memory", "CUDA error: out of memory", "cudaErrorMemoryAllocation", "CUBLAS_STATUS_ALLOC_FAILED",
        "CUDNN_STATUS_ALLOC_FAILED", "DefaultCPUAllocator: can't allocate memory"})
    if (message.find(phrase) != std::string_view::npos) return true;
  return false;
}

}  // namespace pace::check
