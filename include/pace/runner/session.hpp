// The main function of a measuring program: Catch2's session, with pace's options, table and result files.
#pragma once

#include "pace/base/config.hpp"
#include "pace/runner/session_config.hpp"

namespace pace::runner {

/// Runs the tests of this program, and shows and stores every result that `run_context()` publishes meanwhile. Returns
/// the exit code. It is 0 only if every test passed, every filter matched, every result was written and something was
/// measured. No guard may have been let through undecided, either. It is 1 for a command line that is refused.
int main(int argc, char** argv, const SessionConfig& config = {});

}  // namespace pace::runner

#ifdef PACE_HEADER_ONLY
#include "pace/runner/session-inl.hpp"
#endif
