// Outputs on unseen values: the right ones, and differences that rounding of operands explains.
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "pace/check/check_options.hpp"
#include "pace/check/clone.hpp"
#include "pace/check/learned_tolerance.hpp"
#include "pace/unseen/answers.hpp"
#include "pace/unseen/oracle.hpp"
#include "pace/unseen/rounding.hpp"
#include "pace/values/unseen_values.hpp"
#include "pace/verify/expected.hpp"
#include "pace/verify/observed_call.hpp"
#include "tests/support/subjects.hpp"

// After LibTorch, which has a CHECK of its own.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using Catch::Matchers::StartsWith;
using pace::check::CheckOptions;
using pace::check::LearnedTolerances;
using pace::detail::Answers;
using pace::detail::Expected;
using pace::detail::Implementation;
using pace::test::Subjects;
using Tensors = std::vector<at::Tensor>;
using Method = CheckOptions::Method;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

at::Tensor doubles(const std::vector<double>& values) { return at::tensor(values, at::kDouble); }
at::Tensor longs(const std::vector<std::int64_t>& values) { return at::tensor(values, at::kLong); }
at::Tensor bools(const std::vector<std::int64_t>& values) { return at::tensor(values, at::kLong).to(at::kBool); }
c10::IValue pair_of(c10::IValue one, c10::IValue other) {
  return c10::ivalue::Tuple::create({std::move(one), std::move(other)});
}
/// Starts with `start`, or empty if that is empty.
bool is_said(const std::string& text, const std::string& start) {
  return start.empty() ? text.empty() : text.starts_with(start);
}

TEST_CASE("finite elements are counted in all floating-point tensors of an output") {
  const auto output = pair_of(doubles({1, inf, not_a_number, 2}), pair_of(longs({1, 2}), at::ones({3})));
  CHECK(pace::detail::count_elements(output, /*finite=*/true) == 5);
  CHECK(pace::detail::count_elements(output, /*finite=*/false) == 2);
}

TEST_CASE("tolerances for unseen values are those of the outputs in the same places and of the same sizes") {
  Expected known, expected;
  const at::Tensor first = at::ones({2}), second = at::ones({3}), operand = at::ones({4});
  known.output = pair_of(first, second);
  known.operands = {operand};
  known.learned = {{.output = first, .terms = 3, .slack = at::full({2}, 0.5)},
                   {.output = second, .terms = 5},
                   {.output = operand, .terms = 7},
                   {.terms = 9, .number = 1}};
  expected.output = pair_of(at::zeros({2}), at::zeros({6}));
  expected.operands = {at::zeros({4})};
  const auto learned = pace::detail::learned_for(expected, known);
  REQUIRE(learned.size() == 3);
  CHECK(learned[0].output.is_same(pace::check::tensors_of(expected.output)[0]));
  CHECK(learned[0].terms == 3);
  CHECK(learned[0].slack.is_same(known.learned[0].slack));
  CHECK(learned[1].output.is_same(expected.operands[0]));
  CHECK(learned[1].terms == 7);
  CHECK(learned[2].number == 1);
}

/// A baseline with what it answers on the given and on unseen values.
struct Asked {
  Asked(const Tensors& operands, const Subjects::Function& function, const CheckOptions& options = {})
      : subjects(operands), baseline(subjects.implementation(function)) {
    Expected given = pace::detail::expected_of(*baseline, subjects.sets, 1);
    const auto oracle = pace::detail::Oracle{*baseline, subjects.sets, subjects.given, given, options};
    auto source = oracle.unseen_values(1);
    auto unseen = pace::detail::find_unseen_answers(oracle, source, [this](Expected&, const auto&) { ++references; });
    answers = std::make_unique<Answers>(subjects.sets, std::move(given), std::move(unseen), options);
    answers->imitate(pace::detail::observe_call(*baseline, subjects.sets, nullptr, 1, {}));
  }
  /// What is wrong with one call of `function`; empty if nothing is.
  [[nodiscard]] std::string judged(const Subjects::Function& function, bool unseen) {
    const auto candidate = subjects.implementation(function);
    const auto* values = unseen ? answers->unseen_values() : nullptr;
    const auto made = pace::detail::observe_call(*candidate, subjects.sets, values, unseen ? answers->unseen().seed : 1,
                                                 answers->given.output);
    return answers->judge(made, unseen);
  }

