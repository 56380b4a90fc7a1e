// Names of all GPUs, asked here or in another process.
#pragma once

#include <c10/core/Device.h>
#include <cuda_runtime_api.h>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/gpu/cuda/error.hpp"
#include "pace/gpu/cuda/facts.hpp"
#include "pace/os/ask_fork.hpp"

namespace pace::cuda {

/// Names of the GPUs that are visible to this process, with their compute capability, in CUDA's order. Initialises
/// CUDA, which then works in no process that is forked from this one.
[[nodiscard]] inline std::vector<std::string> device_names() {
  std::vector<std::string> names;
  for (int i = 0; i < device_count(); ++i) names.push_back(device_name(static_cast<c10::DeviceIndex>(i)));
  return names;
}

/// What another process said of the GPUs.
struct NamesFromFork {
  /// In CUDA's order; empty: there are none, or `fault` says why nobody knows.
  std::vector<std::string> names = {};
  /// Why that process did not answer, as a clause; empty: it did.
  std::string fault = {};
};

/// The same names from a copy of this process, which leaves CUDA alone here. Asks once: a start of CUDA takes a tenth
/// of a second and more.
[[nodiscard]] inline const NamesFromFork& device_names_from_fork() {
  static const NamesFromFork found = [] {
    const auto answer = pace::detail::ask_fork([] {
      std::string all;
      for (const auto& name : device_names()) all += name + '\n';
      return all;
    });
    NamesFromFork all;
    if (!answer.fault.empty()) all.fault = "the process that asked CUDA for GPUs failed: " + answer.fault;
    std::istringstream lines(answer.text);
    for (std::string line; std::getline(lines, line);) all.names.push_back(std::move(line));
    return all;
  }();
  return found;
}

/// Addresses on the PCI bus of the GPUs that are visible to this process, such as `0000:18:00.0`, asked in the same
/// way. Throws Unsupported if that fails. Empty: there are none.
[[nodiscard]] inline std::vector<std::string> device_addresses_from_fork() {
  const auto answer = pace::detail::ask_fork([] {
    std::string all;
    for (int i = 0; i < device_count(); ++i) {
      char address[32];
      check(cudaDeviceGetPCIBusId(address, sizeof address, i), "asking for the device's address");
      all += std::string(address) + '\n';
    }
    return all;
  });
  if (!answer.fault.empty()) throw Unsupported("the process that asked CUDA for GPUs failed: " + answer.fault);
  std::vector<std::string> addresses;
  std::istringstream lines(answer.text);
  for (std::string line; std::getline(lines, line);) addresses.push_back(std::move(line));
  return addresses;
}

}  // namespace pace::cuda
