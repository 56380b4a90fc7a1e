// The work of one call, counted: by hand in the comments.
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <ATen/ops/add.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand_like.h>
#include <ATen/ops/randn.h>
#include <c10/core/CPUAllocator.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "pace/catch2.hpp"
#include "pace/compare/comparison.hpp"
#include "pace/subject/call_counter.hpp"
#include "tests/support/comparisons.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;
using pace::CallCounts;
using pace::Verdict;
using pace::detail::CallCounter;
using pace::test::few_rounds;

/// Each call takes 100 ns.
template <class F>
auto taking(pace::test::FakeClock& clock, F function) {
  return pace::test::costing(clock, 100, function);
}

at::Tensor unfused(const at::Tensor& c, const at::Tensor& a, const at::Tensor& b) { return at::add(c, at::mm(a, b)); }
at::Tensor fused(const at::Tensor& c, const at::Tensor& a, const at::Tensor& b) { return at::addmm(c, a, b); }

TEST_CASE("operators, allocations and bytes are counted while a counter lives") {
  const auto x = at::ones({8, 4});
  {
    const CallCounter counter;
    const auto product = at::mul(x, x);
    CHECK(counter.counts() == CallCounts{1, 1, 128});  // one operator, 32 floats
    const auto sum = at::add(product, x);
    CHECK(counter.counts() == CallCounts{2, 2, 256});
    (void)product.view({32});
    CHECK(counter.counts() == CallCounts{3, 2, 256});  // a view allocates nothing
    const auto memory = at::empty_like(x);
    CHECK(counter.counts() == CallCounts{4, 3, 384});  // not the operator that empty_like calls in turn
    (void)at::mm(x, product.t());
    CHECK(counter.counts() == CallCounts{6, 4, 640});  // mm looks for conjugated operands by three more
  }
  const auto afterwards = at::mul(x, x);
  const CallCounter another;
  CHECK(another.counts() == CallCounts{});
}

/// The bytes of a tensor of so many floats.
std::int64_t floats(std::int64_t number) { return 4 * number; }

TEST_CASE("the peak is that of blocks held at once, by whichever thread, and blocks of before have no part") {
  auto before = at::ones({1000});
  at::Tensor kept;
  {
    const CallCounter counter;
    CHECK(counter.counts().peak_bytes == 0);
    {
      const auto freed = at::empty({32});
    }
    CHECK(counter.counts().peak_bytes == floats(32));
    before.reset();  // was no part of the peak, and makes no room in it
    kept = at::empty({64});
    CHECK(counter.counts().peak_bytes == floats(64));
    at::Tensor elsewhere;
    std::thread([&] { elsewhere = at::empty({100}); }).join();
    CHECK(counter.counts().peak_bytes == floats(164));
    std::thread([&] { elsewhere.reset(); }).join();
    const auto after = at::empty({80});
    CHECK(counter.counts().peak_bytes == floats(164));
    kept.resize_({200});  // a larger block is there before the smaller one goes
    CHECK(counter.counts().peak_bytes == floats(344));
    CHECK(counter.counts().bytes_allocated == floats(32 + 64 + 100 + 80 + 200));
  }
  const CallCounter another;
  CHECK(another.counts().peak_bytes == 0);
  kept.reset();  // a block that an earlier counter has seen
  const auto fresh = at::empty({8});
  CHECK(another.counts().peak_bytes == floats(8));
}

TEST_CASE("blocks that are taken and freed without a tensor are counted, whichever deleter frees them") {
  void* outlives = nullptr;
  {
    const CallCounter counter;
    auto* const allocator = c10::GetCPUAllocator();
    void* const block = allocator->raw_allocate(256);
    allocator->raw_deallocate(block);
    outlives = allocator->raw_allocate(64);
    CHECK(counter.counts().peak_bytes == 256);
  }
  // Freed by LibTorch's own deleter, which the counter knows nothing of; the address may come again.
  c10::GetCPUAllocator()->raw_deallocate(outlives);
  const CallCounter another;
  std::vector<at::Tensor> many;
  for (int i = 0; i < 100; ++i) many.push_back(at::empty({16}));
  CHECK(another.counts().peak_bytes == floats(1600));
  many.clear();
  const auto one = at::empty({16});
  CHECK(another.counts().peak_bytes == floats(1600));
}

