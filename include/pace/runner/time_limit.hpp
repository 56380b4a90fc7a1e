// When a measuring program must end, so that nothing kills it.
#pragma once

#include <optional>
#include <string>

#include "pace/base/config.hpp"
#include "pace/base/units.hpp"
#include "pace/run/run_context.hpp"

namespace pace::runner {

/// No measurement begins after this share of Bazel's TEST_TIMEOUT. The rest is for the present one, and for the
/// reports.
inline constexpr double share_of_timeout = 0.8;

/// Returns the age of a process, including the loading of its libraries; 0 if /proc does not show it. `process` is its
/// number or `self`. `root` is the folder above /proc: empty except in tests.
[[nodiscard]] Nanoseconds process_age(const std::string& root = "", const std::string& process = "self");

/// Returns the earlier of 80 % of TEST_TIMEOUT and `limit` (infinite: none); none if there is neither. Both count from
/// the start of the process, `age` before `now`. Throws InputError if TEST_TIMEOUT is not a number of seconds above 0.
[[nodiscard]] std::optional<RunContext::Deadline> deadline_of(Nanoseconds limit, Nanoseconds now, Nanoseconds age);

}  // namespace pace::runner

#ifdef PACE_HEADER_ONLY
#include "pace/runner/time_limit-inl.hpp"
#endif
