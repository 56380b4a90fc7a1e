// SplitMix64: a small random number generator, since <random> would double the compile time of this room.
#pragma once

#include <sys/random.h>

#include <cstddef>
#include <cstdint>

#include "pace/base/error.hpp"

namespace pace {

/// A generator of 64-bit random numbers: G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number
/// generators", OOPSLA 2014. Equal seeds give equal numbers on every machine. It passes BigCrush with any seed.
class SplitMix64 {
 public:
  /// Starts the sequence of `seed`.
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

  /// Returns the next number, uniform over all 64-bit numbers.
  std::uint64_t operator()() {
    std::uint64_t mixed = state_ += 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    return mixed ^ (mixed >> 31);
  }

  /// Returns a number from 0 to `count` - 1, uniform up to a bias of `count` / 2^64.
  std::size_t below(std::size_t count) { return static_cast<std::size_t>((*this)() % count); }

 private:
  std::uint64_t state_;
};

/// Returns a number other than 0 that the operating system has drawn. Throws Error if it draws none.
[[nodiscard]] inline std::uint64_t draw_seed() {
  std::uint64_t seed = 0;
  if (::getrandom(&seed, sizeof seed, 0) != static_cast<::ssize_t>(sizeof seed))
    throw Error("the operating system gives no random number; expected one from getrandom()");
  return seed == 0 ? 1 : seed;
}

}  // namespace pace
