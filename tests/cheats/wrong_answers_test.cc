// Cheats whose answers are not those of the baseline, or only look like them.
#include <limits>
#include <vector>

#include <ATen/ops/empty_like.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/zeros.h>

#include "tests/cheats/rejected.hpp"

namespace {

using cheats::require_rejected;
using cheats::run;

at::Tensor honest(const at::Tensor& x) { return at::sigmoid(x); }
at::Tensor input() { return at::randn({32, 16}); }
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST_CASE("NaN everywhere, and NaN as a wildcard for what is expensive to compute") {
  require_rejected(
      run(honest, [](const at::Tensor& x) { return at::full_like(x, nan); }, input()), "512 of 512 elements");
  const auto half = [](const at::Tensor& x) {
    auto out = at::full_like(x, nan);
    out.narrow(0, 0, 16).copy_(at::sigmoid(x.narrow(0, 0, 16)));
    return out;
  };
  require_rejected(run(honest, half, input()), "256 of 512 elements");
}

TEST_CASE("nothing is written, from some call on") {
  int calls = 0;
  const auto cheat = [&](const at::Tensor& x) { return ++calls < 300 ? honest(x) : at::empty_like(x); };
  require_rejected(run(honest, cheat, input()), "elements");
}

TEST_CASE("wrong only while it is timed, and right again at the end") {
  int calls = 0;
  const auto cheat = [&](const at::Tensor& x) {
    ++calls;
    return calls > 100 && calls < 3000 ? x.mul(1) : honest(x);
  };
  require_rejected(run(honest, cheat, input()), "in a timed call");
}

TEST_CASE("a product in half the precision, or less, returned as float32") {
  const auto dtype = GENERATE(at::kHalf, at::kBFloat16);
  const auto product = [](const at::Tensor& a, const at::Tensor& b) { return at::matmul(a, b); };
  const auto cheat = [=](const at::Tensor& a, const at::Tensor& b) {
    return at::matmul(a.to(dtype), b.to(dtype)).to(at::kFloat);
  };
  require_rejected(run(product, cheat, at::randn({32, 64}), at::randn({64, 32})), "elements");
}

TEST_CASE("float16 where float64 was asked for, checked against a float64 reference") {
  cheats::FakeClock clock;
  const auto result =
      pace::compare("cheat", at::randn({32, 64}), at::randn({64, 32}))
          .options(cheats::short_run())
          .float64_reference()
          .baseline("eager", cheats::costing(clock, 300,
                                             [](const at::Tensor& a, const at::Tensor& b) { return at::matmul(a, b); }))
          .candidate("cheat", cheats::costing(clock, 100,
                                              [](const at::Tensor& a, const at::Tensor& b) {
                                                return at::matmul(a.to(at::kHalf), b.to(at::kHalf)).to(a.scalar_type());
                                              }))
          .expect(pace::SpeedupAtLeast(1.01))
          .expect(pace::NoSlowerThan(100))
          .run(clock);
  require_rejected(result, "float64 reference");
}

TEST_CASE("an elementwise result that is off by a ten-thousandth, which only a reduction may be") {
  const auto off = [](const at::Tensor& x) { return honest(x).mul(1.0001); };
  require_rejected(run(honest, off, input()), "elements");
  // ... or by less, where values are small.
  const auto small = [](const at::Tensor& x) { return x.mul(0.01).tanh(); };
  const auto linear = [](const at::Tensor& x) { return x.mul(0.01); };
  require_rejected(run(small, linear, at::randn({64, 64})), "elements");
}

TEST_CASE("float32 where float64 was asked for") {
  const auto narrow = [](const at::Tensor& x) { return honest(x.to(at::kFloat)).to(at::kDouble); };
  require_rejected(run(honest, narrow, input().to(at::kDouble)), "elements");
  const auto product = [](const at::Tensor& a, const at::Tensor& b) { return at::matmul(a, b); };
  const auto cheat = [](const at::Tensor& a, const at::Tensor& b) {
    return at::matmul(a.to(at::kFloat), b.to(at::kFloat)).to(at::kDouble);
  };
  require_rejected(run(product, cheat, at::randn({32, 64}, at::kDouble), at::randn({64, 32}, at::kDouble)), "elements");
}

TEST_CASE("a mean that leaves out some values, far from zero") {
  const auto centred = [](const at::Tensor& x) { return x.sub(x.mean(1, true)); };
  const auto cheat = [](const at::Tensor& x) { return x.sub(x.narrow(1, 0, 15).mean(1, true)); };
  require_rejected(run(centred, cheat, input().add(1000)), "elements");
}

TEST_CASE("another dtype") {
  require_rejected(run(honest, [](const at::Tensor& x) { return honest(x).to(at::kHalf); }, input()), "float16");
}

TEST_CASE("another shape, which a later operation would broadcast") {
  const auto rows = [](const at::Tensor& x) { return at::zeros({32, 1}).add(x.sum(0, true)); };
  require_rejected(run(rows, [](const at::Tensor& x) { return x.sum(0, true); }, input()), "shape");
}

TEST_CASE("a broadcast view where the baseline writes every element") {
  const auto rows = [](const at::Tensor& x) { return at::zeros({32, 1}).add(x.sum(0, true)); };
  require_rejected(run(rows, [](const at::Tensor& x) { return x.sum(0, true).expand({32, 16}); }, input()), "stride 0");
}

TEST_CASE("a view of the input where the baseline copies") {
  const auto copies = [](const at::Tensor& x) { return x.t().clone(at::MemoryFormat::Contiguous); };
  require_rejected(run(copies, [](const at::Tensor& x) { return x.t(); }, input()), "shares memory with an operand");
}

TEST_CASE("the input itself") {
  const auto copies = [](const at::Tensor& x) { return x.relu(); };
  require_rejected(
      run(copies, [](const at::Tensor& x) { return x; }, at::rand({32, 16})), "shares memory with an operand");
}

TEST_CASE("an output that is only marked as negated") {
  const auto negated = [](const at::Tensor& x) { return x.mul(2).neg(); };
  require_rejected(run(negated, [](const at::Tensor& x) { return x.mul(2)._neg_view(); }, input()), "only marked");
}

TEST_CASE("an operand changed so that the baseline agrees") {
  const auto cheat = [](at::Tensor& x) {
    x.zero_();
    return at::full_like(x, 0.5);
  };
  require_rejected(run(honest, cheat, input()), "elements");
  // ... or with the right answer, for the implementation that runs next.
  const auto spoil = [](at::Tensor& x) {
    auto answer = honest(x);
    x.zero_();
    return answer;
  };
  require_rejected(run(honest, spoil, input()), "changes operand tensor 0");
}

TEST_CASE("an operand changed in timed calls only") {
  int calls = 0;
  const auto cheat = [&](at::Tensor& x) {
    auto answer = honest(x);
    if (++calls > 100) x.mul_(1e-30);  // denormals are slow, for the baseline as well
    return answer;
  };
  require_rejected(run(honest, cheat, input()), "operand tensor 0");
}

TEST_CASE("an operand changed once, in a timed call") {
  const int when = GENERATE(100, 1000, 1001, 1017, 2000);
  int calls = 0;
  const auto cheat = [&](at::Tensor& x) {
    auto answer = honest(x);
    if (++calls == when) x.zero_();
    return answer;
  };
  require_rejected(run(honest, cheat, input()), "changes operand tensor 0");
}

TEST_CASE("an operand made smaller in timed calls") {
  int calls = 0;
  const auto cheat = [&](at::Tensor& x) {
    auto answer = honest(x);
    if (++calls > 100) x.resize_({1});
    return answer;
  };
  require_rejected(run(honest, cheat, input()), "");
}

}  // namespace
