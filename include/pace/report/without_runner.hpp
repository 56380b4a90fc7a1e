// What pace's main function does with results, in a program that has another one, such as Catch2's.
#pragma once

#include <cstdint>

#include "pace/base/config.hpp"

namespace pace::report {

/// Shows the results of a program whose main function is not pace's, and makes its exit code what pace's would be: a
/// guard that was let through undecided must not look as if it had passed. Does nothing in other programs. Is called
/// before the first test; a second call has no effect.
void begin_without_runner();

/// Ends the table, after the tests: so many `tests` ran with so many `assertions`.
void end_without_runner(std::uint64_t tests, std::uint64_t assertions);

}  // namespace pace::report

#ifdef PACE_HEADER_ONLY
#include "pace/report/without_runner-inl.hpp"
#endif
