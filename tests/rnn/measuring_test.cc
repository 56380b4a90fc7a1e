// The effect of --warmup and --nloops on a comparison's options.
#include "benches/rnn/measuring.hpp"

#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "pace/result/options.hpp"
// After LibTorch's headers, whose CHECK is another one.
#include <catch2/catch_test_macros.hpp>

namespace {

using namespace pace::benches::rnn;
using namespace std::chrono_literals;

pace::Options base() {
  pace::Options options;
  options.budget = 10s;
  options.hard_limit = 120s;
  return options;
}

pace::Options measuring(const CommandLine& line, const std::vector<std::string>& words, std::size_t candidates = 2) {
  pace::args::Arguments given;
  for (const auto& word : words) given.given.push_back(word.substr(0, word.find('=')));
  auto options = measuring_of(line, given, base(), candidates);
  pace::validate(options);
  return options;
}

TEST_CASE("without options: a step a sample, a hundred at most, within the budget, warm-up by time") {
  const auto options = measuring({}, {});
  REQUIRE(options.max_iterations == 1);
  REQUIRE(options.max_rounds == 102);
  REQUIRE(options.budget == 10s);
  REQUIRE(options.hard_limit == 120s);
  REQUIRE_FALSE(options.warm_up_iterations);
}

TEST_CASE("--nloops is how many steps there are, however long they take") {
  CommandLine line;
  line.nloops = 20'000;
  const auto options = measuring(line, {"--nloops", "20000"});
  REQUIRE(options.max_rounds == 20'002);
  REQUIRE(options.budget > 1000h);
  REQUIRE(options.hard_limit == options.budget);
  // A further figure on a GPU has as much time as before.
  REQUIRE(std::abs((options.mode_share * options.budget - base().mode_share * base().budget).count()) < 1);
}

TEST_CASE("--budget and --max-rounds, where they are given, may end them before") {
  CommandLine line;
  line.nloops = 20'000;
  REQUIRE(measuring(line, {"--nloops=20000", "--budget=10"}).budget == 10s);
  REQUIRE(measuring(line, {"--budget", "10", "--nloops=20000"}).max_rounds == 20'002);
  REQUIRE(measuring(line, {"--max-rounds", "10000"}).max_rounds == 10'000);
  REQUIRE(measuring(line, {"--budgets"}).budget > 1000h);
}

TEST_CASE("--warmup is how many steps warm up") {
  CommandLine line;
  line.warmup = 7;
  REQUIRE(measuring(line, {}).warm_up_iterations == 7);
}

}  // namespace
