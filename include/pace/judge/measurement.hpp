// Measurement: the rounds and findings of one pass over the participants, before they become a result.
#pragma once

#include <optional>
#include <vector>

#include "pace/gate/panel.hpp"
#include "pace/measure/counters.hpp"
#include "pace/measure/gated_rounds.hpp"
#include "pace/measure/timing_modes.hpp"
#include "pace/result/result.hpp"
#include "pace/subject/participants.hpp"
#include "pace/timing/host_bandwidth.hpp"
#include "pace/verify/candidate_audit.hpp"

namespace pace::detail {

/// One pass over the participants, from calibration to the checks after the last rounds.
struct Measurement {
  /// Those that are right and timed. After a good pass, the result has figures of them.
  Participants participants;
  /// By the clock of the comparison.
  GatedRounds gate = {};
  /// By the host's time, if something is expected of it besides the comparison's clock.
  std::optional<GatedRounds> host = {};
  OtherTimings other = {};
  /// Counters by index, if the options name some.
  CountersOfAll counters = {};
  /// Some left and spoilt the samples of the rest, which must be measured again.
  bool again = false;

  /// Drops the implementations that the audit found wrong.
  void drop(const AuditFindings& findings) {
    participants.drop(findings.dropped);
    again = findings.measure_again && !participants.empty();
  }
};

/// Figures without verdicts, and the tests behind the verdicts, of all clocks.
struct Measured {
  Result result;
  std::vector<gate::Panel> panels;
  timing::LeastTraffic traffic;
};

}  // namespace pace::detail
