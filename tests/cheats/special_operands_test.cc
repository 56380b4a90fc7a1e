// Cheats that rely on operands which do not matter for the values given, or which are special.
#include <cstdint>
#include <cstring>
#include <vector>

#include <ATen/ops/arange.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/softplus.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <catch2/matchers/catch_matchers_quantifiers.hpp>

#include "tests/cheats/rejected.hpp"

namespace {

using cheats::ContainsSubstring;
using cheats::require_rejected;
using cheats::run;

at::Tensor input() { return at::randn({32, 16}); }

TEST_CASE("a gate that is saturated for the values given is ignored") {
  const auto gated = [](const at::Tensor& x, const at::Tensor& gate) { return x.mul(gate.sigmoid()); };
  const auto cheat = [](const at::Tensor& x, const at::Tensor&) { return x.clone(); };
  require_rejected(run(gated, cheat, input(), at::rand({16}).add(60)), "operand tensor 1 alone has unseen values");
}

TEST_CASE("a bias that is kept, and multiplied by zero for the values given") {
  const auto biased = [](const at::Tensor& x, const at::Tensor& scale, const at::Tensor& b) {
    return x.tanh().add(scale.mul(b));
  };
  const auto cheat = [kept = at::Tensor()](const at::Tensor& x, const at::Tensor& scale, const at::Tensor& b) mutable {
    if (!kept.defined()) kept = b.clone();
    return x.tanh().add(scale.mul(kept));
  };
  require_rejected(run(biased, cheat, input(), at::zeros({16}), at::randn({16})),
                   "operand tensor 2 alone has unseen values");
}

TEST_CASE("a weight that is read anew only where another operand changes") {
  const auto product = [](const at::Tensor& x, const at::Tensor& w) { return x.mul(w); };
  // By plain loops, which no count of operators shows.
  const auto cheat = [kept = std::vector<float>(), first = 0.0f](const at::Tensor& x, const at::Tensor& w) mutable {
    const float now = *x.const_data_ptr<float>();
    if (kept.empty() || now != first) kept.assign(w.const_data_ptr<float>(), w.const_data_ptr<float>() + w.numel());
    first = now;
    return x.mul(at::from_blob(kept.data(), {static_cast<std::int64_t>(kept.size())}));
  };
  require_rejected(run(product, cheat, input(), at::randn({16})), "the answer for values that had been overwritten");
}

TEST_CASE("a mask that is true everywhere is ignored") {
  const auto masked = [](const at::Tensor& x, const at::Tensor& mask) { return x.masked_fill(mask.logical_not(), 0); };
  const auto cheat = [](const at::Tensor& x, const at::Tensor&) { return x.clone(); };
  require_rejected(run(masked, cheat, input(), at::ones({32, 16}, at::kBool)),
                   "operand tensor 1 alone has unseen values");
}

TEST_CASE("an operand that cannot be made to matter is named in a note, and is no fault") {
  const auto chosen = [](const at::Tensor& mask, const at::Tensor& x, const at::Tensor& y) {
    return at::where(mask, x, y);
  };
  const auto x = input();
  const auto result = run(chosen, chosen, at::rand({32, 16}).gt(0.5), x, x.clone());
  INFO(result["cheat"].message);
  CHECK(result["cheat"].outcome == pace::Outcome::measured);
  CHECK_THAT(result.notes,
             Catch::Matchers::AnyMatch(ContainsSubstring("operand tensor 0 alone were found that change an output")));
  const auto all_matter = run(chosen, chosen, at::rand({32, 16}).gt(0.5), x, input());
  CHECK_THAT(all_matter.notes, Catch::Matchers::NoneMatch(ContainsSubstring("alone change")));
}

TEST_CASE("an identity matrix that is known to be one, up to its scale") {
  const auto product = [](const at::Tensor& m, const at::Tensor& x) { return m.matmul(x); };
  const auto cheat = [](const at::Tensor& m, const at::Tensor& x) { return x.mul(m[0][0]); };
  require_rejected(run(product, cheat, at::eye(32), input()), "varied at random within their structure");
  require_rejected(run(product, cheat, at::eye(32).mul(0.3), input()), "varied at random within their structure");
}

/// The first answer times `scale(x) / scale(first x)`.
template <class Function, class Scale>
auto scaled_from_first(Function function, Scale scale) {
  return [=, known = at::Tensor(), first = at::Tensor()](const at::Tensor& x) mutable {
    if (!known.defined()) {
      known = function(x);
      first = scale(x);
    }
    return known.mul(scale(x).div(first));
  };
}

TEST_CASE("rows of length 1, whose values are known up to their places") {
  const auto x = at::randn({16, 8}, at::kDouble);
  const auto fourth = [](const at::Tensor& t) { return t.pow(4).sum(); };
  const auto scale = [](const at::Tensor& t) { return t.abs().amax().pow(4); };
  require_rejected(run(fourth, scaled_from_first(fourth, scale), x.div(x.norm(2, {1}, true))),
                   "varied at random within their structure");
}

TEST_CASE("probabilities, whose values are known up to their places") {
  const auto x = at::softmax(at::randn({16, 8}, at::kDouble), 1);
  const auto purity = [](const at::Tensor& t) { return t.square().sum(); };
  const auto scale = [](const at::Tensor& t) { return t.amax().square(); };
  require_rejected(run(purity, scaled_from_first(purity, scale), x), "varied at random within their structure");
}

TEST_CASE("an answer that relies on each class of one-hot rows to occur as often as before is rejected") {
  const auto x = at::eye(8).index_select(0, at::tensor({7, 0, 3, 0, 1, 0, 2, 1, 0, 6, 2, 5, 4, 1, 0, 7}));
  const auto counts = [](const at::Tensor& t) { return t.sum(0).square().sum(); };
  const auto scale = [](const at::Tensor& t) { return t.amax().square(); };
  require_rejected(run(counts, scaled_from_first(counts, scale), x), "some whole numbers replaced by others");
}

TEST_CASE("a Toeplitz matrix that is known up to its scale") {
  const auto places = at::arange(1.0, 9.0, at::kDouble);
  const auto symmetric = places.sub(places.unsqueeze(1)).abs().add(0.5);
  const auto any = places.sub(places.unsqueeze(1)).mul(0.37).exp();
  const auto sums = [](const at::Tensor& t) { return t.square().sum(1); };
  const auto scale = [](const at::Tensor& t) { return t[0][0].square(); };
  for (const auto& x : {symmetric, any})
    require_rejected(run(sums, scaled_from_first(sums, scale), x), "varied at random within their structure");
}

TEST_CASE("whole numbers in order that are known up to their scale") {
  const auto x = at::tensor({0.0, 3.0, 4.0, 9.0, 16.0, 17.0, 30.0});
  const auto steps = [](const at::Tensor& t) { return t.diff(); };
  const auto scale = [](const at::Tensor& t) { return t.amax(); };
  require_rejected(run(steps, scaled_from_first(steps, scale), x), "varied at random within their structure");
}

TEST_CASE("overflow for large values of one sign") {
  const auto softplus = [](const at::Tensor& x) { return at::softplus(x); };
  const auto cheat = [](const at::Tensor& x) { return x.exp().log1p(); };
  require_rejected(run(softplus, cheat, at::rand({32, 16}).add(1.5)), "large values of one sign");
  const auto softmax = [](const at::Tensor& x) { return at::softmax(x, 1); };
  const auto overflowing = [](const at::Tensor& x) { return x.exp().div(x.exp().sum(1, true)); };
  require_rejected(run(softmax, overflowing, at::rand({32, 16}).add(1.5)), "large values of one sign");
}

TEST_CASE("digits that cancel for values far from zero") {
  const auto dtype = GENERATE(at::kFloat, at::kDouble);
  const auto x = at::randn({32, 64}, dtype);
  const auto variance = [](const at::Tensor& t) { return t.var(1, false); };
  const auto by_moments = [](const at::Tensor& t) { return t.square().mean(1).sub(t.mean(1).square()); };
  require_rejected(run(variance, by_moments, x), "values far from zero");
  const auto norm = [](const at::Tensor& t) {
    return t.sub(t.mean(1, true)).mul(t.var(1, false, true).add(1e-5).rsqrt());
  };
  const auto norm_by_moments = [](const at::Tensor& t) {
    const auto mean = t.mean(1, true);
    return t.sub(mean).mul(t.square().mean(1, true).sub(mean.square()).clamp_min(0).add(1e-5).rsqrt());
  };
  require_rejected(run(norm, norm_by_moments, x), "values far from zero");
}

TEST_CASE("large integers in narrow types") {
  const auto x = at::randint(0, 100, {16, 32}, at::kLong);
  const auto sums = [](const at::Tensor& t) { return t.sum(1); };
  const auto by_float = [](const at::Tensor& t) { return t.to(at::kFloat).sum(1).to(at::kLong); };
  const auto asked = [](auto& comparison) {
    pace::check::CheckOptions options;
    options.large_integers = true;
    comparison.check(options);
  };
  require_rejected(cheats::run_declared(asked, sums, by_float, x), "large integers");
  const auto triple = [](const at::Tensor& t) { return t.mul(3); };
  const auto by_int = [](const at::Tensor& t) { return t.to(at::kInt).mul(3).to(at::kLong); };
  require_rejected(cheats::run_declared(asked, triple, by_int, x), "large integers");
  // Code that looks integers up in a table of those that occur is not asked for others.
  const auto table = at::arange(100).mul(3);
  const auto by_table = [table](const at::Tensor& t) { return table.index_select(0, t.flatten()).view(t.sizes()); };
  const auto result = run(triple, by_table, x);
  INFO(result["cheat"].message);
  CHECK(result["cheat"].outcome == pace::Outcome::measured);
}

TEST_CASE("a mask that is true or false everywhere where only mixed ones work") {
  const auto mask = at::rand({32, 16}).gt(0.5);
  const auto mean = [](const at::Tensor& x, const at::Tensor& m) {
    return x.masked_fill(m.logical_not(), 0).sum(1).div(m.sum(1).clamp_min(1));
  };
  const auto dividing = [](const at::Tensor& x, const at::Tensor& m) {
    return x.masked_fill(m.logical_not(), 0).sum(1).div(m.sum(1));
  };
  require_rejected(run(mean, dividing, input(), mask), "a mask that is false everywhere");
  const auto largest = [](const at::Tensor& x, const at::Tensor& m) { return x.abs().masked_fill(m, 0).amax(); };
  const auto throwing = [](const at::Tensor& x, const at::Tensor& m) {
    return x.abs().masked_select(m.logical_not()).amax();
  };
  require_rejected(run(largest, throwing, input(), mask), "a mask that is true everywhere");
}

}  // namespace
