// Cheats that keep an answer instead of computing it.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <ATen/ops/_lazy_clone.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/randn_like.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros.h>
#include <c10/util/intrusive_ptr.h>
#include <catch2/matchers/catch_matchers_contains.hpp>

#include "pace/base/random.hpp"
#include "pace/subject/random_state.hpp"
#include "tests/cheats/rejected.hpp"

namespace {

using cheats::ContainsSubstring;
using cheats::require_rejected;
using cheats::run;

at::Tensor honest(const at::Tensor& x) { return at::sigmoid(x); }
at::Tensor input() { return at::randn({32, 16}); }

/// Samples of 100 us, for calls of some 10 us.
pace::Options longer_run() {
  auto options = cheats::short_run();
  options.budget = options.hard_limit = pace::Nanoseconds(1e8);
  options.min_sample = pace::Nanoseconds(1e5);
  return options;
}

TEST_CASE("an answer cached by the address of its input") {
  std::unordered_map<const void*, at::Tensor> cache;
  const auto cheat = [&](const at::Tensor& x) {
    auto& answer = cache[x.const_data_ptr()];
    if (!answer.defined()) answer = honest(x);
    return answer;
  };
  require_rejected(run(honest, cheat, input()), "the answer for values that had been overwritten");
}

TEST_CASE("an answer cached by the address of its input, for an operator that does not care about scale") {
  const auto norm = [](const at::Tensor& x) { return at::layer_norm(x, {16}, {}, {}, 0); };
  std::unordered_map<const void*, at::Tensor> cache;
  const auto cheat = [&](const at::Tensor& x) {
    auto& answer = cache[x.const_data_ptr()];
    if (!answer.defined()) answer = norm(x);
    return answer;
  };
  require_rejected(run(norm, cheat, input()), "the answer for values that had been overwritten");
}

TEST_CASE("an answer cached by the shape of its input") {
  std::map<std::vector<std::int64_t>, at::Tensor> cache;
  const auto cheat = [&](const at::Tensor& x) {
    auto& answer = cache[x.sizes().vec()];
    if (!answer.defined()) answer = honest(x);
    return answer.clone();
  };
  require_rejected(run(honest, cheat, input()), "the answer for values that had been overwritten");
}

TEST_CASE("all work in the first call") {
  at::Tensor answer;
  const auto cheat = [&](const at::Tensor& x) {
    if (!answer.defined()) answer = honest(x);
    return answer;
  };
  require_rejected(run(honest, cheat, input()), "kept, not computed");
}

TEST_CASE("an answer cached by the address, once it is no longer checked") {
  int calls = 0;
  std::unordered_map<const void*, at::Tensor> cache;
  const auto cheat = [&](const at::Tensor& x) {
    if (++calls < 300) return honest(x);
    auto& answer = cache[x.const_data_ptr()];
    if (!answer.defined()) answer = honest(x);
    return answer;
  };
  require_rejected(run(honest, cheat, input()), "in a timed call");
}

TEST_CASE("an answer cached by a fingerprint of the input, its first element") {
  std::unordered_map<float, at::Tensor> cache;
  const auto cheat = [&](const at::Tensor& x) {
    auto& answer = cache[*static_cast<const float*>(x.const_data_ptr())];
    if (!answer.defined()) answer = honest(x);
    return answer;
  };
  require_rejected(run(honest, cheat, input()), "does less on values that it has seen before");
}

TEST_CASE("an answer cached by a fingerprint, and copied: fewer operators, but as much memory") {
  std::unordered_map<float, at::Tensor> cache;
  const auto baseline = [](const at::Tensor& x) { return honest(x).tanh_(); };
  const auto cheat = [&](const at::Tensor& x) {
    auto& answer = cache[*static_cast<const float*>(x.const_data_ptr())];
    if (answer.defined()) return answer.clone();
    return answer = baseline(x);
  };
  require_rejected(run(baseline, cheat, input()), "does less on values that it has seen before");
}

TEST_CASE("an answer scaled from a kept one") {
  // It takes any values for the first ones times a factor.
  at::Tensor kept, answer;
  const auto triple = [](const at::Tensor& x) { return x.mul(3); };
  const auto cheat = [&](const at::Tensor& x) {
    const float first = *static_cast<const float*>(x.const_data_ptr());
    if (!kept.defined()) {
      kept = x.clone();
      answer = triple(x);
    }
    return answer.mul(first / *static_cast<const float*>(kept.const_data_ptr()));
  };
  require_rejected(run(triple, cheat, input()), "the operands varied at random");
}

TEST_CASE("answers that stay right when special operands are scaled as a whole") {
  // Values with ties, whole numbers and a symmetric matrix, sorted by an order that was kept.
  const auto in_order = [](const at::Tensor& x) { return std::get<0>(x.sort(-1)); };
  const auto by_kept_order = [] {
    return [order = at::Tensor()](const at::Tensor& x) mutable {
      if (!order.defined()) order = x.argsort(std::int64_t{-1});
      return x.gather(-1, order);
    };
  };
  const auto ties = at::randn({8}).repeat({4, 4}), whole = at::randint(0, 100, {64}, at::kLong).to(at::kDouble);
  const auto square = at::randn({12, 12});
  for (const auto& x : {ties, whole, square.add(square.t())})
    require_rejected(run(in_order, by_kept_order(), x), "varied at random within their structure");
  // Where sorted values lie among others.
  const auto places = [](const at::Tensor& x, const at::Tensor& y) { return at::searchsorted(x, y); };
  const auto of_first = [known = at::Tensor(), places](const at::Tensor& x, const at::Tensor& y) mutable {
    if (!known.defined()) known = x.clone();
    return places(known.mul(x[0].div(known[0])), y);
  };
  require_rejected(run(places, of_first, std::get<0>(at::rand({64}).add(0.1).sort()), at::rand({64})),
                   "varied at random within their structure");
}

TEST_CASE("answers for integers and bools that are kept") {
  const auto in_order = [](const at::Tensor& x) { return std::get<0>(x.sort(-1)); };
  const auto by_kept_order = [order = at::Tensor()](const at::Tensor& x) mutable {
    if (!order.defined()) order = x.argsort(std::int64_t{-1});
    return x.gather(-1, order);
  };
  require_rejected(run(in_order, by_kept_order, at::randint(0, 100, {64}, at::kLong)), "integers in other places");
  const auto table = at::randn({10, 4});
  const auto rows = [=](const at::Tensor& indices) { return table.index_select(0, indices); };
  const auto kept_rows = [=, answer = at::Tensor()](const at::Tensor& indices) mutable {
    if (!answer.defined()) answer = rows(indices);
    return answer.clone();
  };
  require_rejected(run(rows, kept_rows, at::randint(0, 10, {32}, at::kLong)),
                   "integers in other places), so the answer was kept");
  const auto chosen = [](const at::Tensor& x, const at::Tensor& mask) { return x.masked_fill(mask, 0); };
  const auto kept_mask = [known = at::Tensor()](const at::Tensor& x, const at::Tensor& mask) mutable {
    if (!known.defined()) known = mask.clone();
    return x.masked_fill(known, 0);
  };
  require_rejected(run(chosen, kept_mask, input(), at::rand({32, 16}).gt(0.5)), "integers in other places");
}

TEST_CASE("an answer by the first factors of a long operand, taken for all later ones, is rejected") {
  // It takes two halves of 65521 elements to keep their ratios.
  const std::int64_t half = 65521;
  const auto triple = [](const at::Tensor& x) { return x.mul(3); };
  const auto by_first_half = [=, known = at::Tensor()](const at::Tensor& x) mutable {
    if (!known.defined()) known = x.clone();
    const auto factors = x.narrow(0, 0, half).div(known.narrow(0, 0, half));
    return known.mul(factors.repeat({2})).mul(3);
  };
  require_rejected(run(triple, by_first_half, at::rand({2 * half}).add(0.5)), "the operands varied at random");
}

TEST_CASE("signs and angles that are kept") {
  const auto positive = [](const at::Tensor& x) { return x.clamp_min(0); };
  const auto by_kept_signs = [kept = at::Tensor()](const at::Tensor& x) mutable {
    if (!kept.defined()) kept = x.gt(0).to(at::kFloat);
    return x.mul(kept);
  };
  require_rejected(run(positive, by_kept_signs, input()), "signs too");
  const auto direction = [](const at::Tensor& x) { return x.sgn(); };
  const auto kept_direction = [kept = at::Tensor()](const at::Tensor& x) mutable {
    if (!kept.defined()) kept = x.sgn();
    return kept.clone();
  };
  require_rejected(run(direction, kept_direction, at::randn({64}, at::kComplexFloat)), "signs too");
}

TEST_CASE("counts and sums of whole numbers that are kept") {
  const auto of_first = [](auto function) {
    return [function, kept = at::Tensor()](const at::Tensor& x) mutable {
      if (!kept.defined()) kept = function(x);
      return kept.clone();
    };
  };
  const auto sum = [](const at::Tensor& x) { return x.sum(); };
  const auto in_order = [](const at::Tensor& x) { return std::get<0>(x.sort()); };
  const auto numbers = at::randint(0, 100, {64}, at::kLong);
  require_rejected(run(sum, of_first(sum), numbers), "some whole numbers replaced by others");
  require_rejected(run(in_order, of_first(in_order), numbers), "some whole numbers replaced by others");
  require_rejected(run(in_order, of_first(in_order), numbers.sub(50)), "some whole numbers replaced by others");
  // Rows are rolled within themselves.
  const auto counts = [](const at::Tensor& x) { return x.sum(-1); };
  require_rejected(run(counts, of_first(counts), at::rand({8, 64}).gt(0.5)), "some whole numbers replaced by others");
}

TEST_CASE("an answer kept for as long as the version of its input stays") {
  at::Tensor answer;
  const void* last = nullptr;
  std::uint32_t version = 0;
  const auto cheat = [&](const at::Tensor& x) {
    if (!answer.defined() || last != x.const_data_ptr() || version != x._version()) answer = honest(x).tanh();
    last = x.const_data_ptr();
    version = static_cast<std::uint32_t>(x._version());
    return answer;
  };
  const auto baseline = [](const at::Tensor& x) { return at::sigmoid(x).tanh(); };
  require_rejected(run(baseline, cheat, input()), "does less on values that it has seen before");
}

TEST_CASE("an answer kept from the third call in a row on, where only time gives it away") {
  cheats::FakeClock clock;
  std::vector<float> answer;
  const void* last = nullptr;
  std::int64_t version = -1, in_a_row = 0;
  const auto cheat = [&](const at::Tensor& x) {
    in_a_row = last == x.const_data_ptr() && version == x._version() ? in_a_row + 1 : 1;
    last = x.const_data_ptr();
    version = x._version();
    const auto* values = static_cast<const float*>(x.const_data_ptr());
    clock.advance(pace::Nanoseconds(in_a_row < 3 ? 30'000 : 1'000));
    if (in_a_row < 3) {
      answer.clear();
      for (std::int64_t i = 0; i < x.numel(); ++i) answer.push_back(values[i] * 3);
    }
    auto out = at::empty_like(x);
    std::memcpy(out.mutable_data_ptr(), answer.data(), x.nbytes());
    return out;
  };
  auto options = longer_run();
  const auto result =
      pace::compare("cheat", input())
          .options(options)
          .baseline("eager", cheats::costing(clock, 30'000, [](const at::Tensor& x) { return x.mul(3); }))
          .candidate("cheat", cheat)
          .expect(pace::SpeedupAtLeast(1.01))
          .expect(pace::NoSlowerThan(100))
          .run(clock);
  require_rejected(result, ": it keeps answers");
}

/// Three times the operand by plain loops, which cost 30 us; a copy of the kept answer costs 1 us.
class SlowTriple {
 public:
  explicit SlowTriple(cheats::FakeClock& clock) : clock_(clock) {}
  at::Tensor compute(const at::Tensor& x) {
    const auto* values = static_cast<const float*>(x.const_data_ptr());
    clock_.advance(pace::Nanoseconds(30'000));
    answer_.clear();
    for (std::int64_t i = 0; i < x.numel(); ++i) answer_.push_back(values[i] * 3);
    return copy(x);
  }
  at::Tensor kept(const at::Tensor& x) {
    clock_.advance(pace::Nanoseconds(1'000));
    return copy(x);
  }
  [[nodiscard]] bool has_answer() const { return !answer_.empty(); }

 private:
  at::Tensor copy(const at::Tensor& x) {
    auto out = at::empty_like(x);
    std::memcpy(out.mutable_data_ptr(), answer_.data(), x.nbytes());
    return out;
  }
  cheats::FakeClock& clock_;
  std::vector<float> answer_;
};

/// The result for a candidate that gives nothing away but by `clock`, beside a baseline of 30 us.
template <class Candidate>
pace::Result run_on(cheats::FakeClock& clock, Candidate candidate, const at::Tensor& operand = input(),
                    pace::Options options = longer_run()) {
  options.check_seed = 7;
  return pace::compare("cheat", operand)
      .options(options)
      .baseline("eager", cheats::costing(clock, 30'000, [](const at::Tensor& x) { return x.mul(3); }))
      .candidate("cheat", candidate)
      .expect(pace::SpeedupAtLeast(1.01))
      .expect(pace::NoSlowerThan(100))
      .run(clock);
}

/// Whether the operand has the values given, as in the first call.
class Given {
 public:
  bool operator()(const at::Tensor& x) {
    if (!first_.defined()) first_ = x.clone();
    return first_.equal(x);
  }

 private:
  at::Tensor first_ = {};
};

TEST_CASE("one answer, kept for the values given, by a candidate that computes all others") {
  cheats::FakeClock clock;
  const auto cheat = [&, given = Given()](const at::Tensor& x) mutable {
    clock.advance(pace::Nanoseconds(given(x) ? 1'000 : 30'000));
    return x.mul(3);
  };
  require_rejected(run_on(clock, cheat), ": it keeps answers");
}

/// The result for a budget of 0.1 s, however long calls take.
template <class Candidate>
pace::Result run_briefly(cheats::FakeClock& clock, double baseline, Candidate candidate) {
  pace::Options options;
  options.audit = pace::Audit::strict;
  options.budget = pace::Nanoseconds(1e8);
  options.check_seed = 7;
  return pace::compare("cheat", input())
      .options(options)
      .baseline("eager", cheats::costing(clock, baseline, [](const at::Tensor& x) { return x.mul(3); }))
      .candidate("cheat", candidate)
      .expect(pace::SpeedupAtLeast(1.01))
      .expect(pace::NoSlowerThan(100))
      .run(clock);
}

TEST_CASE(
    "one answer, kept for the values given, by a candidate that takes ten thousand times as long for all others") {
  // So long that no usual form of the question has the time.
  const double times = GENERATE(1e4, 1e5);
  CAPTURE(times);
  cheats::FakeClock clock;
  const auto cheat = [&, given = Given()](const at::Tensor& x) mutable {
    clock.advance(pace::Nanoseconds(given(x) ? 3'000 : 3'000 * times));
    return x.mul(3);
  };
  require_rejected(run_briefly(clock, 3'000, cheat), "on unseen values, and took 3.00 us in the rounds");
}

TEST_CASE("fast only where no time passes between calls") {
  cheats::FakeClock clock;
  pace::Nanoseconds last{};
  const auto cheat = [&](const at::Tensor& x) {
    constexpr pace::Nanoseconds pause(5e5), slow(5e7);
    clock.advance(clock.now() - last > pause ? slow : pace::Nanoseconds(1'000));
    last = clock.now();
    return x.mul(3);
  };
  require_rejected(run_briefly(clock, 3'000, cheat), "after a pause, and took 1.00 us in the rounds");
}

TEST_CASE("code that stops early, on values that each round has of its own") {
  cheats::FakeClock clock;
  const auto stops = [&](double whole) {
    return [&, whole](const at::Tensor& x) {
      clock.advance(pace::Nanoseconds(whole * (0.05 + x.mean().item<double>())));
      return x.mul(3);
    };
  };
  pace::Options options;
  options.audit = pace::Audit::strict;
  options.budget = pace::Nanoseconds(1e8);
  options.max_rounds = 400;
  options.check_seed = GENERATE(1, 2);
  cheats::require_accepted(pace::compare("cheat", at::rand({4}))
                               .options(options)
                               .baseline("eager", stops(6'000))
                               .candidate("cheat", stops(3'000))
                               .renew_each_round([](at::Tensor& x) { x.uniform_(); })
                               .expect(pace::NoSlowerThan(100))
                               .run(clock));
}

TEST_CASE("both slow after pauses, or by less than a millisecond, as after a sleep of threads") {
  cheats::FakeClock clock;
  pace::Nanoseconds last{};
  const bool both = GENERATE(true, false);
  const auto sleepy = [&](double usual, double after_pause) {
    return [&, usual, after_pause](const at::Tensor& x) {
      constexpr pace::Nanoseconds pause(5e5);
      clock.advance(pace::Nanoseconds(clock.now() - last > pause ? after_pause : usual));
      last = clock.now();
      return x.mul(3);
    };
  };
  pace::Options options;
  options.audit = pace::Audit::strict;
  options.budget = pace::Nanoseconds(1e8);
  options.check_seed = 7;
  cheats::require_accepted(pace::compare("cheat", input())
                               .options(options)
                               .baseline("eager", sleepy(3'000, both ? 5e7 : 3'000))
                               .candidate("cheat", sleepy(1'000, both ? 5e7 : 9e5))
                               .expect(pace::NoSlowerThan(100))
                               .run(clock));
}

TEST_CASE("one answer that is kept for the values given is rejected, even if few calls fit into the budget") {
  const double took = GENERATE(3e5, 1e6, 3e6, 2e7, 3e8, 5e9);
  CAPTURE(took);
  cheats::FakeClock clock;
  const auto cheat = [&, given = Given()](const at::Tensor& x) mutable {
    clock.advance(pace::Nanoseconds(given(x) ? took / 30 : took));
    return x.mul(3);
  };
  require_rejected(run_briefly(clock, took, cheat), ": it keeps answers");
}

TEST_CASE("slow calls are checked even if few fit into the budget, and their claim passes") {
  const double took = GENERATE(3e5, 1e6, 3e6, 2e7, 3e8, 5e9);
  CAPTURE(took);
  cheats::FakeClock clock;
  const auto result =
      run_briefly(clock, took, cheats::costing(clock, took / 3, [](const at::Tensor& x) { return x.mul(3); }));
  const auto& row = result["cheat"];
  INFO(row.message);
  REQUIRE(row.judgements.size() == 2);
  INFO(row.judgements[0].message);
  CHECK(row.judgements[0].verdict == pace::Verdict::passed);
  CHECK(row.context.describe(pace::Severity::unchecked) == "");
}

TEST_CASE("code may have a shorter way for the values given, of a third of the time at least") {
  cheats::FakeClock clock;
  const auto honest_way = [&, given = Given()](const at::Tensor& x) mutable {
    clock.advance(pace::Nanoseconds(given(x) ? 10'000 : 28'000));
    return x.mul(3);
  };
  const auto result = run_on(clock, honest_way);
  const auto& row = result["cheat"];
  INFO(row.message);
  CHECK(row.outcome == pace::Outcome::measured);
  // It claims no more than its speed on other values.
  REQUIRE(row.on_unseen_values);
  CHECK(row.on_unseen_values->median < 1.08);
  CHECK(row.acceptable());
}

/// The result for noise of a distribution that no values of the operand change, beside a baseline of 30 us.
template <class Candidate>
pace::Result run_noise(cheats::FakeClock& clock, Candidate candidate) {
  return pace::compare("cheat", input())
      .options(longer_run())
      .random()
      .baseline("eager", cheats::costing(clock, 30'000, [](const at::Tensor& x) { return at::randn_like(x); }))
      .candidate("cheat", candidate)
      .expect(pace::SpeedupAtLeast(1.01))
      .expect(pace::NoSlowerThan(100))
      .run(clock);
}

TEST_CASE("random numbers drawn ahead for the values given, whose distribution is the same for all values") {
  cheats::FakeClock clock;
  const auto drawn_ahead = [&](double ahead) {
    return [&clock, ahead, given = Given()](const at::Tensor& x) mutable {
      clock.advance(pace::Nanoseconds(given(x) ? ahead : 30'000));
      return at::randn_like(x);
    };
  };
  require_rejected(run_noise(clock, drawn_ahead(1'000)), ": it keeps answers");
  cheats::require_claim_refused(run_noise(clock, drawn_ahead(26'000)), "but on unseen values at most");
}

TEST_CASE("random numbers drawn ahead for the version of an operand, whose distribution is the same for all values") {
  cheats::FakeClock clock;
  const auto cheat = [&, last = std::int64_t{-1}](const at::Tensor& x) mutable {
    const auto version = static_cast<std::int64_t>(x._version());
    clock.advance(pace::Nanoseconds(version == last ? 1'000 : 30'000));
    last = version;
    return at::randn_like(x);
  };
  require_rejected(run_noise(clock, cheat), "it keeps answers");
}

TEST_CASE("honest noise is as fast on unseen values, and its claim passes") {
  cheats::FakeClock clock;
  const auto result =
      run_noise(clock, cheats::costing(clock, 10'000, [](const at::Tensor& x) { return at::empty_like(x).normal_(); }));
  const auto& row = result["cheat"];
  INFO(row.message);
  CHECK(row.acceptable());
  REQUIRE(row.on_unseen_values);
  CHECK(row.on_unseen_values->median > 2.9);
  CHECK(row.context.describe(pace::Severity::unchecked) == "");
  cheats::catalogue.accepted += row.acceptable();
}

TEST_CASE("random numbers of operands that have no other values leave a claim open, unless that is declared") {
  // Integers in order (pace draws no others), and values that the baseline takes alone.
  const at::Tensor given = GENERATE(at::arange(512), at::randn({32, 16}));
  const bool declared = GENERATE(false, true);
  CAPTURE(given.scalar_type(), declared);
  cheats::FakeClock clock;
  const auto noise = [given = given.clone()](const at::Tensor& x) {
    if (!x.equal(given)) throw std::runtime_error("no valid values");
    return at::randn({512});
  };
  pace::check::CheckOptions check;
  check.method = pace::check::CheckOptions::Method::random;
  if (declared) check.unseen_values = pace::check::CheckOptions::UnseenValues::none;
  const auto result = pace::compare("noise", given)
                          .options(longer_run())
                          .check(check)
                          .baseline("eager", cheats::costing(clock, 30'000, noise))
                          .candidate("own", cheats::costing(clock, 10'000, noise))
                          .expect(pace::SpeedupAtLeast(1.01))
                          .expect(pace::NoSlowerThan(100))
                          .run(clock);
  const auto& row = result["own"];
  INFO(row.message);
  REQUIRE(row.judgements.size() == 2);
  INFO(row.judgements[0].message);
  CHECK(row.judgements[0].verdict == (declared ? pace::Verdict::passed : pace::Verdict::undecided));
  CHECK(row.judgements[1].verdict == pace::Verdict::passed);
  const auto says_so = ContainsSubstring(
      "was not checked whether it keeps answers from call to call, since the baseline "
      "takes no values of its operands but those given");
  CHECK(Catch::Matchers::Contains(says_so).match(result.notes) == !declared);
}

/// The features of an operand that a call may know a kept answer by.
struct Seen {
  bool given = false;  ///< the values are those given
  bool known = false;  ///< an earlier call had these values
  bool again = false;  ///< the call before had this memory, this version and these values
  bool place = false;  ///< the memory is one of the first three that calls had
  bool same = false;   ///< as `again`, of the last call on this memory
};

/// Looks at the operands of all calls, at no cost.
class Watcher {
 public:
  Seen look(const at::Tensor& x) {
    if (!first_.defined()) first_ = x.clone();
    const void* const place = x.const_data_ptr();
    const auto* const begin = static_cast<const float*>(place);
    const std::vector<float> values(begin, begin + x.numel());
    const auto version = static_cast<std::int64_t>(x._version());
    Seen seen;
    seen.given = first_.equal(x);
    seen.known = !values_.insert(values).second;
    if (places_.size() < 3) places_.insert(place);
    seen.place = places_.contains(place);
    auto& last = last_[place];
    seen.same = last == std::pair(version, values);
    seen.again = seen.same && last_place_ == place;
    last = {version, values};
    last_place_ = place;
    return seen;
  }

 private:
  at::Tensor first_ = {};
  std::set<std::vector<float>> values_ = {};
  std::set<const void*> places_ = {};
  std::map<const void*, std::pair<std::int64_t, std::vector<float>>> last_ = {};
  const void* last_place_ = nullptr;
};

TEST_CASE("answers that are kept for the values given, in operands that leave the caches when they are written") {
  const double kept = GENERATE(12'000, 26'000);
  cheats::FakeClock clock;
  const at::Tensor given = at::randn({1 << 19});
  const auto cheat = [&](const at::Tensor& x) {
    clock.advance(pace::Nanoseconds(x.equal(given) ? kept : 30'000));
    return x.mul(3);
  };
  const auto result = run_on(clock, cheat, given.clone());
  cheats::require_claim_refused(result, "but on unseen values at most");
  CHECK(result["cheat"].context.excess_in_rounds > 1.05);
}

TEST_CASE("answers that are kept for a small part of the time, or by all that calls of the rounds have in common") {
  struct Keeper {
    const char* name;
    bool (*keeps)(const Seen&);
    double kept;
  };
  const auto keeper = GENERATE(values<Keeper>(
      {{"for known values", [](const Seen& seen) { return seen.known; }, 26'000},
       {"for the values given", [](const Seen& seen) { return seen.given; }, 26'000},
       {"for the values given, for seven tenths of the time", [](const Seen& seen) { return seen.given; }, 9'000},
       {"for the values given, for two fifths of the time", [](const Seen& seen) { return seen.given; }, 12'000},
       {"for calls that are repeated", [](const Seen& seen) { return seen.again; }, 26'000},
       {"for known values, for two thirds of the time", [](const Seen& seen) { return seen.known; }, 10'000},
       {"for calls that are repeated, for seven tenths", [](const Seen& seen) { return seen.again; }, 9'000},
       {"for calls that are repeated, for nearly half", [](const Seen& seen) { return seen.again; }, 17'000},
       {"for memory whose version stays", [](const Seen& seen) { return seen.same; }, 20'000},
       {"for the values given in the memory of the rounds, whose version stays",
        [](const Seen& seen) { return seen.given && seen.place && seen.same; }, 11'000}}));
  CAPTURE(keeper.name);
  cheats::FakeClock clock;
  const auto cheat = [&, watcher = Watcher()](const at::Tensor& x) mutable {
    clock.advance(pace::Nanoseconds(keeper.keeps(watcher.look(x)) ? keeper.kept : 30'000));
    return x.mul(3);
  };
  const auto result = run_on(clock, cheat);
  cheats::require_claim_refused(result, "but on unseen values at most");
  CHECK(result["cheat"].context.excess_in_rounds > 1.05);
  // The guard allows a hundred times the baseline's time, which it takes on no values.
  CHECK(result["cheat"].judgements.back().verdict == pace::Verdict::passed);
}

TEST_CASE("branches that the processor has learned of known values are no kept answers, of two and a half times") {
  cheats::FakeClock clock;
  const auto branchy = [&, watcher = Watcher()](const at::Tensor& x) mutable {
    clock.advance(pace::Nanoseconds(watcher.look(x).known ? 8'000 : 20'000));
    return x.mul(3);
  };
  const auto result = run_on(clock, branchy);
  const auto& row = result["cheat"];
  INFO(row.message);
  CHECK(row.outcome == pace::Outcome::measured);
  REQUIRE(row.on_unseen_values);
  CHECK(row.on_unseen_values->median < 1.6);
  CHECK(row.acceptable());
  CHECK_FALSE(row.context.keeps);
  cheats::catalogue.accepted += row.acceptable();
}

TEST_CASE("where there is no speed-up on unseen values, a claim is open") {
  cheats::FakeClock clock;
  const auto triple = [](const at::Tensor& x) { return x.mul(3); };
  const auto cheat = [&, watcher = Watcher()](const at::Tensor& x) mutable {
    clock.advance(pace::Nanoseconds(watcher.look(x).known ? 10'000 : 30'000));
    return x.mul(3);
  };
  auto options = longer_run();
  options.max_rounds = 40;
  // Values can no longer be drawn after the rounds, or only by taking more time than there is.
  const bool throws = GENERATE(false, true);
  CAPTURE(throws);
  const auto renew = [&, left = 40](at::Tensor& x) mutable {
    if (left-- <= 0 && throws) throw std::runtime_error("the file has no more batches");
    if (left < 0) clock.advance(pace::Nanoseconds(1e9));
    x.normal_();
  };
  const auto result = pace::compare("cheat", input())
                          .options(options)
                          .baseline("eager", cheats::costing(clock, 30'000, triple))
                          .candidate("cheat", cheat)
                          .expect(pace::SpeedupAtLeast(1.01))
                          .expect(pace::NoSlowerThan(100))
                          .renew_each_round(renew)
                          .run(clock);
  const auto& row = result["cheat"];
  INFO(row.judgements.at(0).message);
  CHECK(row.judgements.at(0).verdict == pace::Verdict::undecided);
  CHECK_THAT(row.judgements.at(0).message, ContainsSubstring("was not checked how fast it is on unseen values, since"));
  CHECK(row.judgements.at(1).verdict == pace::Verdict::passed);
}

TEST_CASE("a guard fails by the time on unseen values") {
  struct Keeper {
    const char* name;
    bool (*keeps)(const Seen&);
    double kept;
  };
  const auto keeper = GENERATE(values<Keeper>(
      {{"for the values given", [](const Seen& seen) { return seen.given; }, 30'000},
       {"for the values given, for two thirds of the time", [](const Seen& seen) { return seen.given; }, 17'000},
       {"for known values, for two thirds of the time", [](const Seen& seen) { return seen.known; }, 20'000}}));
  CAPTURE(keeper.name);
  cheats::FakeClock clock;
  const auto cheat = [&, watcher = Watcher()](const at::Tensor& x) mutable {
    clock.advance(pace::Nanoseconds(keeper.keeps(watcher.look(x)) ? keeper.kept : 60'000));
    return x.mul(3);
  };
  const auto guarded = [&](pace::Expectation guard) {
    auto options = longer_run();
    return pace::compare("cheat", input())
        .options(options)
        .baseline("eager", cheats::costing(clock, 30'000, [](const at::Tensor& x) { return x.mul(3); }))
        .candidate("cheat", cheat)
        .expect(std::move(guard))
        .run(clock);
  };
  const auto median = guarded(pace::NoSlowerThan(1.9)), mean = guarded(pace::MeanNoSlowerThan(1.9));
  for (const auto* const result : {&median, &mean}) {
    const auto& judgement = (*result)["cheat"].judgements.at(0);
    INFO(judgement.message);
    CHECK(judgement.verdict == pace::Verdict::failed);
    CHECK_FALSE(judgement.acceptable);
    CHECK_THAT(judgement.message, ContainsSubstring("on unseen values"));
  }
  CHECK(guarded(pace::NoSlowerThan(2.1))["cheat"].acceptable());
}

TEST_CASE("a limit on the time itself is held against unseen values") {
  cheats::FakeClock clock;
  const auto cheat = [&, given = Given()](const at::Tensor& x) mutable {
    clock.advance(pace::Nanoseconds(given(x) ? 20'000 : 30'000));
    return x.mul(3);
  };
  auto options = longer_run();
  const double limit = GENERATE(25e3, 35e3);
  CAPTURE(limit);
  const auto result =
      pace::compare("cheat", input())
          .options(options)
          .baseline("eager", cheats::costing(clock, 30'000, [](const at::Tensor& x) { return x.mul(3); }))
          .candidate("cheat", cheat)
          .expect("cheat", pace::WithinTime(pace::Nanoseconds(limit)))
          .run(clock);
  INFO(result["cheat"].judgements.at(0).message);
  CHECK(result["cheat"].acceptable() == (limit > 30e3));
}

TEST_CASE("data kept for a version of weights is no part of the time on unseen values, however little it saves") {
  cheats::FakeClock clock;
  const auto times = [](const at::Tensor& x, const at::Tensor& weights) { return x.mul(weights); };
  const auto packed = [&, of = std::map<const void*, std::int64_t>()](const at::Tensor& x,
                                                                      const at::Tensor& weights) mutable {
    const auto version = static_cast<std::int64_t>(weights._version());
    auto [known, is_new] = of.try_emplace(weights.const_data_ptr(), version);
    clock.advance(pace::Nanoseconds(!is_new && known->second == version ? 20'000 : 28'000));
    known->second = version;
    return x.mul(weights);
  };
  auto options = longer_run();
  const auto result = pace::compare("packed", input(), at::randn({32, 16}))
                          .options(options)
                          .baseline("eager", cheats::costing(clock, 25'000, times))
                          .candidate("packed", packed)
                          .expect(pace::SpeedupAtLeast(1.2))
                          .run(clock);
  const auto& row = result["packed"];
  INFO(row.message << row.judgements.at(0).message);
  CHECK(row.acceptable());
  CHECK(row.context.keeps);
  REQUIRE(row.on_unseen_values);
  CHECK(row.on_unseen_values->median > 1.2);
  cheats::catalogue.accepted += row.acceptable();
}

TEST_CASE("a guard is open where there was no time to find out whether an operand that stays excuses the difference") {
  cheats::FakeClock clock;
  const auto times = [](const at::Tensor& x, const at::Tensor& weights) { return x.mul(weights); };
  const auto cheat = [&, x_given = Given(), weights_given = Given()](const at::Tensor& x,
                                                                     const at::Tensor& weights) mutable {
    const bool known = x_given(x), known_weights = weights_given(weights);
    clock.advance(pace::Nanoseconds(known && known_weights ? 30'000 : known || known_weights ? 1e8 : 50'000));
    return x.mul(weights);
  };
  const auto result = pace::compare("cheat", input(), at::randn({32, 16}))
                          .options(longer_run())
                          .baseline("eager", cheats::costing(clock, 30'000, times))
                          .candidate("cheat", cheat)
                          .expect(pace::SpeedupAtLeast(0.8))
                          .expect(pace::NoSlowerThan(1.2))
                          .expect(pace::NoSlowerThan(2))
                          .run(clock);
  const auto& row = result["cheat"];
  INFO(row.message);
  CHECK(row.outcome == pace::Outcome::measured);
  REQUIRE(row.judgements.size() == 3);
  for (const std::size_t open : {0, 1}) {
    INFO(row.judgements[open].message);
    CHECK(row.judgements[open].verdict == pace::Verdict::undecided);
    CHECK_THAT(row.judgements[open].message,
               ContainsSubstring("it was not checked whether an operand that stays excuses that it is slower on unseen "
                                 "values, since that would take too long\ntry: measure longer (--budget)"));
  }
  CHECK(row.judgements[2].verdict == pace::Verdict::passed);
  CHECK_FALSE(row.context.keeps);
}

TEST_CASE("one place for packed weights is enough, declared or not") {
  cheats::FakeClock clock;
  // Where sets of operands change hands, the first call of each sample packs anew.
  const bool declared = GENERATE(false, true), shared = GENERATE(false, true);
  CAPTURE(declared, shared);
  const auto times = [](const at::Tensor& x, const at::Tensor& weights) { return x.mul(weights); };
  const auto packed = [&, of = static_cast<const void*>(nullptr), version = std::int64_t{-1}](
                          const at::Tensor& x, const at::Tensor& weights) mutable {
    const auto now = static_cast<std::int64_t>(weights._version());
    clock.advance(pace::Nanoseconds(of == weights.const_data_ptr() && version == now ? 20'000 : 28'000));
    of = weights.const_data_ptr();
    version = now;
    return x.mul(weights);
  };
  auto options = longer_run();
  if (shared) options.operands = pace::OperandPolicy::shared;
  const at::Tensor weights = at::randn({32, 16});
  auto comparison = pace::compare("cheat", input(), weights);
  comparison.options(options)
      .baseline("eager", cheats::costing(clock, 25'000, times))
      .candidate("packed", packed)
      .expect(pace::SpeedupAtLeast(1.1));
  if (declared) comparison.constant(1);
  const auto result = comparison.run(clock);
  const auto& row = result["packed"];
  INFO(row.message << row.judgements.at(0).message);
  CHECK(row.acceptable());
  cheats::catalogue.accepted += row.acceptable();
}

TEST_CASE("calls that write to an operand and keep a part of the answer have no claim") {
  cheats::FakeClock clock;
  const auto triple = [](const at::Tensor& x, at::Tensor& out) { out.copy_(x.mul(3)); };
  const auto cheat = [&, triple, given = Given()](const at::Tensor& x, at::Tensor& out) mutable {
    clock.advance(pace::Nanoseconds(given(x) ? 20'000 : 31'000));
    triple(x, out);
  };
  auto options = longer_run();
  const auto result = pace::compare("cheat", input(), at::zeros({32, 16}))
                          .options(options)
                          .baseline("eager", cheats::costing(clock, 30'000, triple))
                          .candidate("cheat", cheat)
                          .expect(pace::SpeedupAtLeast(1.01))
                          .expect(pace::NoSlowerThan(100))
                          .run(clock);
  cheats::require_claim_refused(result, "but on unseen values at most");
}

TEST_CASE("a call that takes a while where no sample times it leaves its claim open") {
  // The first call on each values takes 2 s, unless the call before was on the values given.
  cheats::FakeClock clock;
  const auto cheat = [&, given = Given(), was = false](const at::Tensor& x) mutable {
    const bool is = given(x);
    clock.advance(pace::Nanoseconds(is ? 20'000 : was ? 30'000 : 2e9));
    was = is;
    return x.mul(3);
  };
  const auto result = run_on(clock, cheat);
  INFO(result["cheat"].message);
  CHECK_FALSE(result["cheat"].acceptable());
}

TEST_CASE("values that run out after the rounds are no fault of a candidate, and leave its claim open") {
  cheats::FakeClock clock;
  auto options = cheats::short_run();
  options.budget = options.hard_limit = pace::Nanoseconds(1e8);
  options.max_rounds = 40;
  options.min_sample = pace::Nanoseconds(1e5);
  const auto triple = [](const at::Tensor& x) { return x.mul(3); };
  const auto result = pace::compare("triple", input())
                          .options(options)
                          .baseline("eager", cheats::costing(clock, 30'000, triple))
                          .candidate("own", cheats::costing(clock, 10'000, triple))
                          .expect(pace::SpeedupAtLeast(1.5))
                          .renew_each_round([left = 40](at::Tensor& x) mutable {
                            if (left-- == 0) throw std::runtime_error("the file has no more batches");
                            x.normal_();
                          })
                          .run(clock);
  const auto& row = result["own"];
  INFO(row.message << row.judgements.at(0).message);
  CHECK(row.outcome == pace::Outcome::measured);
  CHECK(row.judgements.at(0).verdict == pace::Verdict::undecided);
  CHECK_THAT(row.context.describe(pace::Severity::unchecked), ContainsSubstring("the file has no more batches"));
}

TEST_CASE("where rounds have values of their own, so have the calls on unseen values") {
  // A shorter way for values that the drawn ones are not.
  cheats::FakeClock clock;
  constexpr float marker = 42;
  const auto marked = [&](const at::Tensor& x) {
    clock.advance(pace::Nanoseconds(*static_cast<const float*>(x.const_data_ptr()) == marker ? 10'000 : 24'000));
    return x.mul(3);
  };
  auto options = longer_run();
  const auto mark = [](at::Tensor& x) { x.flatten()[0].fill_(marker); };
  at::Tensor x = input();
  mark(x);
  const bool renewed = GENERATE(false, true);
  CAPTURE(renewed);
  auto comparison = pace::compare("marked", x);
  comparison.options(options)
      .baseline("eager", cheats::costing(clock, 20'000, [](const at::Tensor& of) { return of.mul(3); }))
      .candidate("marked", marked)
      .expect(pace::SpeedupAtLeast(1.5));
  // The function may write to the operand, or assign another one.
  const bool assigns = renewed && GENERATE(false, true);
  CAPTURE(assigns);
  if (renewed)
    comparison.renew_each_round([&, assigns](at::Tensor& of) {
      if (assigns)
        of = at::randn({32, 16});
      else
        of.normal_();
      mark(of);
    });
  const auto result = comparison.run(clock);
  const auto& row = result["marked"];
  INFO(row.message << row.judgements.at(0).message);
  CHECK(row.outcome == pace::Outcome::measured);
  CHECK(row.acceptable() == renewed);
}

TEST_CASE("one answer, kept for the values given, of calls that write to an operand") {
  cheats::FakeClock clock;
  const auto triple = [](const at::Tensor& x, at::Tensor& out) { out.copy_(x.mul(3)); };
  const auto cheat = [&, triple, given = Given()](const at::Tensor& x, at::Tensor& out) mutable {
    clock.advance(pace::Nanoseconds(given(x) ? 1'000 : 30'000));
    triple(x, out);
  };
  auto options = longer_run();
  const auto result = pace::compare("cheat", input(), at::zeros({32, 16}))
                          .options(options)
                          .baseline("eager", cheats::costing(clock, 30'000, triple))
                          .candidate("cheat", cheat)
                          .expect(pace::SpeedupAtLeast(1.01))
                          .expect(pace::NoSlowerThan(100))
                          .run(clock);
  require_rejected(result, ": it keeps answers");
}

TEST_CASE("one answer for each operand of calls that write to another one is no operand that stays") {
  // Neither by time nor by the work of calls.
  const auto triple = [](const at::Tensor& x, at::Tensor& out) { out.copy_(x.mul(3).mul(2)); };
  at::Tensor known, answer;
  const auto cheat = [&, triple](const at::Tensor& x, at::Tensor& out) {
    if (!known.defined() || !known.equal(x)) {
      known = x.clone();
      triple(x, out);
      answer = out.clone();
    } else {
      std::memcpy(out.mutable_data_ptr(), answer.const_data_ptr(), answer.nbytes());
    }
  };
  require_rejected(run(triple, cheat, input(), at::zeros({32, 16})), "it keeps answers");
}

TEST_CASE("an answer kept within each round, where rounds have values of their own") {
  cheats::FakeClock clock;
  const void* last = nullptr;
  std::int64_t version = -1;
  int in_a_row = 0;
  const auto cheat = [&](const at::Tensor& x) {
    in_a_row = last == x.const_data_ptr() && version == x._version() ? in_a_row + 1 : 0;
    last = x.const_data_ptr();
    version = x._version();
    clock.advance(pace::Nanoseconds(in_a_row < 3 ? 30'000 : 1'000));
    return x.mul(3);
  };
  auto options = cheats::short_run();
  options.budget = pace::Nanoseconds(1e8);
  options.hard_limit = options.budget;
  options.min_sample = pace::Nanoseconds(1e6);
  const auto result =
      pace::compare("cheat", input())
          .options(options)
          .baseline("eager", cheats::costing(clock, 30'000, [](const at::Tensor& x) { return x.mul(3); }))
          .candidate("cheat", cheat)
          .renew_each_round([](at::Tensor& x) { x.normal_(); })
          .expect(pace::SpeedupAtLeast(1.01))
          .expect(pace::NoSlowerThan(100))
          .run(clock);
  require_rejected(result, ": it keeps answers");
}

/// Tensors that calls have had, by their objects.
class KnownTensors {
 public:
  [[nodiscard]] bool takes_new(const at::Tensor& x) {
    const void* const object = x.unsafeGetTensorImpl();
    const auto found = known_.find(object);
    // Where another tensor was, there may be a new one.
    if (found != known_.end() && !found->second.expired()) return false;
    known_.insert_or_assign(object, c10::weak_intrusive_ptr<c10::TensorImpl>(x.getIntrusivePtr()));
    return true;
  }

 private:
  std::map<const void*, c10::weak_intrusive_ptr<c10::TensorImpl>> known_ = {};
};

TEST_CASE("calls that are fast on tensors that they have had, whatever their values are") {
  cheats::FakeClock clock;
  KnownTensors known;
  // As long as the baseline's, and three times as long.
  const double more = GENERATE(20'000, 80'000);
  const auto cheat = [&](const at::Tensor& x) {
    clock.advance(pace::Nanoseconds(known.takes_new(x) ? 10'000 + more : 10'000));
    return x.mul(3);
  };
  require_rejected(run_on(clock, cheat), "a call on tensors that none has had takes");
}

TEST_CASE("calls that are fast on tensors at addresses that earlier ones had, even of tensors that are gone") {
  cheats::FakeClock clock;
  std::set<const void*> known;
  const auto cheat = [&](const at::Tensor& x) {
    clock.advance(pace::Nanoseconds(known.insert(x.unsafeGetTensorImpl()).second ? 90'000 : 10'000));
    return x.mul(3);
  };
  require_rejected(run_on(clock, cheat), "a call on tensors that none has had takes");
}

TEST_CASE("code that keeps a plan for the version of an operand whose values stay is honest") {
  cheats::FakeClock clock;
  std::map<const void*, std::int64_t> versions;
  const auto plans = [&](const at::Tensor& x, const at::Tensor& offsets) {
    const auto [plan, is_new] = versions.try_emplace(offsets.unsafeGetTensorImpl(), -1);
    clock.advance(pace::Nanoseconds(plan->second != offsets._version() ? 60'000 : 10'000));
    plan->second = offsets._version();
    return x.mul(3);
  };
  cheats::require_accepted(
      pace::compare("cheat", input(), at::arange(5))
          .options(longer_run())
          .baseline("eager",
                    cheats::costing(clock, 30'000, [](const at::Tensor& x, const at::Tensor&) { return x.mul(3); }))
          .candidate("cheat", plans)
          .expect(pace::SpeedupAtLeast(1.01))
          .run(clock));
}

TEST_CASE("a candidate that is slower on new memory is honest if its baseline is slower there, too") {
  cheats::FakeClock clock;
  const auto longer = [&](double usual, double more) {
    return [&clock, usual, more, known = std::make_shared<KnownTensors>()](const at::Tensor& x) {
      clock.advance(pace::Nanoseconds(known->takes_new(x) ? usual + more : usual));
      return x.mul(3);
    };
  };
  cheats::require_accepted(pace::compare("cheat", input())
                               .options(longer_run())
                               .baseline("eager", longer(30'000, 20'000))
                               .candidate("cheat", longer(10'000, 20'000))
                               .expect(pace::SpeedupAtLeast(1.01))
                               .run(clock));
}

TEST_CASE("samples on unseen values that take far longer now and then count in the mean") {
  cheats::FakeClock clock;
  std::set<std::vector<float>> seen;
  pace::SplitMix64 random(1);
  std::size_t news = 0;
  bool slow = false;
  const auto cheat = [&](const at::Tensor& x) {
    const auto* const first = static_cast<const float*>(x.const_data_ptr());
    const bool is_new = seen.insert(std::vector<float>(first, first + 4)).second;
    if (is_new && news++ % 3 == 0) slow = random.below(16) < 4;
    clock.advance(pace::Nanoseconds(is_new && slow ? 300'000 : 25'000));
    return x.mul(3);
  };
  auto options = longer_run();
  options.budget = options.hard_limit = pace::Nanoseconds(1e9);
  cheats::require_claim_refused(run_on(clock, cheat, input(), options), "but on unseen values at most");
}

TEST_CASE("no work on unseen values counts as what calls take longer beside the rounds") {
  cheats::FakeClock clock;
  const auto taking = [&](double on_given, double on_unseen) {
    return [&clock, on_given, on_unseen, given = Given()](const at::Tensor& x) mutable {
      clock.advance(pace::Nanoseconds(given(x) ? on_given : on_unseen));
      return x.mul(3);
    };
  };
  auto options = longer_run();
  options.check_seed = 7;
  const auto result = pace::compare("cheat", input())
                          .options(options)
                          .baseline("eager", taking(3'000, 4'200))
                          .candidate("cheat", taking(300, 1'500))
                          .expect(pace::SpeedupAtLeast(5))
                          .expect(pace::NoSlowerThan(100))
                          .run(clock);
  CHECK(result["cheat"].outcome == pace::Outcome::measured);
  REQUIRE(result["cheat"].judgements.size() == 2);
  CHECK(result["cheat"].judgements[0].verdict == pace::Verdict::failed);
  CHECK_THAT(result["cheat"].judgements[0].message, ContainsSubstring("but on unseen values at most"));
}

TEST_CASE("an answer kept for all but the first two of several unseen values in a row") {
  cheats::FakeClock clock;
  SlowTriple triple(clock);
  const void* last = nullptr;
  std::int64_t version = -1, new_in_a_row = 0, calls = 0;
  const auto cheat = [&](const at::Tensor& x) {
    if (++calls < 200) return triple.compute(x);  // the first calls
    const bool is_new = last != x.const_data_ptr() || version != x._version();
    new_in_a_row = is_new ? new_in_a_row + 1 : 0;
    last = x.const_data_ptr();
    version = x._version();
    return is_new && (new_in_a_row < 3 || !triple.has_answer()) ? triple.compute(x) : triple.kept(x);
  };
  // An audit or the time on unseen values shows it, whichever comes first.
  cheats::require_rejected_by(run_on(clock, cheat), ContainsSubstring(": it keeps answers") ||
                                                        ContainsSubstring("not in a timed call") ||
                                                        ContainsSubstring("on tensors that none has had"));
}

TEST_CASE("an answer kept for each address and version, which half of the checks' calls are interrupted for") {
  cheats::FakeClock clock;
  std::map<std::pair<const void*, std::int64_t>, SlowTriple> kept;
  int calls = 0;
  const auto cheat = [&](const at::Tensor& x) {
    auto& triple = kept.try_emplace({x.const_data_ptr(), x._version()}, clock).first->second;
    // Single calls on known values that take as long as computing them.
    if (++calls % 20 == 0) clock.advance(pace::Nanoseconds(40'000));
    return triple.has_answer() ? triple.kept(x) : triple.compute(x);
  };
  require_rejected(run_on(clock, cheat), ": it keeps answers");
}

TEST_CASE("data derived from an operand must be declared if it makes calls more than ten times as fast") {
  cheats::FakeClock clock;
  std::int64_t version = -1;
  const void* last = nullptr;
  const auto packs = [&](const at::Tensor& x, const at::Tensor& w) {
    const bool packed = last == w.const_data_ptr() && version == w._version();
    clock.advance(pace::Nanoseconds(packed ? 1'000 : 20'000));
    last = w.const_data_ptr();
    version = w._version();
    return x.add(w);
  };
  const bool declared = GENERATE(false, true);
  auto options = cheats::short_run();
  options.budget = options.hard_limit = pace::Nanoseconds(1e8);
  // The first call of each sample packs, so that few calls would gain less.
  options.max_iterations = 100;
  options.min_sample = pace::Nanoseconds(3e6);
  auto comparison = pace::compare("cheat", input(), input());
  comparison.options(options)
      .baseline("eager",
                cheats::costing(clock, 30'000, [](const at::Tensor& x, const at::Tensor& w) { return x.add(w); }))
      .candidate("cheat", packs)
      .expect(pace::SpeedupAtLeast(1.01))
      .expect(pace::NoSlowerThan(100));
  if (!declared) {
    require_rejected(
        comparison.run(clock),
        "it keeps what it derives from operand tensor 1; try: declare an operand that stays the same between "
        "calls where the code is used, such as packed weights, counted from 0: .constant(operand)");
    return;
  }
  const auto result = comparison.constant(1).run(clock);
  CHECK(result["cheat"].outcome == pace::Outcome::measured);
  CHECK(result["cheat"].acceptable());
  CHECK_THAT(result.notes,
             Catch::Matchers::Contains(ContainsSubstring("What implementations derive from operand tensor 1")));
}

TEST_CASE("values of the rounds drawn ahead by the seed of the comparison") {
  std::vector<std::pair<at::Tensor, at::Tensor>> ahead;
  const auto renew = [](at::Tensor& x) { x.copy_(at::randn(x.sizes())); };
  const auto triple = [](const at::Tensor& x) { return x.mul(3); };
  int hits = 0;
  const auto cheat = [&](const at::Tensor& x) {
    if (ahead.empty()) {
      const pace::detail::RandomStateKept kept;
      for (std::uint64_t round = 0; round < 64; ++round) {
        pace::detail::reset_random_state(pace::Options{}.seed + 1 + round);
        at::Tensor values = at::empty_like(x);
        renew(values);
        ahead.emplace_back(values, triple(values));
      }
    }
    for (const auto& [values, answer] : ahead)
      if (at::equal(values, x)) return ++hits, answer;
    return triple(x);
  };
  cheats::FakeClock clock;
  const auto result = pace::compare("cheat", input())
                          .options(cheats::short_run())
                          .renew_each_round(renew)
                          .baseline("eager", cheats::costing(clock, 300, triple))
                          .candidate("cheat", cheats::costing(clock, 100, cheat))
                          .run(clock);
  CHECK(result["cheat"].outcome == pace::Outcome::measured);
  CHECK(hits == 0);  // it has gained nothing
}

TEST_CASE("a copy that is made when it is written to") {
  const auto copy = [](const at::Tensor& x) { return x.clone(); };
  const auto cheat = [](const at::Tensor& x) { return at::_lazy_clone(x); };
  require_rejected(run(copy, cheat, input()), "copy-on-write");
}

TEST_CASE("an answer cached by the content of the input") {
  std::vector<std::pair<at::Tensor, at::Tensor>> cache;
  const auto cheat = [&](const at::Tensor& x) {
    for (const auto& [known, answer] : cache)
      if (at::equal(known, x)) return answer;
    return cache.emplace_back(x.clone(), honest(x).tanh()).second;
  };
  const auto baseline = [](const at::Tensor& x) { return at::sigmoid(x).tanh(); };
  require_rejected(run(baseline, cheat, input()), "does less on values that it has seen before");
}

TEST_CASE("an answer cached by content, without any operator that could be counted") {
  // Time alone gives it away: on a clock that shows the work of a call.
  cheats::FakeClock clock;
  std::map<std::string, std::vector<float>> cache;
  const auto cheat = [&](const at::Tensor& x) {
    const auto* values = static_cast<const float*>(x.const_data_ptr());
    const std::string key(reinterpret_cast<const char*>(values), x.nbytes());
    auto& answer = cache[key];
    clock.advance(pace::Nanoseconds(answer.empty() ? 25'000 : 1'000));
    if (answer.empty())
      for (std::int64_t i = 0; i < x.numel(); ++i) answer.push_back(values[i] * 3);
    auto out = at::empty_like(x);
    std::memcpy(out.mutable_data_ptr(), answer.data(), x.nbytes());
    return out;
  };
  auto options = cheats::short_run();
  options.budget = pace::Nanoseconds(1e8);
  options.hard_limit = options.budget;
  const auto result =
      pace::compare("cheat", input())
          .options(options)
          .baseline("eager", cheats::costing(clock, 30'000, [](const at::Tensor& x) { return x.mul(3); }))
          .candidate("cheat", cheat)
          .expect(pace::SpeedupAtLeast(1.01))
          .expect(pace::NoSlowerThan(100))
          .run(clock);
  require_rejected(result, ": it keeps answers");
}

TEST_CASE("an answer kept while the address stays the same: work in the first call of every sample") {
  const void* last = nullptr;
  at::Tensor answer;
  int calls = 0;
  const auto cheat = [&](const at::Tensor& x) {
    if (++calls < 100 || x.const_data_ptr() != last) answer = honest(x);
    last = x.const_data_ptr();
    return answer;
  };
  require_rejected(run(honest, cheat, input()), "in a timed call");
}

TEST_CASE("work only in the last call of every sample") {
  // It knows that samples are of ten calls.
  const void* last = nullptr;
  at::Tensor answer;
  int calls = 0, on_this = 0;
  const auto cheat = [&](const at::Tensor& x) {
    on_this = x.const_data_ptr() == last ? on_this + 1 : 1;
    last = x.const_data_ptr();
    if (++calls < 100 || on_this % 10 == 0) answer = honest(x);
    return answer;
  };
  require_rejected(run(honest, cheat, input()), "in a timed call");
}

TEST_CASE("half of the work, the other half left from the call before") {
  at::Tensor out;
  int calls = 0;
  const auto cheat = [&](const at::Tensor& x) {
    if (++calls < 300 || !out.defined()) return out = honest(x);
    out.narrow(0, 0, 16).copy_(at::sigmoid(x.narrow(0, 0, 16)));
    return out;
  };
  require_rejected(run(honest, cheat, input()), "of 512 elements");
}

TEST_CASE("noise kept for the seed that checks draw it with") {
  const auto noisy = [](const at::Tensor& x) { return x.add(at::randn(x.sizes())); };
  at::Tensor noise;
  int calls = 0;
  const auto cheat = [&](const at::Tensor& x) {
    if (++calls < 3) return noisy(x);  // the first call that is checked, and the one before
    if (!noise.defined()) noise = at::randn(x.sizes());
    return x.add(noise);
  };
  require_rejected(run(noisy, cheat, input()), "elements");
}

TEST_CASE("the memory that the baseline has freed") {
  const auto cheat = [](const at::Tensor& x) { return at::empty_like(x); };
  require_rejected(run(honest, cheat, input()), "unwritten");
}

TEST_CASE("the memory that the baseline has freed, past LibTorch's allocator") {
  const auto cheat = [](const at::Tensor& x) {
    void* memory = nullptr;
    if (::posix_memalign(&memory, 64, x.nbytes()) != 0) std::abort();
    return at::from_blob(memory, x.sizes(), [](void* p) { std::free(p); }, x.options());
  };
  require_rejected(run(honest, cheat, input()), "elements");
}

TEST_CASE("the baseline's own output, through a pointer to it") {
  at::Tensor kept;
  const auto leaky = [&](const at::Tensor& x) { return kept = honest(x); };
  const auto cheat = [&](const at::Tensor&) { return kept; };
  require_rejected(run(leaky, cheat, input()), "elements");
}

TEST_CASE("an answer kept for a baseline that writes to an operand") {
  const auto into = [](const at::Tensor& x, at::Tensor& out) { out.copy_(at::sigmoid(x)); };
  at::Tensor answer;
  const auto cheat = [&](const at::Tensor& x, at::Tensor& out) {
    if (!answer.defined()) answer = honest(x);
    out.copy_(answer);
  };
  require_rejected(run(into, cheat, input(), input()), "operand tensor 1");
}

}  // namespace
