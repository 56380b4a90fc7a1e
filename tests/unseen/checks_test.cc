// Checks of candidates by further calls: edge values, gradients, and random numbers that are drawn anew.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "pace/check/check_options.hpp"
#include "pace/unseen/drawn_anew.hpp"
#include "pace/unseen/drawn_in_a_row.hpp"
#include "pace/unseen/edge_kinds.hpp"
#include "pace/unseen/edge_values.hpp"
#include "pace/unseen/gradients.hpp"
#include "pace/values/related_integers.hpp"
#include "pace/values/unseen_values.hpp"
#include "pace/verify/expected.hpp"
#include "tests/support/subjects.hpp"

// After LibTorch, which has a CHECK of its own.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using pace::check::CheckOptions;
using pace::detail::Expected;
using pace::test::Subjects;
using Tensors = std::vector<at::Tensor>;
using Method = CheckOptions::Method;

constexpr double inf = std::numeric_limits<double>::infinity();

at::Tensor doubles(const std::vector<double>& values) { return at::tensor(values, at::kDouble); }
at::Tensor longs(const std::vector<std::int64_t>& values) { return at::tensor(values, at::kLong); }
CheckOptions by(Method method) {
  CheckOptions options;
  options.method = method;
  return options;
}

/// A candidate, and a part of what is said of it; nothing is said of one that is right.
struct Candidate {
  const char* what;
  Subjects::Function function;
  std::string says = {};
};
void check_fault(const std::string& fault, const Candidate& candidate) {
  INFO(candidate.what);
  if (candidate.says.empty())
    CHECK(fault.empty());
  else
    CHECK_THAT(fault, ContainsSubstring(candidate.says));
}

TEST_CASE("edge values are for elementwise comparisons that take unseen values, and gradients for equal elements") {
  const struct {
    Method method;
    bool edges, gradients;
  } rows[] = {
      {Method::allclose, true, true},
      {Method::bitwise, true, true},
      {Method::ties, true, false},
      {Method::cosine, false, true},
      {Method::float64_reference, false, true},
      {Method::order_free, false, false},
      {Method::sign_free, false, false},
      {Method::random, false, false},
      {Method::custom, false, false},
      {Method::none, false, false},
  };
  for (const auto& row : rows) {
    auto options = by(row.method);
    CHECK(pace::detail::EdgeValues::applies(options) == row.edges);
    CHECK(pace::detail::Gradients::applies(options) == row.gradients);
    options.check_autograd = false;
    CHECK_FALSE(pace::detail::Gradients::applies(options));
    options.unseen_values = CheckOptions::UnseenValues::none;
    CHECK_FALSE(pace::detail::EdgeValues::applies(options));
    options.unseen_values = CheckOptions::UnseenValues::scaled;
    CHECK(pace::detail::EdgeValues::applies(options) == row.edges);
    options.edge_values = false;
    CHECK_FALSE(pace::detail::EdgeValues::applies(options));
  }
}

