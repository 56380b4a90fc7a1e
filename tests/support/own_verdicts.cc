// Unit tests judge results by themselves. This leaves out the judgement of pace/catch2.hpp without pace's main
// function, so that an undecided guard of a test fails nothing. Linking this is enough.
#include "pace/run/run_context.hpp"

namespace {

const bool judged_by_tests = pace::run_context().has_runner = true;

}  // namespace
