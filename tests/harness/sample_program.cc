// A measuring program for session_test: publishes made-up results instead of measuring.
#include <cstdlib>
#include <fstream>
#include <string>

#include <ATen/Parallel.h>

#include "pace/catch2.hpp"
#include "pace/core/run_context.hpp"
#include "pace/harness/session.hpp"

namespace {

std::string extra_option;

pace::ImplementationResult measured(const std::string& name, double nanoseconds) {
  pace::ImplementationResult result;
  result.name = name;
  result.outcome = pace::Outcome::measured;
  result.checked = true;
  result.time.emplace().median = pace::Nanoseconds(nanoseconds);
  return result;
}

pace::Result comparison(const std::string& name) {
  pace::Result result;
  result.name = name;
  result.confidence = pace::run_context().options.confidence;
  result.seed = pace::run_context().options.seed;
  result.implementations = {measured("eager", 2000), measured("fused", 1000)};
  result.implementations[0].is_baseline = true;
  auto& speedup = result.implementations[1].speedup.emplace();
  speedup.observations = 5;
  speedup.median = 2;
  speedup.interval = pace::Interval<double>{1.9, 2.1, result.confidence};
  return result;
}

}  // namespace

TEST_CASE("fast enough") {
  const auto result = comparison("first");
  pace::run_context().publish(result);
  REQUIRE_THAT(result, pace::Correct());
  CHECK_THAT(result["fused"], pace::SpeedupAtLeast(1.5));
}

TEST_CASE("too slow", "[.]") {
  const auto result = comparison("second");
  pace::run_context().publish(result);
  CHECK_THAT(result["fused"], pace::SpeedupAtLeast(3));
}

TEST_CASE("wrong", "[.]") {
  auto result = comparison("third");
  result.implementations[1].outcome = pace::Outcome::wrong;
  result.implementations[1].message = "output 0 differs";
  CHECK_THAT(result, pace::Correct());
  CHECK_THAT(result["fused"], pace::SpeedupAtLeast(1.5));
}

TEST_CASE("shows what it was given", "[.]") {
  const auto& options = pace::run_context().options;
  INFO("budget " << options.budget.count() << ", hard limit " << options.hard_limit.count() << ", warm-up "
                 << options.warm_up.count() << ", rounds " << options.max_rounds << ", confidence "
                 << options.confidence << ", seed " << options.seed << ", operands "
                 << static_cast<int>(options.operands) << ", alpha " << options.alpha << ", beta " << options.beta
                 << ", stop " << static_cast<int>(options.stop) << ", threads " << at::get_num_threads() << ", extra " << extra_option);
  FAIL();
}

TEST_CASE("publishes, then dies", "[.]") {
  pace::run_context().publish(comparison("before death"));
  std::abort();
}

TEST_CASE("exits early", "[.]") { std::exit(0); }

int main(int argc, char** argv) {
  pace::harness::SessionConfig config;
  config.options.budget = pace::Nanoseconds(7e9);
  config.environment["sample"] = "yes";
  config.extend_cli = [](Catch::Clara::Parser parser) {
    return parser | Catch::Clara::Opt(extra_option, "word")["--extra"]("the program's own option");
  };
  config.after_parse = [] {
    if (extra_option == "bad") throw pace::InputError({}, "--extra: 'bad' was given, another word was expected");
  };
  return pace::harness::main(argc, argv, config);
}
