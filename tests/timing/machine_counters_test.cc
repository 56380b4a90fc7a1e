// The figures of the kernel's counters, from files made up for it, and the conclusions from two readings.
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_container_properties.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <optional>
#include <string>

#include "pace/result/conditions.hpp"
#include "pace/timing/machine_counters.hpp"
#include "pace/timing/wall.hpp"
#include "tests/support/scratch.hpp"

using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::IsEmpty;
using pace::Conditions;
using pace::Nanoseconds;
using pace::timing::conditions_between;
using pace::timing::cores_taken_between;
using pace::timing::MachineCounters;
using pace::timing::read_machine_counters;

namespace {

constexpr Nanoseconds s{1e9}, ms{1e6};

/// Two readings a second apart on two cores. This process had one of them for itself.
struct Pair {
  MachineCounters before, after;
  Pair() {
    before.total_ticks = before.idle_ticks = before.steal_ticks = 0;
    before.process_cpu = before.thread_cpu = before.throttled = before.raw = before.slept = Nanoseconds(0);
    before.involuntary_switches = before.voluntary_switches = 0;
    after = before;
    after.total_ticks = 200;
    after.idle_ticks = 100;
    after.process_cpu = after.thread_cpu = after.raw = s;
  }
  [[nodiscard]] Conditions conditions(Nanoseconds elapsed = s) const {
    return conditions_between({.counters = before}, {elapsed, elapsed, after});
  }
  [[nodiscard]] std::optional<double> cores_taken(int threads = 2, Nanoseconds elapsed = s) const {
    return cores_taken_between({.counters = before}, {elapsed, elapsed, after}, threads);
  }
};

}  // namespace

TEST_CASE("/proc/stat: all cores, what idles, what the hypervisor gave others") {
  const pace::test::Scratch root;
  root.write("/proc/stat", "cpu  100 20 30 400 50 6 7 80 1000 1000\ncpu0 1 1 1 1 1 1 1 1 1 1\n");
  const auto counters = read_machine_counters(root.path.string());
  // Guests' time is part of user time and not counted twice.
  CHECK(counters.total_ticks == 693.0);
  CHECK(counters.idle_ticks == 450.0);
  CHECK(counters.steal_ticks == 80.0);
}

TEST_CASE("a container's quota, in either version of control groups") {
  const pace::test::Scratch two;
  two.write("/sys/fs/cgroup/cpu.stat", "usage_usec 5\nnr_throttled 3\nthrottled_usec 1500\n");
  CHECK(read_machine_counters(two.path.string()).throttled == Nanoseconds(1.5e6));
  const pace::test::Scratch one;
  one.write("/sys/fs/cgroup/cpu/cpu.stat", "nr_periods 5\nthrottled_time 2500\n");
  CHECK(read_machine_counters(one.path.string()).throttled == Nanoseconds(2500));
}

TEST_CASE("files that are missing or cut off leave their figures absent") {
  const pace::test::Scratch root;
  CHECK_FALSE(read_machine_counters(root.path.string()).total_ticks);
  CHECK_FALSE(read_machine_counters(root.path.string()).throttled);
  root.write("/proc/stat", "cpu  100 20 30");
  CHECK_FALSE(read_machine_counters(root.path.string()).total_ticks);
  root.write("/proc/stat", "");
  CHECK_FALSE(read_machine_counters(root.path.string()).steal_ticks);
  const auto conditions = conditions_between({}, {s, s, {}});
  CHECK_FALSE(conditions.steal);
  CHECK_FALSE(conditions.waiting);
  CHECK_FALSE(conditions.clock_error);
  CHECK_THAT(pace::find_disturbances(conditions, s, 0.2), IsEmpty());
}

TEST_CASE("this machine can be asked") {
  pace::timing::WallClock clock;
  const auto before = clock.counters(), after = clock.counters();
  REQUIRE(before);
  REQUIRE(after);
  CHECK(after->raw >= before->raw);
  CHECK(after->thread_cpu >= before->thread_cpu);
  CHECK(clock.thread_counters());
}

TEST_CASE("a process alone on its core is not disturbed") {
  const auto conditions = Pair().conditions();
  CHECK(conditions.steal == 0.0);
  CHECK(conditions.others == 0.0);
  CHECK(conditions.waiting == 0.0);
  CHECK(conditions.clock_error == Nanoseconds(0));
  CHECK_THAT(pace::find_disturbances(conditions, s, 0.2), IsEmpty());
}

