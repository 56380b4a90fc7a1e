#include "pace/runner/compiled_main.hpp"

#include "pace/runner/session.hpp"

namespace pace::runner {

int compiled_main(int argc, char** argv, const SessionConfig& config) { return main(argc, argv, config); }

}  // namespace pace::runner
