#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "pace/base/error.hpp"
#include "pace/result/options.hpp"
#include "pace/result/result.hpp"
#include "pace/run/run_context.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Message;
using pace::Nanoseconds;

TEST_CASE("a result finds implementations by name and names the known ones otherwise") {
  pace::Result result;
  result.name = "softmax";
  CHECK_THROWS_AS(result.baseline(), pace::Error);
  result.implementations.resize(2);
  result.implementations[0].name = "eager";
  result.implementations[0].is_baseline = true;
  result.implementations[1].name = "fused";
  CHECK(result.baseline().name == "eager");
  CHECK(&result["fused"] == &result.implementations[1]);
  CHECK_THROWS_MATCHES(result["fussed"], pace::Error,
                       Message("result 'softmax' has no implementation 'fussed'; it has: eager, fused"));
}

TEST_CASE("rates are per second at the median, if declared") {
  pace::ImplementationResult result;
  CHECK_FALSE(result.gigabytes_per_second());
  result.bytes = 4000;
  CHECK_FALSE(result.gigabytes_per_second());
  result.time.emplace();
  result.time->median = Nanoseconds(1000);
  CHECK(result.gigabytes_per_second() == 4.0);
  CHECK_FALSE(result.gigaflops_per_second());
  result.flops = 500;
  CHECK(result.gigaflops_per_second() == 0.5);
}

TEST_CASE("an implementation is acceptable if measured and every judgement lets it through") {
  pace::ImplementationResult result;
  CHECK_FALSE(result.acceptable());
  result.outcome = pace::Outcome::measured;
  CHECK(result.acceptable());
  result.judgements.push_back(
      {.expectation = "", .verdict = pace::Verdict::undecided, .acceptable = true, .message = ""});
  CHECK(result.acceptable());
  result.judgements.push_back(
      {.expectation = "", .verdict = pace::Verdict::failed, .acceptable = false, .message = ""});
  CHECK_FALSE(result.acceptable());
}

TEST_CASE("senseless options are named") {
  pace::Options options;
  CHECK_NOTHROW(pace::validate(options));
  options.budget = Nanoseconds(0);
  CHECK_THROWS_MATCHES(pace::validate(options), pace::Error, Message("options: budget must be longer than 0"));
  options = {};
  options.confidence = 95;
  CHECK_THROWS_MATCHES(pace::validate(options), pace::Error,
                       Catch::Matchers::MessageMatches(ContainsSubstring("confidence")));
}

TEST_CASE("listeners hear of every result") {
  pace::RunContext context;
  std::vector<std::string> heard;
  context.on_result([&](const pace::Result& result) { heard.push_back(result.name); });
  pace::Result result;
  result.name = "a";
  context.publish(result);
  result.name = "b";
  context.publish(result);
  CHECK(heard == std::vector<std::string>{"a", "b"});
  context.clear_listeners();
  context.publish(result);
  CHECK(heard.size() == 2);
}

TEST_CASE("a listener is removed by its name, and the others stay") {
  pace::RunContext context;
  std::string heard;
  const auto first = context.on_result([&](const pace::Result&) { heard += 'a'; });
  context.on_result([&](const pace::Result&) { heard += 'b'; });
  const auto last = context.on_result([&](const pace::Result&) { heard += 'c'; });
  context.publish({});
  context.remove_listener(first);
  context.publish({});
  context.remove_listener(last);
  context.remove_listener(last);
  context.publish({});
  CHECK(heard == "abcbcb");
}

}  // namespace
