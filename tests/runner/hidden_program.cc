// A measuring program whose only test case is hidden, for session_test.
#include <string>

#include "pace/catch2.hpp"
#include "pace/pace.hpp"
#include "pace/run/run_context.hpp"
#include "pace/runner/session.hpp"

TEST_CASE("the only one, and hidden", "[.]") {
  pace::Result result;
  result.name = "alone";
  result.implementations.resize(2);
  result.implementations[0].is_baseline = true;
  for (auto& row : result.implementations) {
    row.name = row.is_baseline ? "eager" : "mine";
    row.outcome = row.is_baseline ? pace::Outcome::measured : pace::Outcome::wrong;
    row.context.comparison = result.name;
  }
  pace::run_context().publish(result);
  CHECK_THAT(result, pace::Correct());
}

int main(int argc, char** argv) { return pace::runner::main(argc, argv); }
