// Bandwidths of collectives, as nccl-tests defines them (its doc/PERFORMANCE.md).
#pragma once

#include <string>

#include "pace/base/error.hpp"
#include "pace/base/units.hpp"

namespace pace::benches::collectives {

/// The collectives of this program.
enum class Kind { all_reduce, all_gather, reduce_scatter, all_to_all, send_receive };

/// Name of a collective, such as `all-reduce`.
[[nodiscard]] inline const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::all_reduce:
      return "all-reduce";
    case Kind::all_gather:
      return "all-gather";
    case Kind::reduce_scatter:
      return "reduce-scatter";
    case Kind::all_to_all:
      return "all-to-all";
    case Kind::send_receive:
      return "send-receive";
  }
  return "";
}

/// Bytes per second of `bytes` in `time`, in GB/s. `bytes` are those of the larger buffer of a rank: of its input, or
/// for an all-gather of its output.
[[nodiscard]] inline double algorithm_bandwidth(double bytes, Nanoseconds time) { return bytes / time.count(); }

/// The part of these bytes that has to pass the slowest link of a rank, in and out alike. The product with the
/// algorithm bandwidth is the bus bandwidth, which can be compared with that link's for any number of ranks.
///
/// A ring sends each byte of an all-reduce to all other ranks twice, once to add it up and once to spread the sum:
/// 2(n-1)/n. An all-gather, a reduce-scatter and an all-to-all leave out the part that a rank has already: (n-1)/n. A
/// send is all of its bytes.
[[nodiscard]] inline double bus_factor(Kind kind, int ranks) {
  const double others = static_cast<double>(ranks - 1) / ranks;
  switch (kind) {
    case Kind::all_reduce:
      return 2 * others;
    case Kind::all_gather:
    case Kind::reduce_scatter:
    case Kind::all_to_all:
      return others;
    case Kind::send_receive:
      return 1;
  }
  return 1;
}

}  // namespace pace::benches::collectives