TEST_CASE("large, small and shifted operands are those whose structure allows it") {
  const at::Tensor x = at::randn({6, 8}).mul(3), positive = x.abs().add(0.1);
  const at::Tensor sorted = std::get<0>(positive.flatten().sort());
  const struct {
    const char* what;
    at::Tensor given;
    bool with_signs, without_signs, small, shifted;
  } rows[] = {
      {"numbers of both signs", x, true, false, true, true},
      {"numbers of one sign", positive, false, true, false, true},
      {"float16", x.to(at::kHalf), true, false, false, false},
      {"complex numbers", x.to(at::kComplexFloat), true, false, true, false},
      {"numbers of a size up to 1", x.div(20), false, false, false, false},
      {"whole numbers", x.round(), false, false, false, false},
      {"rows of length 1", x.div(x.square().sum(1, true).sqrt()), false, false, false, false},
      {"boundaries", sorted, false, false, false, false},
      {"numbers of both signs in order", std::get<0>(x.flatten().sort()), true, false, true, false},
      {"numbers far from zero", positive.add(1e4), false, true, false, false},
      {"integers", longs({3, 5, 9}), false, false, false, false},
      {"one number", at::full({1}, 2.5), false, false, false, false},
      {"nothing", at::Tensor(), false, false, false, false},
  };
  for (const auto& row : rows) {
    INFO(row.what);
    const auto changed = [&](const auto& change, double factor, double term) {
      const at::Tensor values = row.given.defined() ? row.given.clone() : row.given;
      const bool made = change(Tensors{values});
      if (values.defined()) CHECK(at::allclose(values, made ? row.given.mul(factor).add(term) : row.given, 1e-3, 1e-3));
      return made;
    };
    using pace::detail::scale;
    CHECK(changed([](const Tensors& t) { return scale(t, 64, /*both_signs=*/true); }, 64, 0) == row.with_signs);
    CHECK(changed([](const Tensors& t) { return scale(t, 64, /*both_signs=*/false); }, 64, 0) == row.without_signs);
    CHECK(changed([](const Tensors& t) { return scale(t, 0.25, /*both_signs=*/true); }, 0.25, 0) == row.small);
    const double deviation = row.shifted ? row.given.to(at::kDouble).std().item<double>() : 0;
    CHECK(changed([](const Tensors& t) { return pace::detail::shift(t, 16); }, 1, 16 * deviation) == row.shifted);
  }
  // The largest operand alone is shifted.
  const Tensors two{x.narrow(0, 0, 2).clone(), x.clone()};
  CHECK(pace::detail::shift(two, 16));
  CHECK(at::equal(two[0], x.narrow(0, 0, 2)));
  CHECK_FALSE(at::equal(two[1], x));
  const at::Tensor bent = doubles({1, -2, 4});
  pace::detail::bend(bent, 0.5);
  CHECK(at::allclose(bent, doubles({1.125, -2.5, 6})));
}

TEST_CASE("masks are filled, but not one-hot rows, other numbers, or where a sum counts") {
  const auto flags = longs({1, 0, 1, 1, 0, 0, 1, 0}),
             one_hot = at::arange(3).eq(longs({2, 0, 1, 2, 1, 0}).unsqueeze(1));
  const struct {
    const char* what;
    at::Tensor given;
    std::vector<std::int64_t> sizes;
    bool filled;
  } rows[] = {
      {"bools", flags.to(at::kBool), {}, true},
      {"numbers of 0 and 1", flags, {}, true},
      {"floating-point numbers of 0 and 1", flags.to(at::kFloat), {}, true},
      {"bools whose sum is a size", flags.to(at::kBool), {4}, false},
      {"one-hot rows", one_hot, {}, false},
      {"numbers up to 2", flags.add(1), {}, false},
      {"flags in order", std::get<0>(flags.sort()), {}, false},
      {"complex numbers", flags.to(at::kComplexFloat), {}, false},
      {"nothing", at::Tensor(), {}, false},
  };
  for (const auto& row : rows)
    for (const bool value : {true, false}) {
      INFO(row.what);
      const pace::detail::UnseenValues source({row.given}, 1, pace::detail::KnownSizes({}, {}, row.sizes));
      const at::Tensor values = row.given.defined() ? row.given.clone() : row.given;
      CHECK(pace::detail::fill_masks({values}, source, value) == row.filled);
      if (row.filled) CHECK(values.eq(value).all().item<bool>());
      if (!row.filled && values.defined()) CHECK(at::equal(values, row.given));
    }
}

TEST_CASE("integers grow to 40 bits, odd ones stay odd, and padding stays") {
  const auto values = longs({3, -7, 64, 0});
  pace::detail::enlarge(values);
  CHECK(values.abs().max().item<std::int64_t>() > std::int64_t{1} << 39);
  CHECK(values.abs().max().item<std::int64_t>() <= (std::int64_t{1} << 40) + 100);
  CHECK(at::equal(values.remainder(2), longs({1, 1, 0, 0})));
  CHECK(at::equal(values.div(values[0].div(3)).round(), longs({3, -7, 64, 0}).to(at::kFloat)));
  const auto padded = longs({5, 3, 9, 8, 4, 6, 7, 2, 6, 1, 1, 1, 9, 4, 7, 3, 1, 1}).view({3, 6});
  const auto given = padded.clone();
  pace::detail::enlarge(padded);
  CHECK(at::equal(padded.eq(1), given.eq(1)));
  CHECK(padded.max().item<std::int64_t>() > std::int64_t{1} << 39);
}

