// Unseen values on a GPU: pairs of honest implementations by size of the operand and by clock. The rounds repeat calls
// on the same values; the other samples have unseen ones.
#include <cstdint>
#include <string>
#include <utility>

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <catch2/catch_test_macros.hpp>

#include "benches/cuda/needs_gpu.hpp"
#include "benches/selftest/fresh_options.hpp"
#include "benches/selftest/measure_unseen_values.hpp"
#include "benches/selftest/quiet.hpp"
#include "pace/result/options.hpp"

namespace {

using namespace pace::benches::selftest;
using pace::ClockChoice;

constexpr std::int64_t columns = 1024;

TEST_CASE("how fast honest code is on unseen values, on a GPU") {
  needs_gpu();
  const Quiet quiet;
  print_unseen_values_head();
  for (const auto clock : {ClockChoice::automatic, ClockChoice::hot, ClockChoice::cold, ClockChoice::host})
    for (const std::int64_t rows : {1, 64, 1024, 2048, 4096, 6144, 8192, 16384}) {
      const auto measure = [&](const std::string& name, auto baseline, auto candidate, const auto&... operands) {
        auto options = fresh_options();
        options.clock = clock;
        options.mode_share = 0;
        measure_on_unseen_values(to_string(clock) + std::string(" ") + name + '/' + std::to_string(rows), options,
                                 std::move(baseline), std::move(candidate), operands...);
      };
      const at::TensorOptions on_gpu(at::kCUDA);
      const auto x = at::randn({rows, columns}, on_gpu);
      const auto chain = [](const at::Tensor& a) { return at::sigmoid(at::exp(at::tanh(a))); };
      measure("identical", chain, chain, x);
      measure("new tensors, in place", chain, [](const at::Tensor& a) { return at::tanh(a).exp_().sigmoid_(); }, x);
      measure(
          "softmax by steps, fused",
          [](const at::Tensor& a) {
            const auto e = at::exp(a - at::amax(a, -1, true));
            return e / at::sum(e, -1, true);
          },
          [](const at::Tensor& a) { return at::softmax(a, -1); }, x);
      measure(
          "layer norm by steps, fused",
          [](const at::Tensor& a) {
            const auto centred = a - at::mean(a, -1, true);
            return centred / at::sqrt(at::mean(centred * centred, -1, true) + 1e-5);
          },
          [](const at::Tensor& a) { return at::layer_norm(a, {columns}); }, x);
      const auto half = at::randn({rows, columns}, on_gpu.dtype(at::kHalf)),
                 weights = at::randn({columns, columns}, on_gpu.dtype(at::kHalf));
      measure(
          "einsum, mm", [](const at::Tensor& a, const at::Tensor& b) { return at::einsum("ij,jk->ik", {a, b}); },
          [](const at::Tensor& a, const at::Tensor& b) { return at::mm(a, b); }, half, weights);
      measure(
          "in place by steps, at once", [](at::Tensor& a) { return a.mul_(2).add_(1); },
          [](at::Tensor& a) { return a.copy_(at::add(at::ones({}, a.options()), a, 2)); }, x);
    }
}

}  // namespace
