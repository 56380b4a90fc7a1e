// Support for Catch2: CHECK_THAT with pace's matchers, and results in messages.
//
//   CHECK_THAT(result, pace::AsExpected());
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <catch2/catch_tostring.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>

// LibTorch's logging has a CHECK of its own, which ends the program. Included here first, it leaves CHECK as Catch2 has
// it.
#pragma push_macro("CHECK")
#include <c10/util/Logging.h>
#pragma pop_macro("CHECK")

#include <cstddef>
#include <ostream>
#include <string>
#include <type_traits>

#include "pace/base/format.hpp"
#include "pace/expectations.hpp"
#include "pace/gate/matcher.hpp"
#include "pace/report/text.hpp"
#include "pace/report/without_runner.hpp"
#include "pace/result/result.hpp"

/// CHECK_THAT with one of pace's matchers. A failure's message has the value and MatchResult::text, since a matcher's
/// toString() does not get the value.
template <class Value, pace::gate::PaceMatcher Matcher>
class Catch::MatchExpr<Value, Matcher> : public Catch::ITransientExpression {
 public:
  /// Matches `value`. It and `matcher` must outlive the expression.
  MatchExpr(Value&& value, const Matcher& matcher)
      : ITransientExpression{true, matcher.match(value)}, value_(value), matcher_(matcher) {}

  /// Prints the value and the text of the match, with control characters spelt out. Breaks lines at blanks, since
  /// Catch2 would break them inside of numbers, too.
  void streamReconstructedExpression(std::ostream& out) const override {
    // Catch2's lines have 80 columns: two for the indentation, one for the end.
    constexpr std::size_t columns = 76;
    const std::string text =
        Catch::Detail::stringify(value_) + ' ' + pace::report::printable_lines(matcher_.examine(value_).text);
    const auto lines = pace::report::wrap(text, columns);
    for (const auto& line : lines) out << (&line == lines.data() ? "" : "\n") << line;
  }

 private:
  const std::remove_reference_t<Value>& value_;
  const Matcher& matcher_;
};

/// Text of a row for messages of Catch2.
template <>
struct Catch::StringMaker<pace::ImplementationResult> {
  /// Returns in one line the name, the inputs, the outcome or the median time, and the speed-up with its interval.
  static std::string convert(const pace::ImplementationResult& result) {
    return convert(result, result.context.inputs);
  }
  /// The same for a row on `inputs`, named unless empty.
  static std::string convert(const pace::ImplementationResult& result, const std::string& inputs) {
    // GCC 12 wrongly warns of an overlapping copy if `"'" + ...` and `" " + ...` are inlined.
    std::string text(1, '\'');
    text.append(pace::report::printable(result.name)).append("'");
    if (!inputs.empty()) text.append(" on ").append(pace::report::short_inputs(inputs));
    if (result.outcome != pace::Outcome::measured) return text + " (" + pace::to_string(result.outcome) + ")";
    if (result.time) text += " (" + pace::format_time(result.time->shown_median());
    if (result.time && result.is_baseline) text += ", the baseline";
    if (result.speedup) {
      text += ", speed-up " + pace::format_factor(result.speedup->median);
      if (result.speedup->interval) text.append(" ").append(pace::format_interval(*result.speedup->interval));
    }
    return result.time ? text + ")" : text;
  }
};

/// Text of a result for messages of Catch2.
template <>
struct Catch::StringMaker<pace::Result> {
  /// Returns in one line the name of the comparison, its inputs and all its rows.
  static std::string convert(const pace::Result& result) {
    std::string text(1, '\'');
    text.append(pace::report::printable(result.name)).append("'");
    if (!result.inputs.empty()) text.append(" on ").append(pace::report::short_inputs(result.inputs));
    text += ": ";
    for (const auto& each : result.implementations) {
      if (&each != result.implementations.data()) text += "; ";
      text += StringMaker<pace::ImplementationResult>::convert(each, "");
    }
    return text;
  }
};

namespace pace::detail {

/// Shows results and makes the exit code if pace does not have the main function.
class WithoutRunnerListener : public Catch::EventListenerBase {
 public:
  using EventListenerBase::EventListenerBase;
  void testRunStarting(const Catch::TestRunInfo& /*info*/) override { report::begin_without_runner(); }
  void testRunEnded(const Catch::TestRunStats& stats) override {
    const auto& assertions = stats.totals.assertions;
    report::end_without_runner(stats.totals.testCases.total(), assertions.total() - assertions.skipped);
  }
};

/// Registers the listener once, however many files include this header.
inline const Catch::ListenerRegistrar<WithoutRunnerListener> without_runner_listener("pace, without its main function");

}  // namespace pace::detail
