// The state of LibTorch's default generators, so that random operators draw the same numbers in every checked call.
#pragma once

#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Tensor.h>
#include <ATen/detail/CUDAHooksInterface.h>

#include "pace/base/random.hpp"

namespace pace::detail {

/// Calls `use` for the generator of the CPU, and of every GPU that this process uses already.
template <class Use>
void for_each_default_generator(const Use& use) {
  const auto locked = [&](at::Generator generator) {
    const std::lock_guard<std::mutex> lock(generator.mutex());
    use(generator);
  };
  locked(at::detail::getDefaultCPUGenerator());
  const auto& cuda = at::detail::getCUDAHooks();
  static const bool has_cuda = cuda.hasCUDA();
  if (!has_cuda) return;
  for (c10::DeviceIndex device = 0; device < cuda.deviceCount(); ++device)
    if (cuda.hasPrimaryContext(device)) locked(cuda.getDefaultGenerator(device));
}

/// Gives the generators a state that depends on `seed`, and is not that of at::manual_seed(seed): operands that a user
/// drew after it are other numbers than those that calls draw.
inline void reset_random_state(std::uint64_t seed) {
  const std::uint64_t mixed = SplitMix64(seed)();
  for_each_default_generator([&](at::Generator& generator) { generator.set_current_seed(mixed); });
}

[[nodiscard]] inline std::vector<at::Tensor> random_state() {
  std::vector<at::Tensor> states;
  for_each_default_generator([&](at::Generator& generator) { states.push_back(generator.get_state()); });
  return states;
}

/// Restores in its destructor the states that the generators had at its construction, but for those of devices that
/// have been lost since.
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
        // A GPU that was not used before has none.
        for (const auto& [device, state] : states_)
          if (device == generator.device()) generator.set_state(state);
      });
    } catch (...) {
      // The device is lost, and what comes next on it fails for that reason.
    }
  }

 private:
  std::vector<std::pair<at::Device, at::Tensor>> states_ = {};
};

}  // namespace pace::detail
