// The largest batch size that runs, as torchbench's --find-batch-sizes looks for it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>

#include "benches/models/model.hpp"
#include "benches/models/run/load.hpp"
#include "benches/models/run/outcome.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::models {

/// torchbench's decay_batch_exp: half, rounded up to even numbers above 2, else one less; never below 0.
[[nodiscard]] inline std::int64_t decayed_batch_size(std::int64_t size) {
  constexpr std::int64_t divisor = 2;
  const double half = static_cast<double>(size) * 0.5;
  const double next = half > static_cast<double>(divisor)
                          ? std::floor((half + 1) / static_cast<double>(divisor)) * static_cast<double>(divisor)
                          : static_cast<double>(size - 1);
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(next));
}

/// The first batch size of `sizes`, from `first` downwards, where `runs` does not throw. 1 if it always throws, or if
/// its message names channels_last. `told` hears of each size that failed and why.
inline std::int64_t find_batch_size(std::int64_t first, const std::function<void(std::int64_t)>& runs,
                                    const std::function<void(std::int64_t, const std::string&)>& told,
                                    const BatchRange& sizes = {}) {
  for (std::int64_t next = first; next >= 1;) {
    const auto taken = sizes.at_most(next);
    if (!taken || *taken < 1) break;
    const std::int64_t size = *taken;
    next = decayed_batch_size(size);
    try {
      runs(size);
      return size;
    } catch (const InputError&) {
      throw;
    } catch (...) {
      const Failed failed = current_failed();
      told(size, failed.message);
      if (failed.device_lost || failed.message.find("channels_last") != std::string::npos) break;
    }
  }
  return 1;
}

inline constexpr std::int64_t first_batch_size_tried = 1024;

}  // namespace pace::benches::models
