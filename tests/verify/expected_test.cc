// Outputs, operands and shortcuts that agree with the baseline's, and the messages where they do not.
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/_efficientzerotensor.h>
#include <ATen/ops/_lazy_clone.h>
#include <ATen/ops/_sparse_coo_tensor_unsafe.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/sparse_coo_tensor.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "pace/check/check_options.hpp"
#include "pace/result/result.hpp"
#include "pace/verify/call_counts.hpp"
#include "pace/verify/candidate_audit.hpp"
#include "pace/verify/expected.hpp"
#include "pace/verify/observed_call.hpp"
#include "pace/verify/one_timed_call.hpp"
#include "pace/verify/repeated_numbers.hpp"
#include "pace/verify/shortcuts.hpp"
#include "tests/support/subjects.hpp"

// After LibTorch, which has a CHECK of its own.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using pace::CallCounts;
using pace::Uncompared;
using pace::check::CheckOptions;
using pace::detail::Agreement;
using pace::detail::Expected;
using pace::test::Subjects;
using Tensors = std::vector<at::Tensor>;
using Method = CheckOptions::Method;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

at::Tensor doubles(const std::vector<double>& values) { return at::tensor(values, at::kDouble); }
at::Tensor longs(const std::vector<std::int64_t>& values) { return at::tensor(values, at::kLong); }
c10::IValue pair_of(c10::IValue one, c10::IValue other) {
  return c10::ivalue::Tuple::create({std::move(one), std::move(other)});
}
CheckOptions by(Method method) {
  CheckOptions options;
  options.method = method;
  return options;
}
/// Starts with `start`, or empty if that is empty.
bool is_said(const std::string& text, const std::string& start) {
  return start.empty() ? text.empty() : text.starts_with(start);
}

TEST_CASE("a graph is lost where the baseline has one and the candidate has none") {
  const struct {
    std::vector<bool> baseline, candidate;
    std::string says;
  } rows[] = {
      {{true, false}, {true, false}, ""},
      {{true, false}, {false, false}, "output tensor 0 has no autograd graph"},
      {{false, true}, {true, false}, "output tensor 1 has no autograd graph"},
      {{false}, {true}, ""},
      {{true, true}, {true}, ""},
      {{}, {}, ""},
  };
  for (const auto& row : rows) CHECK(is_said(pace::detail::lost_graph(row.baseline, row.candidate), row.says));
}

TEST_CASE("the baseline's call tells which operands it writes to, but for workspaces, and whether it draws numbers") {
  Subjects subjects({at::ones({3}), at::ones({3}), at::ones({3})});
  subjects.sets.scratch = {2};
  const auto baseline = [&](bool draws) {
    return pace::detail::expected_of(*subjects.implementation([=](Tensors& t) {
      t[1].add_(1);
      t[2].add_(2);
      return c10::IValue(draws ? at::rand({3}) : t[0].mul(3));
    }),
                                     subjects.sets, 1);
  };
  for (const bool draws : {true, false}) {
    const auto expected = baseline(draws);
    CHECK(expected.random == draws);
    CHECK(subjects.sets.mutated == std::vector<std::size_t>{1});
    REQUIRE(expected.operands.size() == 3);
    CHECK(expected.operands[0].is_same(subjects.sets.given[0]));
    CHECK(at::equal(expected.operands[1], at::full({3}, 2.0)));
    CHECK(at::equal(expected.operands[2], at::full({3}, 3.0)));
    CHECK(expected.with_graph == std::vector<bool>{false});
    CHECK(at::equal(expected.output.toTensor(), baseline(draws).output.toTensor()));
  }
}

TEST_CASE("outputs that were not compared were NaN, empty, both, or none") {
  const struct {
    std::int64_t only_nan, empty;
    Uncompared why;
  } rows[] = {
      {0, 0, Uncompared::no_output},
      {1, 0, Uncompared::only_nan},
      {0, 1, Uncompared::empty},
      {2, 1, Uncompared::empty_or_nan},
  };
  for (const auto& row : rows) {
    Agreement agreement;
    agreement.only_nan = row.only_nan;
    agreement.empty = row.empty;
    CHECK(agreement.why_uncompared() == row.why);
  }
}

