// GpuReading, GpuSharing: clock, temperature and power of a GPU at one moment, and who else uses it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace pace::timing {

/// State of a GPU at one moment, from its driver; 0 where unknown.
struct GpuReading {
  double clock = 0;            ///< clock of the multiprocessors, in MHz
  double celsius = 0;          ///< temperature
  double watts = 0;            ///< power
  bool slowed = false;         ///< heat or the hardware reduces the clock
  bool power_limited = false;  ///< the power limit reduces the clock
};

/// Who else uses a GPU.
struct GpuSharing {
  /// An instance of MIG, MPS and other processes, as clauses.
  std::vector<std::string> who = {};
  std::size_t processes = 0;  ///< number of other processes that compute on it
  /// Share of the multiprocessors' time that these used; absent: unknown.
  std::optional<double> others = {};
};

}  // namespace pace::timing