TEST_CASE(
    "a candidate that holds less at once than the baseline passes a gate on peak memory, and one that holds more "
    "fails") {
  pace::test::FakeClock clock;
  const auto result =
      pace::compare("affine", at::randn({256}))
          .options(few_rounds())
          .baseline("two blocks", taking(clock, [](const at::Tensor& x) { return at::add(at::mul(x, x), x); }))
          .candidate("one block", taking(clock, [](const at::Tensor& x) { return at::mul(x, x).add_(x); }))
          .candidate("three blocks", taking(clock,
                                            [](const at::Tensor& x) {
                                              const auto square = at::mul(x, x), copy = square.clone();
                                              return at::add(copy, x);
                                            }))
          .expect("two blocks", pace::Exactly(pace::Count::peak_bytes, floats(512)))
          .expect("one block", pace::Exactly(pace::Count::peak_bytes, floats(256)))
          .expect(pace::PeakMemoryAtMost(1))
          .run(clock);
  CHECK(result["two blocks"].judgements.at(0).verdict == Verdict::passed);
  CHECK(result["one block"].judgements.at(0).verdict == Verdict::passed);
  CHECK(result["one block"].judgements.at(1).verdict == Verdict::passed);
  REQUIRE(result["three blocks"].judgements.size() == 1);
  CHECK(result["three blocks"].judgements[0].verdict == Verdict::failed);
  CHECK_THAT(result["three blocks"].judgements[0].message,
             ContainsSubstring("takes at most 3072 bytes at once in one call, and 'two blocks' 2048 bytes"));
}

TEST_CASE("a fused expression is told from an unfused one") {
  pace::test::FakeClock clock;
  const auto result =
      pace::compare("addmm", at::randn({8, 8}), at::randn({8, 8}), at::randn({8, 8}))
          .options(few_rounds())
          .baseline("unfused", taking(clock, unfused))
          .candidate("fused", taking(clock, fused))
          .candidate("copies",
                     taking(clock, [](const at::Tensor& c, const at::Tensor& a,
                                      const at::Tensor& b) { return at::addmm(c, a.t().contiguous().t(), b); }))
          .expect("unfused", pace::Exactly(pace::Count::operator_calls, 2))
          .expect(pace::AtMost(pace::Count::operator_calls, 1))
          .expect(pace::AtMost(pace::Count::allocations, 1))
          .expect("fused", pace::Exactly(pace::Count::bytes_allocated, 256))
          .run(clock);
  CHECK(result["unfused"].counts == CallCounts{2, 2, 512});
  CHECK(result["fused"].counts == CallCounts{1, 1, 256});
  REQUIRE(result["copies"].counts);
  CHECK(result["copies"].counts->allocations == 2);
  CHECK(result["copies"].counts->bytes_allocated == 512);
  REQUIRE(result["fused"].judgements.size() == 3);
  for (const auto& judgement : result["fused"].judgements) CHECK(judgement.verdict == Verdict::passed);
  CHECK(result["unfused"].judgements.at(0).verdict == Verdict::passed);
  REQUIRE(result["copies"].judgements.size() == 2);
  CHECK(result["copies"].judgements[0].verdict == Verdict::failed);
  CHECK(result["copies"].judgements[1].verdict == Verdict::failed);
  CHECK_THAT(result["copies"].judgements[1].message, ContainsSubstring("makes 2 allocations in one call, 1 more"));
  CHECK_THAT(result, !pace::AsExpected());
}

TEST_CASE("counts are the same in every run") {
  for (int i = 0; i < 20; ++i) {
    pace::test::FakeClock clock;
    const auto result = pace::compare("addmm", at::randn({8, 8}), at::randn({8, 8}), at::randn({8, 8}))
                            .options(few_rounds())
                            .baseline("unfused", taking(clock, unfused))
                            .candidate("fused", taking(clock, fused))
                            .expect(pace::Exactly(pace::Count::operator_calls, 1))
                            .expect(pace::Exactly(pace::Count::allocations, 1))
                            .expect(pace::Exactly(pace::Count::bytes_allocated, 256))
                            .run(clock);
    CHECK_THAT(result, pace::AsExpected());
  }
}

