// Cheats that return the same memory from several calls, and save allocating an output for each.
#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <string>
#include <tuple>

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/_sparse_coo_tensor_unsafe.h>
#include <ATen/ops/add.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/randn_like.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros.h>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers_contains.hpp>

#include "tests/cheats/rejected.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;
using cheats::require_accepted;
using cheats::require_rejected;
using cheats::run;
using cheats::run_declared;
using cheats::short_run;
using pace::Nanoseconds;

at::Tensor honest(const at::Tensor& x) { return at::tanh(x); }
at::Tensor input() { return at::randn({32, 16}); }

/// Writes its answers to so many buffers in turn, the first of them after a number of calls with memory of their own.
class InTurn {
 public:
  explicit InTurn(std::size_t buffers, int calls_before = 0) : buffers_(buffers), calls_before_(calls_before) {}

  at::Tensor operator()(const at::Tensor& x) {
    if (calls_++ < calls_before_) return honest(x);
    auto& buffer = kept_[static_cast<std::size_t>(calls_) % buffers_];
    // Calls in float64 show how far rounding goes.
    if (!buffer.defined() || buffer.dtype() != x.dtype()) buffer = at::empty_like(x);
    return at::tanh_out(buffer, x);
  }

 private:
  std::array<at::Tensor, 32> kept_ = {};
  std::size_t buffers_;
  int calls_before_, calls_ = 0;
};

TEST_CASE("one output buffer for all calls, or a few in turn") {
  const std::size_t buffers = GENERATE(1, 2, 4);
  require_rejected(run(honest, InTurn(buffers), input()), "a later call overwrites output tensor 0");
}

TEST_CASE("one output buffer for all calls from one in the rounds on") {
  // After the first calls, which are fewer.
  constexpr int first_calls = 500;
  require_rejected(run(honest, InTurn(1, first_calls), input()),
                   "not in a timed call: a later call overwrites output tensor 0");
}

TEST_CASE("an answer that is kept unless an output of earlier calls is held") {
  // No sample of the rounds holds one, so that the calls which are judged must not be told apart by that, either.
  constexpr int first_calls = 500;
  const auto cheat = [kept = at::Tensor(), outputs = std::deque<at::Tensor>(), calls = 0](const at::Tensor& x) mutable {
    constexpr std::size_t most = 16;
    const auto is_held = [](const at::Tensor& each) { return each.use_count() > 1; };
    // The output of the call before is held until this one returns.
    const bool is_looked_at = outputs.size() > 1 && std::any_of(outputs.begin(), outputs.end() - 1, is_held);
    if (!kept.defined()) kept = honest(x);
    outputs.push_back(++calls < first_calls || is_looked_at ? honest(x) : kept.clone());
    if (outputs.size() > most) outputs.pop_front();
    return outputs.back();
  };
  require_rejected(run(honest, cheat, input()),
                   "not in a timed call: it returned the answer for values that had been overwritten");
}

TEST_CASE("one of several outputs has the same memory in all calls") {
  const auto both = [](const at::Tensor& x) { return std::tuple(honest(x), at::add(x, 1)); };
  const auto cheat = [buffer = at::Tensor()](const at::Tensor& x) mutable {
    if (!buffer.defined()) buffer = at::empty_like(x);
    return std::tuple(honest(x), at::add_out(buffer, x, 1));
  };
  require_rejected(run(both, cheat, input()), "a later call overwrites output tensor 1");
}

TEST_CASE("one output buffer for all calls, where the baseline returns a view of an operand") {
  const auto view = [](const at::Tensor& x) { return x.t(); };
  const auto cheat = [buffer = at::Tensor()](const at::Tensor& x) mutable {
    if (!buffer.defined()) buffer = at::empty_like(x.t());
    return buffer.copy_(x.t());
  };
  require_rejected(run(view, cheat, input()), "a later call overwrites output tensor 0");
}

TEST_CASE("output buffers that the baseline has, too") {
  // By some seeds, later calls write the bits of earlier ones.
  const auto seeded = [](auto& each) {
    auto options = short_run();
    options.check_seed = GENERATE(range(1, 9));
    each.options(options);
  };
  const std::size_t buffers = GENERATE(1, 2, 3, 4, 7, 16);
  CAPTURE(buffers);
  require_accepted(run_declared(seeded, InTurn(buffers), InTurn(buffers), input()));
}

TEST_CASE("output buffers of one element that the baseline has, too: half of the calls write the same value") {
  const auto seeded = [](auto& each) {
    auto options = short_run();
    options.check_seed = GENERATE(range(1, 9));
    each.options(options);
  };
  const auto is_positive = [buffer = at::Tensor()](const at::Tensor& x) mutable {
    if (!buffer.defined()) buffer = at::empty({1}, at::kBool);
    return buffer.copy_(x.sum() > 0);
  };
  require_accepted(run_declared(seeded, is_positive, is_positive, input()));
}

TEST_CASE("buffers that the baseline makes by the dtype of a call, and keeps for calls of other dtypes") {
  // Calls in float64 leave such buffers to later calls. Nothing can undo that, so the message names the remedy.
  const auto keeps = [buffers = std::array<at::Tensor, 8>(), calls = std::size_t{0}](const at::Tensor& x) mutable {
    auto& buffer = buffers[++calls % buffers.size()];
    if (!buffer.defined()) buffer = at::empty_like(x);
    return at::add(at::tanh_out(buffer, x), 0);
  };
  const auto result = run(keeps, keeps, input());
  CHECK(result["eager"].outcome == pace::Outcome::wrong);
  CHECK_THAT(result["eager"].message,
             ContainsSubstring("expected dtype float32, got float64") &&
                 ContainsSubstring("if the baseline keeps memory from call to call, state tolerances (rtol, atol)"));
  const auto stated = [](auto& each) {
    pace::check::CheckOptions check;
    check.rtol = 1e-5;
    check.atol = 1e-6;
    each.check(check);
  };
  require_accepted(run_declared(stated, keeps, keeps, input()));
}

