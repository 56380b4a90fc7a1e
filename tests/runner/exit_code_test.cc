#include "pace/run/exit_code.hpp"
#include "pace/gate/result_matchers.hpp"

#include <sstream>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using Catch::Matchers::StartsWith;
using pace::Outcome;
using pace::RunAccount;
using pace::Verdict;

pace::Result comparison(const std::string& name, Outcome outcome = Outcome::measured) {
  pace::Result result;
  result.name = name;
  for (const std::string implementation : {"eager", "fused"}) {
    auto& row = result.implementations.emplace_back();
    row.name = implementation;
    row.outcome = outcome;
    row.context.comparison = name;
  }
  return result;
}

const pace::Judgement open_guard{
    .expectation = "time of at most 1.02x", .verdict = Verdict::undecided, .acceptable = true, .unresolved = true};

struct Ending {
  int code;
  std::string said;
};

Ending ending(const RunAccount& account, bool allow_undecided = false, bool allow_unmeasured = false) {
  std::ostringstream said;
  const int code = account.exit_code(0, allow_undecided, allow_unmeasured, said);
  return {code, said.str()};
}

TEST_CASE("a guard that is stated and then asked again counts once, in each comparison of the name") {
  RunAccount account;
  auto result = comparison("case");
  auto& row = result.implementations[1];
  row.judgements.push_back(open_guard);
  for (int run = 0; run < 2; ++run) {
    account.add(result);
    account.add(row, open_guard);
    account.add(row, open_guard);
  }
  CHECK(ending(account).code == 43);
  CHECK_THAT(ending(account).said, StartsWith("pace: 2 guards were let through undecided"));
  auto other = open_guard;
  other.expectation = "time of at most 1.10x";
  account.add(row, other);
  account.add(result.implementations[0], open_guard);
  CHECK_THAT(ending(account).said, StartsWith("pace: 4 guards were let through undecided"));
  CHECK(ending(account, true).code == 0);
}

TEST_CASE("an unreached candidate is neither a success nor a failure") {
  RunAccount account;
  account.add(comparison("late", Outcome::unreached));
  CHECK(ending(account).code == 4);
  CHECK(ending(account, true).code == 4);
  CHECK(ending(account, false, true).code == 43);
  CHECK(ending(account, true, true).code == 0);
  account.add(comparison("early"));
  CHECK(ending(account).code == 43);
  CHECK(ending(account).said ==
        "pace: 2 implementations were not reached in time, so that nothing is known of them (exit code 43; 0 with "
        "--allow-undecided on)\n");
  CHECK(ending(account, true).code == 0);
}

TEST_CASE("no option allows a device to be lost") {
  RunAccount account;
  auto result = comparison("lost", Outcome::unreached);
  result.lost_device = "an illegal address";
  account.add(result);
  account.add(comparison("other"));
  CHECK(ending(account, true, true).code == 42);
  CHECK(ending(account, true, true).said == "pace: 1 comparison lost the device\n");
  std::ostringstream said;
  CHECK(account.exit_code(pace::exit_unmeasured, true, true, said) == 42);
}

TEST_CASE("tests that neither compare nor assert measure nothing") {
  RunAccount account;
  CHECK(ending(account).code == 0);  // no test ran, as in an empty shard
  account.add_tests(2, 0);
  CHECK(ending(account).code == 4);
  CHECK(ending(account, false, true).code == 0);
  account.add_tests(1, 1);
  CHECK(ending(account).code == 0);
  RunAccount compares;
  compares.add_tests(2, 0);
  compares.add(comparison("case"));
  CHECK(ending(compares).code == 0);
}

TEST_CASE("tests that are skipped after something was measured do not say that nothing was") {
  RunAccount account;
  account.add(comparison("case"));
  std::ostringstream said, allowed, nothing;
  CHECK(account.exit_code(4, false, false, said) == 4);
  CHECK(said.str() ==
        "pace: every test was skipped, though not before 2 implementations were measured (exit code 4; 0 "
        "with --allow-unmeasured on)\n");
  CHECK(account.exit_code(4, false, true, allowed) == 0);
  account.add(comparison("late", Outcome::unreached));
  CHECK(account.exit_code(4, false, true, allowed) == 43);
  CHECK(RunAccount().exit_code(4, false, false, nothing) == 4);
  CHECK(nothing.str() ==
        "pace: every test was skipped; nothing was measured (exit code 4; 0 with --allow-unmeasured on)\n");
}

