// Options of comparisons for counting error rates: a new order each time.
#pragma once

#include <cstdint>
#include <random>

#include "pace/base/random.hpp"
#include "pace/result/options.hpp"
#include "pace/run/run_context.hpp"

namespace pace::benches::selftest {

/// A new order in every run, unlike elsewhere: the error rates that are counted here rest on those coins.
[[nodiscard]] inline std::uint64_t fresh_seed() {
  static SplitMix64 seeds((static_cast<std::uint64_t>(std::random_device()()) << 32) ^ std::random_device()());
  return seeds();
}

[[nodiscard]] inline Options fresh_options() {
  Options options = run_context().options;
  options.seed = fresh_seed();
  return options;
}

}  // namespace pace::benches::selftest
