#include "pace/kernels/match_activities.hpp"

#include <catch2/catch_test_macros.hpp>

#include <string>
#include <vector>

using namespace std::chrono_literals;
using pace::gpu::Activity;
using pace::kernel::match_activities;

namespace {

Activity record(const std::string& name, pace::Nanoseconds duration, Activity::Kind kind = Activity::Kind::kernel) {
  return {kind, name, {}, duration, 0};
}

}  // namespace

TEST_CASE("kernels of one name are told apart by their order, and the middle launch counts") {
  const std::vector<std::string> names{"add", "mul", "add"};
  std::vector<Activity> records;
  for (const auto extra : {0us, 5us, 1us}) {
    records.push_back(record("add", 10us + extra));
    records.push_back(record("Memset", 3us, Activity::Kind::fill));
    records.push_back(record("mul", 20us + extra));
    records.push_back(record("add", 30us + extra));
  }
  const auto times = match_activities(names, records, 3);
  REQUIRE(times.size() == 3);
  REQUIRE(times[0]);
  REQUIRE(times[1]);
  REQUIRE(times[2]);
  CHECK(times[0]->median == 11us);
  CHECK(times[0]->least == 10us);
  CHECK(times[0]->most == 15us);
  CHECK(times[1]->median == 21us);
  CHECK(times[2]->median == 31us);
}

TEST_CASE("records that are missing, or too many, tell nothing of that kernel") {
  const std::vector<std::string> names{"add", "mul"};
  const auto times =
      match_activities(names, std::vector{record("add", 1us), record("add", 1us), record("mul", 2us)}, 2);
  REQUIRE(times[0]);
  CHECK(times[0]->median == 1us);
  CHECK_FALSE(times[1]);
  CHECK_FALSE(match_activities(names, {}, 0)[0]);
}

TEST_CASE("activities before each launch are left out, if all launches have equally many") {
  using pace::kernel::without_those_before;
  std::vector<Activity> records;
  for (int launch = 0; launch < 3; ++launch) {
    records.push_back(record("restores", 1us, Activity::Kind::copy));
    records.push_back(record("add", 10us));
    records.push_back(record("mul", 20us));
  }
  const auto left = without_those_before(records, 3, 1);
  REQUIRE(left);
  REQUIRE(left->size() == 6);
  for (std::size_t i = 0; i < 6; ++i) CHECK((*left)[i].name == (i % 2 == 0 ? "add" : "mul"));
  CHECK(without_those_before(records, 3, 0)->size() == 9);
  CHECK_FALSE(without_those_before(records, 3, 4));
  CHECK_FALSE(without_those_before(records, 0, 0));
  records.pop_back();
  CHECK_FALSE(without_those_before(records, 3, 1));
}

TEST_CASE("kernels that are no nodes of the graph are listed as often as they ran") {
  using pace::kernel::unlisted_kernels;
  const std::vector<std::string> names{"add", "mul", "add"};
  std::vector<Activity> records;
  for (int launch = 0; launch < 2; ++launch) {
    for (const auto* name : {"add", "mul", "add"}) records.push_back(record(name, 1us));
    records.push_back(record("Memcpy", 9us, Activity::Kind::copy));
    for (int i = 0; i <= 2 * launch; ++i) records.push_back(record("body", 5us + i * 1us));
  }
  records.push_back(record("mul", 7us));
  const auto unlisted = unlisted_kernels(names, records, 2);
  REQUIRE(unlisted.size() == 2);
  CHECK(unlisted[0].name == "mul");
  CHECK(unlisted[0].runs == 0.5);
  CHECK_FALSE(unlisted[0].time);
  CHECK(unlisted[1].name == "body");
  CHECK(unlisted[1].runs == 2);
  REQUIRE(unlisted[1].time);
  CHECK(unlisted[1].time->least == 5us);
  CHECK(unlisted[1].time->most == 7us);
  CHECK(unlisted_kernels(names, {}, 2).empty());

  pace::kernel::KernelReport report;
  report.kernels.resize(3);
  for (std::size_t i = 0; i < 3; ++i) report.kernels[i].name = names[i];
  // The other listed kernel has no time: there are too many records of it.
  for (const std::size_t i : {0U, 2U}) report.kernels[i].profiled = pace::kernel::KernelTime{};
  add_kernels_of_bodies(report, unlisted);
  CHECK(report.notes.empty());
  CHECK(report.bodies_profiled);
  REQUIRE(report.kernels.size() == 5);
  CHECK(report.kernels[3].why_not_alone ==
        "it is in the body of a conditional node, where it ran 0.500 times in a launch; its times are not told from "
        "those of a listed kernel of that name");
  CHECK(report.kernels[4].name == "body");
  CHECK(report.kernels[4].runs == 2);
  CHECK(report.kernels[4].profiled->median == 6us);
}

TEST_CASE("no kernels of bodies are listed where records of a listed kernel are missing") {
  const std::vector<std::string> names{"add", "(unknown)"};
  std::vector<Activity> records;
  for (int launch = 0; launch < 2; ++launch)
    for (const auto* name : {"add", "mul", "body"}) records.push_back(record(name, 1us));
  const auto listed = [&](std::size_t count) {
    pace::kernel::KernelReport report;
    const auto times = match_activities(names, records, 2);
    for (std::size_t i = 0; i < count; ++i) {
      report.kernels.emplace_back().name = names[i];
      report.kernels[i].profiled = times[i];
    }
    add_kernels_of_bodies(report, pace::kernel::unlisted_kernels(names, records, 2));
    return report;
  };
  CHECK(listed(1).bodies_profiled);
  // A kernel whose name is not known has a record of another name.
  const auto unknown = listed(2);
  CHECK_FALSE(unknown.bodies_profiled);
  CHECK(unknown.kernels.size() == 2);
  REQUIRE(unknown.notes.size() == 1);
  CHECK(unknown.notes[0] ==
        "kernels in the bodies of conditional nodes are not listed: the profiler has not recorded (unknown) in each "
        "launch, so that others may be missing, too");
  // The profiler has lost a record.
  records.erase(records.begin());
  CHECK_FALSE(listed(1).bodies_profiled);
}
