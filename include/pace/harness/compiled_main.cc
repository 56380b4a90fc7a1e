#include "pace/harness/compiled_main.hpp"

#include "pace/harness/session.hpp"

namespace pace::harness {

int compiled_main(int argc, char** argv, const SessionConfig& config) { return main(argc, argv, config); }

}  // namespace pace::harness
