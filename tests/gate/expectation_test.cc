#include "pace/gate/times.hpp"

#include <cmath>
#include <string>

#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "pace/catch2.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;
using pace::ImplementationResult;
using pace::Interval;
using pace::NoSlowerThan;
using pace::Outcome;
using pace::SpeedupAtLeast;
using pace::Verdict;

ImplementationResult candidate(double low, double median, double high) {
  ImplementationResult result;
  result.name = "fused";
  result.outcome = Outcome::measured;
  result.checked = true;
  result.speedup.emplace();
  result.speedup->observations = 50;
  result.speedup->median = median;
  result.speedup->interval = Interval<double>{low, high, 0.95};
  return result;
}

TEST_CASE("a claimed speed-up passes only if the whole interval reaches it") {
  const auto claim = SpeedupAtLeast(1.2);
  const auto proven = claim.judge(candidate(1.2, 1.3, 1.4));
  CHECK(proven.verdict == Verdict::passed);
  CHECK(proven.acceptable);
  const auto disproven = claim.judge(candidate(1.0, 1.1, 1.19));
  CHECK(disproven.verdict == Verdict::failed);
  CHECK_FALSE(disproven.acceptable);
  // A point estimate above the threshold is not enough.
  const auto open = claim.judge(candidate(1.19, 1.3, 1.4));
  CHECK(open.verdict == Verdict::undecided);
  CHECK_FALSE(open.acceptable);
}

TEST_CASE("a guard fails only if the whole interval is slower") {
  const auto guard = NoSlowerThan(1.25);
  const auto fine = guard.judge(candidate(0.8, 1.0, 1.1));
  CHECK(fine.verdict == Verdict::passed);
  CHECK(fine.acceptable);
  const auto slower = guard.judge(candidate(0.5, 0.6, 0.79));
  CHECK(slower.verdict == Verdict::failed);
  CHECK_FALSE(slower.acceptable);
  const auto open = guard.judge(candidate(0.5, 0.6, 0.81));
  CHECK(open.verdict == Verdict::undecided);
  CHECK(open.acceptable);
}

TEST_CASE("a limit is named with the digits that it was stated with") {
  CHECK(SpeedupAtLeast(1.2).describe() == "speed-up of at least 1.20x");
  CHECK(SpeedupAtLeast(1.004).describe() == "speed-up of at least 1.004x");
  CHECK(NoSlowerThan(1.001).describe() == "time of at most 1.001x the baseline's");
  CHECK(NoSlowerThan(0.00125).describe() == "time of at most 0.00125x the baseline's");
  CHECK(NoSlowerThan(12345.678).describe() == "time of at most 12345.7x the baseline's");
  CHECK(SpeedupAtLeast(1.0 / 3).describe() == "speed-up of at least 0.333333x");
}

TEST_CASE("a judgement gives the figures, the threshold and what to do") {
  const auto slow = SpeedupAtLeast(1.2).judge(candidate(0.49, 0.5, 0.51));
  CHECK(slow.message ==
        "'fused' is 0.500x as fast as the baseline [0.490x, 0.510x] at 95 %, all of it below 1.20x\n"
        "try: make the implementation faster, or lower the expectation");
  const auto guard = NoSlowerThan(1.1).judge(candidate(0.5, 0.5, 0.5));
  CHECK(guard.message ==
        "'fused' takes 2.00x the baseline's time [2.00x, 2.00x] at 95 %, all of it above 1.10x\n"
        "try: find what made it slower, or allow more");
  CHECK_THAT(SpeedupAtLeast(1.2).judge(candidate(1.1, 1.2, 1.3)).message, ContainsSubstring("--budget"));
  CHECK(slow.expectation == "speed-up of at least 1.20x");
}

