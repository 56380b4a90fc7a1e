// SplitMix64: a small random number generator, since <random> would double the compile time of this room.
#pragma once

#include <cstddef>
#include <cstdint>

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

}  // namespace pace
