// Verdicts beside other work on the machine, and beside work that an implementation starts itself.
#include <cmath>
#include <string>
#include <utility>

#include <ATen/ops/add.h>
#include <ATen/ops/ones.h>

#include "pace/compare/comparison.hpp"
#include "pace/gate/times.hpp"
#include "pace/measure/machine_watch.hpp"
#include "tests/faults/faulty_machine.hpp"

// After LibTorch, which has a CHECK of its own.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_container_properties.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::IsEmpty;
using faults::FaultyMachine;
using pace::Nanoseconds;
using pace::Verdict;

constexpr Nanoseconds ms{1e6}, s{1e9};

/// The machine's load while one implementation runs.
struct Load {
  double waiting = 0, others = 0, throttled = 0;
};

/// `time` on `machine`, under `load`.
auto taking(FaultyMachine& machine, Nanoseconds time, Load load) {
  return [&machine, time, load](const at::Tensor& x) {
    const FaultyMachine before = machine;
    machine.waiting = load.waiting;
    machine.others = load.others;
    machine.throttled = load.throttled;
    machine.advance(time);
    machine.waiting = before.waiting;
    machine.others = before.others;
    machine.throttled = before.throttled;
    return at::add(x, 1);
  };
}

/// A baseline of 1 ms and a candidate of 6 ms; 2 s, so that ticks of 10 ms say something.
pace::Result compare(Load of_baseline, Load of_candidate, Nanoseconds candidate = 6 * ms) {
  FaultyMachine machine;
  pace::Options options;
  options.audit = pace::Audit::strict;
  options.max_interference = 0.2;
  options.stop = pace::StopPolicy::budget;
  options.budget = 2 * s;
  return pace::compare("case", at::ones({4}))
      .options(options)
      .baseline("old", taking(machine, ms, of_baseline))
      .candidate("new", taking(machine, candidate, of_candidate))
      .expect(pace::NoSlowerThan(1.02))
      .run(machine);
}

/// The candidate's; a failing check prints its message.
const pace::Judgement& judgement(const pace::Result& result) {
  const auto& found = result["new"].judgements.at(0);
  UNSCOPED_INFO(found.message);
  return found;
}

/// All notes, a line each.
std::string notes(const pace::Result& result) {
  std::string text;
  for (const auto& note : result.notes) text += note + '\n';
  return text;
}

const std::string charged =
    "In the samples of 'new' the measuring thread waited during 45 % of the time, and no other "
    "process can have been the cause";

}  // namespace

TEST_CASE("work of others makes no verdict, however clear the figures are") {
  for (const Load load : {Load{.waiting = 0.45}, Load{.waiting = 0.45, .others = 0.2}, Load{.throttled = 0.5}}) {
    const auto result = compare(load, load);
    CHECK(judgement(result).verdict == Verdict::undecided);
    CHECK(judgement(result).unresolved);
    CHECK_FALSE(result.conditions.disturbances.empty());
    CHECK_THAT(judgement(result).message, ContainsSubstring("on which no verdict may rest"));
    CHECK_THAT(notes(result), !ContainsSubstring("what it starts itself"));
  }
  CHECK(judgement(compare({}, {})).verdict == Verdict::failed);
}

TEST_CASE("an implementation that makes the thread wait itself is judged with that") {
  const auto result = compare({}, {.waiting = 0.45});
  CHECK(*result.conditions.waiting > 0.2);
  CHECK(judgement(result).verdict == Verdict::failed);
  CHECK_FALSE(judgement(result).acceptable);
  CHECK_THAT(result.conditions.disturbances, IsEmpty());
  CHECK_THAT(notes(result), ContainsSubstring(charged));
  // It may pass, too.
  const auto faster = compare({}, {.waiting = 0.45}, 0.6 * ms);
  CHECK(judgement(faster).verdict == Verdict::passed);
  // In a container, by its quota.
  CHECK(judgement(compare({}, {.waiting = 0.45, .throttled = 0.45})).verdict == Verdict::failed);
}

