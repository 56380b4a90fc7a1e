// An expectation that the library does not have: one function in one file, by the public headers alone.
#include <string>

#include <ATen/ops/add.h>
#include <ATen/ops/ones.h>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <pace/catch2.hpp>
#include <pace/compare.hpp>

#include "pace/report/json.hpp"
#include "tests/report/temporary_file.hpp"
#include "tests/support/comparisons.hpp"

namespace mine {

/// The very first call, where libraries load and compile, takes at most so long.
pace::Expectation FirstCallWithin(pace::Nanoseconds limit) {
  return pace::Expectation(pace::Expectation::Rule{
      .description = "first call of at most " + pace::format_time(limit),
      .judge = [limit](const pace::ImplementationResult& row) -> pace::Judgement {
        const std::string found = '\'' + row.name + "' takes " + pace::format_time(row.first_call) + " at first";
        if (row.first_call <= limit) return {.verdict = pace::Verdict::passed, .message = found};
        return {.verdict = pace::Verdict::failed, .message = found + "; load what it needs beforehand"};
      }});
}

}  // namespace mine

namespace {

using Catch::Matchers::ContainsSubstring;
using pace::Verdict;

/// Takes 100 ns a call, the candidate 1 us at first.
pace::Result compare(const pace::Expectation& expectation, const std::string& of = {}) {
  pace::test::FakeClock clock;
  const auto add = [&clock](pace::Nanoseconds first) {
    return [&clock, first, calls = 0](const at::Tensor& x) mutable {
      clock.advance(calls++ == 0 ? first : pace::Nanoseconds(100));
      return at::add(x, 1);
    };
  };
  auto comparison = pace::compare("own", at::ones({8}));
  comparison.options(pace::test::few_rounds())
      .baseline("eager", add(pace::Nanoseconds(100)))
      .candidate("loading", add(pace::Nanoseconds(1000)));
  of.empty() ? comparison.expect(expectation) : comparison.expect(of, expectation);
  return comparison.run(clock);
}

std::string json_of(const pace::Result& result) {
  const TemporaryFile file;
  pace::report::JsonSink sink(file.path(), pace::report::ResultsHeader{});
  sink.write(result);
  sink.finish();
  return file.content();
}

TEST_CASE("an expectation of one's own gates a comparison like any other") {
  const auto met = compare(mine::FirstCallWithin(pace::Nanoseconds(1000)));
  CHECK_THAT(met, pace::AsExpected());
  REQUIRE(met["loading"].judgements.size() == 1);
  CHECK(met["loading"].judgements[0].message == "'loading' takes 1.00 us at first");
  CHECK(met["eager"].judgements.empty());

  const auto broken = compare(mine::FirstCallWithin(pace::Nanoseconds(999)));
  CHECK_THAT(broken, !pace::AsExpected());
  CHECK_THAT(pace::AsExpected().examine(broken).text,
             ContainsSubstring("failed: 'loading' takes 1.00 us at first; load what it needs beforehand"));
  CHECK_FALSE(broken["loading"].acceptable());

  // A name selects the baseline, too.
  CHECK(compare(mine::FirstCallWithin(pace::Nanoseconds(99)), "eager")["eager"].judgements.at(0).verdict ==
        Verdict::failed);
}

TEST_CASE("reports have it by its description and message") {
  const auto json = json_of(compare(mine::FirstCallWithin(pace::Nanoseconds(999))));
  CHECK_THAT(json, ContainsSubstring("first call of at most 999 ns") && ContainsSubstring("\"failed\"") &&
                       ContainsSubstring("'loading' takes 1.00 us at first; load what it needs beforehand"));
}

TEST_CASE("it is a matcher, and combines with others") {
  const auto result = compare(pace::AtMost(pace::Count::operator_calls, 1));
  CHECK_THAT(result["loading"], mine::FirstCallWithin(pace::Nanoseconds(1000)) && pace::Correct());
  CHECK_THAT(result["loading"], !mine::FirstCallWithin(pace::Nanoseconds(999)));
}

TEST_CASE("pace judges rows without figures, and an undecided verdict closes the gate unless allowed") {
  auto row = compare(mine::FirstCallWithin(pace::Nanoseconds(1000)))["loading"];
  const auto undecided = pace::Expectation(pace::Expectation::Rule{
      .description = "guess", .judge = [](const pace::ImplementationResult&) -> pace::Judgement {
        return {.verdict = Verdict::undecided, .message = "not known", .unresolved = true};
      }});
  CHECK_FALSE(undecided.judge(row).acceptable);
  CHECK_FALSE(undecided.judge(row).unresolved);
  CHECK(undecided.when_undecided(pace::WhenUndecided::let_through).judge(row).acceptable);
  for (const auto outcome : {pace::Outcome::wrong, pace::Outcome::refused}) {
    row.outcome = outcome;
    const auto judgement = undecided.when_undecided(pace::WhenUndecided::let_through).judge(row);
    CHECK(judgement.verdict == (outcome == pace::Outcome::wrong ? Verdict::failed : Verdict::invalid));
    CHECK_FALSE(judgement.acceptable);
    CHECK(judgement.expectation == "guess");
  }
}

TEST_CASE("a judgement without a message gets one that names the rule and its verdict") {
  const auto saying = [](const pace::Judgement& said) {
    return pace::Expectation(pace::Expectation::Rule{
        .description = "good luck", .judge = [said](const pace::ImplementationResult&) { return said; }});
  };
  const auto row = compare(saying({}))["loading"];
  REQUIRE(row.judgements.size() == 1);
  CHECK(row.judgements[0].verdict == Verdict::invalid);
  CHECK_FALSE(row.judgements[0].acceptable);
  CHECK(row.judgements[0].message ==
        "'loading' is judged invalid by the rule 'good luck', which gives no message; expected one with the measured "
        "and the expected figures");
  CHECK_THAT(saying({.verdict = Verdict::passed}).judge(row).message,
             ContainsSubstring("'loading' is judged passed by the rule 'good luck'"));
  CHECK(saying({.verdict = Verdict::passed, .message = "as said"}).judge(row).message == "as said");
}

TEST_CASE("a rule without a description or a function is an error") {
  using Rule = pace::Expectation::Rule;
  const auto judge = [](const pace::ImplementationResult&) { return pace::Judgement(); };
  CHECK_THROWS_WITH(pace::Expectation(Rule{.judge = judge}), ContainsSubstring("no description"));
  CHECK_THROWS_WITH(pace::Expectation(Rule{.description = "guess"}), ContainsSubstring("no function"));
  CHECK_THROWS_WITH(pace::Expectation(Rule{.description = "guess", .judge = judge}).alpha(0.1),
                    ContainsSubstring("a guess is judged by a rule"));
}

}  // namespace
