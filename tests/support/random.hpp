// Deterministic random numbers for simulations: the same on every platform, which std's distributions are not.
#pragma once

#include <cmath>
#include <cstdint>

#include "pace/base/random.hpp"

namespace pace::test {

class Random {
 public:
  explicit Random(std::uint64_t seed) : bits_(seed) {}

  /// In (0, 1), never an end.
  double uniform() { return (static_cast<double>(bits_() >> 11) + 0.5) * 0x1p-53; }
  bool coin() { return bits_() >> 63 != 0; }
  /// Box and Muller; the second of the two is thrown away.
  double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(6.283185307179586 * uniform()); }
  /// Variance 2.
  double laplace() { return (coin() ? 1 : -1) * -std::log(uniform()); }
  /// Student's t with 3 degrees of freedom: variance 3, no fourth moment.
  double student3() {
    double squares = 0;
    for (int i = 0; i < 3; ++i) {
      const double each = normal();
      squares += each * each;
    }
    return normal() / std::sqrt(squares / 3);
  }
  /// Normal, but every twentieth has ten times the deviation: variance 5.95.
  double contaminated() { return normal() * (uniform() < 0.05 ? 10 : 1); }

 private:
  SplitMix64 bits_;
};

}  // namespace pace::test