TEST_CASE("a run fails for reasons of the machine where nothing else is open and nothing has failed") {
  const pace::Judgement open_claim{.expectation = "speed-up of at least 1.50x", .verdict = Verdict::undecided};
  auto disturbed = comparison("disturbed");
  auto& row = disturbed.implementations[1];
  row.context.disturbance = "The hypervisor gave others 50 %.";
  row.judgements.push_back(open_claim);
  RunAccount loaded;
  loaded.add(disturbed);
  CHECK(loaded.is_for_machine(42, 1));
  loaded.add(row, open_guard);                // which fails no assertion
  CHECK_FALSE(loaded.is_for_machine(42, 2));  // one is of the test's own
  CHECK_FALSE(loaded.is_for_machine(3, 0));
  RunAccount open = loaded, unreached = loaded, failed = loaded, crashed = loaded, lost = loaded;
  open.add(comparison("other").implementations[1], open_guard);
  CHECK_FALSE(open.is_for_machine(42, 1));
  CHECK_FALSE(open.is_for_machine(43, 0));
  unreached.add(comparison("late", Outcome::unreached));
  CHECK(loaded.is_for_machine(43, 0));
  CHECK_FALSE(unreached.is_for_machine(43, 0));
  failed.add(row, {.expectation = "time of at most 1.02x", .verdict = Verdict::failed});
  CHECK_FALSE(failed.is_for_machine(42, 1));
  crashed.add(comparison("other", Outcome::crashed));
  CHECK_FALSE(crashed.is_for_machine(42, 1));
  auto without = comparison("other");
  without.lost_device = "an illegal address";
  lost.add(without);
  CHECK_FALSE(lost.is_for_machine(42, 1));
}

TEST_CASE("a device that is not there is a reason of the machine's, a refusal is not") {
  for (const bool is_missing : {true, false}) {
    auto result = comparison("on a device", Outcome::refused);
    if (is_missing) result.missing_device = "there is none";
    RunAccount account;
    account.add(result);
    account.add(result.implementations[1], {.expectation = "time of at most 1.02x"});
    CHECK(account.is_for_machine(42, 1) == is_missing);
    CHECK(account.is_for_machine(4, 0));
  }
}

TEST_CASE("a failure that no matcher has examined fails the run") {
  const pace::Judgement closed{.expectation = "speed-up of at least 1.20x", .verdict = Verdict::undecided};
  for (const auto outcome : {Outcome::measured, Outcome::wrong, Outcome::refused}) {
    auto result = comparison("case");
    for (auto& row : result.implementations) row.checked = true;
    result.implementations[1].outcome = outcome;
    result.implementations[1].message = "why";
    result.implementations[1].judgements = {closed};
    RunAccount account;
    account.add(result);
    const auto found = ending(account, true, true);
    CHECK(found.code == 42);
    CHECK_THAT(found.said, StartsWith(outcome == Outcome::wrong
                                          ? "pace: case: 'fused' wrong: why\npace: no assertion has"
                                          : "pace: case: 'fused' was expected to have a speed-up of at least 1.20x: "
                                            "undecided\npace: no assertion has"));
    std::ostringstream said;
    CHECK(account.exit_code(4, true, true, said) == 42);
    CHECK(account.exit_code(1, true, true, said) == 1);
    // Whether an implementation is correct says nothing of its other expectations.
    CHECK(pace::Correct().match(result) == (outcome == Outcome::measured));
    CHECK(ending(account).code == (outcome == Outcome::measured ? 42 : 0));
    const pace::Result copy = result;
    CHECK_FALSE(pace::AsExpected().match(copy));
    CHECK(ending(account).code == 0);
  }
}

TEST_CASE("judgements of several processes together need no assertion, and neither do tests without a device") {
  auto several = comparison("case"), skipped = comparison("on a device", Outcome::refused);
  several.implementations[1].judgements = {{.verdict = Verdict::failed, .deferred = true}};
  RunAccount account;
  account.add(several);
  CHECK(ending(account).code == 0);
  skipped.missing_device = "there is none";
  skipped.implementations[1].judgements = {{.expectation = "time of at most 1.02x"}};
  account.add(skipped);
  std::ostringstream said;
  CHECK(account.exit_code(4, true, true, said) == 0);
  CHECK(ending(account).code == 42);
}

TEST_CASE("rows of a program without comparisons count as they are") {
  RunAccount account;
  account.add_row(true, true);
  account.add_row(true, true);
  CHECK(ending(account).code == 43);
  CHECK_THAT(ending(account).said, StartsWith("pace: 2 guards were"));
}

}  // namespace
