// What LibTorch adds to the description of the environment.
#pragma once

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <torch/version.h>

#include <map>
#include <string>

namespace pace::harness {

/// Version, instruction set in use, and number of threads of an operator.
inline void describe_torch(std::map<std::string, std::string>& extra) {
  extra["libtorch"] = TORCH_VERSION;
  extra["libtorch_cpu_capability"] = at::get_cpu_capability();
  extra["libtorch_threads"] = std::to_string(at::get_num_threads());
}

}  // namespace pace::harness
