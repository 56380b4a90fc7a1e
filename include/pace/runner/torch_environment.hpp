// Facts of LibTorch and of GPUs for the description of the environment.
#pragma once

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <torch/version.h>

#include <map>
#include <string>

#ifdef PACE_CUDA
#include "pace/gpu/cuda/facts.hpp"
#include "pace/gpu/cuda/nvml.hpp"
#include "pace/os/ask_fork.hpp"
#endif

namespace pace::runner {

#ifdef PACE_CUDA
/// Names of the GPUs that this process can use; empty: there are none. Another process asks CUDA, since a process that
/// has asked cannot fork ranks any more (ranks::run).
[[nodiscard]] inline const std::string& names_of_gpus() {
  static const std::string names = pace::detail::ask_fork([] {
    std::string gpus;
    for (int i = 0; i < cuda::device_count(); ++i)
      gpus += (i == 0 ? "" : "; ") + cuda::device_name(static_cast<c10::DeviceIndex>(i));
    return gpus;
  });
  return names;
}

/// Adds the names of the GPUs that this process can use, and the version of their driver.
inline void describe_gpus(std::map<std::string, std::string>& extra) {
  const std::string& gpus = names_of_gpus();
  if (gpus.empty()) return;
  extra["gpu"] = gpus;
  extra["gpu_driver"] = cuda::Nvml::driver_version();
}
#endif

/// Adds LibTorch's version, the instruction set in use, and the number of threads of an operator; in a program with
/// CUDA, the GPUs as well.
inline void describe_torch(std::map<std::string, std::string>& extra) {
  extra["libtorch"] = TORCH_VERSION;
  extra["libtorch_cpu_capability"] = at::get_cpu_capability();
  extra["libtorch_threads"] = std::to_string(at::get_num_threads());
#ifdef PACE_CUDA
  describe_gpus(extra);
#endif
}

}  // namespace pace::runner
