// The gate's expectations as Catch2 matchers, and what Catch2 prints of results.
#include <string>

#include "pace/catch2.hpp"
#include "tests/report/sample_results.hpp"

namespace {

template <class T>
std::string shown(const T& value) {
  return Catch::StringMaker<T>::convert(value);
}

/// A comparison of which only the summary is left: speed-up 2, interval 1 to 4.
pace::Result summary() {
  auto result = sample::comparison("case");
  for (auto& each : result.implementations) each.log_ratios.clear();
  return result;
}

/// The text under "with expansion:" of a failure, as Catch2 puts it together.
template <class Value, class Matcher>
std::string expansion(const Value& value, const Matcher& matcher) {
  matcher.match(value);
  return shown(value) + " " + matcher.toString();
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
        "'fused' (2.00 us, speed-up 2.00x [1.00x, 4.00x]) was expected to have a speed-up of at least 1.50x\n"
        "undecided: 'fused' is 2.00x as fast as the baseline [1.00x, 4.00x] at 95 %, which holds 1.50x. Measure longer "
        "(--budget), or on a quieter machine, or claim less");
}