TEST_CASE("a thread that is put aside while it reads has no clock that jumped") {
  Pair pair;
  // The clock was read 100 ms before the counter, then 200 ms after it.
  CHECK(conditions_between({-100 * ms, 0 * ms, pair.before}, {s, s, pair.after}).clock_error == Nanoseconds(0));
  CHECK(conditions_between({0 * ms, 0 * ms, pair.before}, {s, s + 200 * ms, pair.after}).clock_error == Nanoseconds(0));
  CHECK(conditions_between({-100 * ms, 0 * ms, pair.before}, {s + 300 * ms, s + 500 * ms, pair.after}).clock_error ==
        300 * ms);
  CHECK(conditions_between({-100 * ms, 0 * ms, pair.before}, {-200 * ms, -200 * ms, pair.after}).clock_error ==
        -1100 * ms);
}

TEST_CASE("steal is a share of what was wanted, others a share of all there is") {
  Pair pair;
  // 100 of 200 ticks idle, 25 stolen, 50 ticks of our own: 25 are others'.
  pair.after.steal_ticks = 25;
  pair.after.process_cpu = 0.5 * s;
  CHECK(pair.conditions().steal == Approx(0.25));
  CHECK(pair.conditions().others == Approx(0.125));
}

TEST_CASE("ticks are too coarse for short times") {
  Pair pair;
  pair.after.total_ticks = 9;
  pair.after.idle_ticks = 0;
  pair.after.steal_ticks = 9;
  CHECK_FALSE(pair.conditions(45 * ms).steal);
  CHECK_FALSE(pair.conditions(45 * ms).others);
}

TEST_CASE("CPU time of other threads that is entered at a tick of the kernel is no proof within a few ticks") {
  // Two threads. One was entered with 4 ms in a millisecond of samples.
  pace::SideConditions side{.sampled = ms, .process_cpu = 5 * ms, .process_cpu_step = 4 * ms};
  CHECK(side.cores() == Approx(5));
  CHECK(pace::find_more_threads(side, 1.4, 2).empty());
  side.process_cpu_step = {};
  CHECK_FALSE(pace::find_more_threads(side, 1.4, 2).empty());
  // Beside two threads a third one in samples of 25 ticks is beyond chance, which 8 ms and three times 20 ms allow.
  side = {.sampled = 0.1 * s, .process_cpu = 0.267 * s, .process_cpu_step = 4 * ms};
  CHECK(pace::find_more_threads(side, 2, 2).empty());
  side.process_cpu = 0.27 * s;
  CHECK_FALSE(pace::find_more_threads(side, 2, 2).empty());
  // In longer ones a fifth of the allowed time counts.
  side = {.sampled = 10 * s, .process_cpu = 23.9 * s, .process_cpu_step = 4 * ms};
  CHECK(pace::find_more_threads(side, 2, 2).empty());
  side.process_cpu = 24.1 * s;
  CHECK_FALSE(pace::find_more_threads(side, 2, 2).empty());
}

TEST_CASE("time off the core is waiting only as far as others made it so") {
  Pair pair;
  pair.after.thread_cpu = 0.4 * s;
  pair.after.involuntary_switches = 30;
  CHECK(pair.conditions().waiting == Approx(0.6));
  pair.after.voluntary_switches = 90;
  CHECK(pair.conditions().waiting == Approx(0.15));
  pair.after.involuntary_switches = 0;
  CHECK(pair.conditions().waiting == 0.0);
  CHECK(pair.conditions().involuntary_switches == 0);
}