TEST_CASE("a row of zeros and one of denormals are for numbers of both signs without a structure") {
  const at::Tensor x = at::randn({4, 6}), square = x.narrow(1, 0, 4);
  const struct {
    const char* what;
    at::Tensor given;
    bool emptied;
  } rows[] = {
      {"numbers of both signs", x, true},
      {"two rows", x.narrow(0, 0, 2), true},
      {"one row", x.narrow(0, 0, 1), false},
      {"positive ones", x.abs(), false},
      {"whole numbers", x.mul(5).round(), false},
      {"a symmetric matrix", square.add(square.t()), false},
      {"rows of length 1", x.div(x.square().sum(1, true).sqrt()), false},
      {"columns with the sum 0", at::randn({64, 6}, at::kDouble).sub(0), true},
      {"integers", longs({1, -2, 3}), false},
  };
  for (const auto& row : rows) {
    INFO(row.what);
    const at::Tensor values = row.given.clone();
    CHECK(pace::detail::empty_rows({values}) == row.emptied);
    if (!row.emptied) {
      CHECK(at::equal(values, row.given));
      continue;
    }
    CHECK(values[0].eq(0).all().item<bool>());
    if (values.size(0) == 2) {
      CHECK(at::equal(values[1], row.given[1]));
    } else {
      CHECK(values[1].abs().lt(1e-37).logical_and(values[1].ne(0)).any().item<bool>());
      CHECK(at::equal(values[2], row.given[2]));
    }
  }
}

TEST_CASE("operands of zeros are filled with numbers from a quarter to one, and other constants stay") {
  const Tensors tensors{at::zeros({64}), at::ones({64}), at::zeros({1}), at::zeros({8}, at::kComplexFloat)};
  CHECK(pace::detail::fill_zeros(tensors, 1));
  CHECK(tensors[0].ge(0.25).logical_and(tensors[0].lt(1)).all().item<bool>());
  CHECK(tensors[0].std().item<double>() > 0.1);
  CHECK(at::equal(tensors[1], at::ones({64})));
  CHECK(at::equal(tensors[2], at::zeros({1})));
  CHECK(at::equal(tensors[3], at::zeros({8}, at::kComplexFloat)));
  CHECK_FALSE(pace::detail::fill_zeros({at::ones({64})}, 1));
}

TEST_CASE("outputs on edge values are as finite as those on the given ones, in each tensor") {
  const struct {
    std::vector<double> given, edge;
    bool as_finite;
  } rows[] = {
      {{1, 2}, {3, 4}, true},    {{1, inf}, {inf, 4}, true},         {{1, inf}, {3, 4}, true},
      {{1, 2}, {3, inf}, false}, {{1, 2}, {std::nan(""), 4}, false},
  };
  for (const auto& row : rows) {
    CHECK(pace::detail::as_finite(doubles(row.given), doubles(row.edge)) == row.as_finite);
    const auto beside = [](const at::Tensor& tensor) {
      return c10::IValue(c10::ivalue::Tuple::create({longs({1}), doubles({1, 2}), tensor}));
    };
    CHECK(pace::detail::as_finite(beside(doubles(row.given)), beside(doubles(row.edge))) == row.as_finite);
  }
}

TEST_CASE("an output on edge values is compared where the baseline's is finite, and indices and sums if they count") {
  const at::Tensor known = doubles({1, inf, std::nan("")}), output = doubles({7, 8, 9}),
                   masked = doubles({7, inf, std::nan("")});
  const struct {
    const char* what;
    at::Tensor expected, output;
    bool compares_indices, elementwise_only;
    double terms;
    at::Tensor masked;
  } rows[] = {
      {"finite elements", known, output, true, false, 64, masked},
      {"an elementwise result", known, output, true, true, 4, masked},
      {"a sum, where results must be elementwise", known, output, true, true, 5, known},
      {"indices", longs({1, 2}), longs({3, 4}), true, false, 64, longs({3, 4})},
      {"indices that are not compared", longs({1, 2}), longs({3, 4}), false, false, 64, longs({1, 2})},
      {"quantized values are no indices", longs({1, 2}).to(at::kChar), longs({3, 4}).to(at::kChar), false, false, 64,
       longs({3, 4}).to(at::kChar)},
      {"another shape", doubles({1, inf}), output, true, false, 64, output},
      {"another type", known.to(at::kFloat), output, true, false, 64, output},
  };
  for (const auto& row : rows) {
    INFO(row.what);
    Expected expected;
    expected.output = row.expected;
    expected.learned = {{.output = row.expected, .terms = row.terms}};
    CHECK(pace::detail::is_elementwise(expected, row.expected) == (row.terms <= 4));
    CHECK_FALSE(pace::detail::is_elementwise({}, row.expected));
    pace::detail::EdgeKind kind;
    kind.compares_indices = row.compares_indices;
    kind.elementwise_only = row.elementwise_only;
    const auto found = pace::detail::where_expected_is_finite(kind, expected, row.output).toTensor();
    CHECK(at::allclose(found, row.masked, 0, 0, /*equal_nan=*/true));
    CHECK(found.scalar_type() == row.masked.scalar_type());
  }
}

