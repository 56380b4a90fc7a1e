// The options of the operator bench beside the common options of measuring programs, on one command line.
#include "benches/operators/command_line.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <string>
#include <utility>
#include <vector>

#include "benches/operators/meaning.hpp"
#include "pace/args/command_line.hpp"
#include "pace/base/error.hpp"
#include "pace/runner/session_options.hpp"

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::StartsWith;

namespace {

struct Parsed {
  pace::benches::operators::CommandLine line;
  pace::runner::SessionOptions session;
  pace::args::Groups groups = all_groups(line, session);
  pace::args::Arguments given;

  explicit Parsed(const std::vector<std::string>& words)
      : given(pace::args::parse(groups, words, {.keeps_rest = true, .has_help = false})) {}

  static pace::args::Groups all_groups(pace::benches::operators::CommandLine& line,
                                       pace::runner::SessionOptions& session) {
    auto groups = pace::benches::operators::operator_options(line, {"eager", "torchscript"});
    for (auto& group : pace::runner::pace_options(session)) groups.push_back(std::move(group));
    return groups;
  }
};

/// Expects that these words without a meaning in each of the modes are refused with the name of the mode.
void require_refusal(const std::vector<std::string>& words, const std::vector<std::vector<std::string>>& modes) {
  for (const auto& mode : modes) {
    auto all = mode;
    all.insert(all.end(), words.begin(), words.end());
    Parsed parsed(all);
    parsed.line.given = parsed.given;
    CHECK_THROWS_MATCHES(pace::benches::operators::require_meaning(parsed.line), pace::InputError,
                         MessageMatches(StartsWith(words.front() + " has no meaning with " + mode.front())));
  }
}

}  // namespace

TEST_CASE("the bench's options, pace's and Catch2's stand on one command line, each with its own meaning") {
  const Parsed parsed({"--op", "aten.add.Tensor", "--repeats", "3", "--case", "one", "--budget", "0.5", "--list",
                       "--rng-seed", "5", "[operators]"});
  CHECK(parsed.line.op == "aten.add.Tensor");
  CHECK(parsed.line.replay.repeats == 3);
  CHECK(parsed.session.cases == std::vector<std::string>{"one"});
  CHECK(parsed.session.measuring.budget == pace::Nanoseconds(5e8));
  CHECK(parsed.session.list);
  CHECK(parsed.given.rest == std::vector<std::string>{"--rng-seed", "5", "[operators]"});
  CHECK_THAT(pace::args::help(parsed.groups, 100),
             ContainsSubstring("\n  --backends <a,b>") && ContainsSubstring("\n  --list"));
}

TEST_CASE("--skip-rules and --suite take one of their words") {
  using pace::benches::operators::SkipRules;
  CHECK(Parsed({}).line.replay.skip_rules == SkipRules::none);
  CHECK(Parsed({"--skip-rules", "upstream"}).line.replay.skip_rules == SkipRules::upstream);
  CHECK(Parsed({"--suite", "huggingface"}).line.suite == "huggingface");
  CHECK_THROWS_MATCHES(Parsed({"--skip-rules", "some"}), pace::InputError,
                       MessageMatches(StartsWith("--skip-rules: invalid value 'some'; expected none or upstream")));
  CHECK_THROWS_MATCHES(Parsed({"--suite", "hf"}), pace::InputError,
                       MessageMatches(StartsWith("--suite: invalid value 'hf'; expected timm, huggingface or")));
}

TEST_CASE("--counters is refused where nothing reads counters, with the reason") {
  require_refusal({"--counters", "cycles"}, {{"--compat", "old"},
                                             {"--compat", "operator_benchmark"},
                                             {"--count-instructions"},
                                             {"--timer", "benchmark_cpu"}});
}

TEST_CASE("--audit is refused where nothing is audited, with the reason") {
  require_refusal(
      {"--audit", "strict"},
      {{"--compat", "old"}, {"--compat", "new"}, {"--compat", "operator_benchmark"}, {"--count-instructions"}});
}