TEST_CASE("each disturbance is named with its figure; limits are not disturbances") {
  const auto only = [](const Conditions& conditions, Nanoseconds elapsed = s) {
    const auto found = pace::find_disturbances(conditions, elapsed, 0.2);
    REQUIRE(found.size() == 1);
    return found[0];
  };
  CHECK(only({.steal = 0.5}) ==
        "The hypervisor gave others 50 % of the CPU time that this machine wanted (limit: 20 %).");
  CHECK_THAT(only({.waiting = 0.25, .involuntary_switches = 5}), ContainsSubstring("waited during 25 % of the rounds"));
  CHECK_THAT(only({.throttled = 0.3}), ContainsSubstring("quota of CPU time was used up during 30 %"));
  CHECK_THAT(only({.others = 0.98}), ContainsSubstring("Other processes used 98 % of all cores' time (limit: 97 %)"));
  CHECK_THAT(only({.clock_error = -100 * ms}), ContainsSubstring("The clock jumped: it told 100 ms less"));
  CHECK_THAT(only({.suspended = s}), ContainsSubstring("slept for 1.00 s"));
  Conditions gap;
  gap.longest_cycle = 3 * s;
  gap.median_cycle = gap.shortest_cycle = 2 * ms;
  CHECK_THAT(only(gap), ContainsSubstring("one cycle of rounds took 3.00 s, others 2.00 ms"));
  Conditions backwards;
  backwards.shortest_cycle = -s;
  CHECK_THAT(only(backwards), ContainsSubstring("ran backwards"));

  Conditions shared;
  shared.gpu = pace::GpuConditions{.other_processes = 1};
  CHECK_THAT(only(shared), ContainsSubstring("1 process beside this one may use the GPU"));
  shared.gpu->others = 0.06;
  CHECK_THAT(only(shared), ContainsSubstring("Other processes used 6 % of the GPU's multiprocessors' time"));

  const auto found = [](const Conditions& conditions, Nanoseconds elapsed = s, double share = 0.2) {
    return pace::find_disturbances(conditions, elapsed, share);
  };
  CHECK_THAT(found({.steal = 0.2}), IsEmpty());
  CHECK_THAT(found(shared, s, 1), IsEmpty());
  shared.gpu->others = 0;
  CHECK_THAT(found(shared), IsEmpty());
  // Where clocks are known, cycles at different ones are left out.
  shared.gpu->slowed = 1;
  CHECK(found(shared).size() == 1);
  shared.gpu->highest_clock = 1500;
  CHECK_THAT(found(shared), IsEmpty());
  CHECK_THAT(found({.others = 0.9}), IsEmpty());
  // Put aside four times: a few bad samples.
  CHECK_THAT(found({.waiting = 0.9, .involuntary_switches = 4}), IsEmpty());
  // A clock that NTP adjusts, and two clocks that were not read at once.
  CHECK_THAT(found({.clock_error = 5 * ms}), IsEmpty());
  CHECK_THAT(found({.clock_error = 1.5 * ms}, 10 * ms), IsEmpty());
  // A slow subject is not a process that stood still, and a hiccup is none either.
  gap.median_cycle = s;
  CHECK_THAT(found(gap), IsEmpty());
  gap = {};
  gap.longest_cycle = 0.9 * s;
  gap.median_cycle = ms;
  CHECK_THAT(found(gap), IsEmpty());
  // Read under any load.
  CHECK_THAT(found({.steal = 0.99, .others = 0.99, .waiting = 1, .throttled = 1}, s, 1), IsEmpty());
}

TEST_CASE("other work can have kept a process from the time that it took, less the idle time") {
  Pair pair;
  CHECK(pair.cores_taken() == 0);
  pair.after.idle_ticks = 20;
  CHECK(*pair.cores_taken() == Approx(0.6));
  // Time that a hypervisor gave to other machines is theirs, too.
  pair.after.steal_ticks = 80;
  CHECK(*pair.cores_taken() == Approx(0.6));
  pair.after.idle_ticks = 0;
  pair.after.process_cpu = 0.5 * s;
  CHECK(*pair.cores_taken() == Approx(1.5));
  // One thread uses no more than one core.
  CHECK(*pair.cores_taken(1) == Approx(1));
  // Children that ended meanwhile may have used more than was counted for this time.
  pair.after.process_cpu = 3 * s;
  CHECK(pair.cores_taken() == 0);
}

TEST_CASE("others that leave more cores idle than there are threads keep no thread from one") {
  Pair pair;
  pair.after.total_ticks = 1600;
  pair.after.idle_ticks = 500;
  CHECK(pair.cores_taken(2) == 0);
  CHECK(*pair.cores_taken(16) == Approx(5));
}

TEST_CASE("what others took is unknown where ticks are few, absent, or of CPUs that the process may not use") {
  Pair pair;
  pair.after.idle_ticks = 0;
  SECTION("known") {
    CHECK(pair.cores_taken(2, 100 * ms).has_value());
    return;
  }
  Nanoseconds elapsed = s;
  SECTION("brief") { elapsed = 99 * ms; }
  SECTION("no ticks") { pair.before.total_ticks.reset(); }
  SECTION("no idle ticks") { pair.after.idle_ticks.reset(); }
  SECTION("no time of the process") { pair.after.process_cpu.reset(); }
  SECTION("kept to some CPUs") { pair.before.restricted = true; }
  SECTION("... from then on") { pair.after.restricted = true; }
  CHECK_FALSE(pair.cores_taken(2, elapsed).has_value());
}
