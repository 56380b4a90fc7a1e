// Facts of LibTorch and of GPUs for the description of the environment.
#pragma once

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <torch/version.h>

#include <map>
#include <string>
#include <vector>

#ifdef PACE_CUDA
#include "pace/gpu/cuda/names.hpp"
#include "pace/gpu/cuda/nvml.hpp"
#include "pace/os/ask_fork.hpp"
#include "pace/run/run_context.hpp"
#endif

namespace pace::runner {

#ifdef PACE_CUDA
/// Names of the GPUs that this process can use; empty: there are none. In a program that forks ranks another process
/// asks CUDA, since ranks could not use CUDA any more.
[[nodiscard]] inline std::vector<std::string> names_of_gpus() {
  return run_context().forks_ranks ? cuda::device_names_from_fork().names : cuda::device_names();
}

/// Adds the names of the GPUs that this process can use, and the version of their driver.
inline void describe_gpus(std::map<std::string, std::string>& extra) {
  std::string gpus;
  for (const auto& name : names_of_gpus()) gpus += (gpus.empty() ? "" : "; ") + name;
  if (gpus.empty()) return;
  extra["gpu"] = gpus;
  const auto version = [] { return cuda::Nvml::driver_version(); };
  extra["gpu_driver"] = run_context().forks_ranks ? pace::detail::ask_fork(version).text : version();
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
