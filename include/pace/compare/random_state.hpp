// The state of LibTorch's default generators, so that random operators draw the same numbers in every checked call.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Tensor.h>
#include <ATen/detail/CUDAHooksInterface.h>

namespace pace::detail {

/// Of the CPU, and of every GPU that this process uses already.
[[nodiscard]] inline std::vector<at::Generator> default_generators() {
  std::vector<at::Generator> generators{at::detail::getDefaultCPUGenerator()};
  const auto& cuda = at::detail::getCUDAHooks();
  static const bool has_cuda = cuda.hasCUDA();
  if (!has_cuda) return generators;
  for (c10::DeviceIndex device = 0; device < cuda.deviceCount(); ++device)
    if (cuda.hasPrimaryContext(device)) generators.push_back(cuda.getDefaultGenerator(device));
  return generators;
}

inline void reset_random_state(std::uint64_t seed) {
  auto generators = default_generators();
  for (auto& generator : generators) {
    const std::lock_guard<std::mutex> lock(generator.mutex());
    generator.set_current_seed(seed);
  }
}

[[nodiscard]] inline std::vector<at::Tensor> random_state() {
  std::vector<at::Tensor> states;
  auto generators = default_generators();
  for (auto& generator : generators) {
    const std::lock_guard<std::mutex> lock(generator.mutex());
    states.push_back(generator.get_state());
  }
  return states;
}

}  // namespace pace::detail
