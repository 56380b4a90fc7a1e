// Unseen values: pairs of honest implementations by the rounds, which repeat calls on the same values, and by calls on
// unseen values.
#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <catch2/catch_test_macros.hpp>

#include "benches/selftest/fresh_options.hpp"
#include "benches/selftest/measure_unseen_values.hpp"
#include "benches/selftest/quiet.hpp"

namespace {

using namespace pace::benches::selftest;

constexpr std::int64_t columns = 64;

template <class Baseline, class Candidate, class... Operands>
void measure(const std::string& name, Baseline baseline, Candidate candidate, const Operands&... operands) {
  measure_on_unseen_values(name, fresh_options(), std::move(baseline), std::move(candidate), operands...);
}

/// Sorts each row by the standard library, in branches that depend on the values.
at::Tensor sorted_rows(const at::Tensor& x) {
  at::Tensor y = x.clone();
  auto* const values = y.mutable_data_ptr<float>();
  for (std::int64_t row = 0; row < y.size(0); ++row) std::sort(values + row * columns, values + (row + 1) * columns);
  return y;
}

TEST_CASE("how fast honest code is on unseen values", "[.][new-values]") {
  const Quiet quiet;
  print_unseen_values_head();
  for (const std::int64_t rows : {1, 16, 256, 4096}) {
    const std::string size = "/" + std::to_string(rows);
    const auto x = at::randn({rows, columns}), weights = at::randn({columns, columns});
    const auto chain = [](const at::Tensor& a) { return at::sigmoid(at::exp(at::tanh(a))); };
    measure("identical" + size, chain, chain, x);
    measure(
        "new tensors, in place" + size, chain, [](const at::Tensor& a) { return at::tanh(a).exp_().sigmoid_(); }, x);
    measure(
        "einsum, mm" + size, [](const at::Tensor& a, const at::Tensor& b) { return at::einsum("ij,jk->ik", {a, b}); },
        [](const at::Tensor& a, const at::Tensor& b) { return at::mm(a, b); }, x, weights);
    measure(
        "softmax by steps, fused" + size,
        [](const at::Tensor& a) {
          const auto e = at::exp(a - at::amax(a, -1, true));
          return e / at::sum(e, -1, true);
        },
        [](const at::Tensor& a) { return at::softmax(a, -1); }, x);
    measure(
        "layer norm by steps, fused" + size,
        [](const at::Tensor& a) {
          const auto centred = a - at::mean(a, -1, true);
          return centred / at::sqrt(at::mean(centred * centred, -1, true) + 1e-5);
        },
        [](const at::Tensor& a) { return at::layer_norm(a, {columns}); }, x);
    const auto places = at::randint(rows * columns, {rows * 16});
    measure(
        "index_select, take" + size,
        [](const at::Tensor& a, const at::Tensor& from) { return at::index_select(at::flatten(a), 0, from); },
        [](const at::Tensor& a, const at::Tensor& from) { return at::take(a, from); }, x, places);
    measure("sort, std::sort" + size, [](const at::Tensor& a) { return std::get<0>(at::sort(a)); }, sorted_rows, x);
  }
}

}  // namespace
