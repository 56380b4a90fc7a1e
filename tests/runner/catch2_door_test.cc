// Expectations of gates as Catch2 matchers, and Catch2's texts of results.
#include <algorithm>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <catch2/matchers/catch_matchers_predicate.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "pace/catch2.hpp"
#include "pace/run/run_context.hpp"
#include "tests/report/sample_results.hpp"

namespace {

template <class T>
std::string shown(const T& value) {
  return Catch::StringMaker<T>::convert(value);
}

/// A comparison known by its summary alone: speed-up 2, interval 1 to 4.
pace::Result summary() {
  auto result = sample::comparison("case");
  for (auto& each : result.implementations) each.log_ratios.clear();
  return result;
}

/// The text under "with expansion:" of a failure, as Catch2 puts it together.
template <class Value, class Matcher>
std::string expansion(const Value& value, const Matcher& matcher) {
  std::ostringstream text;
  Catch::makeMatchExpr(value, matcher).streamReconstructedExpression(text);
  return text.str();
}

/// The text without the line ends that make it fit.
std::string in_one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

auto is_named(const std::string& name) {
  return Catch::Matchers::Predicate<pace::ImplementationResult>([name](const auto& row) { return row.name == name; },
                                                                "is named " + name);
}

}  // namespace

TEST_CASE("expectations are matchers as they are") {
  const auto result = summary();
  REQUIRE_THAT(result, pace::Correct());
  CHECK_THAT(result["fused"], pace::Correct());
  CHECK_THAT(result["fused"], pace::SpeedupAtLeast(0.9));
  CHECK_THAT(result["fused"], pace::NoSlowerThan(1.0));
  CHECK_FALSE(pace::SpeedupAtLeast(1.5).match(result["fused"]));
  CHECK_FALSE(pace::SpeedupAtLeast(1.5).match(result["eager"]));
}

TEST_CASE("an implementation in one line") {
  const auto result = sample::comparison("case");
  CHECK(shown(result["eager"]) == "'eager' (4.00 us, the baseline)");
  CHECK(shown(result["fused"]) == "'fused' (2.00 us, speed-up 2.00x [1.00x, 4.00x])");
  CHECK(shown(sample::measured("alone", 10)) == "'alone' (10.0 ns)");
  CHECK(shown(sample::without_figures("gone", pace::Outcome::refused, "why")) == "'gone' (refused)");
  auto few = sample::candidate("few", 10, 2);
  few.speedup->interval.reset();
  CHECK(shown(few) == "'few' (10.0 ns, speed-up 2.00x)");
  few.time.reset();
  few.speedup.reset();
  CHECK(shown(few) == "'few'");
}

TEST_CASE("a comparison in one line") {
  CHECK(shown(sample::comparison("case")) ==
        "'case': 'eager' (4.00 us, the baseline); 'fused' (2.00 us, speed-up 2.00x [1.00x, 4.00x])");
}

TEST_CASE("a failure says what was measured, what was expected and what to do") {
  const auto result = summary();
  CHECK(expansion(result["fused"], pace::SpeedupAtLeast(1.5)) ==
        "'fused' (2.00 us, speed-up 2.00x [1.00x, 4.00x]) was expected to have a\n"
        "speed-up of at least 1.50x\n"
        "undecided: 'fused' is 2.00x as fast as the baseline [1.00x, 4.00x] at 95 %,\n"
        "which holds 1.50x\n"
        "try: measure longer (--budget), or on a quieter machine, or claim less");
}

TEST_CASE("lines of a failure fit Catch2's, which breaks longer ones inside of numbers") {
  auto result = sample::comparison("case");
  std::string message;
  for (int i = 0; i < 40; ++i) message += "takes " + std::to_string(i) + ".25x [1.0" + std::to_string(i) + "x, 2.5x] ";
  result.implementations[1].judgements = {{"x", pace::Verdict::failed, false, message}};
  std::istringstream lines(expansion(result, pace::AsExpected()));
  std::string joined;
  for (std::string line; std::getline(lines, line); joined += line + ' ') CHECK(line.size() <= 76);
  CHECK_THAT(joined, Catch::Matchers::ContainsSubstring(message));
}

