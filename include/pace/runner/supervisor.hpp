// A process that only starts the one that measures, and starts another when that dies.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>

#include "pace/base/config.hpp"
#include "pace/base/units.hpp"

namespace pace::runner {

namespace detail {

/// Set for the watched process: the number of the file that it maps, to report its progress there.
inline constexpr const char* activity_variable = "PACE_ACTIVITY_FILE";

}  // namespace detail

/// Returns whether a supervisor watches this process; if so, this process reports its progress to the supervisor from
/// then on.
[[nodiscard]] bool is_supervised();

/// Returns how long the run has lasted: the age of the supervisor, or of this process if there is none.
[[nodiscard]] Nanoseconds run_age();

/// Starts the process that measures, by fork, so it must be called before any thread is started and any GPU is used. In
/// the new process it returns none; in this one it returns the exit code, once the run is over. If there can be no file
/// for the results, it returns none in this process, without a supervisor, and writes a message to `errors`. A
/// comparison that begins no call for `call_timeout`, by `now`, has hung. `memory_limit` is in bytes of memory that the
/// watched process may use, so that its allocations fail before the machine runs out; none: there is no limit.
/// `has_files`: whether result files keep the results when a signal ends the run.
[[nodiscard]] std::optional<int> supervise(Nanoseconds call_timeout, std::optional<std::int64_t> memory_limit,
                                           bool has_files, std::function<Nanoseconds()> now, std::ostream& errors);

}  // namespace pace::runner

#ifdef PACE_HEADER_ONLY
#include "pace/runner/supervisor-inl.hpp"
#endif
