// The common main function as a library has it compiled, so that not every program compiles it again.
#pragma once

#include "pace/runner/session_config.hpp"

namespace pace::runner {

/// `main` of session.hpp, for a program with a main function of its own that is linked with //:main, as those of pace_test
/// and pace_binary are. Others include session.hpp.
[[nodiscard]] int compiled_main(int argc, char** argv, const SessionConfig& config = {});

}  // namespace pace::runner
