// Several intervals that shall hold all at once.
#pragma once

#include <algorithm>
#include <cstddef>

namespace pace::stats {

/// Confidence of each of `count` intervals so that all hold together with at least `family_wise`: Bonferroni's bound,
/// which needs no independence (speed-ups over one shared baseline are not independent).
[[nodiscard]] inline double simultaneous_confidence(double family_wise, std::size_t count) {
  return 1 - (1 - family_wise) / static_cast<double>(std::max<std::size_t>(count, 1));
}

}  // namespace pace::stats
