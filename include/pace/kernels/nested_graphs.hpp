// why_not_prepared: which kernels of a graph with nested graphs can be replayed on the values that they find in it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace pace::kernel::detail {

/// Returns why the nodes before the kernel at `place` cannot run without those from `place` on, or an empty text if
/// they can. `nested` has a value for each node in the order of their runs: whether it is a kernel, a copy or a fill
/// that belongs to a nested graph. CUDA cannot disable such a node, so that any launch of the graph runs it.
[[nodiscard]] inline std::string why_not_prepared(const std::vector<bool>& nested, std::size_t place) {
  if (nested.at(place))
    return "it is in a nested graph, which CUDA runs as a whole: alone, it would find what the nested graph leaves in "
           "memory";
  if (std::find(nested.begin() + static_cast<std::ptrdiff_t>(place), nested.end(), true) != nested.end())
    return "a nested graph that runs after it cannot be left out of a launch: alone, it would find what that graph "
           "leaves in memory";
  return {};
}

}  // namespace pace::kernel::detail