/// Checks candidates on the edge values of a baseline.
void check_edges(const Tensors& operands, const Subjects::Function& baseline_function,
                 const std::vector<Candidate>& candidates, const CheckOptions& options = {}) {
  Subjects subjects(operands);
  const auto baseline = subjects.implementation(baseline_function);
  const auto given = pace::detail::expected_of(*baseline, subjects.sets, 1);
  pace::detail::EdgeValues edges({*baseline, subjects.sets, subjects.given, given, options}, 1, 1);
  edges.learn([](Expected&, const pace::detail::OperandSet&) {});
  for (const auto& each : candidates) {
    check_fault(edges.find_fault(*subjects.implementation(each.function)), each);
    CHECK(at::equal(subjects.sets.tensors[0][0], operands[0]));
  }
  check_fault(edges.find_fault(*baseline), {"the baseline", baseline_function});
}

TEST_CASE("a candidate is wrong on the edge values that the baseline takes") {
  const at::Tensor x = at::randn({16, 16}).mul(2), mask = at::rand({16, 16}).gt(0.5);
  const auto softmax = [](Tensors& t) { return c10::IValue(t[0].softmax(-1)); };
  check_edges({x}, softmax,
              {{"another order", [](Tensors& t) { return c10::IValue(t[0].flip(1).softmax(-1).flip(1)); }},
               {"one that overflows", [](Tensors& t) { return c10::IValue(t[0].exp().div(t[0].exp().sum(1, true))); },
                "but not for large values (the operands times 64)"},
               {"one that throws for large values",
                [](Tensors& t) {
                  if (t[0].max().item<double>() > 50) throw std::runtime_error("too large");
                  return c10::IValue(t[0].softmax(-1));
                },
                "but throws on others: too large"}});
  check_edges(
      {at::randn({16, 32})}, [](Tensors& t) { return c10::IValue(t[0].var(1, false)); },
      {{"one that cancels", [](Tensors& t) { return c10::IValue(t[0].square().mean(1).sub(t[0].mean(1).square())); },
        "but not for values far from zero"}});
  check_edges({x}, [](Tensors& t) { return c10::IValue(t[0].div(t[0].norm(2, {1}, true).clamp_min(1e-6))); },
              {{"one that divides by zero", [](Tensors& t) { return c10::IValue(t[0].div(t[0].norm(2, {1}, true))); },
                "but not for operands whose first row is zeros"}});
  check_edges({x, at::zeros({16})}, [](Tensors& t) { return c10::IValue(t[0].add(t[1])); },
              {{"one without the bias", [](Tensors& t) { return c10::IValue(t[0].clone()); },
                "but not for random values in an operand that was all zeros"}});
  check_edges({x, mask}, [](Tensors& t) { return c10::IValue(t[0].mul(t[1]).sum(1).div(t[1].sum(1).clamp_min(1))); },
              {{"one that divides by no elements",
                [](Tensors& t) { return c10::IValue(t[0].mul(t[1]).sum(1).div(t[1].sum(1))); },
                "but not for a mask that is false everywhere"}});
}

TEST_CASE("edge values that the baseline does not take prove nothing") {
  const at::Tensor x = at::randn({16, 16}).mul(2);
  const auto within = [](double most) {
    return [=](Tensors& t) {
      if (t[0].abs().max().item<double>() > most) throw std::runtime_error("too large");
      return c10::IValue(t[0].mul(2));
    };
  };
  const Candidate wrong_if_large{"wrong for large values", [](Tensors& t) {
                                   return c10::IValue(t[0].mul(t[0].abs().max().item<double>() > 20 ? 3 : 2));
                                 }};
  auto found = wrong_if_large;
  found.says = "(the operands times 8)";
  check_edges({x}, within(20), {wrong_if_large});
  check_edges({x}, within(100), {found});
  // Larger values overflow.
  const auto exponential = [](Tensors& t) { return c10::IValue(t[0].exp()); };
  check_edges({x}, exponential,
              {{"another one where it is infinite", [](Tensors& t) { return c10::IValue(t[0].exp().clamp_max(3e38)); }},
               {"an exception there", [=](Tensors& t) {
                  if (t[0].max().item<double>() > 89) throw std::runtime_error("too large");
                  return exponential(t);
                }}});
  CheckOptions stated;
  stated.rtol = 1e-3;
  check_edges({x}, within(1000), {wrong_if_large}, stated);
}

