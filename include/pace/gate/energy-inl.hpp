// How the energy of a call is judged.
#pragma once

#include "pace/gate/energy.hpp"

#include <cmath>
#include <string>

#include "pace/base/error.hpp"
#include "pace/base/format.hpp"
#include "pace/base/message_parts.hpp"
#include "pace/result/result.hpp"

namespace pace {

namespace gate {

[[nodiscard]] inline Judgement judge_energy(double ratio, const ImplementationResult& row) {
  const std::string own = '\'' + row.name + '\'';
  const auto invalid = [&](const std::string& what, const std::string& why) {
    return Judgement{.verdict = Verdict::invalid, .message = MessageParts{own + what, why}.text()};
  };
  const auto& found = row.energy;
  if (!found)
    return invalid(" has no energy",
                   "it was not measured, since its calls do not run on a GPU, one threw, or the time was over");
  if (!found->missing.empty()) return invalid(" has no energy", found->missing);
  if (!found->ratio)
    return invalid(" has no ratio of energies", "it is the baseline itself, or the baseline's energy is unknown");
  const auto text = [](double factor) { return format_significant(factor, 4) + 'x'; };
  std::string figures = own + " takes " + format_significant(found->millijoules, 4) + " mJ in one call, " +
                        text(*found->ratio) + " the energy of '" + row.context.baseline + '\'';
  const std::string limit = text(ratio);
  // The counter is the whole board's.
  if (!row.context.disturbance.empty())
    return {.verdict = Verdict::undecided, .message = MessageParts{figures, row.context.disturbance, ""}.text()};
  const auto& interval = found->ratio_interval;
  if (!interval)
    return {.verdict = Verdict::undecided,
            .message = MessageParts{figures,
                                    "the GPU's counter of energy moved only " + std::to_string(found->moves) +
                                        " times, which says nothing of its error",
                                    "shorter calls"}
                           .text()};
  figures += " [" + text(interval->low) + ", " + text(interval->high) + "] at " + format_percent(interval->confidence);
  if (interval->high <= ratio)
    return {.verdict = Verdict::passed, .message = figures + " (at most " + limit + " allowed)"};
  if (interval->low > ratio)
    return {
        .verdict = Verdict::failed,
        .message = MessageParts{figures + ", more than " + limit, "", "find what takes more, or allow more"}.text()};
  return {.verdict = Verdict::undecided,
          .message = MessageParts{figures, "the interval lies on both sides of " + limit, "allow more"}.text()};
}

}  // namespace gate

PACE_INLINE Expectation EnergyAtMost(double ratio) {
  if (!(ratio > 0) || !std::isfinite(ratio))
    throw Error("a ratio of energies must be a positive number; found " + format_significant(ratio, 6));
  return Expectation(
      Expectation::Rule{.description = "energy of at most " + format_significant(ratio, 4) + "x the baseline's",
                        .judge = [ratio](const ImplementationResult& row) { return gate::judge_energy(ratio, row); },
                        .needs_energy = true,
                        .of_whole_iterations = true});
}

}  // namespace pace
