// torchbench's own timing: eager and compiled in turns, medians, and Student's test.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>
#include <ATen/ops/randn_like.h>
#include <c10/core/ScalarType.h>

#include "benches/models/run/input_tensors.hpp"
#include "benches/models/run/varying_batch.hpp"
#include "pace/base/c_numbers.hpp"
#include "pace/base/error.hpp"
#include "pace/stats/student.hpp"

namespace pace::benches::models {

/// The parts of the dependencies that the loop needs.
struct CompatDependencies {
  std::function<double()> now;  ///< seconds
  std::function<void()> synchronise;
  std::function<void()> reset_random_state;
};

struct CompatOptions {
  std::int64_t repeat = 30, iterations_per_run = 1;
  bool randomize_input = false;
  /// Each of eager's iterations has another batch than this; 0 and 1: all have the one that is given.
  std::int64_t varied_batch = 0;
  std::uint64_t seed = 0;
};

/// torchbench's randomize_input: normal values for float32 and float64, int64 as it is. Throws Error for other types.
[[nodiscard]] inline torch::jit::Stack randomized(const torch::jit::Stack& inputs) {
  return map_tensors(inputs, [](const at::Tensor& tensor) {
    const auto type = tensor.scalar_type();
    if (type == at::kFloat || type == at::kDouble) return at::randn_like(tensor);
    if (type == at::kLong) return tensor;
    throw Error(std::string("randomize_input need support tensor of type ") + c10::toString(type));
  });
}

/// torchbench's timed: the host's time of `iterations` calls, and then until the device is done; the random state is
/// put back before each, and `prepare` is called, untimed. Not divided by `iterations`.
template <class Call, class Prepare>
[[nodiscard]] double timed(const CompatDependencies& dependencies, std::int64_t iterations, Call&& call,
                           Prepare&& prepare) {
  dependencies.synchronise();
  double total = 0;
  for (std::int64_t i = 0; i < iterations; ++i) {
    prepare();
    dependencies.reset_random_state();
    const double begin = dependencies.now();
    call();
    total += dependencies.now() - begin;
  }
  const double begin = dependencies.now();
  dependencies.synchronise();
  return total + (dependencies.now() - begin);
}

template <class Call>
[[nodiscard]] double timed(const CompatDependencies& dependencies, std::int64_t iterations, Call&& call) {
  return timed(dependencies, iterations, call, [] {});
}

struct CompatTimings {
  /// Seconds, one for each repeat.
  std::vector<double> eager, compiled;
};

/// torchbench's speedup_experiment. Both callables take the inputs. Where the batch varies it does so for eager alone,
/// as in torchbench, so that the times of both sides are of other batches.
template <class Eager, class Compiled>
[[nodiscard]] CompatTimings speedup_experiment(const CompatDependencies& dependencies, const CompatOptions& options,
                                               const torch::jit::Stack& inputs, Eager&& eager, Compiled&& compiled) {
  if (options.repeat < 1 || options.iterations_per_run < 1)
    throw InputError({}, "--repeat and --iterations-per-run: expected at least 1 of each");
  CompatTimings timings;
  DrawnBatches sizes(options.varied_batch, options.seed);
  for (std::int64_t i = 0; i < options.repeat; ++i) {
    const torch::jit::Stack given = options.randomize_input ? randomized(inputs) : inputs;
    torch::jit::Stack varied = given;
    const auto vary = [&] {
      if (options.varied_batch > 1) varied = resized_batch(given, options.varied_batch, sizes.next());
    };
    timings.eager.push_back(timed(dependencies, options.iterations_per_run, [&] { eager(varied); }, vary));
    timings.compiled.push_back(timed(dependencies, options.iterations_per_run, [&] { compiled(given); }));
  }
  return timings;
}

/// The median of an even number of values is the mean of the two in the middle, as in numpy. Throws Error for none.
[[nodiscard]] inline double median_of(std::vector<double> values) {
  if (values.empty()) throw Error("median: expected at least one value");
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// The two-sided p-value of Student's test for two independent samples of equal variance (scipy.stats.ttest_ind). NaN
/// where one has fewer than two values, or nothing varies and the means are equal.
[[nodiscard]] inline double t_test_p_value(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() < 2 || b.size() < 2) return std::nan("");
  const auto mean = [](const std::vector<double>& values) {
    double sum = 0;
    for (const double each : values) sum += each;
    return sum / static_cast<double>(values.size());
  };
  const auto squares = [](const std::vector<double>& values, double centre) {
    double sum = 0;
    for (const double each : values) sum += (each - centre) * (each - centre);
    return sum;
  };
  const double mean_a = mean(a), mean_b = mean(b);
  const auto count_a = static_cast<double>(a.size()), count_b = static_cast<double>(b.size());
  const std::size_t freedom = a.size() + b.size() - 2;
  const double variance = (squares(a, mean_a) + squares(b, mean_b)) / static_cast<double>(freedom);
  const double t = (mean_a - mean_b) / std::sqrt(variance * (1 / count_a + 1 / count_b));
  if (std::isnan(t)) return t;
  return std::max(0.0, 2 * stats::student_tail(std::abs(t), freedom));
}

/// torch._dynamo.testing.format_speedup.
[[nodiscard]] inline std::string format_speedup(double speedup, double p_value, bool is_correct = true,
                                                double threshold = 0.1) {
  if (!is_correct) return "ERROR";
  char text[64];
  const CNumbers c_numbers;
  if (p_value > threshold)
    std::snprintf(text, sizeof text, "%.3fx SAME", speedup);
  else
    std::snprintf(text, sizeof text, "%.3fx p=%.2f", speedup, p_value);
  return text;
}

}  // namespace pace::benches::models
