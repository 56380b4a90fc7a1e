// The largest number of threads that options accept.
#pragma once

#include <algorithm>
#include <string>
#include <thread>

namespace pace {

/// Returns the largest number of threads that options accept: four per processor, since more would wait for each other
/// and take long to start. At least 64, so that small machines accept the settings of larger ones.
[[nodiscard]] inline int most_threads() {
  constexpr int each_processor = 4, anywhere = 64;
  return std::max(anywhere, each_processor * static_cast<int>(std::thread::hardware_concurrency()));
}

/// Returns the numbers from `least` to most_threads() as text for messages.
[[nodiscard]] inline std::string expected_threads(int least) {
  return "a whole number from " + std::to_string(least) + " to " + std::to_string(most_threads()) +
         ", which is 4 for each processor and at least 64";
}

}  // namespace pace
