// Recalled results: the rest of a comparison with phases, from an earlier process.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "pace/compare/publish.hpp"
#include "pace/gate/times.hpp"

namespace {

/// An earlier process that has left results of these names.
struct Earlier : pace::RunContext::Checkpoint {
  explicit Earlier(std::vector<std::string> names) : left(std::move(names)) { pace::run_context().recollection = this; }
  ~Earlier() override { pace::run_context().recollection = nullptr; }
  [[nodiscard]] bool knows(const std::string& name) const override {
    return std::find(left.begin(), left.end(), name) != left.end();
  }
  bool recall(const std::string& name, pace::Result& result) override {
    result.name = name;
    result.rounds = rounds;
    result.lost_device = lost_device;
    return std::erase(left, name) > 0;
  }
  bool next_fate(const std::string&, pace::RunContext::PriorFailure&) override { return false; }

  std::vector<std::string> left;
  std::size_t rounds = 4;
  std::string lost_device = {};
};

pace::detail::ComparisonPlan step() {
  pace::detail::ComparisonPlan plan{.name = "step", .inputs = "Float[8]", .operands = nullptr};
  plan.phases = {"forward", "backward"};
  return plan;
}

std::optional<pace::Result> recall_step(const std::vector<pace::gate::Stated>& stated) {
  return pace::detail::recall("step", "Float[8]", pace::detail::phases_of(step(), stated));
}

}  // namespace

TEST_CASE("a result is recalled with all of its phases") {
  const Earlier earlier({"step", "step/forward", "step/backward"});
  const auto known = recall_step({});
  REQUIRE(known);
  REQUIRE(known->phases.size() == 2);
  CHECK(known->phases[1].name == "step/backward");
  CHECK(known->phases[1].phase == "backward");
}

TEST_CASE("a result that lacks a phase is not recalled, so that the comparison is measured again") {
  for (const auto& names : {std::vector<std::string>{"step"}, {"step", "step/forward"}, {"step", "step/backward"}}) {
    const Earlier earlier(names);
    CHECK_FALSE(recall_step({}));
  }
}

TEST_CASE("a result that lacks gates on the host's time is not recalled either") {
  const std::vector<pace::gate::Stated> stated{{"b", pace::NoSlowerThan(1.05).in_phase(pace::host_phase)}};
  {
    const Earlier earlier({"step", "step/forward", "step/backward"});
    CHECK_FALSE(recall_step(stated));
  }
  const Earlier earlier({"step", "step/forward", "step/backward", "step/host"});
  const auto known = recall_step(stated);
  REQUIRE(known);
  CHECK(known->phases.back().phase == pace::host_phase);
}

TEST_CASE(
    "a result without rounds, or of a lost device, is recalled without phases, so that it does not happen again") {
  {
    Earlier earlier({"step"});
    earlier.rounds = 0;
    CHECK(recall_step({}));
  }
  Earlier earlier({"step"});
  earlier.lost_device = "'b': gone";
  CHECK(recall_step({}));
}