  Subjects subjects;
  std::unique_ptr<Implementation> baseline;
  int references = 0;
  std::unique_ptr<Answers> answers = {};
};

TEST_CASE("unseen values are those that the baseline takes and that change its output, or its places") {
  const at::Tensor x = at::randn({16}, at::kDouble);
  const auto same_alone = [&](Tensors& t) {
    if (!at::equal(t[0], x)) throw std::runtime_error("other values");
    return c10::IValue(t[0].mul(2));
  };
  CheckOptions scaled;
  scaled.unseen_values = CheckOptions::UnseenValues::scaled;
  const auto takes = [](const Asked& asked) { return asked.answers->takes_unseen(); };
  CHECK(takes(Asked({x}, [](Tensors& t) { return c10::IValue(t[0].mul(2)); })));
  CHECK_FALSE(takes(Asked({x}, same_alone)));
  CHECK_FALSE(takes(Asked({x}, [](Tensors& t) { return c10::IValue(t[0].mul(0)); })));
  CHECK_FALSE(takes(Asked({longs({0, 2, 5, 9})}, [](Tensors& t) { return c10::IValue(t[0].mul(2)); })));
  // Not where it writes to other operands than before, or has more outputs that are not finite.
  CHECK_FALSE(takes(Asked({x}, [&](Tensors& t) {
    if (!at::equal(t[0], x)) t[0].add_(1);
    return c10::IValue(t[0].mul(2));
  })));
  CHECK_FALSE(
      takes(Asked({x}, [&](Tensors& t) { return c10::IValue(at::equal(t[0], x) ? t[0].mul(2) : t[0].div(0)); })));
  // Ratios stay where all values are scaled by one factor.
  const Asked by_one_factor({x}, [](Tensors& t) { return c10::IValue(t[0].mul(2)); }, scaled);
  REQUIRE(takes(by_one_factor));
  const auto factors = by_one_factor.answers->unseen_values()->at(0).div(x);
  CHECK(factors.sub(factors[0]).abs().lt(1e-12).all().item<bool>());
  // A float64 reference is asked for once, for the values that are taken.
  CHECK(Asked({x}, [](Tensors& t) { return c10::IValue(t[0].mul(2)); }).references == 1);
  CHECK(Asked({x}, same_alone).references == 0);
}

TEST_CASE("a call is judged by its output, its operands, its shortcuts, and what becomes of its output later") {
  const at::Tensor x = at::randn({16}, at::kDouble);
  const auto twice = [](Tensors& t) { return c10::IValue(t[0].mul(2)); };
  const auto kept = [answer = x.mul(2)](Tensors&) { return c10::IValue(answer.clone()); };
  const auto of_these_alone = [&](Tensors& t) { return c10::IValue(t[0].mul(at::equal(t[0], x) ? 2 : 3)); };
  const auto writes = [](Tensors& t) { return c10::IValue(t[0].add_(1).sub(1).mul(2)); };
  const struct {
    const char* what;
    Subjects::Function function;
    std::string given, unseen;
  } rows[] = {
      {"right", twice, "", ""},
      {"wrong", [](Tensors& t) { return c10::IValue(t[0].mul(3)); }, "output: ", "it is right for the operands given"},
      {"a kept answer", kept, "", "it returned the answer for values that had been overwritten"},
      {"right for these alone", of_these_alone, "", "it is right for the operands given, but not for unseen values"},
      {"an operand that changes", writes, "it changes operand tensor 0", "it changes operand tensor 0"},
      {"a view", [](Tensors& t) { return c10::IValue(t[0].mul(-2)._neg_view()); }, "output tensor 0 is only marked",
       "output tensor 0 is only marked"},
  };
  Asked asked({x}, twice);
  REQUIRE(asked.answers->takes_unseen());
  for (const auto& row : rows) {
    INFO(row.what);
    const auto given = asked.judged(row.function, false), unseen = asked.judged(row.function, true);
    CAPTURE(given, unseen);
    CHECK(is_said(given, row.given));
    CHECK(is_said(unseen, row.unseen));
  }
  auto late = pace::detail::observe_call(*asked.baseline, asked.subjects.sets, nullptr, 1, {});
  late.output.toTensor().add_(1);
  CHECK_THAT(asked.answers->judge(late, false), StartsWith("its output was still being written"));
}