TEST_CASE("an output buffer that is declared") {
  const auto result = run_declared([](auto& each) { each.reuses_outputs(); }, honest, InTurn(1), input());
  require_accepted(result);
  CHECK_THAT(result.notes,
             Catch::Matchers::Contains(
                 std::string("Later calls may overwrite the outputs of earlier ones, as declared (reuses_outputs).")));
}

TEST_CASE("a declaration for one implementation holds for no other, and one for none is refused") {
  const auto of = [](const char* name) { return [name](auto& each) { each.reuses_outputs(name); }; };
  const auto result = run_declared(of("cheat"), honest, InTurn(1), input());
  require_accepted(result);
  CHECK_THAT(result.notes,
             Catch::Matchers::Contains(std::string(
                 "Later calls of 'cheat' may overwrite its earlier outputs, as declared (reuses_outputs).")));
  require_rejected(run_declared(of("eager"), honest, InTurn(1), input()), "a later call overwrites output tensor 0");
  CHECK_THROWS_WITH(run_declared(of("other"), honest, honest, input()),
                    ContainsSubstring("declares that 'other' reuses its outputs, which is not one of its"));
}

TEST_CASE("a declaration does not spare a candidate the look at calls on unseen values, whichever they are") {
  // It is wrong in the second to the fourth of calls in a row on unseen values that lie elsewhere each time.
  const auto cheat = [out = at::Tensor(), given = at::Tensor(), before = static_cast<const void*>(nullptr),
                      elsewhere = 0](const at::Tensor& x) mutable {
    if (!out.defined()) out = at::empty_like(x);
    if (!given.defined()) given = x.clone();
    elsewhere = given.equal(x) || x.const_data_ptr() == before ? 0 : elsewhere + 1;
    before = x.const_data_ptr();
    at::tanh_out(out, x);
    return elsewhere >= 1 && elsewhere <= 3 ? out.zero_() : out;
  };
  const auto declare = [](auto& each) {
    // Samples have five to ten calls on unseen values, so the last call is none of the wrong ones.
    auto options = short_run();
    options.check_seed = 1;
    options.budget = Nanoseconds(2e7);
    options.hard_limit = Nanoseconds(2e8);
    each.options(options).reuses_outputs();
  };
  require_rejected(run_declared(declare, honest, cheat, input()),
                   "it is right for the operands given, but not for unseen values");
}

TEST_CASE("an output that is random, sparse, or written to by calls that change operands, in one buffer") {
  SECTION("random") {
    const auto noise = [](const at::Tensor& x) { return at::randn_like(x); };
    const auto cheat = [out = at::Tensor()](const at::Tensor& x) mutable {
      if (!out.defined()) out = at::empty_like(x);
      return out.copy_(at::randn_like(x));
    };
    const auto is_random = [](auto& each) { each.random(); };
    require_rejected(run_declared(is_random, noise, cheat, input()), "a later call overwrites output tensor 0");
    require_accepted(run_declared(is_random, cheat, cheat, input()));
  }
  SECTION("sparse") {
    const auto sparse = [](const at::Tensor& x) { return honest(x).to_sparse(); };
    const auto cheat = [out = at::Tensor()](const at::Tensor& x) mutable {
      auto made = honest(x).to_sparse();
      if (!out.defined()) out = made._values().clone();
      out.copy_(made._values());
      return at::_sparse_coo_tensor_unsafe(made._indices(), out, made.sizes(), {}, true);
    };
    require_rejected(run(sparse, cheat, at::rand({32, 16}) + 1), "a later call overwrites output tensor 0");
  }
  SECTION("of calls that change an operand") {
    const auto adds = [](const at::Tensor& x, at::Tensor& sum) {
      sum.add_(x);
      return at::tanh(sum);
    };
    const auto cheat = [out = at::Tensor()](const at::Tensor& x, at::Tensor& sum) mutable {
      sum.add_(x);
      if (!out.defined()) out = at::empty_like(x);
      return at::tanh_out(out, sum);
    };
    require_rejected(run(adds, cheat, input(), at::zeros({32, 16})), "a later call overwrites output tensor 0");
    require_accepted(run(cheat, cheat, input(), at::zeros({32, 16})));
  }
}

TEST_CASE("memory that is used again once the output has been released") {
  const auto pool = [buffer = at::Tensor()](const at::Tensor& x) mutable {
    if (!buffer.defined() || buffer.use_count() > 1) buffer = at::empty_like(x);
    return at::tanh_out(buffer, x);
  };
  require_accepted(run(honest, pool, input()));
}

TEST_CASE("an output that is a view of an operand, or one tensor in all calls that stays as it is") {
  const auto transposed = [](const at::Tensor& x) { return std::tuple(x.t(), honest(x)); };
  require_accepted(run(transposed, transposed, input()));
  const auto with_table = [](const at::Tensor& x) { return std::tuple(honest(x), at::ones({16})); };
  const auto kept_table = [table = at::ones({16})](const at::Tensor& x) { return std::tuple(honest(x), table); };
  require_accepted(run(with_table, kept_table, input()));
}

TEST_CASE("an output that calls write to as an operand") {
  const auto in_place = [](const at::Tensor& x, at::Tensor& out) { return at::tanh_out(out, x); };
  require_accepted(run(in_place, in_place, input(), at::randn({32, 16})));
}

}  // namespace
