// Shifted functions as pace_test compiles them.
#define PACE_SHIFTED_FUNCTIONS aligned_functions
#include "benches/selftest/layout_functions.inc"