TEST_CASE(
    "an output agrees with its operands: those that the baseline writes to within tolerance, others in each bit") {
  // The baseline reads operand 0, writes 6 to operand 1 and 8 to operand 3, and uses operand 2 as a workspace.
  Subjects subjects({at::full({4}, 2.5), at::zeros({4}), at::zeros({4}), at::zeros({4})});
  subjects.sets.scratch = {2};
  const auto baseline = subjects.implementation([](Tensors& t) {
    t[1].fill_(6);
    t[2].fill_(1);
    t[3].fill_(8);
    return c10::IValue(t[0].mul(2));
  });
  const auto expected = pace::detail::expected_of(*baseline, subjects.sets, 1);
  const struct {
    const char* what;
    c10::IValue output;
    double first, second, third;
    Method method;
    bool compared, beyond;
    std::string says;
  } rows[] = {
      {"all of it", at::full({4}, 5.0), 2.5, 6, 1, Method::allclose, true, false, ""},
      {"an output within tolerance", at::full({4}, 5.00001), 2.5, 6, 1, Method::allclose, true, false, ""},
      {"an output beyond it", at::full({4}, 5.5), 2.5, 6, 1, Method::allclose, true, true, "output: "},
      {"an output of other bits", at::full({4}, 5.00001), 2.5, 6, 1, Method::bitwise, true, false, "output: "},
      {"infinite outputs", at::full({4}, inf), 2.5, 6, 1, Method::allclose, true, false, "output: "},
      {"another shape", at::full({3}, 5.0), 2.5, 6, 1, Method::allclose, true, false, "output: "},
      {"no output", {}, 2.5, 6, 1, Method::allclose, true, false, "output: "},
      {"an operand that is left alone", at::full({4}, 5.0), 2.500001, 6, 1, Method::allclose, true, false,
       "it changes operand tensor 0, which the baseline leaves alone; try: declare .scratch(0)"},
      {"an operand that is written to", at::full({4}, 5.0), 2.5, 7, 1, Method::allclose, true, true,
       "operand tensor 1, which the baseline writes to: "},
      {"an operand that is written to, within tolerance", at::full({4}, 5.0), 2.5, 6.00001, 1, Method::allclose, true,
       false, ""},
      {"an operand that is written to, beside a custom function", at::full({4}, 5.0), 2.5, 7, 1, Method::custom, true,
       true, "operand tensor 1, which the baseline writes to: "},
      {"a workspace", at::full({4}, 5.0), 2.5, 6, 9, Method::allclose, true, false, ""},
      {"anything, if nothing is compared", at::full({3}, 1.0), 1, 1, 1, Method::none, false, false, ""},
  };
  for (const auto& row : rows) {
    INFO(row.what);
    CheckOptions options = by(row.method);
    options.function = [](const c10::IValue&, const c10::IValue&) { return std::string(); };
    const Tensors tensors{at::full({4}, row.first), at::full({4}, row.second), at::full({4}, row.third),
                          at::full({4}, row.second + 2)};
    const auto agreement = pace::detail::agree_with(expected, row.output, subjects.sets, &tensors, options);
    CAPTURE(agreement.message);
    CHECK(agreement.correct == row.says.empty());
    CHECK(is_said(agreement.message, row.says));
    CHECK(agreement.beyond_tolerance == row.beyond);
    CHECK(agreement.compared == row.compared);
    // Without operands, the output alone counts.
    const auto output_alone = pace::detail::agree_with(expected, row.output, subjects.sets, nullptr, options);
    CHECK(output_alone.correct == !row.says.starts_with("output"));
    for (std::size_t i = 0; i < 4; ++i) subjects.sets.tensors[0][i].copy_(tensors[i]);
    CHECK(pace::detail::agree(expected, row.output, subjects.sets, 0, options).message == agreement.message);
    CHECK(pace::detail::agree(expected, row.output, subjects.sets, std::nullopt, options).message ==
          output_alone.message);
    CHECK(pace::detail::changed_operand(subjects.sets, expected.operands, 0).empty() == (row.first == 2.5));
  }
}

