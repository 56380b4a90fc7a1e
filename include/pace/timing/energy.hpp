// EnergyRecording: moves of a GPU's counter of energy.
#pragma once

#include <vector>

#include "pace/base/units.hpp"

namespace pace::timing {

/// A move of the counter.
struct EnergyMove {
  Nanoseconds at{};        ///< when it was seen, by the clock that records
  double millijoules = 0;  ///< value of the counter since then
};

/// Watches the counter from construction on. It moves about ten times a second, so only its moves tell when a value
/// held.
class EnergyRecording {
 public:
  EnergyRecording() = default;
  EnergyRecording(const EnergyRecording&) = delete;
  EnergyRecording& operator=(const EnergyRecording&) = delete;
  virtual ~EnergyRecording() = default;
  /// Ends the recording and returns its moves, in order.
  [[nodiscard]] virtual std::vector<EnergyMove> stop() = 0;
};

}  // namespace pace::timing
