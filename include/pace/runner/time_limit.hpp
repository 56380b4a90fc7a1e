// When a measuring program must be done, so that it need not be killed.
#pragma once

#include <optional>
#include <string>

#include "pace/core/config.hpp"
#include "pace/core/run_context.hpp"
#include "pace/core/units.hpp"

namespace pace::runner {

/// Share of Bazel's TEST_TIMEOUT after which nothing more is measured: what is under way then, and the reports, have
/// the rest.
inline constexpr double share_of_timeout = 0.8;

/// How long a process has existed, by its number or `self`; libraries are loaded before main. 0 if /proc does not say.
[[nodiscard]] Nanoseconds process_age(const std::string& root = "", const std::string& process = "self");

/// The earlier of 80 % of TEST_TIMEOUT and `limit` (infinite: none), both counted from the start of the process, `age`
/// ago. Throws InputError if TEST_TIMEOUT is no number of seconds above 0.
[[nodiscard]] std::optional<RunContext::Deadline> deadline_of(Nanoseconds limit, Nanoseconds now, Nanoseconds age);

}  // namespace pace::runner

#ifdef PACE_HEADER_ONLY
#include "pace/runner/time_limit-inl.hpp"
#endif
