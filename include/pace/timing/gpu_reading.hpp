// GpuReading: clock, temperature and power of a GPU at one moment.
#pragma once

namespace pace::timing {

/// State of a GPU at one moment, from its driver; 0 where unknown.
struct GpuReading {
  double clock = 0;            ///< clock of the multiprocessors, in MHz
  double celsius = 0;          ///< temperature
  double watts = 0;            ///< power
  bool slowed = false;         ///< heat or the hardware reduces the clock
  bool power_limited = false;  ///< the power limit reduces the clock
};

}  // namespace pace::timing