TEST_CASE("a failure whose figures stand in the table above does not repeat them") {
  auto result = sample::comparison("case");
  result.implementations[1].judgements = {{"time of at most 1.50x", pace::Verdict::failed, false, "the whole message"}};
  CHECK_THAT(expansion(result, pace::AsExpected()), Catch::Matchers::ContainsSubstring("the whole message"));
  result.implementations[1].examined->shown = true;
  CHECK_THAT(expansion(result, pace::AsExpected()),
             Catch::Matchers::ContainsSubstring("failed: 'fused' was expected to have a time of at most 1.50x") &&
                 !Catch::Matchers::ContainsSubstring("the whole message"));
}

TEST_CASE("matchers are negated and combined") {
  // 2.00x as fast [1.00x, 4.00x].
  const auto result = summary();
  const auto& fused = result["fused"];
  CHECK_THAT(result, !!pace::Correct());
  CHECK_THAT(fused, !pace::SpeedupAtLeast(5));
  CHECK_THAT(fused, pace::Correct() && pace::SpeedupAtLeast(0.9) && !pace::SpeedupAtLeast(5));
  CHECK_THAT(fused, pace::SpeedupAtLeast(5) || pace::NoSlowerThan(1));
  CHECK_THAT(fused, !(pace::SpeedupAtLeast(5) && pace::Correct()));
  CHECK_THAT(fused, !(pace::SpeedupAtLeast(5) || !pace::Correct()));
  CHECK_THAT(result, pace::Correct() && pace::AsExpected());
  CHECK_FALSE((!pace::Correct()).match(result));
  CHECK_FALSE((pace::Correct() && pace::SpeedupAtLeast(5)).match(fused));
  CHECK_FALSE((pace::SpeedupAtLeast(5) || !pace::Correct()).match(fused));
  // A matcher with a name, which is not moved from.
  const pace::Correct correct;
  CHECK_THAT(result, correct && !!correct);
  CHECK_THAT(result, correct);
}

TEST_CASE("matchers combine with Catch2's, on either side") {
  const auto result = summary();
  const auto& fused = result["fused"];
  CHECK_THAT(fused, pace::Correct() && is_named("fused"));
  CHECK_THAT(fused, is_named("fused") && pace::Correct());
  CHECK_THAT(fused, (!is_named("eager") && pace::Correct()) || pace::SpeedupAtLeast(5));
  CHECK_THAT(fused, is_named("eager") || pace::Correct());
  CHECK_THAT(fused, !(pace::Correct() && is_named("eager")));
  CHECK_FALSE((is_named("eager") && pace::Correct()).match(fused));
}

TEST_CASE("an unproven expectation meets neither a matcher nor its negation") {
  auto result = summary();
  CHECK_FALSE(pace::SpeedupAtLeast(1.5).match(result["fused"]));  // undecided
  CHECK_FALSE((!pace::SpeedupAtLeast(1.5)).match(result["fused"]));
  CHECK_FALSE((!(pace::SpeedupAtLeast(1.5) && pace::Correct())).match(result["fused"]));
  CHECK_FALSE(pace::NoSlowerThan(0.7).match(result["fused"]));  // undecided, too, and not reported as in a comparison
  CHECK_FALSE((!pace::NoSlowerThan(0.7)).match(result["fused"]));
  const auto allowed = pace::NoSlowerThan(0.7).when_undecided(pace::WhenUndecided::let_through);
  CHECK_THAT(result["fused"], allowed && pace::Correct());
  CHECK_FALSE((!allowed).match(result["fused"]));
  for (const auto outcome : {pace::Outcome::refused, pace::Outcome::unreached}) {
    result.implementations[1] = sample::without_figures("fused", outcome, "why");
    // No time is no fault.
    CHECK(pace::Correct().match(result) == (outcome == pace::Outcome::unreached));
    CHECK_FALSE((!pace::Correct()).match(result));
    CHECK_FALSE((!pace::Correct()).match(result["fused"]));
    CHECK_FALSE((!pace::AsExpected()).match(result));
    CHECK_FALSE((!pace::SpeedupAtLeast(1.5)).match(result["fused"]));
  }
  CHECK_FALSE((!pace::Correct()).match(pace::Result()));
}

