// GpuReading: what a GPU's driver reports at one moment, for a clock that can ask.
#pragma once

#include <concepts>
#include <optional>

namespace pace::timing {

struct GpuReading {
  double clock = 0;    ///< of the multiprocessors, in MHz
  double celsius = 0;
  double watts = 0;
  bool slowed = false;         ///< by heat or by the hardware
  bool power_limited = false;  ///< held at its power limit
};

/// Asked between cycles only: the driver takes up to a millisecond to answer.
template <class C>
concept WatchesGpu = requires(C& clock) {
  { clock.look_at_gpu() } -> std::same_as<std::optional<GpuReading>>;
};

}  // namespace pace::timing
