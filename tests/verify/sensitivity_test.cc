// Tolerances that are learned by calls of the baseline on nearly the same operands.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/quantize_per_tensor.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/zeros.h>

#include "pace/verify/expected.hpp"
#include "pace/verify/sensitivity.hpp"
#include "tests/support/subjects.hpp"

// After LibTorch, which has a CHECK of its own.
#include <catch2/catch_test_macros.hpp>

namespace {

using pace::detail::Expected;
using pace::detail::Sensitivity;
using pace::test::Subjects;
using Tensors = std::vector<at::Tensor>;

/// Numbers in [1, 2), whose typical magnitude is 1.
at::Tensor near_one(at::IntArrayRef sizes, at::ScalarType type = at::kFloat) {
  return at::rand(sizes, at::kDouble).mul(0.99).add(1).to(type);
}

TEST_CASE("real and complex values can change in place, and no others") {
  const struct {
    const char* what;
    at::Tensor tensor;
    bool real;
  } rows[] = {
      {"float32", at::ones({2}), true},
      {"float16", at::ones({2}, at::kHalf), true},
      {"complex numbers", at::ones({2}, at::kComplexDouble), true},
      {"float8", at::ones({2}).to(at::kFloat8_e5m2), false},
      {"integers", at::ones({2}, at::kLong), false},
      {"bools", at::ones({2}, at::kBool), false},
      {"no elements", at::ones({0}), false},
      {"nothing", at::Tensor(), false},
      {"sparse", at::ones({2}).to_sparse(), false},
      {"quantized", at::quantize_per_tensor(at::ones({2}), 0.5, 0, at::kQInt8), false},
  };
  for (const auto& row : rows) {
    INFO(row.what);
    CHECK(pace::detail::has_real_values(row.tensor) == row.real);
  }
}

TEST_CASE("operands get the random numbers of a seed, in pieces as well as whole, and each place in memory once") {
  const auto add = [](at::Tensor& values, const at::Tensor& numbers) {
    values.add_(numbers.to(values.dtype()));
    numbers.zero_();  // no other piece sees that
  };
  const auto changed = [&](std::uint64_t seed, bool elementwise) {
    Tensors tensors{at::zeros({66000}), at::ones({3}, at::kLong), at::zeros({4, 1}, at::kDouble).expand({4, 5}),
                    at::Tensor()};
    pace::detail::change_values(tensors, seed, add, elementwise);
    return tensors;
  };
  const auto one = changed(1, false), same = changed(1, true), other = changed(2, false);
  CHECK(at::equal(one[0], same[0]));
  CHECK(at::equal(one[2], same[2]));
  CHECK_FALSE(at::equal(one[0], other[0]));
  CHECK(one[0].ge(0).logical_and(one[0].lt(1)).all().item<bool>());
  CHECK(one[0].std().item<double>() > 0.25);
  CHECK(at::equal(one[1], at::ones({3}, at::kLong)));
  CHECK(one[2].lt(1).all().item<bool>());
  CHECK_FALSE(at::equal(one[2].select(1, 0), one[0].narrow(0, 0, 4).to(at::kDouble)));
}

TEST_CASE("values shrink by up to three units in the last place, by one in 16 bits, and zeros and signs stay") {
  const struct {
    at::ScalarType type;
    double epsilon, most;
  } rows[] = {
      {at::kDouble, 0x1p-52, 3},
      {at::kFloat, 0x1p-23, 3},
      {at::kHalf, 0x1p-10, 1},
      {at::kBFloat16, 0x1p-7, 1},
  };
  for (const auto& row : rows) {
    CAPTURE(row.type);
    const auto given = at::full({1000}, 1.5, row.type).mul(at::arange(1000).remainder(2).mul(2).sub(1)).to(row.type);
    const auto values = given.clone(), zeros = at::zeros({9}, row.type);
    pace::detail::shrink_slightly({values, zeros}, 1);
    CHECK(at::equal(zeros, at::zeros({9}, row.type)));
    const auto steps = given.abs().to(at::kDouble).sub(values.abs().to(at::kDouble)).div(row.epsilon);
    CHECK(steps.ge(0).all().item<bool>());
    // A relative step of 1.5 units rounds to one or two.
    CHECK(steps.max().item<double>() >= row.most);
    CHECK(steps.max().item<double>() <= 1.5 * row.most + 0.5);
    CHECK(steps.eq(0).sum().item<std::int64_t>() > 100);
    CHECK(at::equal(values.sign(), given.sign()));
    const auto again = given.clone(), other = given.clone();
    pace::detail::shrink_slightly({again}, 1);
    pace::detail::shrink_slightly({other}, 2);
    CHECK(at::equal(again, values));
    CHECK_FALSE(at::equal(other, values));
  }
}

TEST_CASE("a share of the values shrinks by a quarter") {
  for (const double share : {0.0, 0.125, 1.0}) {
    const auto values = at::full({8000}, 4.0);
    pace::detail::shrink_some({values}, share, 1);
    const auto shrunk = values.eq(3).sum().item<std::int64_t>();
    CAPTURE(share);
    CHECK(shrunk + values.eq(4).sum().item<std::int64_t>() == 8000);
    CHECK(std::abs(static_cast<double>(shrunk) - 8000 * share) <= (share == 0.125 ? 200 : 0));
  }
}

TEST_CASE("operands become float64 in place, and those that share memory still do") {
  const at::Tensor whole = at::arange(12).to(at::kFloat), part = whole.narrow(0, 4, 6).view({2, 3}).t();
  const at::Tensor alone = at::ones({2}, at::kHalf), integers = at::ones({2}, at::kLong),
                   complex = at::ones({2}, at::kComplexFloat);
  pace::detail::convert_to_float64({part, alone, whole, integers, complex});
  CHECK(whole.scalar_type() == at::kDouble);
  CHECK(at::equal(whole, at::arange(12).to(at::kDouble)));
  CHECK(at::equal(part, whole.narrow(0, 4, 6).view({2, 3}).t()));
  CHECK(part.is_alias_of(whole));
  CHECK(alone.scalar_type() == at::kDouble);
  CHECK_FALSE(alone.is_alias_of(whole));
  CHECK(integers.scalar_type() == at::kLong);
  CHECK(complex.scalar_type() == at::kComplexFloat);
}

TEST_CASE("a call in float64 leaves the operands and their sets, also where it throws") {
  Subjects subjects({at::full({3}, 0.1)});
  auto types = std::vector<at::ScalarType>();
  const auto twice = subjects.implementation([&](Tensors& x) {
    types.push_back(x[0].scalar_type());
    return c10::IValue(x[0].mul_(2));
  });
  const auto output = pace::detail::call_in_float64(*twice, subjects.sets, subjects.given, 1).toTensor();
  CHECK(types == std::vector{at::kDouble});
  CHECK(output.scalar_type() == at::kDouble);
  CHECK(at::equal(output, at::full({3}, 0.1).to(at::kDouble).mul(2)));
  CHECK(at::equal(subjects.given.tensors()[0], at::full({3}, 0.1)));
  const auto throws = subjects.implementation([](Tensors&) -> c10::IValue { throw std::runtime_error("no"); });
  CHECK_THROWS_AS(pace::detail::call_in_float64(*throws, subjects.sets, subjects.given, 1), std::runtime_error);
  CHECK(subjects.sets.sets.size() == 1);
}

/// The baseline's outputs with what is learned of them.
struct Learned {
  Expected expected;
  std::vector<double> terms;
  /// Calls that it took.
  std::int64_t calls = 0;
};
Learned learned_of(Subjects& subjects, const Subjects::Function& function, std::int64_t reduction_length = 4096,
                   const std::vector<double>& terms = {}, bool random = false) {
  Learned found;
  const auto baseline = subjects.implementation([&](Tensors& tensors) {
    ++found.calls;
    return function(tensors);
  });
  found.expected = pace::detail::expected_of(*baseline, subjects.sets, 1);
  found.expected.random = random;
  found.calls = 0;
  Sensitivity sensitivity(*baseline, subjects.sets, subjects.given, 1, reduction_length, at::kFloat);
  found.terms = sensitivity.learn(found.expected, terms);
  for (std::size_t i = 0; i < subjects.sets.given.size(); ++i)
    CHECK(at::equal(subjects.sets.tensors[0][i], subjects.sets.given[i]));
  CHECK(subjects.sets.sets.size() == 1);
  return found;
}
Learned learned_of(const Tensors& operands, const Subjects::Function& function, std::int64_t reduction_length = 4096) {
  Subjects subjects(operands);
  return learned_of(subjects, function, reduction_length);
}

TEST_CASE("an element depends on about as many values as learned: at most twice, and never more than the limits") {
  const at::Tensor x = near_one({64, 64}), y = near_one({64, 64});
  const struct {
    const char* what;
    Subjects::Function function;
    std::int64_t reduction_length;
    double least, most;
  } rows[] = {
      {"each value by itself", [](Tensors& t) { return t[0].mul(2); }, 4096, 1.9, 2.1},
      {"two values", [](Tensors& t) { return t[0].add(t[1]); }, 4096, 3, 5},
      {"half of the values", [](Tensors& t) { return t[0].sub(1.5).relu(); }, 4096, 1, 1.5},
      {"no value", [](Tensors& t) { return t[0].mul(0); }, 4096, 1, 1},
      {"rows of 64", [](Tensors& t) { return t[0].sum(1); }, 4096, 64, 256},
      {"rows and columns of 64", [](Tensors& t) { return t[0].mm(t[1]); }, 4096, 200, 300},
      {"rows, limited to 32", [](Tensors& t) { return t[0].sum(1); }, 32, 32, 32},
      {"one element of all values", [](Tensors& t) { return t[0].sum(); }, 4096, 4096, 4096},
      {"each of few values", [](Tensors& t) { return t[0].flatten().narrow(0, 0, 63).mul(2); }, 4096, 4096, 4096},
  };
  for (const auto& row : rows) {
    INFO(row.what);
    const auto found = learned_of({x, y}, row.function, row.reduction_length);
    REQUIRE(found.terms.size() == 1);
    CAPTURE(found.terms[0]);
    CHECK(found.terms[0] >= row.least);
    CHECK(found.terms[0] <= row.most);
    REQUIRE(found.expected.learned.size() == 1);
    CHECK(found.expected.learned[0].terms == found.terms[0]);
    CHECK(found.expected.learned[0].output.is_same(found.expected.output.toTensor()));
  }
  // Hardly any of 16 values would change, so that the results show nothing.
  CHECK(learned_of({near_one({16})}, [](Tensors& t) { return t[0].repeat({8}); }).terms == std::vector<double>{17});
  // All values, and one more for what is no operand.
  CHECK(learned_of({near_one({40})}, [](Tensors& t) { return t[0].sum(); }).terms == std::vector<double>{41});
}

TEST_CASE("the slack of an element is a few of its moves, up to a limit for values of that size") {
  const at::Tensor x = near_one({64, 64});
  const struct {
    const char* what;
    at::Tensor operand;
    Subjects::Function function;
    double least, most;
  } rows[] = {
      // 4 sqrt(2) moves of up to 3 units.
      {"each value by itself", x, [](Tensors& t) { return t[0].mul(1.25); }, 0x1p-21, 0x1p-17},
      {"values that amplify a move", x, [](Tensors& t) { return t[0].mul(30).sin(); }, 0x1p-19, 0x1p-13},
      // 16 units times the root of 4096 terms, for numbers of the size 1.
      {"values that jump", x, [](Tensors& t) { return t[0].mul(1e7).sin(); }, 0x1p-13, 0x1p-13},
      {"values that jump, of a size of 4", x.mul(4), [](Tensors& t) { return t[0].mul(1e7).sin(); }, 0x1p-9, 0x1p-9},
      {"large results that jump", x, [](Tensors& t) { return t[0].mul(1e7).sin().add(1.01).mul(1000); }, 0x1p-6,
       0x1p-3},
      {"values of 16 bits that jump", x.to(at::kHalf), [](Tensors& t) { return t[0].mul(1000).sin(); }, 0x1p-6, 0x1p-6},
      {"float64 that jumps", x.to(at::kDouble), [](Tensors& t) { return t[0].mul(1e15).sin(); }, 1e-7, 1.01e-7},
      {"a difference that is zero for these values", x, [=](Tensors& t) { return t[0].sub(x); }, 0x1p-22, 0x1p-17},
      {"whole numbers that jump", x, [](Tensors& t) { return t[0].mul(1e7).sin().sign(); }, 0, 0},
      {"complex numbers", x, [](Tensors& t) { return t[0].mul(1.25).to(at::kComplexFloat); }, 0x1p-21, 0x1p-17},
      {"no value", x, [](Tensors& t) { return t[0].mul(0).add(0.25); }, 0, 0},
  };
  for (const auto& row : rows) {
    INFO(row.what);
    const auto found = learned_of({row.operand}, row.function);
    REQUIRE(found.expected.learned.size() == 1);
    const auto& slack = found.expected.learned[0].slack;
    CAPTURE(slack.min().item<double>(), slack.max().item<double>());
    CHECK(slack.sizes() == row.operand.sizes());
    CHECK(slack.scalar_type() == (row.operand.scalar_type() == at::kDouble ? at::kDouble : at::kFloat));
    CHECK(slack.min().item<double>() >= row.least);
    CHECK(slack.max().item<double>() <= row.most);
  }
}

TEST_CASE("the slack is four moves times the root of the terms, of the larger of an element's two moves") {
  Subjects subjects({near_one({64, 64})});
  Tensors outputs;
  const auto record = [&](Tensors& t) {
    outputs.push_back(t[0].mul(1.25));
    return c10::IValue(outputs.back().clone());
  };
  const auto found = learned_of(subjects, record, 4096, {9}, /*random=*/true);
  REQUIRE(outputs.size() == 3);
  const auto move = [&](std::size_t call) { return outputs[call].sub(outputs[0]).abs(); };
  const auto most = move(1).maximum(move(2));
  CHECK_FALSE(at::equal(move(1), most));
  CHECK_FALSE(at::equal(move(2), most));
  const auto moved = most.gt(most.mean());
  CHECK(at::allclose(found.expected.learned[0].slack.masked_select(moved), most.mul(12).masked_select(moved)));
}

TEST_CASE("the slack covers the error that a float64 call shows, unless that is another result") {
  const at::Tensor x = near_one({64, 64});
  const auto in_float32 = [](double factor, double term) {
    return [=](Tensors& t) { return t[0].scalar_type() == at::kFloat ? t[0].mul(factor).add(term) : t[0].mul(1); };
  };
  const struct {
    const char* what;
    Subjects::Function function;
    bool covered;
  } rows[] = {
      {"an error", in_float32(1, 1e-5), true},
      {"an error of half of the elements",
       [](Tensors& t) { return t[0].add(t[0].scalar_type() == at::kFloat ? 1e-5 : 0.0); }, true},
      {"another result", in_float32(1.1, 0), false},
      {"another shape",
       [](Tensors& t) { return t[0].scalar_type() == at::kFloat ? t[0].add(1e-5) : t[0].unsqueeze(0); }, false},
      {"a float64 call that throws",
       [](Tensors& t) {
         if (t[0].scalar_type() == at::kDouble) throw std::runtime_error("float32 only");
         return t[0].add(1e-5);
       },
       false},
      {"a result that stays float32", [](Tensors& t) { return t[0].to(at::kFloat).add(1e-5); }, false},
  };
  for (const auto& row : rows) {
    INFO(row.what);
    const auto found = learned_of({x}, row.function);
    REQUIRE(found.expected.learned.size() == 1);
    const auto& slack = found.expected.learned[0].slack;
    CAPTURE(slack.min().item<double>(), slack.max().item<double>());
    // Twice the error, and four times the typical one.
    if (row.covered)
      CHECK(slack.sub(6e-5).abs().lt(2e-6).all().item<bool>());
    else
      CHECK(slack.lt(2e-5).all().item<bool>());
  }
}

TEST_CASE("learning takes a call for each share of changed values, two for moves, and one in float64") {
  const auto twice = [](Tensors& t) { return t[0].mul(2); };
  const at::Tensor x = near_one({64, 64});
  Subjects subjects({x}), wide({x.to(at::kDouble)});
  CHECK(learned_of(subjects, twice).calls == 4);
  CHECK(learned_of(subjects, [](Tensors& t) { return t[0].sum(1); }).calls == 5);
  const auto known = learned_of(subjects, twice, 4096, {7});
  CHECK(known.calls == 3);
  CHECK(known.terms == std::vector<double>{7});
  // Numbers of terms of another count of results are no use.
  CHECK(learned_of(subjects, twice, 4096, {7, 8}).calls == 4);
  CHECK(learned_of(wide, twice).calls == 3);
  CHECK(learned_of(subjects, twice, 4096, {}, /*random=*/true).calls == 3);
}

TEST_CASE("tolerances are learned for each real result: tensors, operands that are written to, and numbers") {
  Subjects subjects({near_one({64, 64}), at::zeros({64, 64})});
  const auto found = learned_of(subjects, [](Tensors& t) {
    t[1].copy_(t[0].mul(3));
    const auto total = t[0].sum(at::kDouble).item<double>();
    return c10::IValue(c10::ivalue::Tuple::create({t[0].argmax(1), t[0].mul(2), total, t[0].gt(1.5)}));
  });
  const auto& elements = found.expected.output.toTuple()->elements();
  const auto& learned = found.expected.learned;
  REQUIRE(learned.size() == 3);
  CHECK(learned[0].output.is_same(elements[1].toTensor()));
  CHECK(learned[1].output.is_same(found.expected.operands[1]));
  CHECK(learned[2].number == 0);
  CHECK_FALSE(learned[2].output.defined());
  CHECK(learned[2].slack.numel() == 1);
  CHECK(learned[2].slack.item<double>() > 0);
  CHECK(found.terms.size() == 5);
}

TEST_CASE("nothing is learned where the baseline does not take the changed values") {
  const at::Tensor x = near_one({64, 64});
  const auto found = learned_of({x}, [&](Tensors& t) {
    if (!at::equal(t[0], x)) throw std::runtime_error("other values");
    return t[0].mul(2);
  });
  CHECK(found.expected.learned.empty());
  // Results of another shape teach nothing either.
  CHECK(learned_of({x}, [&](Tensors& t) { return at::equal(t[0], x) ? t[0] : t[0].sum(1); }).expected.learned.empty());
}

}  // namespace
