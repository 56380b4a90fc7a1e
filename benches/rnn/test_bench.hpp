// fastrnns' second way of measuring: halves of a step for 0.1 s each, as pytest-benchmark does; its JSON.
#pragma once

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "benches/rnn/model_def.hpp"
#include "benches/rnn/python_text.hpp"
#include "benches/rnn/step_timer.hpp"
#include "benches/rnn/train_bench.hpp"
#include "pace/base/error.hpp"
#include "pace/base/units.hpp"
#include "pace/training/gradient.hpp"

namespace pace::benches::rnn {

struct TestBenchOptions {
  std::int64_t warmup = 3, min_rounds = 5;
  /// The time that all rounds take, about.
  Nanoseconds max_time = std::chrono::milliseconds(100);
  /// Less than this is not believed of a single call.
  Nanoseconds min_time = std::chrono::microseconds(5);
};

/// Seconds.
struct RoundStats {
  double min = 0, max = 0, mean = 0, stddev = 0, median = 0;
  std::int64_t rounds = 0;
};

/// The deviation has Bessel's correction, and is 0 for a single round. Throws Error if there are no rounds.
[[nodiscard]] inline RoundStats stats_of(std::vector<double> rounds) {
  if (rounds.empty()) throw Error("expected one timed round at least");
  std::ranges::sort(rounds);
  const std::size_t n = rounds.size();
  RoundStats stats{.min = rounds.front(), .max = rounds.back(), .rounds = static_cast<std::int64_t>(n)};
  double sum = 0, squares = 0;
  for (const double each : rounds) sum += each;
  stats.mean = sum / static_cast<double>(n);
  for (const double each : rounds) squares += (each - stats.mean) * (each - stats.mean);
  stats.stddev = n < 2 ? 0 : std::sqrt(squares / static_cast<double>(n - 1));
  stats.median = n % 2 == 1 ? rounds[n / 2] : (rounds[n / 2 - 1] + rounds[n / 2]) / 2;
  return stats;
}

namespace detail {

/// `round` answers how long one call took. As pytest-benchmark has it, the shortest of the first call, which may take
/// much longer, and of a few warm-up calls gives the number of rounds. As many warm up again, the rest counts.
template <class Round>
[[nodiscard]] RoundStats repeat(Round&& round, const TestBenchOptions& options) {
  Nanoseconds shortest = round(), spent{};
  for (std::int64_t i = 0; i < options.warmup && spent < options.max_time; ++i) {
    const Nanoseconds time = round();
    spent += time;
    shortest = std::min(shortest, time);
  }
  const auto fitting = static_cast<std::int64_t>(std::ceil(options.max_time / std::max(shortest, options.min_time)));
  const std::int64_t rounds = std::max(fitting, options.min_rounds);
  for (std::int64_t i = std::min(rounds, options.warmup); i > 0; --i) static_cast<void>(round());
  std::vector<double> seconds;
  for (std::int64_t i = 0; i < rounds; ++i) seconds.push_back(std::chrono::duration<double>(round()).count());
  return stats_of(std::move(seconds));
}

}  // namespace detail

/// Forward and waiting for it, by the host's clock.
template <StepTimer T>
[[nodiscard]] RoundStats test_forward(T& timer, ModelDef& model, const TestBenchOptions& options = {}) {
  return detail::repeat(
      [&] {
        const Nanoseconds start = timer.now();
        const c10::IValue output = model.step.forward(model.inputs);
        timer.synchronise();
        return timer.now() - start;
      },
      options);
}

/// Backward and waiting for it, by the host's clock; none for a model without one. As in the original there is one
/// forward, and its graph is kept. Each round goes backward through it again and adds to the gradients, which are
/// zeroed at the end.
template <StepTimer T>
[[nodiscard]] std::optional<RoundStats> test_backward(T& timer, const std::string& name, ModelDef& model,
                                                      const TestBenchOptions& options = {}) {
  auto& step = model.step;
  if (!step.backward) return std::nullopt;
  const c10::IValue output = step.forward(model.inputs);
  const c10::IValue prepared = keep_graph(step.backward_setup ? step.backward_setup(output) : output);
  timer.synchronise();
  const auto stats = detail::repeat(
      [&] {
        const Nanoseconds start = timer.now();
        step.backward(prepared);
        timer.synchronise();
        return timer.now() - start;
      },
      options);
  zero_gradients(name, step.parameters);
  return stats;
}

/// A test in pytest-benchmark's file.
struct TestBenchResult {
  std::string runner;
  bool backward = false;
  RoundStats stats;
};

/// As pytest-benchmark writes its files, as far as their readers need it. The runners share `parameters`, such as
/// {{"executor", "legacy"}, {"fuser", "old"}}: tests are called test_forward[RUNNER-legacy-old].
inline void print_pytest_json(const std::vector<TestBenchResult>& results,
                              const std::vector<std::pair<std::string, std::string>>& parameters,
                              const TestBenchOptions& options, std::ostream& out,
                              std::chrono::system_clock::time_point now = std::chrono::system_clock::now()) {
  using Json = nlohmann::ordered_json;
  const auto seconds = [](Nanoseconds time) { return std::chrono::duration<double>(time).count(); };
  Json benchmarks = Json::array();
  for (const auto& result : results) {
    std::string id = result.runner;
    Json named = {{"net_name", result.runner}};
    for (const auto& [name, value] : parameters) {
      id += '-' + value;
      named[name] = value;
    }
    const std::string name = std::string(result.backward ? "test_backward[" : "test_forward[") + id + ']';
    const auto& stats = result.stats;
    benchmarks.push_back({{"group", "fastrnns"},
                          {"name", name},
                          {"fullname", "benches/rnn::TestBenchNetwork::" + name},
                          {"params", std::move(named)},
                          {"param", id},
                          {"extra_info", Json::object()},
                          {"options",
                           {{"timer", "steady_clock"},
                            {"min_rounds", options.min_rounds},
                            {"max_time", seconds(options.max_time)},
                            {"min_time", seconds(options.min_time)},
                            {"warmup", options.warmup}}},
                          {"stats",
                           {{"min", stats.min},
                            {"max", stats.max},
                            {"mean", stats.mean},
                            {"stddev", stats.stddev},
                            {"rounds", stats.rounds},
                            {"median", stats.median},
                            {"iterations", 1}}}});
  }
  struct utsname machine{};
  Json about = Json::object();
  if (::uname(&machine) == 0)
    about = {{"node", machine.nodename},
             {"machine", machine.machine},
             {"system", machine.sysname},
             {"release", machine.release}};
  const std::time_t when = std::chrono::system_clock::to_time_t(now);
  struct tm parts{};
  ::gmtime_r(&when, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S+00:00", &parts);
  const Json all = {{"machine_info", std::move(about)},
                    {"commit_info", Json::object()},
                    {"benchmarks", std::move(benchmarks)},
                    {"datetime", text.data()},
                    {"version", "pace"}};
  out << all.dump(4, ' ', true, Json::error_handler_t::replace) << '\n';
}

}  // namespace pace::benches::rnn
