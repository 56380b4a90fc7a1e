// Gates on calls that take long, against each other or against the time that there is.
#include <optional>
#include <string>
#include <utility>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "pace/compare/comparison.hpp"
#include "pace/core/run_context.hpp"
#include "pace/gate/as_expected.hpp"
#include "tests/support/fake_clock.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;
using pace::Nanoseconds;
using pace::NoSlowerThan;
using pace::StopReason;
using pace::Verdict;
using pace::test::FakeClock;

constexpr Nanoseconds us{1e3}, s{1e9};

/// The program's own time, for as long as it lives.
class Deadline {
 public:
  explicit Deadline(Nanoseconds time) { pace::run_context().deadline = {time, "the test's time is over"}; }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  ~Deadline() { pace::run_context().deadline.reset(); }
};

/// With pace's own options but for `stop`.
pace::Result compare(Nanoseconds baseline, Nanoseconds candidate, std::optional<NoSlowerThan> guard,
                     pace::StopPolicy stop = pace::StopPolicy::decided) {
  FakeClock clock;
  pace::Options options;
  options.stop = stop;
  auto comparison = pace::compare("case");
  comparison.options(options)
      .baseline("old", [&] { clock.advance(baseline); })
      .candidate("new", [&] { clock.advance(candidate); });
  if (guard) comparison.expect(*guard);
  return comparison.run(clock);
}

const pace::Judgement& judgement(const pace::Result& result) { return result["new"].judgements.at(0); }

TEST_CASE("what takes 20,000 times as long fails a guard, after three cycles") {
  for (const auto stop : {pace::StopPolicy::decided, pace::StopPolicy::budget}) {
    for (const Nanoseconds slow : {0.8 * s, 2 * s, 60 * s}) {
      const auto result = compare(40 * us, slow, NoSlowerThan(1.02), stop);
      INFO(slow.count());
      CHECK(judgement(result).verdict == Verdict::failed);
      CHECK_FALSE(judgement(result).acceptable);
      CHECK(result.rounds == 6);
      CHECK(result.stop_reason == StopReason::rule);
      CHECK_THAT(judgement(result).message, ContainsSubstring("in every cycle more than ten times 1.02x"));
      CHECK_FALSE(pace::AsExpected().match(result));
      CHECK(result["new"].speedup->anytime);
    }
  }
}

TEST_CASE("a matcher on finished rounds says the same of what is far too slow") {
  const auto result = compare(40 * us, 2 * s, std::nullopt);
  CHECK(NoSlowerThan(1.02).judge(result["new"]).verdict == Verdict::failed);
  CHECK(pace::SpeedupAtLeast(1.2).judge(result["new"]).verdict == Verdict::failed);
}

TEST_CASE("the fewest cycles that can decide a guard are made, past the hard limit") {
  const auto twice = compare(2 * s, 4 * s, NoSlowerThan(1.02));
  CHECK(judgement(twice).verdict == Verdict::failed);
  CHECK(twice.elapsed > pace::Options().hard_limit);
  CHECK(twice.rounds == 24);
  const auto same = compare(2 * s, 2 * s, NoSlowerThan(1.02), pace::StopPolicy::budget);
  CHECK(judgement(same).verdict == Verdict::passed);
  CHECK(same.rounds <= 24);
  CHECK(same.stop_reason == StopReason::rule);
  // Figures alone are not worth as much.
  const auto figures = compare(2 * s, 4 * s, std::nullopt);
  CHECK(figures.elapsed >= pace::Options().hard_limit);
  CHECK(figures.elapsed <= pace::Options().hard_limit + 12 * s);
}

TEST_CASE("where the program's time ends first, a guard is open, and told apart from one that passed") {
  const auto run = [](Nanoseconds left) {
    const Deadline deadline(left);
    return compare(2 * s, 4 * s, NoSlowerThan(1.02));
  };
  const auto short_of_cycles = run(100 * s);
  CHECK(short_of_cycles.stop_reason == StopReason::deadline);
  CHECK(judgement(short_of_cycles).verdict == Verdict::undecided);
  CHECK(judgement(short_of_cycles).unresolved);
  CHECK_THAT(judgement(short_of_cycles).message, ContainsSubstring("The rounds ended early: the test's time is over"));
  // One that was never timed: too slow for the time that there was.
  const auto never = run(10 * s);
  CHECK(never["new"].outcome == pace::Outcome::unreached);
  CHECK(judgement(never).verdict == Verdict::undecided);
  CHECK(judgement(never).unresolved);
  CHECK_FALSE(pace::AsExpected().match(never));
}

}  // namespace
