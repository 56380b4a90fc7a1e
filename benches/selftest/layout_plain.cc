// Shifted functions without alignment: see BUILD for the flags.
#define PACE_SHIFTED_FUNCTIONS plain_functions
#include "benches/selftest/layout_functions.inc"
