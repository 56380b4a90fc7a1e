// The runners by name.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "benches/rnn/model_def.hpp"

namespace pace::benches::rnn {

inline constexpr std::int64_t any_number_of_layers = std::numeric_limits<std::int64_t>::max();

struct Runner {
  std::string name;
  std::string group;  ///< lstm, vl_lstm or resnet: under which name results are reported
  bool needs_cuda = false;
  std::int64_t max_layers = any_number_of_layers;
  /// Runners with equal kinds give equal answers and gradients to equal seeds.
  std::string compared_with;
  /// With more layers than one, the answer depends on the default generators' state; between cuDNN and others, it is
  /// not even equal for equal states.
  bool draws = false;
  /// Throws what `check` throws.
  std::function<ModelDef(const Sizes&)> make;
};

/// Throws InputError naming the option if the runner cannot take the sizes, Unsupported if it needs another device.
void check(const Runner& runner, const Sizes& sizes);

[[nodiscard]] const std::vector<Runner>& runners();

/// Throws InputError with all names.
[[nodiscard]] const Runner& find_runner(const std::string& name);

}  // namespace pace::benches::rnn
