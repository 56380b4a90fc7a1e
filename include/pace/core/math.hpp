// Math: the functions of <cmath> that pace needs of a double.
#pragma once

// Since C++17 <cmath> has Bessel functions and the like; with them it would be a sixth of what a Torch-free header of
// pace costs to compile. These are the compiler's own names of the same functions.
#if !defined(__GNUC__)
#error "pace: expected GCC or Clang"
#endif

namespace pace::math {

[[nodiscard]] inline double exp(double x) { return __builtin_exp(x); }
[[nodiscard]] inline double expm1(double x) { return __builtin_expm1(x); }
[[nodiscard]] inline double log(double x) { return __builtin_log(x); }
[[nodiscard]] inline double log1p(double x) { return __builtin_log1p(x); }
[[nodiscard]] inline double log10(double x) { return __builtin_log10(x); }
[[nodiscard]] inline double pow(double x, double y) { return __builtin_pow(x, y); }
[[nodiscard]] inline double sqrt(double x) { return __builtin_sqrt(x); }
/// ln of the gamma function's absolute value.
[[nodiscard]] inline double lgamma(double x) { return __builtin_lgamma(x); }
[[nodiscard]] inline double abs(double x) { return __builtin_fabs(x); }
[[nodiscard]] inline double floor(double x) { return __builtin_floor(x); }
[[nodiscard]] inline double ceil(double x) { return __builtin_ceil(x); }
[[nodiscard]] inline bool isfinite(double x) { return __builtin_isfinite(x); }
[[nodiscard]] inline bool isnan(double x) { return __builtin_isnan(x); }

}  // namespace pace::math
