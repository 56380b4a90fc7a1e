// Random draws: factors, angles, choices and orders for unseen values. They are as many as the values of an operand,
// and are drawn in less time than most calls take.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/complex.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include "pace/base/random.hpp"

namespace pace::detail {

/// A random factor in [1/2, 1).
[[nodiscard]] inline double draw_factor(SplitMix64& random) {
  return 0.5 + 0.5 * static_cast<double>(random() >> 11) / static_cast<double>(std::uint64_t{1} << 53);
}

/// Calls `use(first, count, part)` for parts that cover `total` values: `part` is `count` of the numbers that `draw()`
/// returns. A draw for each value would take longer than most calls do. So the numbers repeat after a long period, and
/// each repetition starts at another random place.
template <class Draw, class Use>
void draw_in_parts(std::int64_t total, SplitMix64& random, const at::TensorOptions& options, Draw&& draw, Use&& use) {
  constexpr std::int64_t longest_period = 65521;  // a prime, so that rows do not repeat
  if (total <= 0) return;
  const std::int64_t period = std::min(total, longest_period);
  std::vector<double> drawn(static_cast<std::size_t>(period));
  for (auto& each : drawn) each = draw(random);
  // Twice, so that a part which starts anywhere in the first half is a view.
  if (total > period) drawn.insert(drawn.end(), drawn.begin(), drawn.end());
  const at::Tensor numbers = at::from_blob(drawn.data(), {static_cast<std::int64_t>(drawn.size())}, at::kDouble)
                                 .to(options, /*non_blocking=*/false, /*copy=*/true);
  for (std::int64_t first = 0; first < total; first += period) {
    const std::int64_t count = std::min(period, total - first);
    const std::int64_t start =
        total > period ? static_cast<std::int64_t>(random.below(static_cast<std::size_t>(period))) : 0;
    use(first, count, numbers.narrow(0, start, count));
  }
}

/// The options of real numbers of the precision of `values`.
[[nodiscard]] inline at::TensorOptions real_options_of(const at::Tensor& values) {
  return values.options().dtype(c10::toRealValueType(values.scalar_type())).requires_grad(false);
}

/// Multiplies each of `values`, a 1-D view, by a random factor in [1/2, 1) of its own. With `signs`, one factor in
/// eight is negative.
inline void multiply_each(at::Tensor values, SplitMix64& random, bool signs) {
  // Each factor is the product of two in [sqrt(1/2), 1): one of the place in a part, and one of the part.
  draw_in_parts(
      values.numel(), random, real_options_of(values),
      [&](SplitMix64& from) {
        const double size = std::sqrt(draw_factor(from));
        return signs && from.below(8) == 0 ? -size : size;
      },
      [&](std::int64_t first, std::int64_t count, const at::Tensor& part) {
        values.narrow(0, first, count).mul_(part.mul(std::sqrt(draw_factor(random))));
      });
}

/// Multiplies each of `values`, a 1-D view of complex numbers, by a random number of length 1 of its own.
inline void turn_each(at::Tensor values, SplitMix64& random) {
  constexpr double full_turn = 6.283185307179586;
  draw_in_parts(
      values.numel(), random, real_options_of(values), [&](SplitMix64& from) { return full_turn * draw_factor(from); },
      [&](std::int64_t first, std::int64_t count, const at::Tensor& part) {
        // Twice a factor in [1/2, 1) covers a whole turn.
        const at::Tensor angles = part.mul(2).add(full_turn * draw_factor(random));
        values.narrow(0, first, count).mul_(at::complex(angles.cos(), angles.sin()));
      });
}

/// Returns `values` in float64, multiplied by random factors of their own in [1/2, 1).
[[nodiscard]] inline at::Tensor varied(const at::Tensor& values, SplitMix64& random) {
  at::Tensor drawn = values.to(at::kDouble, /*non_blocking=*/false, /*copy=*/true, at::MemoryFormat::Contiguous);
  multiply_each(drawn.view({-1}), random, /*signs=*/false);
  return drawn;
}

/// Returns `count` bools. About one in eight is true, and at least one.
[[nodiscard]] inline at::Tensor choose_eighth(std::int64_t count, SplitMix64& random, at::Device device) {
  const auto options = at::TensorOptions().device(device).dtype(at::kBool);
  at::Tensor chosen = at::empty({count}, options);
  draw_in_parts(
      count, random, options, [](SplitMix64& from) { return from.below(8) == 0 ? 1.0 : 0.0; },
      [&](std::int64_t first, std::int64_t size, const at::Tensor& part) {
        chosen.narrow(0, first, size).copy_(part);
      });
  if (count > 0)
    chosen.narrow(0, static_cast<std::int64_t>(random.below(static_cast<std::size_t>(count))), 1).fill_(true);
  return chosen;
}

/// A random order of `count` places that is not the given one, by Fisher and Yates. `count` is at least 2.
[[nodiscard]] inline at::Tensor draw_order(std::int64_t count, SplitMix64& random, at::Device device) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  if (std::is_sorted(order.begin(), order.end())) std::rotate(order.begin(), order.begin() + 1, order.end());
  return at::from_blob(order.data(), {count}, at::kLong).to(at::TensorOptions().device(device), false, /*copy=*/true);
}

}  // namespace pace::detail