TEST_CASE("a candidate that ran and is not correct meets the negation") {
  auto result = summary();
  for (const auto outcome : {pace::Outcome::wrong, pace::Outcome::threw, pace::Outcome::crashed}) {
    result.implementations[1] = sample::without_figures("fused", outcome, "why");
    CHECK_THAT(result, !pace::Correct() && !pace::AsExpected());
    CHECK_THAT(result["fused"], !pace::Correct() && !pace::NoSlowerThan(1));
  }
  auto slow = summary();
  slow.implementations[1].judgements = {{.verdict = pace::Verdict::failed}};
  CHECK_THAT(slow, pace::Correct() && !pace::AsExpected());
  slow.implementations[1].judgements = {};
  slow.phases = {summary()};
  CHECK_THAT(slow, pace::AsExpected());
  slow.phases[0].implementations[1].judgements = {{.verdict = pace::Verdict::failed}};
  CHECK_THAT(slow, !pace::AsExpected());
}

TEST_CASE("matching publishes nothing, leaves results as they are, and says the same each time") {
  pace::RunContext& context = pace::run_context();
  pace::RunContext aside;
  context.swap_listeners(aside);
  std::size_t published = 0;
  context.on_result([&](const pace::Result&) { ++published; });
  const auto result = summary();
  const auto guard = pace::NoSlowerThan(0.7), claim = pace::SpeedupAtLeast(0.9);
  const auto fast = expansion(result["fused"], claim);
  for (int time = 0; time < 2; ++time) {
    CHECK_THAT(result["fused"], claim);
    CHECK_FALSE(claim.match(result["eager"]));
    CHECK_FALSE(guard.match(result["fused"]));
    CHECK_THAT(result["fused"], claim || guard);
    CHECK_FALSE((guard && pace::Correct()).match(result["fused"]));
    CHECK_THAT(result, pace::Correct() && pace::AsExpected());
    CHECK(expansion(result["fused"], claim) == fast);
  }
  CHECK(published == 0);
  CHECK(result["fused"].judgements.empty());
  CHECK(shown(result) == shown(summary()));
  context.clear_listeners();
  context.swap_listeners(aside);
}

TEST_CASE("a failure of a combination has what each part says") {
  auto result = summary();
  CHECK(in_one_line(expansion(result, !pace::Correct())) == shown(result) + " not ( is correct )");
  const std::string both = expansion(result["fused"], pace::SpeedupAtLeast(5) && pace::Correct() && is_named("eager"));
  CHECK_THAT(both,
             Catch::Matchers::ContainsSubstring("( ( was expected to have a\nspeed-up of at least 5.00x\nfailed: ") &&
                 Catch::Matchers::EndsWith("\nand is correct )\nand matches predicate: \"is named eager\" )"));
  const std::string either = expansion(result["fused"], pace::SpeedupAtLeast(5) || is_named("eager"));
  CHECK_THAT(either, Catch::Matchers::EndsWith("\nor matches predicate: \"is named eager\" )"));
}

TEST_CASE("control characters of names and messages are spelt out, and the lines of a failure stay") {
  auto result = sample::comparison("\033[2Jcase\n");
  result.implementations[1].name = "\033[32mfused";
  result.implementations[1].outcome = pace::Outcome::threw;
  result.implementations[1].message = "\033[1A\u202eno";
  const std::vector<std::string> texts{shown(result), expansion(result, pace::Correct()),
                                       expansion(result["\033[32mfused"], pace::Correct())};
  for (const auto& text : texts)
    CHECK_THAT(text, !Catch::Matchers::ContainsSubstring("\033") && !Catch::Matchers::ContainsSubstring("\u202e") &&
                         Catch::Matchers::ContainsSubstring("\\x1b[32mfused"));
  CHECK_THAT(expansion(result, pace::Correct()),
             Catch::Matchers::ContainsSubstring("'\\x1b[2Jcase\\n'") &&
                 Catch::Matchers::ContainsSubstring("but:\n  '\\x1b[32mfused' threw: \\x1b[1A\\u202eno"));
}

TEST_CASE("outcomes, verdicts and reasons are shown by name") {
  CHECK(shown(pace::Outcome::out_of_memory) == "out of memory");
  CHECK(shown(pace::Verdict::undecided) == "undecided");
  CHECK(shown(pace::StopReason::max_rounds) == "max rounds");
}
