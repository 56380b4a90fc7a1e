// GpuReading: what a GPU's driver reports at one moment, as a clock that can ask returns it.
#pragma once

namespace pace::timing {

struct GpuReading {
  double clock = 0;  ///< of the multiprocessors, in MHz
  double celsius = 0;
  double watts = 0;
  bool slowed = false;         ///< by heat or by the hardware
  bool power_limited = false;  ///< held at its power limit
};

}  // namespace pace::timing
