// Throughput: several threads that call one model at once.
#pragma once

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

#include "pace/base/error.hpp"

namespace pace::benches::models {

struct Throughput {
  std::int64_t callers = 0, iterations = 0;
  /// From the first call to the end of the last.
  double seconds = 0;

  /// A call takes so many milliseconds: total time x callers / iterations.
  [[nodiscard]] double latency_milliseconds() const {
    return seconds * 1000 * static_cast<double>(callers) / static_cast<double>(iterations);
  }
  [[nodiscard]] double calls_per_second() const { return static_cast<double>(iterations) / seconds; }
};

/// PyTorch's throughput benchmark: a thread for each of `callers`. Each warms up, waits for the others, and then takes
/// calls from a common counter until `iterations` have been taken in all. `finish` is called by each thread after its
/// last call, before the time ends. Throws InputError for counts below 1, and passes on the first exception of a
/// caller.
[[nodiscard]] inline Throughput measure_throughput(const std::vector<std::function<void()>>& callers,
                                                   std::int64_t iterations, std::int64_t warm_up_iterations,
                                                   const std::function<void()>& finish = {}) {
  if (callers.empty() || iterations < 1 || warm_up_iterations < 0)
    throw InputError({}, "throughput: expected at least one caller and one iteration");
  using Clock = std::chrono::steady_clock;
  std::atomic<std::int64_t> taken{0};
  std::vector<std::exception_ptr> problems(callers.size());
  std::vector<Clock::time_point> ends(callers.size());
  Clock::time_point began;
  std::barrier start(static_cast<std::ptrdiff_t>(callers.size()), [&]() noexcept { began = Clock::now(); });
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < callers.size(); ++i)
    threads.emplace_back([&, i] {
      const auto guarded = [&](const auto& work) {
        try {
          work();
        } catch (...) {
          problems[i] = std::current_exception();
        }
      };
      guarded([&] {
        for (std::int64_t n = 0; n < warm_up_iterations; ++n) callers[i]();
        if (finish) finish();
      });
      start.arrive_and_wait();
      if (!problems[i])
        guarded([&] {
          while (taken.fetch_add(1) < iterations) callers[i]();
          if (finish) finish();
        });
      ends[i] = Clock::now();
    });
  for (auto& thread : threads) thread.join();
  for (const auto& problem : problems)
    if (problem) std::rethrow_exception(problem);
  auto end = began;
  for (const auto& each : ends) end = std::max(end, each);
  return {static_cast<std::int64_t>(callers.size()), iterations, std::chrono::duration<double>(end - began).count()};
}

}  // namespace pace::benches::models
