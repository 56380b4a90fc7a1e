// Passes: measures the participants of one comparison until one pass has figures of all that remain.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pace/gate/panel.hpp"
#include "pace/judge/measurement.hpp"
#include "pace/measure/counters.hpp"
#include "pace/measure/gated_rounds.hpp"
#include "pace/measure/timing_modes.hpp"
#include "pace/result/result.hpp"
#include "pace/run/progress.hpp"
#include "pace/subject/participants.hpp"
#include "pace/subject/prepare.hpp"
#include "pace/subject/time_left.hpp"
#include "pace/timing/clock.hpp"
#include "pace/verify/candidate_audit.hpp"

namespace pace::detail {

/// Passes over the participants of one comparison in this process.
class Passes {
 public:
  /// All must outlive it.
  Passes(timing::Clock& clock, const Prepared& prepared, const Gates& gates, CandidateAudit& audit)
      : clock_(clock), prepared_(prepared), gates_(gates), audit_(audit) {}

  /// Measures `participants` until a pass drops none of them, or none is left.
  [[nodiscard]] Measurement measure(Participants participants) {
    Measurement pass = begin(std::move(participants));
    pass.again = !pass.participants.empty();
    while (pass.again) pass = next(std::move(pass.participants));
    return pass;
  }

 private:
  [[nodiscard]] Measurement begin(Participants left) const {
    Measurement pass{.participants = std::move(left)};
    if (gate::expects_in_phase(gates_.stated, host_phase)) pass.host.emplace();
    return pass;
  }

  /// One pass: runs rounds for the gates, and times other modes. Exceptions of the user's code become values here. An
  /// implementation that throws is dropped, and the others must be measured again.
  [[nodiscard]] Measurement next(Participants left) {
    Measurement pass = begin(std::move(left));
    try {
      measure(pass);
    } catch (...) {
      enter_exception(clock_, pass.participants);
      pass.again = !pass.participants.empty();
    }
    return pass;
  }

  void measure(Measurement& pass) {
    auto& participants = pass.participants;
    auto* const modes = clock_.modes();
    audit_.begin_pass();
    if (modes != nullptr) modes->forget();
    if (time_left(clock_).count() <= 0) return participants.run_out_of_time(deadline_reason());
    pass.gate.mode = select_mode(clock_, prepared_, participants.remaining(), gate::expects_on_device(gates_.stated));
    participants.drop(pass.gate.mode.dropped);
    if (participants.empty()) return;
    pass.gate = run_rounds({participants.remaining(), parts_of_iteration(prepared_)}, pass.gate.mode);
    if (!pass.gate.ran()) return participants.run_out_of_time(deadline_reason());
    pass.drop(pass.gate.findings);
    if (pass.again || participants.empty()) return;
    if (modes == nullptr) return read_counters(pass);

    const ClockChoice of_gate = modes->selected();
    if (pass.host) pass.host = run_host_rounds(*modes, participants);
    if (pass.host) pass.drop(pass.host->findings);
    if (pass.again || participants.empty() || participants.device_lost()) return;
    report_step({.what = "other timing modes"});
    pass.other = time_other_modes(clock_, prepared_, of_gate, pass.host.has_value(), participants);
    if (!participants.device_lost()) measure_overheads(*modes, prepared_, of_gate, pass.gate.mode, pass.other);
    read_counters(pass);
  }

  /// Reads the counters that the options name.
  void read_counters(Measurement& pass) {
    if (prepared_.options.counters.empty()) return;
    report_step({.what = "counters"});
    pass.counters = pace::detail::read_counters(clock_, prepared_, pass.participants, pass.gate.samples.iterations);
  }

  [[nodiscard]] GatedRounds run_rounds(const Timed& timed, const GateMode& mode) {
    GatedRounds rounds = run_gated_rounds(clock_, prepared_, timed, gates_, audit_);
    rounds.mode = mode;
    return rounds;
  }

  /// Runs rounds by the host's time, if something is expected of it. The samples by the comparison's clock stay valid.
  /// An implementation that throws here keeps its figures there, with the fault. The others are measured again without
  /// it.
  [[nodiscard]] GatedRounds run_host_rounds(timing::ModeClock& modes, Participants& participants) {
    Timed timed{participants.remaining(), {host_phase}};
    const GateMode mode = select_host(modes);
    GatedRounds rounds{.mode = mode};
    while (!watch_expectations(prepared_, timed, gates_).empty()) {
      try {
        rounds = run_rounds(timed, mode);
        if (!rounds.ran()) rounds.samples.rounds.stop_reason = StopReason::deadline;
        return rounds;
      } catch (...) {
        const auto index = enter_exception_beside_rounds(clock_, "in the rounds by the host's time: ", participants);
        if (!index || *index == participants.baseline() || participants.device_lost()) return rounds;
        std::erase(timed.implementations, *index);
      }
    }
    return rounds;
  }

  timing::Clock& clock_;
  const Prepared& prepared_;
  const Gates& gates_;
  CandidateAudit& audit_;
};

}  // namespace pace::detail
