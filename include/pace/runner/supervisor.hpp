// A process that does nothing but start the one that measures, and start it anew when that dies.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>

#include "pace/core/config.hpp"
#include "pace/core/units.hpp"

namespace pace::runner {

/// Whether this process is watched already; then what it does is reported to the process that watches it.
[[nodiscard]] bool is_supervised();

/// How long the run has lasted: this process, or the one that watches it.
[[nodiscard]] Nanoseconds run_age();

/// Starts the process that measures, by fork, so before anything has started a thread or touched a GPU. In that
/// process it returns nothing; in this one the exit code, once there is nothing left to do. Without a place to hand
/// over what was found nothing is supervised, which it says.
/// A comparison that begins no call for `call_timeout`, by `now`, has hung. `memory_limit`: bytes of memory that the watched
/// process may use, so that its allocations fail rather than the machine; none: as much as the system gives it.
[[nodiscard]] std::optional<int> supervise(Nanoseconds call_timeout, std::optional<std::int64_t> memory_limit,
                                           std::function<Nanoseconds()> now, std::ostream& errors);

}  // namespace pace::runner

#ifdef PACE_HEADER_ONLY
#include "pace/runner/supervisor-inl.hpp"
#endif
