// Limits of the command line, as expectations of a report.
#pragma once

#include <vector>

#include "benches/kernels/command_line.hpp"
#include "pace/kernels/expectations.hpp"

namespace pace::benches::kernels {

/// One judgement for each limit of `line`.
[[nodiscard]] inline std::vector<Judgement> judge_limits(const CommandLine& line, const kernel::KernelReport& report) {
  std::vector<Judgement> judgements;
  if (line.kernels_at_most) judgements.push_back(AtMost(kernel::Count::kernels, *line.kernels_at_most).judge(report));
  if (line.spills_at_most) judgements.push_back(AtMost(kernel::Count::spills, *line.spills_at_most).judge(report));
  if (line.registers_at_most)
    judgements.push_back(AtMost(kernel::Count::registers, *line.registers_at_most).judge(report));
  if (line.bandwidth_at_least) judgements.push_back(BandwidthAtLeast(*line.bandwidth_at_least).judge(report));
  return judgements;
}

}  // namespace pace::benches::kernels
