// random_state: the state of LibTorch's default generators, for equal random numbers in every checked call.
#pragma once

#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Tensor.h>
#include <ATen/detail/CUDAHooksInterface.h>

#include "pace/base/random.hpp"
#include "pace/os/cuda_driver.hpp"

namespace pace::detail {

/// Calls `use` for the CPU's generator, and for each GPU that this process already uses.
template <class Use>
void for_each_default_generator(const Use& use) {
  const auto locked = [&](at::Generator generator) {
    const std::lock_guard<std::mutex> lock(generator.mutex());
    use(generator);
  };
  locked(at::detail::getDefaultCPUGenerator());
  // Counting the devices would start CUDA.
  if (!has_initialised_cuda()) return;
  const auto& cuda = at::detail::getCUDAHooks();
  if (!cuda.hasCUDA()) return;
  for (c10::DeviceIndex device = 0; device < cuda.deviceCount(); ++device)
    if (cuda.hasPrimaryContext(device)) locked(cuda.getDefaultGenerator(device));
}

/// Gives the generators a state that depends on `seed`. It differs from at::manual_seed(seed), after which a user may
/// have drawn the operands.
inline void reset_random_state(std::uint64_t seed) {
  const std::uint64_t mixed = SplitMix64(seed)();
  for_each_default_generator([&](at::Generator& generator) { generator.set_current_seed(mixed); });
}

[[nodiscard]] inline std::vector<at::Tensor> random_state() {
  std::vector<at::Tensor> states;
  for_each_default_generator([&](at::Generator& generator) { states.push_back(generator.get_state()); });
  return states;
}

/// Its destructor restores the generators' states from its construction, except on devices lost since.
class RandomStateKept {
 public:
  RandomStateKept() {
    for_each_default_generator(
        [&](at::Generator& generator) { states_.emplace_back(generator.device(), generator.get_state()); });
  }
  RandomStateKept(const RandomStateKept&) = delete;
  RandomStateKept& operator=(const RandomStateKept&) = delete;
  ~RandomStateKept() {
    try {
      for_each_default_generator([&](at::Generator& generator) {
        // A GPU that was not used before has no state.
        for (const auto& [device, state] : states_)
          if (device == generator.device()) generator.set_state(state);
      });
    } catch (...) {
      // The device is lost, and whatever comes next on it fails for that reason.
    }
  }

 private:
  std::vector<std::pair<at::Device, at::Tensor>> states_ = {};
};

}  // namespace pace::detail
