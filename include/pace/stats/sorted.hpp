// Numbers in ascending order. The only std::sort of the library: each other one would be compiled anew in every test.
#pragma once

#include <algorithm>
#include <vector>

namespace pace::stats {

/// NaN must not be among them.
[[nodiscard]] inline std::vector<double> sorted(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values;
}

}  // namespace pace::stats