TEST_CASE("without figures there is no verdict to pass") {
  ImplementationResult wrong = candidate(2, 2, 2);
  wrong.outcome = Outcome::wrong;
  wrong.message = "3 of 4 elements differ";
  for (const auto& judgement : {SpeedupAtLeast(1).judge(wrong), NoSlowerThan(1).judge(wrong)}) {
    CHECK(judgement.verdict == Verdict::failed);
    CHECK_FALSE(judgement.acceptable);
    CHECK_THAT(judgement.message, ContainsSubstring("no speed-up") && ContainsSubstring("3 of 4 elements differ"));
  }
  ImplementationResult threw = wrong;
  threw.outcome = Outcome::threw;
  CHECK(NoSlowerThan(1).judge(threw).verdict == Verdict::failed);
  CHECK_FALSE(NoSlowerThan(1).judge(threw).acceptable);
  ImplementationResult refused = wrong;
  refused.outcome = Outcome::refused;
  CHECK(NoSlowerThan(1).judge(refused).verdict == Verdict::invalid);
  CHECK_FALSE(NoSlowerThan(1).judge(refused).acceptable);
  ImplementationResult baseline = candidate(1, 1, 1);
  baseline.is_baseline = true;
  CHECK(SpeedupAtLeast(1).judge(baseline).verdict == Verdict::invalid);
}

TEST_CASE("too few observations prove nothing, for a claim nor against a guard") {
  ImplementationResult few = candidate(1, 1, 1);
  few.speedup->interval.reset();
  few.speedup->observations = 3;
  const auto claim = SpeedupAtLeast(0.5).judge(few);
  CHECK(claim.verdict == Verdict::undecided);
  CHECK_FALSE(claim.acceptable);
  CHECK_THAT(claim.message, ContainsSubstring("only 3 paired observations"));
  CHECK(NoSlowerThan(0.5).judge(few).acceptable);
}

TEST_CASE("a threshold must be a factor") {
  CHECK_THROWS_AS(SpeedupAtLeast(0), pace::Error);
  CHECK_THROWS_AS(SpeedupAtLeast(-1), pace::Error);
  CHECK_THROWS_AS(NoSlowerThan(std::nan("")), pace::Error);
}

TEST_CASE("what refines an expectation returns a new value") {
  const auto guard = NoSlowerThan(1.02);
  const auto other = guard.alpha(0.2).beta(0.3).when_undecided(pace::WhenUndecided::close).in_phase("backward");
  CHECK_FALSE(guard.demand().alpha);
  CHECK_FALSE(guard.demand().beta);
  CHECK_FALSE(guard.demand().closes_when_undecided());
  CHECK(guard.phase().empty());
  CHECK(other.demand().alpha == 0.2);
  CHECK(other.demand().beta == 0.3);
  CHECK(other.demand().closes_when_undecided());
  CHECK(other.phase() == "backward");
  CHECK_THROWS_AS(guard.alpha(0.5), pace::Error);
  CHECK_THROWS_AS(guard.in_phase(""), pace::Error);
}

TEST_CASE("a row does not know which phase it is of, so that an expectation of one is no matcher") {
  CHECK_THROWS_WITH(NoSlowerThan(1.02).in_phase("backward").match(candidate(1, 1, 1)),
                    ContainsSubstring(".expect") && ContainsSubstring("result.in_phase(\"backward\")[\"fused\"]"));
}

TEST_CASE("expectations are Catch2 matchers") {
  CHECK_THAT(candidate(1.2, 1.3, 1.4), SpeedupAtLeast(1.2));
  const auto claim = SpeedupAtLeast(1.5);
  CHECK_FALSE(claim.match(candidate(1.2, 1.3, 1.4)));
  CHECK_THAT(claim.examine(candidate(1.2, 1.3, 1.4)).text,
             ContainsSubstring("speed-up of at least 1.50x") && ContainsSubstring("failed: 'fused'"));
}

TEST_CASE("correct means that all ran and all were compared") {
  pace::Result result;
  CHECK_FALSE(pace::Correct().match(result));
  result.implementations.push_back(candidate(1, 1, 1));
  CHECK(pace::Correct().match(result));
  result.implementations.push_back(candidate(1, 1, 1));
  result.implementations.back().name = "null";
  result.implementations.back().outcome = Outcome::wrong;
  result.implementations.back().message = "output looks unwritten";
  const pace::Correct correct;
  CHECK_FALSE(correct.match(result));
  CHECK_THAT(correct.examine(result).text, ContainsSubstring("'null' wrong: output looks unwritten"));
  CHECK_FALSE(correct.match(result.implementations.back()));
  CHECK(correct.match(result.implementations.front()));
  result.implementations.back() = candidate(1, 1, 1);
  result.implementations.back().checked = false;
  CHECK_FALSE(correct.match(result));
}

