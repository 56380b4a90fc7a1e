// The table of bandwidths.
#pragma once

#include <cstdint>
#include <cstdio>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "benches/collectives/bandwidth.hpp"
#include "benches/collectives/command_line.hpp"
#include "pace/base/format.hpp"
#include "pace/report/text.hpp"
#include "pace/result/result.hpp"

namespace pace::benches::collectives {

/// A collective that was measured.
struct Measured {
  Kind kind;
  std::int64_t bytes;  ///< of the larger buffer of a rank, as it was sent
  Result result;
};

/// Prints the time, the two bandwidths and the speed-up of each way to compute each collective.
inline void print_table(const std::vector<Measured>& all, int ranks, std::ostream& out) {
  char line[256];
  std::snprintf(line, sizeof line, "\n%-16s %11s  %-28s %12s %12s %12s %9s\n", "collective", "bytes", "way", "time",
                "alg. GB/s", "bus GB/s", "speed-up");
  out << line;
  for (const auto& [kind, bytes, result] : all)
    for (const auto& row : result.implementations) {
      std::string time = to_string(row.outcome), algorithm, bus, speedup;
      if (row.time && row.bytes) {
        time = format_time(row.time->median);
        const double bandwidth = algorithm_bandwidth(*row.bytes, row.time->median);
        algorithm = format_significant(bandwidth, 4);
        bus = format_significant(bandwidth * bus_factor(kind, ranks), 4);
      }
      if (row.speedup) speedup = format_significant(row.speedup->median, 4) + 'x';
      std::snprintf(line, sizeof line, "%-16s %11s  %-28s %12s %12s %12s %9s\n", name_of(kind),
                    text_of_bytes(bytes).c_str(), report::printable(row.name).c_str(), time.c_str(), algorithm.c_str(),
                    bus.c_str(), speedup.c_str());
      out << line;
    }
  out << std::flush;
}

}  // namespace pace::benches::collectives
