// Cheats that return the same memory from several calls, and spare that of an output for each.
#include <array>
#include <cstddef>
#include <string>
#include <tuple>

#include <ATen/core/Tensor.h>
#include <ATen/ops/add.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tanh.h>
#include <catch2/matchers/catch_matchers_contains.hpp>

#include "tests/cheats/rejected.hpp"

namespace {

using cheats::require_accepted;
using cheats::require_rejected;
using cheats::run;
using cheats::run_declared;

at::Tensor honest(const at::Tensor& x) { return at::tanh(x); }
at::Tensor input() { return at::randn({32, 16}); }

/// Writes its answers to so many buffers in turn, the first of them after a number of calls with memory of their own.
class InTurn {
 public:
  explicit InTurn(std::size_t buffers, int calls_before = 0) : buffers_(buffers), calls_before_(calls_before) {}

  at::Tensor operator()(const at::Tensor& x) {
    if (calls_++ < calls_before_) return honest(x);
    auto& buffer = kept_[static_cast<std::size_t>(calls_) % buffers_];
    if (!buffer.defined()) buffer = at::empty_like(x);
    return at::tanh_out(buffer, x);
  }

 private:
  std::array<at::Tensor, 8> kept_ = {};
  std::size_t buffers_;
  int calls_before_, calls_ = 0;
};

TEST_CASE("one output buffer for all calls, or a few in turn") {
  const std::size_t buffers = GENERATE(1, 2, 4);
  require_rejected(run(honest, InTurn(buffers), input()), "a later call overwrites output tensor 0");
}

TEST_CASE("... from a call on that lies in the rounds") {
  // After the first calls, of which there are fewer.
  constexpr int first_calls = 500;
  require_rejected(run(honest, InTurn(1, first_calls), input()),
                   "not in a timed call: a later call overwrites output tensor 0");
}

TEST_CASE("one of several outputs has the same memory in all calls") {
  const auto both = [](const at::Tensor& x) { return std::tuple(honest(x), at::add(x, 1)); };
  const auto cheat = [buffer = at::Tensor()](const at::Tensor& x) mutable {
    if (!buffer.defined()) buffer = at::empty_like(x);
    return std::tuple(honest(x), at::add_out(buffer, x, 1));
  };
  require_rejected(run(both, cheat, input()), "a later call overwrites output tensor 1");
}

TEST_CASE("an output buffer that the baseline has, too, or that is declared") {
  require_accepted(run(InTurn(1), InTurn(1), input()));
  const auto result = run_declared([](auto& each) { each.reuses_outputs(); }, honest, InTurn(1), input());
  require_accepted(result);
  CHECK_THAT(result.notes,
             Catch::Matchers::Contains(
                 std::string("Later calls may overwrite the outputs of earlier ones, as declared (reuses_outputs).")));
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
