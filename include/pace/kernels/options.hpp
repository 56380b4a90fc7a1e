// What is asked of pace::kernels.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include <c10/core/DeviceType.h>

#include "pace/core/units.hpp"
#include "pace/kernels/knowledge.hpp"

namespace pace {

struct KernelsOptions {
  /// Where the kernels run: CUDA or CPU. None: on CUDA if an operand is there, else on the CPU.
  std::optional<c10::DeviceType> on = {};
  /// The GPU's number.
  int device = 0;
  /// The time of each kernel with an empty cache, too; of a GPU's kernels.
  bool cold = true;
  /// Every configuration of kernels whose builds a provider knows is timed in the kernel's place, too; of a GPU's kernels.
  bool configurations = false;
  /// Another way to time one launch, which `launch()` queues on the current stream: gives Kernel::compatible. For a GPU's
  /// kernels.
  std::function<Nanoseconds(const std::function<void()>& launch)> compatible = {};
  /// What memory can do, for shares of it: a tenth of a second, or half a second on the CPU.
  bool peak_bandwidth = true;
  /// On the CPU, how long the call is repeated, and how often at least and at most; half of the calls are recorded.
  Nanoseconds budget = std::chrono::milliseconds(400);
  std::size_t least_calls = 10, most_calls = 400;
  /// What knows kernels' bytes and categories; asked in this order.
  std::vector<kernel::Provider> providers = {};
};

}  // namespace pace
