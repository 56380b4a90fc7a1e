// has_initialised_cuda: whether this process has begun to use CUDA.
#pragma once

#include <dlfcn.h>

namespace pace::detail {

/// Whether this process has initialised CUDA's driver, as the first use of a GPU does, and counting them by LibTorch.
/// That starts a thread, and CUDA works in no process that is forked afterwards. This function does not initialise it.
[[nodiscard]] inline bool has_initialised_cuda() {
  void* const driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (driver == nullptr) return false;
  using GetContext = int (*)(void**);
  const auto get_context = reinterpret_cast<GetContext>(::dlsym(driver, "cuCtxGetCurrent"));
  void* context = nullptr;
  constexpr int not_initialised = 3;  // CUDA_ERROR_NOT_INITIALIZED
  const bool initialised = get_context != nullptr && get_context(&context) != not_initialised;
  ::dlclose(driver);
  return initialised;
}

}  // namespace pace::detail
