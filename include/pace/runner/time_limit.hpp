// The time by which a measuring program must end, so that it is not killed.
#pragma once

#include <optional>
#include <string>

#include "pace/base/config.hpp"
#include "pace/base/units.hpp"
#include "pace/result/run_context.hpp"

namespace pace::runner {

/// Share of Bazel's TEST_TIMEOUT after which no measurement begins; the rest is for the present one, and for the
/// reports.
inline constexpr double share_of_timeout = 0.8;

/// Returns how long a process has existed, loading of libraries included; 0 if /proc does not show it. `process` is its
/// number or `self`; /proc is read under `root`, which is empty except in tests.
[[nodiscard]] Nanoseconds process_age(const std::string& root = "", const std::string& process = "self");

/// Returns the earlier of 80 % of TEST_TIMEOUT and `limit` (infinite: none), both counted from the start of the
/// process, `age` before `now`; none if there is neither. Throws InputError if TEST_TIMEOUT is not a number of seconds
/// above 0.
[[nodiscard]] std::optional<RunContext::Deadline> deadline_of(Nanoseconds limit, Nanoseconds now, Nanoseconds age);

}  // namespace pace::runner

#ifdef PACE_HEADER_ONLY
#include "pace/runner/time_limit-inl.hpp"
#endif
