// run_gated_rounds: from calibration to the checks after the rounds, by the selected clock.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pace/gate/evidence.hpp"
#include "pace/gate/panel.hpp"
#include "pace/measure/calibrate.hpp"
#include "pace/measure/clocks_alone.hpp"
#include "pace/measure/round_values.hpp"
#include "pace/measure/rounds.hpp"
#include "pace/measure/timing_modes.hpp"
#include "pace/result/options.hpp"
#include "pace/run/progress.hpp"
#include "pace/stats/median_interval.hpp"
#include "pace/stats/multiplicity.hpp"
#include "pace/subject/participants.hpp"
#include "pace/subject/prepare.hpp"
#include "pace/timing/clock.hpp"
#include "pace/verify/candidate_audit.hpp"
#include "pace/verify/round_figures.hpp"

namespace pace::detail {

/// Everything stated of a comparison, and the error rates of each phase.
struct Gates {
  std::span<const gate::Stated> stated;
  gate::Rates rates;
};

/// The indices of the implementations to time, and the phases that their samples are about; "" is the whole.
struct Timed {
  std::vector<std::size_t> implementations;
  std::vector<std::string> parts;
};

/// The rounds by one clock, and the findings of the audits in them and after them.
struct GatedRounds {
  GateMode mode = {};
  Calibration calibration = {};
  Samples samples = {};
  /// By position in `samples`; empty if the GPU's clock was steady or is unknown.
  std::vector<ClocksAlone> clocks_alone = {};
  AuditFindings findings = {};

  /// Whether any time was left for rounds.
  [[nodiscard]] bool ran() const { return calibration.iterations > 0; }
};

/// Parts of a sample by the comparison's clock: the whole and each phase, in order.
[[nodiscard]] inline std::vector<std::string> parts_of_iteration(const Prepared& prepared) {
  std::vector<std::string> parts{""};
  if (const auto* phases = prepared.baseline().phases())
    parts.insert(parts.end(), phases->names().begin(), phases->names().end());
  return parts;
}

/// Returns a panel for each part, if rounds of `timed` can decide something stated of it.
[[nodiscard]] inline std::vector<gate::Panel> watch_expectations(const Prepared& prepared, const Timed& timed,
                                                                 const Gates& gates) {
  std::vector<gate::Panel> panels;
  for (std::size_t part = 0; part < timed.parts.size(); ++part) {
    auto panel = gate::watch_all(prepared.result, timed.implementations, gates.stated, gates.rates, timed.parts[part],
                                 part * timed.implementations.size());
    if (!panel.empty()) panels.push_back(std::move(panel));
  }
  return panels;
}

/// Returns the fewest cycles that give each median an interval and each panel a verdict.
[[nodiscard]] inline std::size_t fewest_cycles(const std::vector<gate::Panel>& panels, std::size_t candidates,
                                               double confidence, const gate::Rates& rates) {
  std::size_t fewest = stats::fewest_for_median_interval(stats::simultaneous_confidence(confidence, candidates));
  for (const auto& panel : panels)
    fewest = std::max(fewest,
                      gate::fewest_for_verdict(std::min(rates.alpha, rates.beta) / static_cast<double>(panel.size())));
  return fewest;
}

/// Calibrates, takes samples by the selected clock, and audits them. Throws ImplementationThrew.
[[nodiscard]] inline GatedRounds run_gated_rounds(timing::Clock& clock, const Prepared& prepared, const Timed& timed,
                                                  const Gates& gates, Auditor& auditor) {
  auto panels = watch_expectations(prepared, timed, gates);
  const auto cycles = fewest_cycles(panels, timed.implementations.size() - 1, prepared.options.confidence, gates.rates);
  GatedRounds rounds;
  rounds.calibration = calibrate(clock, prepared, timed.implementations, cycles, /*gated=*/!panels.empty());
  if (!rounds.ran()) return rounds;
  const auto& calibration = rounds.calibration;
  std::optional<RoundValues> values;
  if (prepared.renew) values.emplace(clock, prepared, auditor);
  rounds.samples = take_samples(clock, prepared, calibration, std::move(panels), auditor, values ? &*values : nullptr);

  // The host's time does not depend on the clock of the GPU.
  auto* const modes = clock.modes();
  if (modes != nullptr && modes->selected() != ClockChoice::host && clock_was_unsteady(rounds.samples.conditions))
    rounds.clocks_alone =
        read_clocks_alone(*modes, calibration.subjects, calibration.iterations, prepared.operands->sets.size());

  report_step({.what = "checks after the rounds"});
  // If the audit ended the rounds, there may be no figures.
  auto& findings = rounds.findings;
  findings = auditor.check_after_rounds(auditor.has_fault() ? RoundFigures() : figures_of(rounds.samples, prepared));
  // For a GPU, the host's threads are not the timed work.
  if (findings.baseline_cores <= 0 && modes == nullptr)
    findings.baseline_cores = cores_in_rounds(rounds.samples, prepared.participants.baseline());
  return rounds;
}

}  // namespace pace::detail