TEST_CASE("a message advises the declaration that would make outputs agree, if any would") {
  const auto rows_of = [](const std::vector<double>& values) { return doubles(values).view({-1, 2}); };
  const at::Tensor unit = rows_of({0.6, -0.8, 0.8, 0.6});
  const struct {
    const char* what;
    c10::IValue expected, output;
    Tensors operands;
    bool random = false;
    std::string says = {};
  } rows[] = {
      {"rows in another order",
       rows_of({1, 2, 3, 4}),
       rows_of({3, 4, 1, 2}),
       {},
       false,
       "; try: declare .order_free()"},
      {"rows in another order that are nearly equal",
       rows_of({1000, 2, 1000.5, 2.5}),
       rows_of({1000.5, 2.5, 1000, 2}),
       {},
       false,
       ""},
      {"vectors of another sign", unit, unit.mul(doubles({-1, 1})), {}, false, "; try: declare .sign_free()"},
      {"indices of equal values", longs({0, 2}), longs({1, 2}), {doubles({5, 5, 3})}, false, "; try: declare .ties()"},
      {"indices of other values", longs({0, 2}), longs({1, 2}), {doubles({5, 4, 3})}, false, ""},
      {"other random numbers", at::randn({2048}), at::randn({2048}), {}, true, "; try: declare .random()"},
      {"other numbers", at::randn({2048}), at::randn({2048}), {}, false, ""},
      {"float64 from float32",
       doubles({1, 2}),
       doubles({1, 2}).to(at::kFloat),
       {},
       false,
       "; try: if the baseline keeps"},
  };
  for (const auto& row : rows) {
    INFO(row.what);
    Expected expected;
    expected.output = row.expected;
    expected.operands = row.operands;
    expected.random = row.random;
    const auto hint = pace::detail::declaration_hint(expected, row.output, {});
    CAPTURE(hint);
    CHECK(is_said(hint, row.says));
    CHECK(pace::detail::declaration_hint(expected, row.output, by(Method::bitwise)).empty());
  }
  Expected expected;
  expected.output = doubles({1, 2});
  CheckOptions stated;
  stated.rtol = 0.1;
  CHECK(pace::detail::declaration_hint(expected, doubles({1, 2}).to(at::kFloat), stated).empty());
}

TEST_CASE("outputs are nearly right within a thousandth of their largest element") {
  const at::Tensor known = doubles({1, -1000, 3});
  const struct {
    const char* what;
    c10::IValue output;
    bool nearly;
  } rows[] = {
      {"off by a thousandth", doubles({2, -999, 3}), true},
      {"off by more", doubles({2.5, -1000, 3}), false},
      {"another type", doubles({1, -1000, 3}).to(at::kFloat), true},
      {"another shape", doubles({1, -1000}), false},
      {"integers", longs({1, -1000, 3}), false},
      {"no elements", at::zeros({0}), true},
      {"NaN", doubles({not_a_number, -1000, 3}), false},
  };
  for (const auto& row : rows) {
    INFO(row.what);
    CHECK(pace::detail::is_nearly_right(known, row.output) == row.nearly);
    CHECK(pace::detail::is_nearly_right(pair_of(known, known), pair_of(known, row.output)) == row.nearly);
  }
}

TEST_CASE("indices are compared by what they find, in range and each once as the baseline's are") {
  Expected expected;
  expected.operands = {doubles({5, 5, 3, 4})};
  expected.output = longs({0, 3});
  const struct {
    const char* what;
    c10::IValue output;
    std::string says;
  } rows[] = {
      {"equal values", longs({1, 3}), ""},
      {"other values", longs({1, 2}), "output: "},
      {"out of range", longs({0, 4}), "indices are out of range of operand tensor 0"},
      {"negative", longs({-1, 3}), "indices are out of range of operand tensor 0"},
      {"twice", longs({3, 3}), "indices are out of range of operand tensor 0 (counted from 0), or occur twice"},
      {"another shape", longs({0, 3, 2}), "output: "},
  };
  for (const auto& row : rows) {
    INFO(row.what);
    const auto match = pace::detail::match_outputs(expected, row.output, by(Method::ties));
    CHECK(match.correct == row.says.empty());
    CHECK(is_said(match.message, row.says));
  }
}

