// Cheats whose answers differ from the baseline's, or only look like them.
#include <limits>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/hypot.h>
#include <ATen/ops/linalg_eigh.h>
#include <ATen/ops/linalg_svd.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/randn_like.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>
#include <catch2/matchers/catch_matchers_quantifiers.hpp>

#include "pace/base/random.hpp"
#include "tests/cheats/rejected.hpp"

namespace {

using cheats::require_rejected;
using cheats::run;
using cheats::run_declared;

at::Tensor honest(const at::Tensor& x) { return at::sigmoid(x); }
at::Tensor input() { return at::randn({32, 16}); }
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST_CASE("NaN is rejected, both everywhere and as a wildcard for expensive values") {
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

TEST_CASE("wrong in one of 50 calls, and only for the values given") {
  // Audits call it on unseen values, where it is right.
  pace::SplitMix64 random(5);
  at::Tensor given;
  int calls = 0;
  const auto cheat = [&](const at::Tensor& x) {
    if (!given.defined()) given = x.clone();
    auto answer = honest(x);
    return ++calls > 300 && random.below(50) == 0 && x.equal(given) ? answer.mul(1.5) : answer;
  };
  require_rejected(run(honest, cheat, input()), "in a timed call: ");
}

TEST_CASE("wrong in one of 50 calls for the values given, among outputs whose last bits differ from call to call") {
  pace::SplitMix64 random(6);
  at::Tensor given;
  int calls = 0;
  const auto cheat = [&](const at::Tensor& x) {
    if (!given.defined()) given = x.clone();
    auto answer = honest(x).mul(1 + 1e-7 * static_cast<double>(random.below(8)));
    return ++calls > 300 && random.below(50) == 0 && x.equal(given) ? answer.mul(1.5) : answer;
  };
  require_rejected(run(honest, cheat, input()), "in a timed call: ");
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
  const auto expanded = [](const at::Tensor& x) { return x.sum(0, true).expand({32, 16}); };
  pace::check::CheckOptions strides;
  strides.check_strides = true;
  require_rejected(run_declared([&](auto& comparison) { comparison.check(strides); }, rows, expanded, input()),
                   "stride 0");
}

TEST_CASE("a softmax that overflows for large values") {
  const auto softmax = [](const at::Tensor& x) { return at::softmax(x, 1); };
  const auto cheat = [](const at::Tensor& x) {
    const auto e = x.exp();
    return e.div(e.sum(1, true));
  };
  require_rejected(run(softmax, cheat, input()), "not for large values (the operands times 64)");
}

TEST_CASE("a tanh that is NaN for large values") {
  const auto cheat = [](const at::Tensor& x) {
    const auto e = x.mul(2).exp();
    return e.sub(1).div(e.add(1));
  };
  require_rejected(run([](const at::Tensor& x) { return x.tanh(); }, cheat, input()), "large values");
}

TEST_CASE("digits that cancel for small values") {
  const auto expm1 = [](const at::Tensor& x) { return x.expm1(); };
  // It is right enough for values of about 1.
  const auto cancelling = [](const at::Tensor& x) { return x.exp().sub(1); };
  const auto x = at::randn({32, 16}).sign().mul(at::rand({32, 16}).add(1));
  require_rejected(run(expm1, cancelling, x), "small values (the operands times 2^-10)");
  const auto root = [](const at::Tensor& t) { return at::hypot(t, t.flip(0)).mul(t); };
  const auto offset = [](const at::Tensor& t) { return t.square().add(t.flip(0).square()).add(1e-6).sqrt().mul(t); };
  require_rejected(run(root, offset, x), "small values (the operands times 2^-10)");
}

TEST_CASE("a bias of zeros that is ignored, and a weight of ones") {
  const auto linear = [](const at::Tensor& x, const at::Tensor& b) { return x.tanh().add(b); };
  const auto without = [](const at::Tensor& x, const at::Tensor&) { return x.tanh(); };
  require_rejected(run(linear, without, input(), at::zeros({16})), "in an operand that was all zeros");
  const auto scaled = [](const at::Tensor& x, const at::Tensor& b) { return x.tanh().mul(b); };
  require_rejected(run(scaled, without, input(), at::ones({16})), "right for the operands given, but not for");
}

TEST_CASE("a normalisation that divides rows of zeros by zero") {
  const auto normal = [](const at::Tensor& x) { return x.div(x.norm(2, {1}, true).clamp_min(1e-12)); };
  const auto cheat = [](const at::Tensor& x) { return x.div(x.norm(2, {1}, true)); };
  require_rejected(run(normal, cheat, input()), "first row is zeros");
  const auto sign = [](const at::Tensor& x) { return x.sign(); };
  require_rejected(run(sign, [](const at::Tensor& x) { return x.div(x.abs()); }, input()), "first row is zeros");
  const auto positive = [](const at::Tensor& x) { return x.gt(0); };
  require_rejected(run(positive, [](const at::Tensor& x) { return x.ge(0); }, input()), "first row is zeros");
}

TEST_CASE("an output without the autograd graph that the baseline's has") {
  const auto detached = [](const at::Tensor& x) { return honest(x.detach()); };
  require_rejected(run(honest, detached, input().set_requires_grad(true)), "has no autograd graph");
}

TEST_CASE("gradients that are not the baseline's, behind the right outputs") {
  const auto x = [] { return input().set_requires_grad(true); };
  const auto without_slope = [](const at::Tensor& t) { return t.mul(0).add(honest(t).detach()); };
  require_rejected(run(honest, without_slope, x()), "the gradient of operand tensor 0 is not the baseline's");
  const auto halved = [](const at::Tensor& t) { return honest(t).mul(0.5).add(honest(t).mul(0.5).detach()); };
  require_rejected(run(honest, halved, x()), "the gradient of operand tensor 0 is not the baseline's");
  const auto product = [](const at::Tensor& a, const at::Tensor& b) { return a.mul(b); };
  const auto one_sided = [](const at::Tensor& a, const at::Tensor& b) { return a.mul(b.detach()); };
  require_rejected(run(product, one_sided, x(), x()), "the gradient of operand tensor 1 is missing");
  // Few rows are wrong, and small beside the others.
  const auto scaled = [](const at::Tensor& t) { return t.mul(at::arange(1.0, 33.0).pow(-2).unsqueeze(1)); };
  const auto half_of_rows = [=](const at::Tensor& t) {
    return at::cat({scaled(t).narrow(0, 0, 16), scaled(t.detach()).narrow(0, 16, 16)});
  };
  require_rejected(run(scaled, half_of_rows, x()), "% of its elements differ by more than a tenth");
  const auto throwing = [](const at::Tensor& t) {
    auto result = honest(t);
    result.register_hook([](const at::Tensor& g) -> at::Tensor {
      throw std::runtime_error("no backward");
      return g;
    });
    return result;
  };
  require_rejected(run(honest, throwing, x()), "its backward pass throws, and the baseline's does not: no backward");
}

TEST_CASE("a sparse gradient that is not the baseline's") {
  const auto indices = at::randint(0, 10, {16}, at::kLong);
  const auto rows = [=](const at::Tensor& table) { return at::embedding(table, indices); };
  const auto cheat = [=](const at::Tensor& table) {
    const auto found = at::embedding(table, indices, -1, false, /*sparse=*/true);
    return found.mul(2).sub(found.detach());
  };
  require_rejected(run(rows, cheat, at::randn({10, 4}).set_requires_grad(true)),
                   "the gradient of operand tensor 0 is not the baseline's");
}

TEST_CASE("ties that are none, indices that occur twice, and indices out of range") {
  const auto values = at::randint(0, 4, {16, 32}, at::kLong).to(at::kFloat);
  const auto by_ties = [](auto& comparison) { comparison.ties(1); };
  const auto top = [](const at::Tensor& x) { return std::get<1>(x.topk(3, 1)); };
  require_rejected(run_declared(
                       by_ties, top, [](const at::Tensor& x) { return std::get<1>(x.topk(3, 1, false)); }, values),
                   "elements");
  require_rejected(
      run_declared(
          by_ties, top, [](const at::Tensor& x) { return x.argmax(1, true).expand({16, 3}).clone(); }, values),
      "occur twice");
  require_rejected(
      run_declared(by_ties, top, [=](const at::Tensor& x) { return top(x).add(32); }, values), "out of range");
  // Without the declaration, the message names it.
  const auto last = [](const at::Tensor& x) { return x.flip(1).argmax(1, true).neg().add(31); };
  require_rejected(run([](const at::Tensor& x) { return x.argmax(1, true); }, last, values), "try: declare .ties()");
}

TEST_CASE("another set of rows, though any order is right") {
  const auto by_order = [](auto& comparison) { comparison.order_free(); };
  const auto reversed = [](const at::Tensor& x) { return honest(x).flip(0); };
  const auto other = [](const at::Tensor& x) {
    return at::cat({honest(x).narrow(0, 0, 31), honest(x).narrow(0, 0, 1)});
  };
  require_rejected(run_declared(by_order, honest, other, input()), "rows in ascending order");
  require_rejected(run(honest, reversed, input()), "try: declare .order_free()");
}

TEST_CASE("keys and values that are paired wrongly, though any order of rows is right") {
  const auto keys_and_values = [](const at::Tensor& x) {
    return c10::IValue(std::tuple(x.select(1, 0).mul(2), x.narrow(1, 1, 3).mul(2)));
  };
  const auto other_pairs = [](const at::Tensor& x) {
    return c10::IValue(std::tuple(x.select(1, 0).mul(2), x.narrow(1, 1, 3).flip(0).mul(2)));
  };
  require_rejected(
      run_declared([](auto& comparison) { comparison.order_free(); }, keys_and_values, other_pairs, input()),
      "rows in ascending order");
}

TEST_CASE("signs that may not be chosen") {
  const auto by_sign = [](auto& comparison) { comparison.sign_free(); };
  const auto m = at::randn({8, 8}, at::kDouble);
  // Rows of a matrix whose columns are the vectors.
  const auto vectors = [](const at::Tensor& x) { return std::get<1>(at::linalg_eigh(x)); };
  const auto rows = [=](const at::Tensor& x) { return vectors(x).mul(x.select(1, 0).sign().unsqueeze(1)); };
  require_rejected(run_declared(by_sign, vectors, rows, m.add(m.t())), "signs of the expected vectors");
  // One of the two sets of singular vectors.
  const auto decomposition = [](const at::Tensor& x) { return c10::IValue(at::linalg_svd(x, false)); };
  const auto one_side = [](const at::Tensor& x) {
    const auto [u, s, v] = at::linalg_svd(x, false);
    return c10::IValue(std::tuple(u.mul(u.select(0, 0).sign()), s, v));
  };
  const auto by_both = [](auto& comparison) {
    pace::check::CheckOptions options;
    options.method = pace::check::CheckOptions::Method::sign_free;
    options.vectors = {{.output = 0, .dim = -1}, {.output = 2, .dim = -2}};
    comparison.check(options);
  };
  require_rejected(run_declared(by_both, decomposition, one_side, m), "signs of the expected vectors");
}

TEST_CASE("another eigenvector, though any sign is right") {
  const auto by_sign = [](auto& comparison) { comparison.sign_free(); };
  const auto vectors = [](const at::Tensor& x) { return std::get<1>(at::linalg_eigh(x)); };
  const auto swapped = [=](const at::Tensor& x) { return vectors(x).flip(1); };
  const auto some_elements = [=](const at::Tensor& x) { return vectors(x).abs(); };
  const auto m = at::randn({8, 8}, at::kDouble);
  const auto symmetric = m.add(m.t());
  require_rejected(run_declared(by_sign, vectors, swapped, symmetric), "signs of the expected vectors");
  require_rejected(run_declared(by_sign, vectors, some_elements, symmetric), "signs of the expected vectors");
  const auto negated = [=](const at::Tensor& x) { return vectors(x).mul(-1); };
  require_rejected(run(vectors, negated, symmetric), "try: declare .sign_free()");
}

TEST_CASE("another distribution, though any random numbers are right") {
  const auto by_random = [](auto& comparison) { comparison.random(); };
  const auto x = at::rand({64, 64}).add(0.5);
  const auto dropout = [](const at::Tensor& t) { return at::dropout(t, 0.25, true); };
  const auto unscaled = [](const at::Tensor& t) { return t.mul(at::empty_like(t).bernoulli_(0.75)); };
  const auto rarer = [](const at::Tensor& t) { return t.mul(at::empty_like(t).bernoulli_(0.9)).div(0.9); };
  const auto none = [](const at::Tensor& t) { return t.clone(); };
  require_rejected(run_declared(by_random, dropout, unscaled, x), "a mean of");
  require_rejected(run_declared(by_random, dropout, rarer, x), "a share of zeros of");
  require_rejected(run_declared(by_random, dropout, none, x), "a share of zeros of");
  const auto noise = [](const at::Tensor& t) { return at::randn_like(t); };
  require_rejected(run_declared(
                       by_random, noise, [](const at::Tensor& t) { return at::randn_like(t).mul(1.2); }, x),
                   "a variance of");
  const auto own = [generator = at::detail::createCPUGenerator(3)](const at::Tensor& t) {
    return at::empty_like(t).normal_(0, 1, generator);
  };
  require_rejected(run(noise, own, x), ".random()");
}

TEST_CASE("a tolerance is named as a remedy where one could help, and nowhere else") {
  const auto advice = [](const pace::Result& result, const std::string& end) {
    require_rejected(result, "");
    for (const auto& judgement : result["cheat"].judgements)
      CHECK_THAT(judgement.message, Catch::Matchers::EndsWith(end));
  };
  const std::string tolerance = "\ntry: correct it, or state a tolerance that its inputs justify",
                    none = "\ntry: correct it";
  const auto shifted = [](const at::Tensor& x) { return at::sigmoid(x).add(0.01); };
  advice(run(honest, shifted, input()), tolerance);
  const auto bits = [](auto& comparison) {
    pace::check::CheckOptions check;
    check.method = pace::check::CheckOptions::Method::bitwise;
    comparison.check(check);
  };
  advice(run_declared(bits, honest, shifted, input()), none);
  advice(run(honest, [](const at::Tensor& x) { return at::sigmoid(x).to(at::kDouble); }, input()), "; correct it");
  advice(run(honest, [](const at::Tensor& x) { return at::full_like(x, nan); }, input()), none);
  const auto noise = [](const at::Tensor& x) { return at::randn_like(x); };
  const auto wider = [](const at::Tensor& x) { return at::randn_like(x).mul(1.2); };
  advice(run_declared([](auto& comparison) { comparison.random(); }, noise, wider, at::rand({64, 64})), none);
  // Right for the operands given.
  const auto first = [kept = at::Tensor()](const at::Tensor& x) mutable {
    if (!kept.defined()) kept = at::sigmoid(x);
    return kept.clone();
  };
  advice(run(honest, first, input()), none);
}

TEST_CASE("the same random numbers in each call, or some of a few, though any are right") {
  const auto by_random = [](auto& comparison) { comparison.random(); };
  const auto noise = [](const at::Tensor& t) { return t.add(at::randn_like(t)); };
  const auto kept = [numbers = at::Tensor()](const at::Tensor& t) mutable {
    if (!numbers.defined()) numbers = at::randn_like(t);
    return t.add(numbers);
  };
  // at::rand() may draw from the same state as the noise.
  const auto x = at::rand({64, 64}, at::detail::createCPUGenerator(4));
  require_rejected(run_declared(by_random, noise, kept, x), "not drawn anew in each call");
  const auto in_turn = [numbers = std::vector<at::Tensor>(), turn = std::size_t{0}](const at::Tensor& t) mutable {
    while (numbers.size() < 3) numbers.push_back(at::randn_like(t));
    return t.add(numbers[turn++ % 3]);
  };
  require_rejected(run_declared(by_random, noise, in_turn, x), "not drawn anew in each call");
  const auto partly = [numbers = at::Tensor()](const at::Tensor& t) mutable {
    if (!numbers.defined()) numbers = at::randn_like(t);
    numbers.narrow(0, 0, 8).normal_();
    return t.add(numbers);
  };
  require_rejected(run_declared(by_random, noise, partly, x), "not drawn anew in each call");
  const auto mask = [](const at::Tensor& t) { return at::dropout(t, 0.25, true); };
  const auto kept_mask = [numbers = at::Tensor()](const at::Tensor& t) mutable {
    if (!numbers.defined()) numbers = at::empty_like(t).bernoulli_(0.75);
    return t.mul(numbers).div(0.75);
  };
  require_rejected(run_declared(by_random, mask, kept_mask, x.add(0.5)), "not drawn anew in each call");
  const auto one_row = [](const at::Tensor& t) { return t.add(at::randn({1, 64}).expand({64, 64})); };
  require_rejected(run_declared(by_random, noise, one_row, x), "another distribution");
}

TEST_CASE("random numbers from a pool that is larger than the calls before the rounds") {
  const auto noise = [](const at::Tensor& t) { return t.add(at::randn_like(t)); };
  const auto x = at::rand({64, 64}, at::detail::createCPUGenerator(4));
  const auto pool = [numbers = std::vector<at::Tensor>(), turn = std::size_t{0}](const at::Tensor& t) mutable {
    while (numbers.size() < 1000) numbers.push_back(at::randn_like(t));
    return t.add(numbers[turn++ % numbers.size()]);
  };
  require_rejected(run_declared([](auto& comparison) { comparison.random(); }, noise, pool, x),
                   "are not drawn anew in each timed call");
}

TEST_CASE("a workspace excuses no other operand") {
  const auto cheat = [](const at::Tensor& x, at::Tensor& workspace) {
    auto answer = honest(workspace.copy_(x));
    x.zero_();
    return answer;
  };
  const auto eager = [](const at::Tensor& x, const at::Tensor&) { return honest(x); };
  require_rejected(run_declared([](auto& comparison) { comparison.scratch(1); }, eager, cheat, input(), input()),
                   "changes operand tensor 0");
}

TEST_CASE("the user's own function may reject a candidate") {
  const auto sums = [](const c10::IValue& expected, const c10::IValue& actual) {
    return expected.toTensor().sum().allclose(actual.toTensor().sum(), 1e-3) ? std::string()
                                                                             : std::string("another sum");
  };
  const auto declare = [&](auto& comparison) { comparison.compare_outputs(sums); };
  require_rejected(
      run_declared(declare, honest, [](const at::Tensor& x) { return honest(x).mul(1.1); }, input()), "another sum");
}

TEST_CASE("declarations that do not fit are errors") {
  const auto sum = [](const at::Tensor& x) { return x.sum(); };
  const auto message = [](const auto& declare, const auto& baseline) {
    try {
      (void)run_declared(declare, baseline, baseline, input());
    } catch (const pace::Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  using cheats::ContainsSubstring;
  CHECK_THAT(message([](auto& c) { c.order_free(); }, sum), ContainsSubstring("at least one dimension"));
  CHECK_THAT(message([](auto& c) { c.sign_free(); }, sum), ContainsSubstring("expected a matrix"));
  CHECK_THAT(message([](auto& c) { c.sign_free(); }, [](const at::Tensor& x) { return x.matmul(x.t()); }),
             ContainsSubstring("columns or rows have the length 1"));
  CHECK_THAT(message([](auto& c) { c.ties(); }, sum), ContainsSubstring("indices among the outputs"));
  CHECK_THAT(message([](auto& c) { c.ties(2); }, [](const at::Tensor& x) { return x.argmax(1); }),
             ContainsSubstring("names dimension 2"));
  CHECK_THAT(message([](auto& c) { c.ties(0, 1); }, sum), ContainsSubstring("names operand tensor 1"));
  CHECK_THAT(message([](auto& c) { c.scratch(1); }, sum),
             ContainsSubstring("operand tensor 1 (counted from 0) as scratch"));
  CHECK_THAT(message([](auto& c) { c.order_free().sign_free(); }, honest), ContainsSubstring("exclude each other"));
  CHECK_THAT(message([](auto& c) { c.compare_outputs(pace::check::CheckOptions::Function()); }, honest),
             ContainsSubstring("is null"));
}

TEST_CASE("a declaration stands in the result") {
  const auto result = run_declared([](auto& c) { c.order_free().scratch(0); }, honest, honest, input());
  CHECK_THAT(result.notes, Catch::Matchers::AnyMatch(cheats::ContainsSubstring("order_free")));
  CHECK_THAT(result.notes, Catch::Matchers::AnyMatch(cheats::ContainsSubstring("scratch")));
}

TEST_CASE("a view of the input where the baseline copies") {
  const auto copies = [](const at::Tensor& x) { return x.t().clone(at::MemoryFormat::Contiguous); };
  require_rejected(run(
                       copies, [](const at::Tensor& x) { return x.t(); }, input()),
                   "shares memory with an operand, and the baseline's does not: nothing was computed; try: a copy in "
                   "the candidate (clone, contiguous), or a view in both");
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
  CAPTURE(when);
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
  require_rejected(run(honest, cheat, input()), "changes operand tensor 0");
}

}  // namespace