TEST_CASE("calls that differ from one to the next have no count, and say so") {
  pace::test::FakeClock clock;
  const auto twice = [](const at::Tensor& x) { return at::add(x, x); };
  const auto changing = [calls = 0](const at::Tensor& x) mutable {
    auto out = at::mul(x, 2);
    const int more = ++calls % 5;
    for (int i = 0; i < more; ++i) out = out.clone();
    return out;
  };
  const auto result = pace::compare("twice", at::ones({8}))
                          .options(few_rounds())
                          .baseline("add", taking(clock, twice))
                          .candidate("changing", taking(clock, changing))
                          .expect(pace::AtMost(pace::Count::operator_calls, 100))
                          .run(clock);
  CHECK(result["changing"].outcome == pace::Outcome::measured);
  CHECK_FALSE(result["changing"].counts);
  CHECK(result["changing"].judgements.at(0).verdict == Verdict::invalid);
  CHECK_THAT(result["changing"].judgements.at(0).message, ContainsSubstring("its calls differ on the same operands"));
}

TEST_CASE("work that depends on the values is counted on the values given") {
  pace::test::FakeClock clock;
  // Halved values need fewer steps.
  const auto steps = [](const at::Tensor& x) {
    auto out = x.clone();
    for (int i = 0; i < x.max().item<float>(); ++i) out = at::add(out, 1);
    return out.sub(out).add(1).mul(x);
  };
  const auto result = pace::compare("steps", at::ones({8}).mul(6))
                          .options(few_rounds())
                          .baseline("eager", taking(clock, [](const at::Tensor& x) { return at::mul(x, 1); }))
                          .candidate("steps", taking(clock, steps))
                          .run(clock);
  REQUIRE(result["steps"].counts);
  CHECK(result["steps"].outcome == pace::Outcome::measured);
}

TEST_CASE("what was counted stays in the row of an implementation that throws in a later check") {
  pace::test::FakeClock clock;
  auto options = few_rounds();
  options.audit = pace::Audit::standard;
  const auto draw = [](const at::Tensor& x) { return at::rand_like(x); };
  int calls = 0;
  // Counts are taken by the fourth call.
  const auto fails = [&](const at::Tensor& x) {
    if (++calls > 5) throw std::runtime_error("no more");
    return draw(x);
  };
  const auto result = pace::compare("draws", at::ones({64}))
                          .options(options)
                          .random()
                          .baseline("eager", taking(clock, draw))
                          .candidate("fails", taking(clock, fails))
                          .run(clock);
  CHECK(result["fails"].outcome == pace::Outcome::threw);
  REQUIRE(result["fails"].counts);
  CHECK(result["fails"].counts == result["eager"].counts);
}

/// A clock that counts the events that calls report, as each counter; no page faults.
class CountingClock final : public pace::test::FakeClock {
 public:
  [[nodiscard]] std::vector<pace::timing::EventCount> count_events(const std::vector<std::string>& names,
                                                                   pace::timing::Subject& subject,
                                                                   std::int64_t calls) override {
    asked.push_back(names);
    events = 0;
    ++number;
    subject.prepare(0);
    counts = true;
    subject.run(0, calls);
    counts = false;
    subject.finish();
    std::vector<pace::timing::EventCount> found;
    for (const auto& name : names)
      found.push_back(name == "page_faults" ? pace::timing::EventCount{.missing = "no page faults here"}
                                            : pace::timing::EventCount{.events = static_cast<double>(events)});
    advance(time_of_count);
    return found;
  }
  void end_counts() noexcept override { ++ends; }

  std::int64_t events = 0;
  /// Whether it counts now, how often it has counted, and of which names.
  bool counts = false;
  int number = 0, ends = 0;
  std::vector<std::vector<std::string>> asked;
  pace::Nanoseconds time_of_count{};
};