TEST_CASE("ways to return values without computing or writing them are told from each other") {
  namespace shortcuts = pace::detail;
  const at::Tensor operand = at::randn({4, 4}), own = at::randn({4, 4}), complex = at::ones({4}, at::kComplexFloat);
  const at::Tensor indices = longs({0, 2}), copied = at::randn({4});
  const struct {
    const char* what;
    c10::IValue output;
    std::vector<std::int64_t> found;
  } rows[] = {
      {"memory of its own", own, {0}},
      {"an operand", operand, {shortcuts::borrows}},
      {"a view of an operand", operand.t().narrow(0, 1, 2), {shortcuts::borrows}},
      {"an expanded tensor", at::ones({1, 4}).expand({3, 4}), {shortcuts::repeats}},
      {"an expanded dimension of one", at::ones({1, 4}).as_strided({1, 4}, {0, 1}), {0}},
      {"a marked conjugate", complex.conj(), {shortcuts::defers}},
      {"a marked negative", own._neg_view(), {shortcuts::defers}},
      {"marked zeros", at::_efficientzerotensor({3}), {shortcuts::defers}},
      {"a copy that is made later", at::_lazy_clone(copied), {shortcuts::postpones}},
      {"two outputs of the same memory", pair_of(own, own.narrow(0, 1, 2)), {0, shortcuts::overlaps}},
      {"two parts of the same memory", pair_of(own.narrow(0, 0, 2), own.narrow(0, 2, 2)), {0, 0}},
      {"no elements of an operand", operand.narrow(0, 0, 0), {0}},
      {"sparse values of an operand",
       at::sparse_coo_tensor(longs({0, 2}).unsqueeze(0), operand.narrow(0, 0, 2), {4, 4}),
       {shortcuts::borrows}},
      {"sparse indices of an operand",
       at::_sparse_coo_tensor_unsafe(indices.view({1, 2}), at::ones({2}), {4}),
       {shortcuts::borrows << shortcuts::shortcut_bits}},
  };
  for (const auto& row : rows) {
    INFO(row.what);
    CHECK(pace::detail::shortcuts_of_each(row.output, {operand, indices, at::Tensor()}) == row.found);
    const bool borrows = (row.found[0] & (shortcuts::borrows | shortcuts::borrows << shortcuts::shortcut_bits)) != 0;
    const auto parts = pace::detail::shareable_parts_of({operand, indices});
    if (row.output.isTensor()) CHECK(pace::detail::borrows_any(row.output.toTensor(), parts) == borrows);
  }
}

TEST_CASE("shortcuts of the candidate alone are described, and those of the baseline are part of the computation") {
  using namespace pace::detail;
  const struct {
    std::vector<std::int64_t> baseline, candidate;
    bool check_strides;
    std::string says;
  } rows[] = {
      {{0}, {0}, false, ""},
      {{0}, {borrows}, false, "output tensor 0 shares memory with an operand"},
      {{borrows}, {borrows}, false, ""},
      {{borrows}, {0}, false, ""},
      {{0, 0}, {0, defers}, false, "output tensor 1 is only marked as conjugated"},
      {{0}, {repeats}, false, ""},
      {{0}, {repeats}, true, "output tensor 0 repeats elements in memory"},
      {{0}, {overlaps}, false, "output tensor 0 has elements of an earlier output tensor"},
      {{0}, {unwritten}, false, "output tensor 0 is memory that was never written to"},
      {{0}, {postpones}, false, "output tensor 0 is a copy that is made when it is written to"},
      {{0}, {borrows << shortcut_bits}, false, "output tensor 0 (its indices) shares memory"},
      {{0}, {borrows << 2 * shortcut_bits}, false, "output tensor 0 (its compressed indices) shares memory"},
      {{borrows}, {borrows << shortcut_bits | borrows}, false, "output tensor 0 (its indices) shares memory"},
      {{defers}, {defers | borrows}, false, "output tensor 0 shares memory with an operand"},
  };
  for (const auto& row : rows) {
    CheckOptions options;
    options.check_strides = row.check_strides;
    const auto text = describe_shortcuts(row.baseline, row.candidate, options);
    CAPTURE(row.says, text);
    CHECK(is_said(text, row.says));
  }
}