TEST_CASE("further unseen values have other answers, and those before stay where the baseline does not take them") {
  const at::Tensor x = at::randn({16}, at::kDouble);
  bool refuses = false;
  Asked asked({x}, [&](Tensors& t) {
    if (refuses) throw std::runtime_error("no more");
    return c10::IValue(t[0].mul(2));
  });
  pace::detail::UnseenValues source(asked.subjects.sets.given, 2);
  const auto output = [&] { return asked.answers->unseen().expected.output.toTensor().clone(); };
  const auto first = output();
  CHECK(at::equal(first, asked.answers->unseen_values()->at(0).mul(2)));
  asked.answers->draw(*asked.baseline, source);
  const auto second = output();
  CHECK_FALSE(at::equal(first, second));
  CHECK(at::equal(second, asked.answers->unseen_values()->at(0).mul(2)));
  refuses = true;
  asked.answers->draw(*asked.baseline, source);
  CHECK(at::equal(output(), second));
  CHECK_FALSE(asked.answers->baseline_output_for(*asked.baseline, {x}, 1).has_value());
  refuses = false;
  const auto found = asked.answers->baseline_output_for(*asked.baseline, {x.mul(3)}, 1);
  REQUIRE(found.has_value());
  CHECK(at::equal(found->expected.output.toTensor(), x.mul(3).mul(2)));
  CHECK(asked.answers->judge_output(x.mul(3).mul(2), {x.mul(3)}, *found).empty());
  CHECK_FALSE(asked.answers->judge_output(x.mul(7), {x.mul(3)}, *found).empty());
  CHECK(asked.answers->operands_agree({x.mul(3)}, *found));
  CHECK_FALSE(asked.answers->operands_agree({x}, *found));
}

TEST_CASE("a float64 reference is left out of options, and no other method changes") {
  for (const auto method : {Method::allclose, Method::cosine, Method::float64_reference, Method::bitwise, Method::ties,
                            Method::random, Method::none}) {
    CheckOptions options;
    options.method = method;
    options.rtol = 0.25;
    const auto without = pace::detail::without_reference(options);
    CHECK(without.method == (method == Method::float64_reference ? Method::allclose : method));
    CHECK(without.rtol == 0.25);
    const bool rounds = method == Method::allclose || method == Method::float64_reference;
    CHECK(pace::detail::may_be_rounding(at::ones({1}), options) == rounds);
    CHECK_FALSE(pace::detail::may_be_rounding({}, options));
  }
}