/// `y = 2 x` in 100 ns, with so many events by `clock` in each call of its n-th count, from 1 on.
auto with_events(CountingClock& clock, std::function<std::int64_t(int)> events) {
  return [&clock, events = std::move(events), last = 0, count = 0](const at::Tensor& x) mutable {
    clock.advance(pace::Nanoseconds(100));
    if (clock.counts && std::exchange(last, clock.number) != clock.number) ++count;
    clock.events += events(count);
    return x.mul(2);
  };
}

pace::Result compare_counted(CountingClock& clock, const std::function<std::int64_t(int)>& of_candidate,
                             double ratio = 1.4) {
  auto options = few_rounds();
  options.counters = {"page_faults"};
  return pace::compare("counted", at::ones({4}))
      .options(options)
      .baseline("a", with_events(clock, [](int) { return 10; }))
      .candidate("b", with_events(clock, of_candidate))
      .expect(pace::CounterAtMost("branches", ratio))
      .run(clock);
}

TEST_CASE("events are counted after the rounds, per call, and held against the baseline's") {
  CountingClock clock;
  const auto result = compare_counted(clock, [](int) { return 15; });
  const auto& a = result["a"].counters;
  const auto& b = result["b"].counters;
  REQUIRE(a.size() == 2);
  REQUIRE(b.size() == 2);
  CHECK(a[0].name == "page_faults");
  CHECK(a[0].missing == "no page faults here");
  CHECK(a[1].name == "branches");
  CHECK(a[1].low == 10);
  CHECK(a[1].high == 10);
  CHECK_FALSE(a[1].baseline_low);
  CHECK(b[1].low == 15);
  CHECK(b[1].baseline_high == 10);
  CHECK(b[1].ratio() == 1.5);
  CHECK(result["b"].judgements.at(0).verdict == Verdict::failed);
}

TEST_CASE("a turn counts all events of the same calls, but for those that cannot be counted") {
  CountingClock clock;
  (void)compare_counted(clock, [](int) { return 15; });
  using Names = std::vector<std::string>;
  // Two sides, one sample that warms up and three more.
  REQUIRE(clock.asked.size() == 8);
  CHECK(clock.asked[0] == Names{"page_faults", "branches"});
  CHECK(clock.asked[1] == Names{"page_faults", "branches"});
  for (std::size_t i = 2; i < clock.asked.size(); ++i) CHECK(clock.asked[i] == Names{"branches"});
  CHECK(clock.ends == 1);
}

TEST_CASE("the first count warms up, and the least and the most of the others count") {
  CountingClock clock;
  // 99, 12, 14, 13.
  const auto result = compare_counted(clock, [](int count) { return count == 1 ? 99 : count == 3 ? 14 : 10 + count; });
  const auto& b = result["b"].counters.at(1);
  CHECK(b.low == 12);
  CHECK(b.high == 14);
  CHECK(b.calls > 1);
  CHECK(result["b"].judgements.at(0).verdict == Verdict::undecided);
  CHECK_THAT(result["b"].judgements.at(0).message, ContainsSubstring("lie more than 0.1 % apart"));
}

TEST_CASE("percentages are of all calls together, and have no ratio") {
  CountingClock clock;
  auto options = few_rounds();
  options.counters = {"sm_active", "dram_bytes"};
  const auto result = pace::compare("counted", at::ones({4}))
                          .options(options)
                          .baseline("a", with_events(clock, [](int) { return 10; }))
                          .candidate("b", with_events(clock, [](int) { return 15; }))
                          .run(clock);
  const auto& b = result["b"].counters;
  CHECK(b.at(0).unit == pace::CounterUnit::percent);
  CHECK(b.at(0).low == 15 * static_cast<double>(b.at(0).calls));
  CHECK_FALSE(b.at(0).baseline_low);
  CHECK_FALSE(b.at(0).ratio());
  CHECK(b.at(1).unit == pace::CounterUnit::bytes);
  CHECK(b.at(1).low == 15);
  CHECK(b.at(1).ratio() == 1.5);
}

