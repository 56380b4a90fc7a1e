// Definitions of replicates.hpp; see base/config.hpp.
#pragma once

#include <cmath>
#include <cstddef>
#include <ostream>
#include <string>

#include "pace/base/cut_text.hpp"
#include "pace/base/format.hpp"
#include "pace/gate/replicates.hpp"
#include "pace/report/replicates.hpp"
#include "pace/report/text.hpp"
#include "pace/result/verdict.hpp"

namespace pace::report {

PACE_INLINE void print(const gate::Replicates& replicates, std::ostream& out) {
  const auto cell = [](const std::string& text, std::size_t width) {
    return text.size() < width ? text + std::string(width - text.size(), ' ') : text;
  };
  out << cell("comparison", 28) << cell("implementation", 18) << cell("processes", 11) << cell("speed-up", 10)
      << cell("sd between", 12) << "verdict\n";
  for (const auto& gate : replicates.gates()) {
    double mean = 0;
    for (const double centre : gate.centres) mean += centre / static_cast<double>(gate.centres.size());
    out << cell(printable(gate.first.comparison), 27) << ' ' << cell(printable(gate.first.implementation), 17) << ' '
        << cell(std::to_string(gate.centres.size()), 11) << cell(format_significant(std::exp(mean), 4) + 'x', 10)
        << cell(gate.centres.size() > 1 ? format_significant(100 * gate.deviation, 2) + " %" : "-", 12)
        << to_string(gate.judgement.verdict) << ": " << printable(gate.first.expectation) << '\n';
    if (gate.judgement.verdict != Verdict::passed)
      for (const auto& line : wrap(cut_text(gate.judgement.message), 110)) out << "      " << line << '\n';
  }
}

}  // namespace pace::report
