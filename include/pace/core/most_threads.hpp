// The largest number of threads that options accept.
#pragma once

#include <algorithm>
#include <string>
#include <thread>

namespace pace {

/// More than a few for each processor only wait for each other, and starting a hundred thousand takes minutes. On small
/// machines, too, a run may be tried with what a larger one has.
[[nodiscard]] inline int most_threads() {
  constexpr int each_processor = 4, anywhere = 64;
  return std::max(anywhere, each_processor * static_cast<int>(std::thread::hardware_concurrency()));
}

/// For messages: the numbers from `least` to most_threads().
[[nodiscard]] inline std::string expected_threads(int least) {
  return "a whole number from " + std::to_string(least) + " to " + std::to_string(most_threads()) +
         ", which is 4 for each processor and at least 64";
}

}  // namespace pace