TEST_CASE("large memory is unwritten while most of its pages were never touched") {
  constexpr std::size_t bytes = 8 << 20;
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  // Small pages, each of which is touched by itself.
  ::madvise(memory, bytes, MADV_NOHUGEPAGE);
  const auto tensor = at::from_blob(memory, {static_cast<std::int64_t>(bytes / 4)}, at::kFloat);
  CHECK(pace::detail::is_unwritten(tensor));
  CHECK_FALSE(pace::detail::is_unwritten(tensor.narrow(0, 0, 1000)));
  CHECK(pace::detail::ObservedCall{.output = tensor, .unwritten = {true}}.unwritten[0]);
  std::memset(memory, 1, bytes / 4);
  CHECK(pace::detail::is_unwritten(tensor));
  std::memset(memory, 1, bytes * 3 / 4);
  CHECK_FALSE(pace::detail::is_unwritten(tensor));
  CHECK_FALSE(pace::detail::is_unwritten(at::zeros({0})));
  ::munmap(memory, bytes);
}

TEST_CASE("an observed call keeps its output as it was on return, its counts, and what nothing wrote to") {
  Subjects subjects({at::ones({4})});
  at::Tensor kept;
  const auto call = subjects.implementation([&](Tensors& t) {
    kept = t[0].mul(2);
    return c10::IValue(kept);
  });
  const Tensors values{at::full({4}, 3.0)};
  const auto made = pace::detail::observe_call(*call, subjects.sets, &values, 1, {});
  kept.fill_(9);
  CHECK(at::equal(made.at_return.toTensor(), at::full({4}, 6.0)));
  CHECK(at::equal(made.output.toTensor(), at::full({4}, 9.0)));
  CHECK(made.counts.operator_calls == 1);
  CHECK(made.unwritten == std::vector<bool>{false});
  CHECK(at::equal(pace::detail::observe_call(*call, subjects.sets, nullptr, 1, {}).at_return.toTensor(),
                  at::full({4}, 2.0)));
  CHECK(pace::detail::count_in_a_row(*call, 3) == 3 * made.counts);
  auto unwritten = made;
  unwritten.unwritten = {true};
  CHECK(pace::detail::shortcuts_of_each(unwritten, subjects.sets.tensors[0]) ==
        std::vector<std::int64_t>{pace::detail::unwritten});
}

TEST_CASE("the output of a captured call comes back for each replay, and a call without one keeps none") {
  // Held here, since only a capture's pool keeps memory that nobody holds.
  at::Tensor held;
  Subjects subjects({at::ones({3})});
  const auto implementation = subjects.implementation([&](Tensors& t) { return c10::IValue(held = t[0].mul(2)); });
  implementation->prepare(0);
  CHECK_FALSE(implementation->keep_output());
  implementation->run(0, 1);
  const auto kept = implementation->keep_output();
  CHECK(implementation->take_output().isNone());
  for (const double value : {2.0, 3.0}) {
    held.fill_(value);
    implementation->put_back_output(kept);
    implementation->finish();
    CHECK(at::equal(implementation->take_output().toTensor(), at::full({3}, value)));
  }
}

TEST_CASE("calls have counts if they repeat them alone and in a row, and the reason if not") {
  const CallCounts one{1, 1, 128}, two{2, 1, 128}, three{3, 3, 384};
  const struct {
    const char* what;
    CallCounts other, again;
    std::int64_t calls;
    CallCounts in_a_row;
    std::string says;
  } rows[] = {
      {"equal counts", one, one, 3, three, ""},
      {"other counts on other values", two, one, 3, three, ""},
      {"other counts on the same values", two, two, 3, three,
       "its calls differ on the same operands (1 operator calls and 128 bytes allocated, then 2 operator calls"},
      {"other counts in a row", one, one, 3, two,
       "a single call counts 1 operator calls and 128 bytes allocated, and 3 calls in a row 2 operator calls"},
      {"calls that change what the next one does", one, one, 0, two, ""},
  };
  for (const auto& row : rows) {
    INFO(row.what);
    pace::detail::Examination found;
    int repeated = 0;
    std::int64_t asked = 0;
    const auto again = [&] { return ++repeated, row.again; };
    const auto in_a_row = [&](std::int64_t calls) { return asked = calls, row.in_a_row; };
    pace::detail::enter_counts(one, row.other, again, row.calls, in_a_row, found);
    CHECK(found.counts.has_value() == row.says.empty());
    if (found.counts) CHECK(*found.counts == one);
    CHECK(is_said(found.why_uncounted, row.says));
    // No call is made in vain.
    CHECK(repeated == (row.other == one ? 0 : 1));
    CHECK((asked == 0 || asked == row.calls));
  }
}