TEST_CASE("integers are enlarged where that is asked for and the outputs are linear in them") {
  CheckOptions large;
  large.large_integers = true;
  const auto numbers = at::randint(1, 100, {64}, at::kLong);
  const auto in_float32 = [](Tensors& t) { return c10::IValue(t[0].to(at::kFloat).mul(3).to(at::kLong)); };
  const auto times_three = [](Tensors& t) { return c10::IValue(t[0].mul(3)); };
  check_edges({numbers}, times_three, {{"by float32", in_float32, "large integers (up to 2^40 in operand tensor 0)"}},
              large);
  check_edges({numbers}, times_three, {{"by float32", in_float32}});
  // Whether the outputs are linear is not known where the baseline takes no others.
  const auto takes_no_others = [=](Tensors& t) {
    if (!at::equal(t[0], numbers)) throw std::runtime_error("other integers");
    return times_three(t);
  };
  check_edges({numbers}, takes_no_others, {{"by float32", in_float32}}, large);
  // Shorter integers cannot grow as far, and of a single one nothing is learned.
  for (const at::Tensor& others : {numbers.to(at::kInt), numbers.narrow(0, 0, 1)})
    check_edges({others}, times_three, {{"by float32", in_float32}}, large);
  // Indices would lead beyond a table. The baseline happens to limit them.
  const auto table = at::arange(100).mul(7).remainder(31).to(at::kLong);
  const auto looks_up = [=](Tensors& t) { return c10::IValue(table.index_select(0, t[0].clamp(0, 99))); };
  bool large_index = false;
  check_edges({numbers}, looks_up,
              {{"a table",
                [&](Tensors& t) {
                  large_index = large_index || t[0].max().item<std::int64_t>() > 100;
                  return looks_up(t);
                }}},
              large);
  CHECK_FALSE(large_index);
}

/// Checks the gradients of candidates.
void check_gradients(const Tensors& operands, const Subjects::Function& baseline_function,
                     const std::vector<Candidate>& candidates) {
  Subjects subjects(operands);
  const auto baseline = subjects.implementation(baseline_function);
  const auto given = pace::detail::expected_of(*baseline, subjects.sets, 1);
  const CheckOptions options;
  pace::detail::Gradients gradients({*baseline, subjects.sets, subjects.given, given, options}, 1, 1);
  std::vector<std::string> notes;
  gradients.learn(notes);
  CHECK(notes.empty());
  for (const auto& each : candidates) check_fault(gradients.find_fault(*subjects.implementation(each.function)), each);
  check_fault(gradients.find_fault(*baseline), {"the baseline", baseline_function});
}

/// The values of `forward`, and the gradients of `backward`.
at::Tensor with_gradients_of(const at::Tensor& forward, const at::Tensor& backward) {
  return backward.add(forward.sub(backward).detach());
}

