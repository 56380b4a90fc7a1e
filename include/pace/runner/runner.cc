// What the headers of this room declare, compiled once (see base/config.hpp).
#include "pace/runner/replicates-inl.hpp"
#include "pace/runner/resume-inl.hpp"
#include "pace/runner/session-inl.hpp"
#include "pace/runner/session_options-inl.hpp"
#include "pace/runner/supervisor-inl.hpp"
#include "pace/runner/time_limit-inl.hpp"