TEST_CASE("a peak that differs between calls with equal counts is left out, with the reason") {
  const auto with_peak = [](std::int64_t bytes) { return CallCounts{1, 1, 128, bytes}; };
  const auto none = [](std::int64_t) { return CallCounts{}; };
  pace::detail::Examination found;
  pace::detail::enter_counts(with_peak(100), with_peak(120), [&] { return with_peak(110); }, 0, none, found);
  REQUIRE(found.counts);
  CHECK(*found.counts == with_peak(100));
  CHECK_FALSE(found.counts->peak_bytes);
  CHECK(found.why_uncounted == "the peaks of its calls differ on the same operands (100 bytes, then 110 bytes)");
  // Other values alone make another peak.
  found = {};
  pace::detail::enter_counts(with_peak(100), with_peak(120), [&] { return with_peak(100); }, 0, none, found);
  REQUIRE(found.counts);
  CHECK(found.counts->peak_bytes == 100);
  CHECK(found.why_uncounted.empty());
}

TEST_CASE("calls add up where they write to operands or draw random numbers") {
  for (const bool writes : {true, false})
    for (const bool draws : {true, false}) {
      pace::detail::OperandSets operands;
      if (writes) operands.mutated = {0};
      Expected expected;
      expected.random = draws;
      CHECK(pace::detail::calls_add_up(operands, expected) == (writes || draws));
    }
}

TEST_CASE("outputs of timed calls are counted, those that came before, and elements that change") {
  pace::detail::RepeatedNumbers numbers;
  numbers.begin(2);
  const auto of_place = [&](std::size_t place) { return numbers.of(place); };
  const at::Tensor a = doubles({1, 2, 3}), b = doubles({1, 5, 6}), long_one = at::arange(1000, at::kDouble),
                   other_end = long_one.clone();
  other_end[999] = 0;
  for (const auto& each : {a, b, a, b, a.clone()}) numbers.look_at(0, each);
  CHECK(of_place(1).empty());
  auto found = of_place(0);
  REQUIRE(found.size() == 1);
  CHECK(found[0].outputs == 5);
  CHECK(found[0].repeated == 3);
  CHECK(found[0].changing == 2);
  // Tensors are told apart, and the first 4 KiB of each count.
  for (const auto& each : {long_one, other_end}) numbers.look_at(1, c10::ivalue::Tuple::create({a, each}));
  found = of_place(1);
  REQUIRE(found.size() == 2);
  CHECK(found[0].repeated == 1);
  CHECK(found[1].repeated == 1);
  CHECK(found[1].changing == 0);
  numbers.begin(1);
  CHECK(of_place(0).empty());
}

TEST_CASE("random numbers repeat too often by the baseline's as the norm") {
  using pace::detail::Repetitions;
  const Repetitions anew{.outputs = 1000, .repeated = 0, .changing = 64};
  const struct {
    const char* what;
    Repetitions baseline, candidate;
    bool fault;
  } rows[] = {
      {"19 times", anew, {.outputs = 1000, .repeated = 19, .changing = 64}, false},
      {"20 times", anew, {.outputs = 1000, .repeated = 20, .changing = 64}, true},
      {"few elements", {.outputs = 1000, .repeated = 0, .changing = 63}, {.outputs = 1000, .repeated = 999}, false},
      {"less than the baseline allows", {1000, 30, 64}, {1000, 139, 64}, false},
      {"more than the baseline allows", {1000, 30, 64}, {1000, 140, 64}, true},
      {"more outputs than the baseline's", anew, {.outputs = 1001, .repeated = 500}, false},
  };
  for (const auto& row : rows) {
    INFO(row.what);
    CHECK(pace::detail::describe_repetitions({row.baseline}, {row.candidate}).empty() != row.fault);
    CHECK(pace::detail::describe_repetitions({anew, row.baseline}, {anew, row.candidate}).empty() != row.fault);
  }
  CHECK_THAT(pace::detail::describe_repetitions({anew, anew}, {anew, {.outputs = 1000, .repeated = 900}}),
             ContainsSubstring("output tensor 1 is the same as an earlier one in 900 of 1000 samples"));
}

}  // namespace
