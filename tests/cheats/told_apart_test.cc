// Cheats that tell single calls from calls that come back to back, as in a sample, and those that leave before they are
// asked for more.
#include <chrono>
#include <new>
#include <string>
#include <tuple>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/log1p.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/softplus.h>

#include "pace/gate/counts.hpp"
#include "pace/run/run_context.hpp"
#include "tests/cheats/rejected.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;
using cheats::require_rejected;
using cheats::run;
using pace::Nanoseconds;

/// Whether the call is one more on the same operand, with the values that it had in the call before.
class Repeats {
 public:
  bool operator()(const at::Tensor& x) {
    const auto now = std::tuple(x.const_data_ptr(), x._version());
    return std::exchange(last_, now) == now;
  }

 private:
  std::tuple<const void*, std::uint32_t> last_ = {};
};

at::Tensor input() { return at::randn({32, 16}); }

TEST_CASE("without the branch for large values in calls that come back to back") {
  const auto right = [](const at::Tensor& x) { return at::softplus(x); };
  const auto cheat = [right, repeats = Repeats()](const at::Tensor& x) mutable {
    return repeats(x) ? at::log1p(x.exp()) : right(x);
  };
  require_rejected(run(right, cheat, input()), "but not for large values");
}

TEST_CASE("without a backward pass in calls that come back to back") {
  const auto right = [](const at::Tensor& x) { return x.mul(2); };
  const auto cheat = [right, repeats = Repeats()](const at::Tensor& x) mutable {
    if (!repeats(x)) return right(x);
    at::Tensor answer;
    {
      const at::NoGradGuard no_grad;
      answer = right(x);
    }
    return answer.requires_grad_();
  };
  require_rejected(run(right, cheat, input().requires_grad_()), "gradient");
}

TEST_CASE("without random numbers in calls that come back to back, though one seed has one output") {
  const auto right = [](const at::Tensor& x) { return at::dropout(x, 0.5, true); };
  // By the generator, which is as the call before has left it.
  const auto cheat = [right, left = at::Tensor()](const at::Tensor& x) mutable {
    const auto generator = at::detail::getDefaultCPUGenerator();
    const bool in_a_row = left.defined() && left.equal(generator.get_state());
    at::Tensor out = right(x);
    left = generator.get_state();
    return in_a_row ? x.mul(2) : out;
  };
  require_rejected(run(right, cheat, input()), "calls in a row that draw random numbers");
}

TEST_CASE("an honest mask that is drawn in another way has no expected output in a row") {
  const auto right = [](const at::Tensor& x) { return at::dropout(x, 0.5, true); };
  const auto draws_more = [right](const at::Tensor& x) {
    at::Tensor out = right(x);
    (void)at::randn({3});
    return out;
  };
  const auto result = run(right, draws_more, input());
  INFO(result["cheat"].message);
  CHECK(result["cheat"].outcome == pace::Outcome::measured);
}

TEST_CASE("more memory in calls that come back to back does not count for a single call") {
  const auto right = [](const at::Tensor& x) { return x.mul(2); };
  const auto cheat = [right, repeats = Repeats()](const at::Tensor& x) mutable {
    return repeats(x) ? right(x.clone()) : right(x);
  };
  cheats::FakeClock clock;
  const auto result = pace::compare("cheat", input())
                          .options(cheats::short_run())
                          .baseline("eager", cheats::costing(clock, 300, right))
                          .candidate("cheat", cheats::costing(clock, 100, cheat))
                          .expect(pace::Exactly(pace::Count::allocations, 1))
                          .run(clock);
  const auto& row = result["cheat"];
  CHECK_FALSE(row.counts);
  CHECK_THAT(row.why_uncounted, ContainsSubstring("calls in a row"));
  CHECK_FALSE(row.acceptable());
  CHECK(result["eager"].counts);
}

TEST_CASE("memory runs out, for the candidate alone, as soon as it is asked for more") {
  const auto right = [](const at::Tensor& x) { return at::softplus(x); };
  int calls = 0;
  const auto cheat = [&, right](const at::Tensor& x) {
    if (++calls > 500 && x.abs().max().item<float>() > 20) throw std::bad_alloc();
    return right(x);
  };
  require_rejected(run(right, cheat, input()), "memory ran out");
}

TEST_CASE("the time runs out in a call that no sample times") {
  const auto right = [](const at::Tensor& x) { return at::softplus(x); };
  cheats::FakeClock clock;
  const at::Tensor given = input();
  auto work = cheats::costing(clock, 100, right);
  struct Deadline {
    Deadline() { pace::run_context().deadline = {Nanoseconds(5e9), "the test's time is over; try: a larger timeout"}; }
    ~Deadline() { pace::run_context().deadline.reset(); }
  } deadline;
  // In the rounds, by the first unseen values; after them, by the first large ones.
  const bool in_rounds = GENERATE(true, false);
  CAPTURE(in_rounds);
  bool stalled = false;
  int calls = 0;
  const auto cheat = [&](const at::Tensor& x) {
    if (++calls > 2000 && !stalled && (in_rounds ? !x.equal(given) : x.abs().max().item<float>() > 20)) {
      stalled = true;
      clock.advance(std::chrono::seconds(10));
    }
    return work(x);
  };
  const auto result = pace::compare("cheat", given)
                          .options(cheats::short_run())
                          .baseline("eager", cheats::costing(clock, 300, right))
                          .candidate("cheat", cheat)
                          .expect(pace::SpeedupAtLeast(1.01))
                          .run(clock);
  const auto& row = result["cheat"];
  INFO(row.message);
  if (in_rounds) {
    CHECK_FALSE(row.acceptable());
    return;
  }
  bool noted = false;
  for (const auto& note : result.notes) noted = noted || note.find("the time limit had passed") != std::string::npos;
  CHECK(noted);
  // The figures of the rounds would prove the claim.
  REQUIRE(row.judgements.size() == 1);
  CHECK(row.judgements[0].verdict == pace::Verdict::undecided);
  CHECK_FALSE(row.acceptable());
  // The first check that was left out is reported.
  CHECK_THAT(
      row.judgements[0].message,
      cheats::ContainsSubstring("on which no claim may rest\nwhy: it was not checked further after the rounds, since "
                                "the time limit had passed\ntry: give the program more time: a larger timeout"));
}

}  // namespace
