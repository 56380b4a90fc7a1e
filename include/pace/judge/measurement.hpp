// Measurement: what one pass over the participants of a comparison has taken and found, before it becomes a result.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "pace/gate/panel.hpp"
#include "pace/measure/calibrate.hpp"
#include "pace/measure/clocks_alone.hpp"
#include "pace/measure/rounds.hpp"
#include "pace/measure/timing_modes.hpp"
#include "pace/result/result.hpp"
#include "pace/subject/participants.hpp"
#include "pace/timing/host_bandwidth.hpp"
#include "pace/verify/candidate_audit.hpp"

namespace pace::detail {

/// The rounds by one clock that expectations may be about.
struct GatedRounds {
  GateMode mode = {};
  Calibration calibration = {};
  Samples samples = {};
  /// By position in `samples`; empty if the GPU's clock was steady or is unknown.
  std::vector<ClocksAlone> clocks_alone = {};
  /// Why something slowed the baseline.
  SlowedBaseline slowed_baseline = {};
  /// CPU seconds per second of the baseline: alone if it was timed alone, else in the rounds; 0: unknown.
  double baseline_cores = 0;
  std::vector<UnseenSpeed> on_unseen_values = {};
};

/// One pass over the participants, from calibration to the checks after the last rounds.
struct Measurement {
  /// Those that are right and timed. After a good pass, the result has figures of them.
  Participants participants;
  /// By the clock of the comparison.
  GatedRounds gate = {};
  /// By the host's time, if something is expected of it besides the comparison's clock.
  std::optional<GatedRounds> host = {};
  /// Largest absolute errors in timed calls, by implementation.
  std::vector<double> max_abs_errors = {};
  /// The audit's notes, and the implementations that keep what they derive from an operand.
  std::vector<std::string> notes = {};
  std::vector<std::size_t> keeps = {};
  std::vector<RowObjection> objections = {};
  OtherTimings other = {};
  /// Some left and spoilt the samples of the rest, which must be measured again.
  bool again = false;
};

/// Figures without verdicts, and the tests behind the verdicts, of all clocks.
struct Measured {
  Result result;
  std::vector<gate::Panel> panels;
  timing::LeastTraffic traffic;
};

}  // namespace pace::detail