TEST_CASE("elements within eight moves of theirs, or of the typical one, are the expected ones; others stay") {
  const at::Tensor complex = doubles({1.5, 2.5}).to(at::kComplexDouble);
  const struct {
    const char* what;
    at::Tensor known;
    Tensors moved;
    at::Tensor output, adjusted;
  } rows[] = {
      {"eight moves", doubles({1.5, 2.5}), {doubles({1.5625, 2.5625})}, doubles({2, 2}), doubles({1.5, 2.5})},
      {"more than eight moves",
       doubles({1.5, 2.5}),
       {doubles({1.5625, 2.5625})},
       doubles({2.125, 1.875}),
       doubles({2.125, 1.875})},
      {"the largest of several moves",
       doubles({1.5, 2.5}),
       {doubles({1.5625, 2.5}), doubles({1.53125, 2.5})},
       doubles({2, 2.5}),
       doubles({1.5, 2.5})},
      {"the typical move, by an element that has not moved",
       doubles({1.5, 2.5}),
       {doubles({1.5625, 2.5})},
       doubles({1.5, 3}),
       doubles({1.5, 2.5})},
      {"a move that is larger than the typical one",
       doubles({1.5, 2.5, 3.5, 4.5}),
       {doubles({2.5, 2.5625, 3.5625, 4.5625})},
       doubles({9.5, 2.5, 3.5, 9.5}),
       doubles({1.5, 2.5, 3.5, 9.5})},
      {"whole numbers jump, those that do not move excepted",
       doubles({1, 2}),
       {doubles({2, 2})},
       doubles({9, 2.5}),
       doubles({1, 2.5})},
      {"a move to NaN",
       doubles({1.5, 2.5}),
       {doubles({not_a_number, 2.5})},
       doubles({1.5625, 2.5}),
       doubles({1.5625, 2.5})},
      {"a NaN in the output",
       doubles({1.5, 2.5}),
       {doubles({1.5625, 2.5625})},
       doubles({not_a_number, 2.5625}),
       doubles({not_a_number, 2.5})},
      {"bools that flip", bools({1, 0, 0}), {bools({1, 1, 0}), bools({0, 0, 0})}, bools({0, 1, 1}), bools({1, 0, 1})},
      {"integers that change",
       at::tensor({4, 5, 6}),
       {at::tensor({4, 8, 6})},
       at::tensor({1, 2, 6}),
       at::tensor({1, 5, 6})},
      {"complex numbers", complex, {complex.add(0.0625)}, complex.add(c10::complex<double>(0, 0.5)), complex},
      {"complex numbers that are further off",
       complex,
       {complex.add(0.0625)},
       complex.add(c10::complex<double>(0, 0.625)),
       complex.add(c10::complex<double>(0, 0.625))},
      {"no moves", doubles({1.5, 2.5}), {}, doubles({1.5625, 2.5}), doubles({1.5625, 2.5})},
      {"moves of another shape",
       doubles({1.5, 2.5}),
       {doubles({1.5625})},
       doubles({1.5625, 2.5}),
       doubles({1.5625, 2.5})},
      {"moves of another type",
       doubles({1.5, 2.5}),
       {doubles({1.5625, 2.5625}).to(at::kFloat)},
       doubles({1.5625, 2.5}),
       doubles({1.5625, 2.5})},
      {"an output of another type",
       doubles({1.5, 2.5}),
       {doubles({1.5625, 2.5625})},
       doubles({1.5625, 2.5}).to(at::kFloat),
       doubles({1.5625, 2.5}).to(at::kFloat)},
  };
  for (const auto& row : rows) {
    INFO(row.what);
    std::vector<c10::IValue> moved(row.moved.begin(), row.moved.end());
    const c10::IValue output = row.output;
    const auto adjusted =
        pace::check::detail::with_clones(output, pace::detail::WithoutRounding(row.known, output, moved));
    CHECK(at::allclose(adjusted.toTensor(), row.adjusted, 0, 0, /*equal_nan=*/true));
    CHECK(adjusted.toTensor().scalar_type() == row.adjusted.scalar_type());
  }
}

