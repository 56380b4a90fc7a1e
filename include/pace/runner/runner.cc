// What the headers of this room declare, compiled once (see core/config.hpp).
#include "pace/runner/session-inl.hpp"
#include "pace/runner/session_options-inl.hpp"
