#include <cstddef>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "pace/base/error.hpp"
#include "pace/result/options.hpp"
#include "pace/result/result.hpp"
#include "pace/run/progress.hpp"
#include "pace/run/rounds_watch.hpp"
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

TEST_CASE("listeners hear of results that are completed, and the caller's own stays") {
  struct Noted final : pace::RunContext::Completion {
    void complete(pace::Result& result) override { result.notes.emplace_back("completed"); }
  } noted;
  pace::RunContext context;
  context.completion = &noted;
  std::vector<std::string> heard;
  context.on_result([&](const pace::Result& result) { heard = result.notes; });
  pace::Result result;
  context.publish(result);
  CHECK(heard == std::vector<std::string>{"completed"});
  CHECK(result.notes.empty());
}

TEST_CASE("a watch tells the rounds from other steps, and the display before it shows all of them") {
  struct Display final : pace::Progress {
    std::string shown;
    void part(std::size_t number, std::size_t total) override {
      shown += std::to_string(number) + '/' + std::to_string(total) + ' ';
    }
    void subject(const std::string& name) override { shown += name + ' '; }
    void step(const pace::Step& step) override { shown += step.what + ' '; }
  } display;
  for (pace::Progress* const before : {static_cast<pace::Progress*>(&display), static_cast<pace::Progress*>(nullptr)}) {
    pace::progress() = before;
    bool in_rounds = false;
    {
      const pace::RoundsWatch watch(in_rounds);
      pace::progress()->part(1, 2);
      pace::progress()->subject("softmax");
      pace::report_step({.what = "warm-up"});
      CHECK_FALSE(in_rounds);
      pace::report_step({.what = "rounds"});
      CHECK(in_rounds);
      pace::report_step({.what = "energy"});
      CHECK_FALSE(in_rounds);
      pace::report_step({.what = "rounds"});
    }
    CHECK_FALSE(in_rounds);
    CHECK(pace::progress() == before);
  }
  pace::progress() = nullptr;
  CHECK(display.shown == "1/2 softmax warm-up rounds energy rounds ");
}

}  // namespace
