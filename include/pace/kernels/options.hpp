// KernelsOptions: what pace::kernels measures, and how.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include <c10/core/DeviceType.h>

#include "pace/base/units.hpp"
#include "pace/kernels/knowledge.hpp"

namespace pace {

/// Options of pace::kernels.
struct KernelsOptions {
  /// Where the kernels run: CUDA or CPU. Absent: on CUDA if an operand is there, otherwise on the CPU.
  std::optional<c10::DeviceType> on = {};
  /// Number of the GPU.
  int device = 0;
  /// On a GPU, whether each kernel is also timed with an empty cache.
  bool cold = true;
  /// On a GPU, whether every configuration is timed in the place of its kernel, if a provider knows the builds.
  bool configurations = false;
  /// On a GPU, another timer for one launch, which `launch()` queues on the current stream. Its result becomes
  /// Kernel::compatible. Empty: none.
  std::function<Nanoseconds(const std::function<void()>& launch)> compatible = {};
  /// Whether the memory's peak bandwidth is measured. Takes a tenth of a second, or half a second on the CPU.
  bool peak_bandwidth = true;
  /// On the CPU, how long the call is repeated. Half of the calls are recorded.
  Nanoseconds budget = std::chrono::milliseconds(400);
  std::size_t least_calls = 10;  ///< on the CPU, the least number of calls
  std::size_t most_calls = 400;  ///< on the CPU, the largest number of calls
  /// Sources of the bytes, categories and builds of kernels; the first one that knows a kernel applies.
  std::vector<kernel::Provider> providers = {};
};

}  // namespace pace