TEST_CASE("steps of the frequency, or a neighbour on the sibling core, make no verdict wrong") {
  // Half of the time calls take 1.6 times as long. Steps come within a cycle, after some cycles and after many.
  for (const Nanoseconds period : {3.7 * ms, 41 * ms, 530 * ms})
    for (const double times : {1.0, 1.05}) {
      FaultyMachine machine;
      const auto call = [&](Nanoseconds time) {
        return [&machine, time, period](const at::Tensor& x) {
          const bool slow = std::fmod(machine.now().count(), period.count()) > 0.5 * period.count();
          return taking(machine, slow ? 1.6 * time : time, {})(x);
        };
      };
      const auto result = pace::compare("case", at::ones({4}))
                              .baseline("old", call(ms))
                              .candidate("new", call(times * ms))
                              .expect(pace::NoSlowerThan(1.02))
                              .run(machine);
      CAPTURE(period.count(), times);
      const Verdict found = judgement(result).verdict;
      CHECK(found != (times > 1 ? Verdict::passed : Verdict::failed));
      if (period > 10 * ms) CHECK(found != Verdict::undecided);
    }
}

TEST_CASE("a candidate that takes 20,000 times as long is not let through on a busy machine") {
  const auto result = compare({.waiting = 0.45, .others = 0.5}, {.waiting = 0.45, .others = 0.5}, 20 * s);
  CHECK_FALSE(result.conditions.disturbances.empty());
  CHECK(judgement(result).verdict == Verdict::failed);
  CHECK_FALSE(judgement(result).acceptable);
}

TEST_CASE("no implementation is charged with what other processes may have done") {
  // On one side only, as of a candidate that uses more cores than the baseline does.
  const auto result = compare({}, {.waiting = 0.45, .others = 0.5});
  CHECK(judgement(result).verdict == Verdict::undecided);
  CHECK_THAT(notes(result), !ContainsSubstring("what it starts itself"));
  // Other processes were at work while the thread did not wait, too.
  CHECK(judgement(compare({.others = 0.8}, {.waiting = 0.45, .others = 0.5})).verdict == Verdict::undecided);
}

TEST_CASE("a baseline that makes the thread wait proves nothing against a candidate, nor for one") {
  CHECK(judgement(compare({.waiting = 0.7}, {}, ms)).verdict == Verdict::undecided);
  CHECK(judgement(compare({.waiting = 0.7}, {.waiting = 0.45}, ms)).verdict == Verdict::undecided);
}

TEST_CASE("of several candidates the one that makes the thread wait is charged, and the others are judged as ever") {
  FaultyMachine machine;
  pace::Options options;
  options.audit = pace::Audit::strict;
  options.max_interference = 0.2;
  options.budget = 2 * s;
  options.stop = pace::StopPolicy::budget;
  const auto result = pace::compare("case", at::ones({4}))
                          .options(options)
                          .baseline("old", taking(machine, ms, {}))
                          .candidate("same", taking(machine, ms, {}))
                          .candidate("new", taking(machine, 6 * ms, {.waiting = 0.45}))
                          .expect(pace::NoSlowerThan(1.02))
                          .run(machine);
  CHECK(judgement(result).verdict == Verdict::failed);
  CHECK(result["same"].judgements.at(0).verdict == Verdict::passed);
  CHECK_THAT(notes(result), ContainsSubstring(charged));
}

TEST_CASE("counters that cannot be read any more at the end make no conditions") {
  FaultyMachine machine;
  pace::detail::MachineWatch watch(machine, /*most_cycles=*/1, /*implementations=*/2);
  machine.waiting = 0.45;
  machine.advance(2 * s);
  machine.unreadable = true;
  const auto conditions = watch.finish();
  CHECK_FALSE(conditions.waiting);
  CHECK_FALSE(conditions.others);
}