TEST_CASE("gradients are the baseline's but for rounding, or they are missing, wrong, or lead to an exception") {
  const at::Tensor x = at::randn({16, 16}).requires_grad_(), w = at::randn({16}).requires_grad_();
  const auto forward = [](Tensors& t) { return t[0].sin().mul(t[1]); };
  const auto by_parts = [=](const at::Tensor& slopes) {
    return [=](Tensors& t) { return c10::IValue(with_gradients_of(forward(t), forward(t).mul(slopes))); };
  };
  check_gradients(
      {x, w}, forward,
      {{"the same", [](Tensors& t) { return c10::IValue(t[1].mul(t[0].sin())); }},
       {"slightly other slopes", by_parts(at::full({}, 1.005))},
       {"other slopes", by_parts(at::full({}, 1.05)), "the gradient of operand tensor 0 is not the baseline's: root"},
       {"no graph", [=](Tensors& t) { return c10::IValue(forward(t).detach()); },
        "the gradient of operand tensor 0 is missing"},
       {"no graph to one operand", [=](Tensors& t) { return c10::IValue(t[0].sin().mul(t[1].detach())); },
        "the gradient of operand tensor 1 is missing"},
       {"a graph that throws",
        [=](Tensors& t) {
          auto y = forward(t);
          y.register_hook([](const at::Tensor&) -> at::Tensor { throw std::runtime_error("no backward"); });
          return c10::IValue(y);
        },
        "its backward pass throws, and the baseline's does not: no backward"}});
  // Beside an operand that requires none.
  check_gradients(
      {x, at::randn({16})}, forward,
      {{"other slopes", by_parts(at::full({}, 1.05)), "the gradient of operand tensor 0 is not the baseline's: root"}});
  // A few large gradients hide in the mean that all others are off by a fifth.
  const at::Tensor sizes = at::ones({16, 16}).index_fill(0, at::zeros({1}, at::kLong), 100);
  check_gradients({x}, [=](Tensors& t) { return c10::IValue(t[0].mul(sizes)); },
                  {{"most elements are wrong",
                    [=](Tensors& t) {
                      const auto y = t[0].mul(sizes);
                      return c10::IValue(with_gradients_of(y, y.mul(sizes.eq(1).mul(0.2).add(1))));
                    },
                    "% of its elements differ by more than a tenth"}});
}

TEST_CASE("a gradient that a hook gives another shape ends the backward pass") {
  Subjects subjects({at::randn({16, 16}).requires_grad_()});
  const auto twice = [](Tensors& t) { return c10::IValue(t[0].mul(2)); };
  const auto baseline = subjects.implementation(twice);
  const auto given = pace::detail::expected_of(*baseline, subjects.sets, 1);
  const CheckOptions options;
  pace::detail::Gradients gradients({*baseline, subjects.sets, subjects.given, given, options}, 1, 1);
  std::vector<std::string> notes;
  gradients.learn(notes);
  const Candidate summed{
      "summed",
      [=](Tensors& t) {
        t[0].register_hook([](const at::Tensor& gradient) { return gradient.sum(0); });
        return twice(t);
      },
      "its backward pass throws, and the baseline's does not: hook '0' has changed the size of value"};
  check_fault(gradients.find_fault(*subjects.implementation(summed.function)), summed);
}

TEST_CASE("a note says why the baseline's backward pass throws, unless an operator has no derivative") {
  const auto notes_of = [](const Subjects::Function& function) {
    Subjects subjects({at::randn({16, 16}).requires_grad_()});
    const auto baseline = subjects.implementation(function);
    const auto given = pace::detail::expected_of(*baseline, subjects.sets, 1);
    const CheckOptions options;
    pace::detail::Gradients gradients({*baseline, subjects.sets, subjects.given, given, options}, 1, 1);
    std::vector<std::string> notes;
    gradients.learn(notes);
    return notes;
  };
  const auto throws = [](Tensors& t) {
    auto y = t[0].mul(2);
    y.register_hook([](const at::Tensor&) -> at::Tensor { throw std::runtime_error("no backward"); });
    return c10::IValue(y);
  };
  CHECK(notes_of(throws) ==
        std::vector<std::string>{"Gradients were not compared: the baseline's backward pass throws: no backward."});
  CHECK(notes_of([](Tensors& t) { return c10::IValue(t[0].nextafter(t[0].mul(2))); }).empty());
}

TEST_CASE("without gradients of the baseline's, none are asked for") {
  const at::Tensor x = at::randn({16, 16}), with_gradient = at::randn({16, 16}).requires_grad_();
  const auto twice = [](Tensors& t) { return c10::IValue(t[0].mul(2)); };
  int calls = 0;
  const Candidate detached{"no graph", [&](Tensors& t) {
                             ++calls;
                             return c10::IValue(t[0].detach().mul(2));
                           }};
  check_gradients({x}, twice, {detached});
  CHECK(calls == 0);
  check_gradients({with_gradient}, [](Tensors& t) { return c10::IValue(t[0].detach().mul(2)); }, {detached});
  CHECK(calls == 0);
  // A gradient of zeros is no loss.
  check_gradients({with_gradient}, [](Tensors& t) { return c10::IValue(t[0].mul(0)); },
                  {{"no graph", [](Tensors& t) { return c10::IValue(t[0].detach().mul(0)); }}});
}

