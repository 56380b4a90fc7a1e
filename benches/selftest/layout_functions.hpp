// The same function nine times, shifted by 0 to 72 bytes: only the place of its loops in the code differs.
#pragma once

#include <array>
#include <cstdint>

namespace pace::benches::selftest {

inline constexpr std::array paddings{0, 8, 16, 24, 32, 40, 48, 56, 72};

/// c = a b, of size x size.
using Shifted = void (*)(const float* a, const float* b, float* c, std::int64_t size);
using ShiftedFunctions = std::array<Shifted, paddings.size()>;

/// Compiled as pace_test compiles everything.
ShiftedFunctions aligned_functions();
/// Compiled with -O2 and no alignment.
ShiftedFunctions plain_functions();

}  // namespace pace::benches::selftest