TEST_CASE("numbers get a slack of eight times their largest finite move, beside what is learned of them") {
  CheckOptions options;
  options.reduction_length = 100;
  const c10::IValue expected = c10::ivalue::Tuple::create({1.0, at::ones({2}), 4.0});
  const auto numbers = [](double one, double other) {
    return c10::IValue(c10::ivalue::Tuple::create({one, at::ones({2}), other}));
  };
  const struct {
    const char* what;
    LearnedTolerances learned;
    std::vector<c10::IValue> moved;
    double slack, slack_of_other, terms;
  } rows[] = {
      {"moves up and down", {}, {numbers(1.25, 4), numbers(0.5, 4)}, 4, 0, 100},
      {"a move to infinity", {}, {numbers(1.25, -inf), numbers(not_a_number, 4.5)}, 2, 4, 100},
      {"no moves", {}, {}, 0, 0, 100},
      {"a number that is missing", {}, {c10::IValue(1.25)}, 2, 0, 100},
      {"a slack that is known",
       {{.terms = 7, .slack = doubles({3}).squeeze(), .number = 0}},
       {numbers(1.25, 4)},
       5,
       0,
       7},
      {"terms that are known", {{.terms = 7, .number = 0}}, {numbers(1.25, 4)}, 2, 0, 7},
  };
  for (const auto& row : rows) {
    INFO(row.what);
    const auto found = pace::detail::with_moves_of_numbers(row.learned, expected, row.moved, options);
    REQUIRE(found.size() == 2);
    CHECK(found[0].number == 0);
    CHECK(found[0].slack.item<double>() == row.slack);
    CHECK(found[0].terms == row.terms);
    CHECK(found[1].number == 1);
    CHECK(found[1].slack.item<double>() == row.slack_of_other);
    CHECK(found[1].terms == 100);
  }
  const auto complex = pace::detail::with_moves_of_numbers({}, c10::complex<double>(1, 2),
                                                           {c10::IValue(c10::complex<double>(1.75, 3))}, options);
  REQUIRE(complex.size() == 1);
  CHECK(complex[0].slack.item<double>() == 8 * 1.25);
}

TEST_CASE("rounding explains as much as last places of the operands move the baseline's outputs, and no more") {
  const Tensors operands{doubles({1000.5, 1.25, -1000.5}).to(at::kFloat)};
  const auto sum = [](Tensors& t) { return c10::IValue(t[0].sum()); };
  const auto number = [](Tensors& t) { return c10::IValue(t[0].sum().item<double>()); };
  const auto above = [](Tensors& t) { return c10::IValue(t[0].ge(1000.5)); };
  const auto given_alone = [](Tensors& t) {
    if (t[0][0].item<double>() != 1000.5 || t[0][2].item<double>() != -1000.5) throw std::runtime_error("other values");
    return c10::IValue(t[0].sum());
  };
  const auto off_by = [](double error) { return c10::IValue(at::full({}, 1.25 + error)); };
  const struct {
    const char* what;
    Subjects::Function function;
    c10::IValue output;
    Method method;
    bool explained;
    /// The most calls of the baseline.
    int calls;
  } rows[] = {
      {"a sum that cancels", sum, off_by(2e-3), Method::allclose, true, 4},
      {"a wrong sum", sum, off_by(0.1), Method::allclose, false, 4},
      {"a sum beside a float64 reference", sum, off_by(2e-3), Method::float64_reference, true, 4},
      {"bits", sum, off_by(2e-3), Method::bitwise, false, 0},
      {"no output", sum, {}, Method::allclose, false, 0},
      {"another shape", sum, at::full({1}, 1.25), Method::allclose, false, 4},
      {"a number", number, 1.252, Method::allclose, true, 4},
      {"a wrong number", number, 1.35, Method::allclose, false, 4},
      {"a bool on the threshold", above, bools({0, 0, 0}), Method::allclose, true, 4},
      {"a bool beside the threshold", above, bools({1, 1, 0}), Method::allclose, false, 4},
      {"a baseline that throws", given_alone, off_by(2e-3), Method::allclose, false, 1},
  };
  for (const auto& row : rows) {
    INFO(row.what);
    Subjects subjects(operands);
    int calls = 0;
    const auto baseline = subjects.implementation([&](Tensors& tensors) {
      ++calls;
      return row.function(tensors);
    });
    const auto expected = pace::detail::expected_of(*baseline, subjects.sets, 1);
    CheckOptions options;
    options.method = row.method;
    calls = 0;
    subjects.sets.tensors[0][0].fill_(7);
    const pace::detail::Oracle oracle{*baseline, subjects.sets, subjects.given, expected, options};
    CHECK(pace::detail::rounding_explains(row.output, {subjects.sets.given, expected, 1}, oracle,
                                          oracle.unseen_values(1)) == row.explained);
    CHECK(calls <= row.calls);
    CHECK((calls > 0) == (row.calls > 0));
    if (calls > 0) CHECK(at::equal(subjects.sets.tensors[0][0], operands[0]));
    CHECK(at::equal(subjects.given.tensors()[0], operands[0]));
  }
}

}  // namespace
