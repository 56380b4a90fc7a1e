// Whether a replay has compared any outputs, on made-up results.
#include "benches/operators/compared_outputs.hpp"

#include <optional>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using pace::Outcome;
using pace::Uncompared;
using pace::benches::operators::ComparedOutputs;

pace::Result result_of(const std::string& name, bool checked, std::optional<Uncompared> uncompared,
                       Outcome outcome = Outcome::measured) {
  pace::Result result;
  result.name = name;
  for (const bool is_baseline : {true, false}) {
    auto& row = result.implementations.emplace_back();
    row.is_baseline = is_baseline;
    row.outcome = outcome;
    row.checked = checked;
    row.uncompared = uncompared;
  }
  return result;
}
const pace::Result compared = result_of("compared", true, {}), empty = result_of("empty", false, Uncompared::empty),
                   nan = result_of("nan", false, Uncompared::only_nan), uninitialised = result_of("new", false, {}),
                   unreached = result_of("later", false, {}, Outcome::unreached);

std::string problem_of(const std::vector<pace::Result>& results) {
  ComparedOutputs outputs;
  for (const auto& each : results) outputs.add(each);
  return outputs.problem();
}

TEST_CASE("a run that compared no outputs has a problem, with names and reasons") {
  CHECK_THAT(problem_of({empty, nan, uninitialised}),
             ContainsSubstring("\n  empty: they have no elements\n  nan: they are NaN throughout\nExpected"));
  CHECK_THAT(problem_of(std::vector<pace::Result>(12, empty)), ContainsSubstring("\n  ... and 2 more\n"));
}

TEST_CASE("a run has no problem if it compared one output, or might have in more time") {
  CHECK(problem_of({empty, compared, nan}).empty());
  CHECK(problem_of({empty, unreached}).empty());
}

TEST_CASE("where nothing was to be compared there is no problem") {
  CHECK(problem_of({}).empty());
  CHECK(problem_of({uninitialised}).empty());
}

}  // namespace
