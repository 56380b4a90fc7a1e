// The words of a command line that repeat a case.
#include "pace/runner/repeat.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace {

using Words = std::vector<std::string>;
using pace::runner::FailedCase;

/// Words that repeat `failed` of a run whose words for Catch2 were `rest`.
Words repeat(const FailedCase& failed, Words rest, Words filters = {}) {
  const pace::args::Groups groups;
  pace::args::Arguments given;
  given.rest = std::move(rest);
  const Words left_out;
  return words_to_repeat(failed, {.groups = groups,
                                  .given = given,
                                  .left_out = left_out,
                                  .filters = std::move(filters),
                                  .seed = 7,
                                  .rng_seed = 5});
}

}  // namespace

TEST_CASE("the seed of Catch2's random numbers is repeated as a number, however it was given") {
  const Words expected{"test", "--case", "one", "--seed", "7", "--rng-seed", "5"};
  const FailedCase failed{.test = "test", .name = "one"};
  for (const Words& rest : {Words{"--rng-seed", "5"}, Words{"--rng-seed=5"}, Words{"--rng-seed:5"},
                            Words{"--rng-seed", "time"}, Words{"--rng-seed=random-device"}})
    CHECK(repeat(failed, rest) == expected);
  CHECK(repeat(failed, {"--rng-seeds=5", "--reporter", "xml"}) == Words{"test", "--case", "one", "--seed", "7"});
}

TEST_CASE("sections are repeated, however they were given") {
  const FailedCase failed{.test = "test"};
  CHECK(repeat(failed, {"-c", "a", "--section=b", "-c:c"}) ==
        Words{"test", "--seed", "7", "-c", "a", "--section", "b", "-c", "c"});
}

TEST_CASE("without the name of its test case, a case is found by the filters of the run") {
  CHECK(repeat({.test = "", .name = "one"}, {}, {"[.slow]", "other*"}) ==
        Words{"[.slow]", "other*", "--case", "one", "--seed", "7"});
  CHECK(repeat({.test = "its\\ test, [x]"}, {}, {"[.slow]"}) == Words{"its\\\\ test\\, \\[x\\]", "--seed", "7"});
  CHECK(repeat({.test = "-5 is a number"}, {}) == Words{"\\-5 is a number", "--seed", "7"});
  CHECK(repeat({.test = "~5 or so"}, {}) == Words{"\\~5 or so", "--seed", "7"});
}
