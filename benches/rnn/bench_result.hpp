// BenchResult: the times of one runner, as fastrnns' loop keeps them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/std.h>

#include "pace/base/error.hpp"

namespace pace::benches::rnn {

/// Milliseconds; with --compat on the CPU seconds that are taken for milliseconds.
struct BenchResult {
  std::string name;
  double avg_fwd = 0, std_fwd = 0;
  std::vector<float> info_fwd = {};
  double avg_bwd = 0, std_bwd = 0;
  std::vector<float> info_bwd = {};
};

/// The result of one runner of a group, group by group in the order they ran.
struct GroupResults {
  std::string group;
  std::vector<BenchResult> models = {};
};

namespace detail {

/// By LibTorch and in float32, as the original does it: the order of a float32 sum is seen in JSON's last digits. The
/// deviation has Bessel's correction, and is NaN for a single time.
[[nodiscard]] inline std::pair<double, double> mean_and_deviation(const std::vector<float>& times) {
  const at::Tensor values = at::empty({static_cast<std::int64_t>(times.size())}, at::TensorOptions().dtype(at::kFloat));
  std::copy(times.begin(), times.end(), values.data_ptr<float>());
  const double mean = at::mean(values).item<double>();
  if (times.size() < 2) return {mean, std::numeric_limits<double>::quiet_NaN()};
  return {mean, at::std(values, /*unbiased=*/true).item<double>()};
}

}  // namespace detail

/// Throws Error if there are no times.
[[nodiscard]] inline BenchResult make_bench_result(std::string name, std::vector<float> forward,
                                                   std::vector<float> backward) {
  if (forward.empty() || backward.empty()) throw Error("'" + name + "' has no times; expected one at least");
  BenchResult result{.name = std::move(name)};
  std::tie(result.avg_fwd, result.std_fwd) = detail::mean_and_deviation(forward);
  std::tie(result.avg_bwd, result.std_bwd) = detail::mean_and_deviation(backward);
  result.info_fwd = std::move(forward);
  result.info_bwd = std::move(backward);
  return result;
}

}  // namespace pace::benches::rnn