TEST_CASE("random numbers are drawn anew in each call, and have the baseline's means") {
  Subjects subjects({at::ones({2, 64})});
  const auto fresh = [](Tensors& t) { return c10::IValue(at::rand(t[0].sizes())); };
  std::mt19937 own(1);
  const auto of_its_own = [&](Tensors& t) {
    std::vector<float> numbers(128);
    for (auto& each : numbers) each = std::uniform_real_distribution<float>()(own);
    return c10::IValue(at::tensor(numbers).view(t[0].sizes()));
  };
  std::vector<at::Tensor> pool;
  std::size_t turn = 0;
  const auto pooled = [&](std::size_t size) {
    return [&, size](Tensors& t) {
      if (pool.size() < size) pool.push_back(at::rand(t[0].sizes()));
      return c10::IValue(pool[turn++ % size]);
    };
  };
  const auto baseline = subjects.implementation(fresh);
  pace::detail::DrawnAnew check(subjects.sets, 1, 1);
  check.learn(*baseline);
  const std::string again = "its random numbers are not drawn anew in each call: output tensor 0 repeats 100 %";
  for (const auto& each :
       {Candidate{"the same", fresh}, Candidate{"a generator of its own", of_its_own},
        Candidate{"one output", pooled(1), again}, Candidate{"four outputs", pooled(4), again},
        Candidate{"other means", [](Tensors& t) { return c10::IValue(at::rand(t[0].sizes()).mul(0.8)); }, "mean"}}) {
    pool.clear();
    check_fault(check.find_fault(*subjects.implementation(each.function)), each);
  }
  // The baseline repeats itself, and so may others.
  for (const std::int64_t elements : {2, 64}) {
    const auto constant =
        subjects.implementation([=](Tensors& t) { return c10::IValue(t[0][0].narrow(0, 0, elements).mul(2)); });
    pace::detail::DrawnAnew of_constant(subjects.sets, 1, 1);
    of_constant.learn(*constant);
    CHECK(of_constant.find_fault(*constant).empty());
  }
  // Few elements may repeat in some calls, but not in all.
  const auto two = [](Tensors&) { return c10::IValue(at::rand({2})); };
  const auto baseline_of_two = subjects.implementation(two);
  pace::detail::DrawnAnew of_two(subjects.sets, 1, 1);
  of_two.learn(*baseline_of_two);
  const at::Tensor drawn = at::rand({2});
  for (const auto& each :
       {Candidate{"the same", two}, Candidate{"one output", [&](Tensors&) { return c10::IValue(drawn); }, again},
        Candidate{"repeated in half of the calls",
                  [&](Tensors&) { return c10::IValue(turn++ % 2 == 0 ? drawn : at::rand({2})); }}})
    check_fault(of_two.find_fault(*subjects.implementation(each.function)), each);
}

TEST_CASE("the last of several calls draws what the baseline's does, if the generators are left as by the baseline") {
  Subjects subjects({at::ones({64})});
  const auto draw = [](Tensors& t) { return c10::IValue(t[0].mul(at::rand({64}))); };
  int calls = 0;
  const auto wrong_from = [&](int first, std::int64_t count) {
    return [&, first, count](Tensors&) {
      return c10::IValue(at::rand({count}).narrow(0, 0, 64).add(++calls >= first ? 1 : 0));
    };
  };
  const CheckOptions options;
  const auto learned = [&](const Subjects::Function& function) {
    auto check = std::make_unique<pace::detail::DrawnInARow>(subjects.sets, 1, 3, options);
    const auto baseline = subjects.implementation(function);
    check->learn(*baseline, pace::detail::expected_of(*baseline, subjects.sets, 1));
    return check;
  };
  const auto check = learned(draw);
  for (const auto& each :
       {Candidate{"the same", draw},
        // One call alone, and then three in a row.
        Candidate{"wrong in the last call", wrong_from(4, 64),
                  "right in a single call, but not in the last of 3 calls"},
        Candidate{"wrong after it", wrong_from(5, 64)}, Candidate{"another way to draw", wrong_from(4, 65)}}) {
    calls = 0;
    check_fault(check->find_fault(*subjects.implementation(each.function)), each);
  }
  // A baseline that does not repeat itself proves nothing.
  double number = 0;
  calls = 0;
  CHECK(learned([&](Tensors&) { return c10::IValue(at::rand({64}).add(++number)); })
            ->find_fault(*subjects.implementation(wrong_from(4, 64)))
            .empty());
}

}  // namespace
