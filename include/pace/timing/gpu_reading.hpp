// GpuReading: clock, temperature and power of a GPU at one moment.
#pragma once

namespace pace::timing {

/// State of a GPU at one moment, as its driver reports it; 0 where it does not.
struct GpuReading {
  double clock = 0;            ///< clock of the multiprocessors, in MHz
  double celsius = 0;          ///< temperature
  double watts = 0;            ///< power
  bool slowed = false;         ///< the clock is reduced because of heat or by the hardware
  bool power_limited = false;  ///< the clock is reduced by the power limit
};

}  // namespace pace::timing
