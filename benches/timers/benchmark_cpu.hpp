// benchmark_cpu: Inductor's timer of CPU code.
#pragma once

#include <vector>

#include "benches/timers/summary.hpp"

namespace pace::benches::timers {

struct BenchmarkCpu {
  Milliseconds warm_up{20}, repeat{100};
};

/// Calls until `warm_up` has passed and forgets it; calls until `repeat` has passed; the median, of an even number the
/// mean of two. Each loop calls at least once, since it looks at the time after a call. `clock` needs now().
template <class C, class F>
[[nodiscard]] Milliseconds benchmark_cpu(C& clock, F&& function, const BenchmarkCpu& options = {}) {
  const auto loop = [&](Milliseconds budget) {
    std::vector<Milliseconds> times;
    const Nanoseconds began = clock.now();
    while (true) {
      const Nanoseconds start = clock.now();
      function();
      const Nanoseconds stop = clock.now();
      times.push_back(stop - start);
      if (stop - began > budget) return times;
    }
  };
  loop(options.warm_up);
  return mean_median(loop(options.repeat));
}

}  // namespace pace::benches::timers
