// Gates on calls that take long, against each other or against the time that there is.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "pace/catch2.hpp"
#include "pace/compare/comparison.hpp"
#include "pace/gate/evidence.hpp"
#include "pace/run/run_context.hpp"
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
pace::Result compare(Nanoseconds baseline, Nanoseconds candidate, std::optional<pace::Expectation> guard,
                     pace::StopPolicy stop = pace::StopPolicy::decided) {
  FakeClock clock;
  pace::Options options;
  options.audit = pace::Audit::strict;
  options.stop = stop;
  auto comparison = pace::compare("case");
  comparison.options(options).baseline("old", [&] { clock.advance(baseline); }).candidate("new", [&] {
    clock.advance(candidate);
  });
  if (guard) comparison.expect(*guard);
  return comparison.run(clock);
}

/// The candidate's; a failing check prints its message.
const pace::Judgement& judgement(const pace::Result& result) {
  const auto& found = result["new"].judgements.at(0);
  UNSCOPED_INFO(found.message);
  return found;
}

std::string join(const std::vector<std::string>& notes) {
  std::string text;
  for (const auto& note : notes) text += note + '\n';
  return text;
}

TEST_CASE("a candidate that takes 20,000 times as long fails a guard, after three cycles") {
  for (const auto stop : {pace::StopPolicy::decided, pace::StopPolicy::budget}) {
    for (const Nanoseconds slow : {0.8 * s, 2 * s, 60 * s}) {
      const auto result = compare(40 * us, slow, NoSlowerThan(1.02), stop);
      INFO(slow.count());
      CHECK(judgement(result).verdict == Verdict::failed);
      CHECK_FALSE(judgement(result).acceptable);
      CHECK(result.rounds == 6);
      CHECK(result.stop_reason == StopReason::rule);
      CHECK_THAT(judgement(result).message, ContainsSubstring("in every cycle more than ten times 1.02x"));
      CHECK_THAT(result, !pace::AsExpected());
      CHECK(result["new"].speedup->anytime);
    }
  }
}

TEST_CASE("a slow third implementation does not make the other two slow") {
  FakeClock clock;
  const auto result = pace::compare("case")
                          .baseline("old", [&] { clock.advance(10 * us); })
                          .candidate("new", [&] { clock.advance(200 * us); })
                          .candidate("slow", [&] { clock.advance(5e4 * us); })
                          .expect("new", NoSlowerThan(1.02))
                          .run(clock);
  CHECK(result["new"].context.cycle > pace::gate::slow_side);
  CHECK(judgement(result).verdict == Verdict::failed);
  CHECK(result.rounds == 36);
}

TEST_CASE("a matcher on finished rounds says the same of a far too slow candidate") {
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
  CHECK_THAT(judgement(short_of_cycles).message, ContainsSubstring("the rounds ended early: the test's time is over"));
  // One that was never timed: too slow for the time that there was.
  const auto never = run(10 * s);
  CHECK(never["new"].outcome == pace::Outcome::unreached);
  CHECK(judgement(never).verdict == Verdict::undecided);
  CHECK(judgement(never).unresolved);
  CAPTURE(never);
  CHECK(pace::AsExpected().match(never));
}

TEST_CASE("a number of warm-up iterations is made however long they take, unless the program's time ends them") {
  const auto run = [](std::optional<Nanoseconds> left) {
    std::optional<Deadline> deadline;
    if (left) deadline.emplace(*left);
    FakeClock clock;
    pace::Options options;
    options.audit = pace::Audit::strict;
    options.warm_up_iterations = 10;
    return pace::compare("case")
        .options(options)
        .baseline("old", [&] { clock.advance(2 * s); })
        .candidate("new", [&] { clock.advance(2 * s); })
        .run(clock);
  };
  const auto whole = run(std::nullopt);
  CHECK(whole["old"].warm_up_iterations == 10);
  CHECK(whole["new"].warm_up_iterations == 10);
  CHECK_THAT(join(whole.notes), !ContainsSubstring("warm-up"));
  // An eighth of the time left after the first calls, for each.
  const auto cut = run(100 * s);
  CHECK(cut["old"].warm_up_iterations < 10);
  for (const std::string name : {"old", "new"})
    CHECK_THAT(join(cut.notes), ContainsSubstring("The warm-up of '" + name + "' ended after " +
                                                  std::to_string(cut[name].warm_up_iterations) + " of 10 iterations") &&
                                    ContainsSubstring("the test's time is over"));
}

}  // namespace
