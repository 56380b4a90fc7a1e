// Cheats on values that are hard to renew: those that functions hold by themselves, quantized and constant ones, and
// few integers or bools.
#include <cmath>
#include <cstdint>
#include <map>
#include <new>
#include <tuple>
#include <vector>

#include <ATen/ops/arange.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/full.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/mv.h>
#include <ATen/ops/nll_loss.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/quantize_per_channel.h>
#include <ATen/ops/quantize_per_tensor.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/randperm.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <catch2/matchers/catch_matchers_quantifiers.hpp>

#include "tests/cheats/rejected.hpp"

namespace {

using Catch::Matchers::AnyMatch;
using Catch::Matchers::NoneMatch;
using cheats::ContainsSubstring;
using cheats::require_rejected;
using cheats::run;
using cheats::run_declared;

using Operand = const at::Tensor&;

at::Tensor input() { return at::randn({32, 16}); }

/// Answers of `function` that are kept for the address of the first operand.
template <class Function>
auto kept_by_address(Function function) {
  return [function, answers = std::map<const void*, at::Tensor>()](Operand first, const auto&... others) mutable {
    auto& answer = answers[first.const_data_ptr()];
    if (!answer.defined()) answer = function(first, others...);
    return answer.clone();
  };
}

/// The candidate was accepted, although it may have made assumptions.
void require_accepted(const pace::Result& result) {
  INFO("'cheat' " << result["cheat"].outcome << ": " << result["cheat"].message);
  CHECK(result["cheat"].outcome == pace::Outcome::measured);
}

TEST_CASE("no claim is proven of functions that hold all tensors by themselves, unless that is declared") {
  const auto x = input();
  const auto eager = [x] { return x.sin(); };
  const auto cheat = [answer = x.sin()] { return answer.clone(); };
  const auto undeclared = run(eager, cheat);
  const auto& judgements = undeclared["cheat"].judgements;
  REQUIRE(judgements.size() == 2);
  CHECK(judgements[0].verdict == pace::Verdict::invalid);
  CHECK_FALSE(judgements[0].acceptable);
  CHECK_THAT(judgements[0].message,
             ContainsSubstring("which proves nothing\nwhy: its functions have no operand tensors") &&
                 ContainsSubstring("declare .captures()"));
  // A guard is about code that is as slow as before.
  CHECK(judgements[1].verdict == pace::Verdict::passed);
  CHECK_THAT(undeclared.notes, AnyMatch(ContainsSubstring("No claim about times is proven here")));
  CHECK(undeclared["cheat"].speedup.has_value());

  const auto declared = run_declared([](auto& comparison) { comparison.captures(); }, eager, cheat);
  CHECK(declared["cheat"].judgements[0].verdict == pace::Verdict::passed);
  CHECK_THAT(declared.notes, AnyMatch(ContainsSubstring("As declared (captures)")));

  const auto with_operand = run([](Operand y) { return y.sin(); }, [](Operand y) { return y.sin(); }, x);
  CHECK(with_operand["cheat"].judgements[0].verdict == pace::Verdict::passed);
  CHECK_THAT(with_operand.notes, NoneMatch(ContainsSubstring("No claim")));
}

TEST_CASE("a baseline alone is compared with nothing, so that no note says what a comparison does not prove") {
  cheats::FakeClock clock;
  const auto x = input();
  auto comparison = pace::compare("alone");
  comparison.options(cheats::short_run()).baseline("eager", cheats::costing(clock, 300, [x] { return x.sin(); }));
  const auto result = comparison.run(clock);
  CHECK(result["eager"].outcome == pace::Outcome::measured);
  CHECK_THAT(result.notes, NoneMatch(ContainsSubstring("No claim")));
}

TEST_CASE("numbers are no operands that pace could give unseen values") {
  const auto result = run([](int n) { return 2.0 * n; }, [](int) { return 14.0; }, 7);
  CHECK(result["cheat"].judgements[0].verdict == pace::Verdict::invalid);
}

TEST_CASE("answers for quantized operands that are kept") {
  const auto dequantized = [](Operand x) { return x.dequantize().sin(); };
  for (const auto type : {at::kQInt8, at::kQUInt8, at::kQInt32})
    require_rejected(
        run(dequantized, kept_by_address(dequantized), at::quantize_per_tensor(at::randn({32, 16}), 0.05, 3, type)),
        "overwritten");
  const auto per_channel =
      at::quantize_per_channel(at::randn({32, 16}), at::rand({16}).add(0.5).mul(0.05).to(at::kDouble),
                               at::zeros({16}, at::kLong), 1, at::kQInt8);
  require_rejected(run(dequantized, kept_by_address(dequantized), per_channel), "overwritten");
  require_accepted(run(dequantized, dequantized, per_channel));
}

TEST_CASE("a value that is derived from a quantized operand and kept is rejected") {
  const auto product = [](Operand q, Operand w) { return at::mm(q.dequantize().sin(), w); };
  const auto cheat = [kept = std::map<const void*, at::Tensor>()](Operand q, Operand w) mutable {
    auto& derived = kept[q.const_data_ptr()];
    if (!derived.defined()) derived = q.dequantize().sin();
    return at::mm(derived, w);
  };
  require_rejected(run(product, cheat, at::quantize_per_tensor(input(), 0.05, 0, at::kQInt8), at::randn({16, 8})),
                   "it is right for the operands given, but not for unseen values in the same memory");
}

TEST_CASE("a few integers are ignored") {
  const auto power = [](Operand x, Operand n) { return at::pow(x, n); };
  const auto cube = [](Operand x, Operand) { return x.mul(x).mul_(x); };
  require_rejected(run(power, cube, at::rand({32, 16}), at::tensor(3)), "operand tensor 1 alone has unseen values");
  const auto two = [](Operand x, Operand n) { return at::pow(x, n[0]).mul(n[1]); };
  const auto fixed = [](Operand x, Operand) { return x.mul(x).mul_(x).mul_(2); };
  require_rejected(run(two, fixed, at::rand({32, 16}), at::tensor({3, 2})), "operand tensor 1 alone has unseen values");
}

TEST_CASE("a few bools are ignored") {
  const auto masked = [](Operand x, Operand m) { return x.mul(m[0]).add(x.mul(m[1])).sin(); };
  const auto both = [](Operand x, Operand) { return x.sin(); };
  const at::Tensor mask = at::arange(2).eq(0);
  require_rejected(run(masked, both, input(), mask), "operand tensor 1 alone has unseen values");
  const auto switched = [](Operand x, Operand on) { return on.item<bool>() ? x.sin() : x.clone(); };
  require_rejected(run(switched, both, input(), at::ones({}, at::kBool)), "operand tensor 1 alone has unseen values");
}

/// Rows up to their lengths.
at::Tensor up_to_lengths(Operand x, Operand lengths) {
  return x.mul(at::arange(x.size(1)).unsqueeze(0).lt(lengths.unsqueeze(1)).unsqueeze(2)).sin();
}

TEST_CASE("lengths that are all full are ignored, or taken for the first one") {
  const auto all = [](Operand x, Operand) { return x.sin(); };
  const auto first = [](Operand x, Operand lengths) { return up_to_lengths(x, lengths.narrow(0, 0, 1)); };
  for (const std::int64_t rows : {2, 6}) {
    const auto x = at::randn({rows, 64, 1});
    const auto lengths = at::full({rows}, 64, at::kLong);
    require_rejected(run(up_to_lengths, all, x, lengths), "operand tensor 1 alone has unseen values");
    require_rejected(run(up_to_lengths, first, x, lengths), "operand tensor 1 alone has unseen values");
  }
  // With one smaller number than the length.
  require_rejected(run(up_to_lengths, first, at::randn({6, 64, 1}), at::full({6}, 2, at::kLong)),
                   "operand tensor 1 alone has unseen values");
  const auto descending = at::arange(64, 48, -1);
  const auto known = [descending](Operand x, Operand) { return up_to_lengths(x, descending); };
  require_rejected(run(up_to_lengths, known, at::randn({16, 64, 1}), descending),
                   "operand tensor 1 alone has unseen values");
}

TEST_CASE("an integer mask that is true everywhere is ignored, beside integers that matter") {
  const auto masked = [](Operand x, Operand rows, Operand mask) { return x.index_select(0, rows).mul(mask); };
  const auto cheat = [](Operand x, Operand rows, Operand) { return x.index_select(0, rows); };
  require_rejected(run(masked, cheat, input(), at::randint(0, 32, {32}, at::kLong), at::ones({32, 16}, at::kLong)),
                   "operand tensor 2 alone has unseen values");
}

TEST_CASE("offsets and indices in order stay as they are, and a note names them") {
  const auto segments = [](Operand x, Operand offsets) { return x.cumsum(0).index_select(0, offsets); };
  const auto offsets = at::arange(0, 32, 2);
  const auto result = run(segments, segments, input(), offsets);
  require_accepted(result);
  CHECK_THAT(result.notes, AnyMatch(ContainsSubstring("operand tensor 1 alone were found that change an output")));
  const auto alone = run([](Operand n) { return n.to(at::kFloat).sin(); },
                         [](Operand n) { return n.to(at::kFloat).sin(); }, at::arange(512));
  CHECK_THAT(alone.notes, AnyMatch(ContainsSubstring("operand tensor 0 alone were found that change an output")));
}

TEST_CASE("a weight or a bias of equal values is taken for one number") {
  const auto product = [](Operand x, Operand w) { return at::mm(x, w); };
  const auto of_sums = [](Operand x, Operand w) { return x.sum(1, true).mul(w[0][0]).expand({32, 8}).contiguous(); };
  for (const double value : {1.0, 2.0, -2.0, 3.0, 0.3})
    require_rejected(run(product, of_sums, input(), at::full({16, 8}, value)),
                     "operand tensor 1 alone has unseen values");
  const auto scaled = [](Operand x, Operand b) { return x.mul(b).add(b); };
  const auto by_number = [](Operand x, Operand b) { return x.mul(b[0].item<float>()).add_(b[0].item<float>()); };
  require_rejected(run(scaled, by_number, input(), at::full({16}, 0.5)), "operand tensor 1 alone has unseen values");
  // Where zeros are divided by, other values are.
  const auto divided = [](Operand x, Operand w) { return x.div(w); };
  const auto by_first = [](Operand x, Operand w) { return x.div(w[0].item<float>()); };
  require_rejected(run(divided, by_first, input(), at::ones({16})), "operand tensor 1 alone has unseen values");
}

TEST_CASE("a mask of ones is taken for one number") {
  const auto masked = [](Operand a, Operand m) { return a.sin().mul(m).add(m.mul(2)); };
  const auto by_number = [](Operand a, Operand m) {
    const float number = m[0][0].item<float>();
    return a.sin().mul_(number).add_(2 * number);
  };
  require_rejected(run(masked, by_number, input(), at::ones({32, 16})), "operand tensor 1 alone has unseen values");
}

TEST_CASE("the first element of an expanded operand is all of it") {
  const auto product = [](Operand x, Operand w) { return x.mul(w); };
  const auto by_number = [](Operand x, Operand w) { return x.mul(w[0].item<float>()); };
  require_accepted(run(product, by_number, input(), at::full({1}, 0.5).expand({16})));
}

TEST_CASE("rounding is no excuse for outputs that are missing in timed calls") {
  const auto right = [](Operand x) { return std::vector<at::Tensor>{x.sin()}; };
  const auto cheat = [right, calls = 0](Operand x) mutable {
    return ++calls < 300 ? right(x) : std::vector<at::Tensor>();
  };
  require_rejected(run(right, cheat, input()), "in a timed call");
}

TEST_CASE("an element that jumps with the last bits of an operand is no excuse for other elements") {
  // The first element is at the step.
  auto x = at::randn({32, 16});
  x[0][0] = 1;
  const auto right = [](Operand v) { return v.ge(1); };
  const auto cheat = [right, calls = 0](Operand v) mutable {
    at::Tensor out = right(v);
    if (++calls >= 300) out[5] = out[5].logical_not();
    return out;
  };
  require_rejected(run(right, cheat, x), "in a timed call");
}

TEST_CASE("probabilities that are all equal stay probabilities") {
  const auto mean = [](Operand x, Operand weights) { return at::mv(x, weights); };
  // Takes the last weight for the rest of the others.
  const auto honest = [](Operand x, Operand weights) {
    const at::Tensor most = weights.narrow(0, 0, 15);
    return at::mv(x.narrow(1, 0, 15), most).add(x.select(1, 15).mul(most.sum().neg().add(1)));
  };
  require_accepted(run(mean, honest, input(), at::full({16}, 1.0 / 16)));
}

TEST_CASE("log-probabilities stay such, and answers for those given are no answers for others") {
  const auto loss = [](Operand logs, Operand target) { return at::nll_loss(logs, target); };
  const auto of_any_scores = [](Operand logs, Operand target) { return at::cross_entropy_loss(logs, target); };
  const at::Tensor target = at::randint(0, 16, {32}, at::kLong), given = input().log_softmax(1);
  require_accepted(run(loss, of_any_scores, given, target));
  require_accepted(run(loss, of_any_scores, given.clone().set_requires_grad(true), target));
  require_accepted(run(loss, of_any_scores, input().masked_fill_(at::arange(16).eq(3), -INFINITY).log_softmax(1),
                       target.masked_fill(target.eq(3), 4)));
  require_rejected(run(loss, kept_by_address(loss), given, target), "overwritten");
  const auto of_given = [=](Operand, Operand of) { return at::nll_loss(given, of); };
  require_rejected(run(loss, of_given, given, target),
                   "it is right for the operands given, but not for unseen values in the same memory");
}

TEST_CASE("centred rows and columns stay such, and answers for those given are no answers for others") {
  const auto x = input();
  for (const std::int64_t dim : {0, 1}) {
    const auto given = x.sub(x.mean(dim, true));
    const auto products = [=](Operand v) {
      const at::Tensor centred = v.sub(v.mean(dim, true));
      return at::mm(centred.t(), centred);
    };
    const auto of_centred = [](Operand v) { return at::mm(v.t(), v); };
    require_accepted(run(products, of_centred, given));
    require_accepted(run(products, of_centred, given.clone().set_requires_grad(true)));
    require_rejected(run(products, kept_by_address(products), given), "overwritten");
    const auto answer = products(given);
    require_rejected(run(products, [=](Operand) { return answer.clone(); }, given), "it ");
  }
}

TEST_CASE("a matrix of rank one, whose rows are known up to their scale") {
  const auto product = [](Operand x, Operand w) { return at::mm(x, w); };
  const auto of_rank_one = [](Operand x, Operand w) {
    return at::outer(x.select(1, 0).div(x[0][0]), at::mv(w.t(), x[0]));
  };
  const auto whole = at::outer(at::randint(1, 20, {32}), at::randint(1, 20, {64})).to(at::kFloat);
  require_rejected(run(product, of_rank_one, whole, at::randn({64, 8})), "operand tensor 0 alone has unseen values");
  const auto of_equal_rows = [](Operand x, Operand w) {
    return at::mm(x.narrow(0, 0, 1), w).expand({x.size(0), w.size(1)}).contiguous();
  };
  require_rejected(run(product, of_equal_rows, at::rand({1, 64}).repeat({32, 1}), at::randn({64, 8})),
                   "operand tensor 0 alone has unseen values");
}

TEST_CASE("operands beyond the eighth, and all where memory runs out, are named in a note") {
  using List = const std::vector<at::Tensor>&;
  std::vector<at::Tensor> ten;
  for (int i = 0; i < 10; ++i) ten.push_back(at::randn({8}));
  const auto sum = [](List all) { return at::stack(all).sum(0); };
  const auto result = run(sum, sum, ten);
  require_accepted(result);
  CHECK_THAT(result.notes, AnyMatch(ContainsSubstring("Operand tensor 8, 9 were not given unseen values alone")));

  const auto x = input();
  const auto greedy = [x](Operand a, Operand b) {
    if (a.equal(x) && !b.equal(x.neg())) throw std::bad_alloc();
    return a.mul(b);
  };
  const auto product = [](Operand a, Operand b) { return a.mul(b); };
  const auto without_memory = run(greedy, product, x, x.neg());
  require_accepted(without_memory);
  CHECK_THAT(without_memory.notes, AnyMatch(ContainsSubstring("since memory ran out")));
}

TEST_CASE("the last bits of a timed output may be others, as everywhere") {
  const auto exactly = [](auto& comparison) {
    pace::check::CheckOptions check;
    check.rtol = 0;
    check.atol = 0;
    comparison.check(check);
  };
  const auto third = [](Operand x) { return x.div(3).sin(); };
  // A later call uses another formula, so some last bits differ.
  const auto later = [calls = 0](Operand x) mutable { return ++calls < 60 ? x.div(3).sin() : x.mul(1.0f / 3).sin(); };
  const auto x = at::randn({32, 64});
  REQUIRE_FALSE(third(x).equal(x.mul(1.0f / 3).sin()));
  require_accepted(run_declared(exactly, third, later, x));
  const auto wrong = [calls = 0](Operand y) mutable { return ++calls < 60 ? y.div(3).sin() : y.div(3.001).sin(); };
  require_rejected(run_declared(exactly, third, wrong, x), "not in a timed call");
}

/// The output of `function` where the operand of index 1 is `fixed`, whatever it is.
template <class Function>
auto with_fixed(Function function, const at::Tensor& fixed) {
  return [function, fixed](Operand x, Operand) { return function(x, fixed); };
}

TEST_CASE("the first row stands for rows that are equal and have a property, and the first column for columns") {
  const auto weighted = [](Operand x, Operand w) { return x.mul(w).sum(1); };
  const auto by_first_row = [](Operand x, Operand w) { return x.mul(w[0]).sum(1); };
  const auto by_first_column = [](Operand x, Operand w) { return x.mul(w.narrow(1, 0, 1)).sum(1); };
  const at::Tensor row = at::rand({16}).add(0.1);
  const auto repeated = [](Operand one) { return one.expand({32, 16}).contiguous(); };
  for (const at::Tensor& each : {row.div(row.sum()), row.div(row.square().sum().sqrt())})
    require_rejected(run(weighted, by_first_row, input(), repeated(each)), "operand tensor 1 alone has unseen values");
  for (const bool descending : {false, true})
    require_rejected(run(weighted, by_first_row, input(), repeated(std::get<0>(row.sort(0, descending)))),
                     "it is right for the operands given, but not for unseen values in the same memory");
  require_rejected(run(weighted, by_first_column, input(), repeated(at::rand({32, 1}).add(0.1))),
                   "operand tensor 1 alone has unseen values");
  require_accepted(run(weighted, weighted, input(), repeated(row.div(row.sum()))));
}

TEST_CASE("counts that make an output smaller are ignored") {
  const auto repeated = [](Operand x, Operand n) { return x.repeat_interleave(n, 0).sin(); };
  const auto once = [](Operand x, Operand) { return x.sin(); };
  require_rejected(run(repeated, once, at::randn({8, 4}), at::ones({8}, at::kLong)),
                   "operand tensor 1 alone has unseen values");
  const auto largest = [](Operand x, Operand k) { return std::get<0>(x.topk(k.item<std::int64_t>(), 1)); };
  const auto three = [](Operand x, Operand) { return std::get<0>(x.topk(3, 1)); };
  require_rejected(run(largest, three, input(), at::tensor(3)), "operand tensor 1 alone has unseen values");
}

TEST_CASE("ids beside padding, and lengths that no operand says, are kept") {
  const auto looked_up = [](Operand x, Operand ids) {
    return x.index_select(0, ids.flatten()).mul(ids.flatten().ne(0).unsqueeze(1)).view({8, 16, 4}).sum(1);
  };
  const at::Tensor lengths = at::tensor({5, 12, 9, 16, 7, 3, 11, 14}, at::kLong);
  const at::Tensor places = at::arange(16).ge(lengths.unsqueeze(1)), table = at::randn({50, 4});
  const at::Tensor ids = at::randint(1, 50, {8, 16}, at::kLong).masked_fill(places, 0);
  const auto* const wrong = "it is right for the operands given, but not for unseen values in the same memory";
  require_rejected(run(looked_up, with_fixed(looked_up, ids), table, ids), wrong);
  const auto of_known_lengths = [=](Operand x, Operand rows) {
    return x.index_select(0, rows.flatten()).mul(places.flatten().logical_not().unsqueeze(1)).view({8, 16, 4}).sum(1);
  };
  require_rejected(run(looked_up, of_known_lengths, table, ids), wrong);
  // Beside a mask, the ids still differ.
  const auto masked = [](Operand x, Operand rows, Operand mask) {
    return x.index_select(0, rows.flatten()).mul(mask.flatten().unsqueeze(1)).view({8, 16, 4}).sum(1);
  };
  const auto of_known_ids = [=](Operand x, Operand, Operand mask) { return masked(x, ids, mask); };
  require_rejected(run(masked, of_known_ids, table, ids, places.logical_not()), wrong);
}

TEST_CASE("integers that keep a structure in unseen values are kept") {
  const auto gathered = [](Operand x, Operand order) { return x.index_select(0, order).sin(); };
  const at::Tensor order = at::randperm(32, at::kLong);
  require_rejected(run(gathered, with_fixed(gathered, order), input(), order),
                   "it is right for the operands given, but not for unseen values in the same memory");
  // Lengths whose sum is the number of the output's rows.
  const auto repeated = [](Operand x, Operand n) { return x.repeat_interleave(n, 0).sin(); };
  const at::Tensor lengths = at::tensor({3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4}, at::kLong);
  require_rejected(run(repeated, with_fixed(repeated, lengths), at::randn({20, 4}), lengths),
                   "it is right for the operands given, but not for unseen values in the same memory");
  // Columns in order within the rows of a sparse matrix.
  const auto product = [](Operand x, Operand columns, Operand offsets) {
    const auto of_row = at::searchsorted(offsets, at::arange(columns.numel()), false, /*right=*/true).sub(1);
    return at::zeros({4, 16}).index_add(0, of_row, x.index_select(0, columns)).sin();
  };
  const at::Tensor columns = at::tensor({1, 5, 7, 9, 0, 3, 4, 8, 2, 11, 12, 30, 1, 2, 6}, at::kLong);
  const at::Tensor offsets = at::tensor({0, 4, 8, 12, 15}, at::kLong);
  const auto kept = [=](Operand x, Operand, Operand by) { return product(x, columns, by); };
  require_rejected(run(product, kept, input(), columns, offsets),
                   "it is right for the operands given, but not for unseen values in the same memory");
  // Bools: as many are true as an output has elements.
  const auto chosen = [](Operand x, Operand mask) { return x.masked_select(mask).sin(); };
  const at::Tensor mask = at::randperm(32, at::kLong).lt(11);
  require_rejected(run(chosen, with_fixed(chosen, mask), at::randn({32}), mask),
                   "it is right for the operands given, but not for unseen values in the same memory");
}

}  // namespace