TEST_CASE("an unreached candidate is not incorrect, unless its device was lost") {
  pace::Result result;
  result.implementations = {candidate(1, 1, 1), candidate(1, 1, 1)};
  result.implementations.back().outcome = Outcome::unreached;
  result.implementations.back().message = "no time";
  const pace::Correct correct;
  CHECK(correct.match(result));
  CHECK(correct.examine(result).text == "is not known to be incorrect:\n  'fused' was not measured: no time");
  CHECK(correct.match(result.implementations.back()));
  result.lost_device = "an illegal address";
  CHECK_FALSE(correct.match(result));
  CHECK_THAT(correct.examine(result).text, ContainsSubstring("its device was lost: an illegal address"));
}

TEST_CASE("as expected means correct, and no judgement against it") {
  pace::Result result;
  result.implementations.push_back(candidate(1, 1, 1));
  auto& each = result.implementations.front();
  CHECK(pace::AsExpected().match(result));
  each.judgements.push_back({.verdict = Verdict::undecided, .acceptable = true, .message = "open"});
  CHECK(pace::AsExpected().match(result));
  each.judgements.push_back({.verdict = Verdict::failed, .acceptable = false, .message = "too slow"});
  const pace::AsExpected as_expected;
  CHECK_FALSE(as_expected.match(result));
  CHECK(as_expected.examine(result).text == "\nfailed: too slow");
  // An unreached implementation proves no claim, and breaks no guard.
  each.outcome = Outcome::unreached;
  CHECK_FALSE(as_expected.match(result));
  // Several processes decide it together.
  each.judgements.back().deferred = true;
  CHECK(as_expected.match(result));
  CHECK_FALSE((!as_expected).match(result));
  each.judgements.pop_back();
  CHECK(as_expected.match(result));
  each.judgements.clear();
  each.outcome = Outcome::threw;
  CHECK_FALSE(as_expected.match(result));
}

TEST_CASE("an expectation of the host's time is of whole iterations and of no rule") {
  CHECK_THROWS_WITH(NoSlowerThan(1.1).in_phase("backward").on_host(), ContainsSubstring("whole iterations alone"));
  CHECK_THROWS_WITH(NoSlowerThan(1.1).on_host().in_phase("backward"), ContainsSubstring("whole iterations alone"));
  CHECK_THROWS_WITH(pace::AtMost(pace::Count::operator_calls, 3).on_host(), ContainsSubstring("judged by a rule"));
  CHECK_THROWS_WITH(pace::AtMost(pace::Count::operator_calls, 3).on_device(), ContainsSubstring("judged by a rule"));
  // A row whose clock is the host's can be judged by it, and so can a row of the CPU.
  auto row = candidate(0.9, 1.0, 1.1);
  CHECK(NoSlowerThan(1.25).on_host().examine(row).met);
  row.context.clock = "host";
  CHECK(NoSlowerThan(1.25).on_host().examine(row).met);
  CHECK_THAT(NoSlowerThan(1.25).judge(row).message, ContainsSubstring("time by the host clock ["));
}

}  // namespace

TEST_CASE("a message of a megabyte is cut in an assertion, with its length, and other rows stay") {
  const std::string message(1 << 20, 'x');
  pace::Result result;
  for (const char* name : {"first", "second"}) {
    auto& row = result.implementations.emplace_back();
    row.name = name;
    row.outcome = pace::Outcome::threw;
    row.message = message;
  }
  for (const auto& text : {pace::AsExpected().examine(result).text, pace::Correct().examine(result).text}) {
    CHECK(text.size() < 8000);
    CHECK_THAT(text, ContainsSubstring("'first' threw") && ContainsSubstring("'second' threw") &&
                         ContainsSubstring("of 1048576 bytes are left out here"));
  }
  const auto text = pace::SpeedupAtLeast(1.1).examine(result.implementations[0]).text;
  CHECK(text.size() < 4000);
  CHECK_THAT(text, ContainsSubstring("make it run on these inputs first"));
}