TEST_CASE("a clock without counters, and one of the CPU asked for a GPU's, say so") {
  auto options = few_rounds();
  options.counters = {"dram_bytes"};
  const auto twice = [](const at::Tensor& x) { return x.mul(2); };
  const auto compared = [&] { return pace::compare("counted", at::ones({4})).options(options).baseline("a", twice); };
  pace::test::FakeClock fake;
  CHECK(pace::compare("counted", at::ones({4}))
            .options(options)
            .baseline("a", taking(fake, twice))
            .run(fake)["a"]
            .counters.at(0)
            .missing == "this clock has no counters");
  CHECK(compared().run()["a"].counters.at(0).missing == "a GPU counts it; expected operands on a CUDA GPU");
}

TEST_CASE("what the time does not suffice for is not counted") {
  CountingClock clock;
  clock.time_of_count = pace::Nanoseconds(1e12);
  pace::run_context().deadline = {clock.now() + pace::Nanoseconds(1e11), "--time-limit 100"};
  const auto result = compare_counted(clock, [](int) { return 15; });
  pace::run_context().deadline.reset();
  CHECK(clock.number == 1);
  CHECK(result["a"].counters.at(1).missing == "the time was over");
  CHECK(result["b"].counters.at(1).missing == "the time was over");
  CHECK(result["b"].judgements.at(0).verdict == Verdict::invalid);
  CHECK_THAT(result["b"].judgements.at(0).message, ContainsSubstring("the time was over"));
}

TEST_CASE("a baseline that throws when its events are counted leaves the candidate's without a ratio") {
  CountingClock clock;
  auto options = few_rounds();
  const auto fails = [&](const at::Tensor& x) {
    if (clock.counts) throw std::runtime_error("not while counting");
    return x.mul(2);
  };
  const auto result = pace::compare("counted", at::ones({4}))
                          .options(options)
                          .baseline("a", taking(clock, fails))
                          .candidate("b", with_events(clock, [](int) { return 15; }))
                          .expect(pace::CounterAtMost("branches", 2))
                          .run(clock);
  CHECK(result["a"].outcome == pace::Outcome::threw);
  CHECK(result["b"].counters.at(0).low == 15);
  CHECK_FALSE(result["b"].counters.at(0).ratio());
  CHECK(result["b"].judgements.at(0).verdict == Verdict::invalid);
  CHECK(clock.ends == 1);
}

TEST_CASE("a call that throws when its events are counted keeps its times, with the fault") {
  CountingClock clock;
  auto options = few_rounds();
  options.counters = {"cycles"};
  const auto twice = [](const at::Tensor& x) { return x.mul(2); };
  const auto fails = [&](const at::Tensor& x) {
    if (clock.counts) throw std::runtime_error("not while counting");
    return x.mul(2);
  };
  const auto result = pace::compare("counted", at::ones({4}))
                          .options(options)
                          .baseline("a", taking(clock, twice))
                          .candidate("b", taking(clock, fails))
                          .run(clock);
  CHECK(result["a"].outcome == pace::Outcome::measured);
  CHECK(result["a"].counters.at(0).missing.empty());
  CHECK(result["b"].outcome == pace::Outcome::threw);
  CHECK_THAT(result["b"].message, ContainsSubstring("after the rounds, when its events were counted: ") &&
                                      ContainsSubstring("not while counting"));
  CHECK(result["b"].time.has_value());
  CHECK(result["b"].counters.at(0).missing == "a call of it has failed");
}

TEST_CASE("names of counters are known, and given once") {
  pace::Options options;
  options.counters = {"cycles", "cache-misses"};
  CHECK_THROWS_WITH(pace::validate(options), ContainsSubstring("'cache-misses' is no counter, or there twice"));
  options.counters = {"cycles", "cycles"};
  CHECK_THROWS_WITH(pace::validate(options), ContainsSubstring("'cycles' is no counter, or there twice"));
}

TEST_CASE("a count that is expected of no implementation is an error") {
  const auto nothing = [] {};
  CHECK_THROWS_MATCHES(
      pace::compare("x").baseline("a", nothing).expect("b", pace::AtMost(pace::Count::operator_calls, 1)).run(),
      pace::Error,
      Catch::Matchers::Message("comparison 'x': expects something of 'b', which is not one of its implementations"));
}

}  // namespace
