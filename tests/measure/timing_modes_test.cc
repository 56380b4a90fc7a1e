// Whole comparisons on a device that only keeps books: which mode the gate is about, the others, and lost devices.
#include "pace/compare/comparison.hpp"
#include "pace/gate/energy.hpp"
#include "pace/gate/result_matchers.hpp"
#include "pace/gate/times.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <ATen/Functions.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_container_properties.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_quantifiers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "pace/base/function_ref.hpp"
#include "pace/gpu/multi_mode_clock.hpp"
#include "tests/gpu/fake_device.hpp"
#include "tests/support/comparisons.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/variable.hpp"

namespace {

using Catch::Matchers::AnyMatch;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::IsEmpty;
using Catch::Matchers::WithinRel;
using pace::ClockChoice;
using pace::Nanoseconds;
using pace::Outcome;
using pace::testing::FakeDevice;
using FakeClock = pace::gpu::MultiModeClock<FakeDevice>;

/// Few rounds: every look at an event takes the fake host a tenth of a second.
pace::Options few_rounds() {
  pace::Options options;
  options.audit = pace::Audit::strict;
  options.budget = std::chrono::seconds(20);
  options.hard_limit = std::chrono::seconds(1000);
  options.least_duration = {};
  options.warm_up = Nanoseconds(1);
  options.min_sample = Nanoseconds(1);
  options.resolutions_per_sample = 1;
  options.max_rounds = 20;
  return options;
}

/// Rounds by this clock alone.
pace::Options few_rounds_by(ClockChoice clock) {
  auto options = few_rounds();
  options.clock = clock;
  options.mode_share = 0;
  return options;
}

struct OnDevice {
  FakeDevice device;
  FakeClock clock{device};

  auto taking(double nanoseconds) {
    return [this, nanoseconds] { device.work(Nanoseconds(nanoseconds)); };
  }
  /// As something that copies its result to the host.
  auto waiting(double nanoseconds) {
    return [this, nanoseconds] {
      device.work(Nanoseconds(nanoseconds));
      if (device.capturing) throw std::runtime_error("it waits for the device");
      device.synchronise();
    };
  }
  /// From the capture after the first `captures` on.
  auto out_of_memory(int captures) {
    return [this, captures, so_far = 0]() mutable {
      if (device.capturing && ++so_far > captures)
        throw c10::OutOfMemoryError({__func__, __FILE__, __LINE__}, "nothing is left");
      device.work(Nanoseconds(3000));
    };
  }
  auto compare(const pace::Options& options = few_rounds()) {
    return pace::Comparison<>("on a device").options(options);
  }
  /// The baseline, `a`, takes 9 us.
  auto compare_with_a(const pace::Options& options = few_rounds()) {
    return compare(options).baseline("a", taking(9000));
  }
};

const pace::ModeSummary& mode(const pace::ImplementationResult& row, const std::string& name) {
  for (const auto& each : row.modes)
    if (each.name == name) return each;
  throw std::runtime_error("no mode " + name);
}

TEST_CASE("four timings of the same calls; the gate's is the graph's") {
  OnDevice on;
  const auto result = on.compare_with_a().candidate("b", on.taking(3000)).run(on.clock);
  CHECK(result.clock == "graph");
  const auto& row = result["b"];
  REQUIRE(row.outcome == Outcome::measured);
  CHECK_THAT(row.time->median.count(), WithinRel(3000.0, 1e-9));
  CHECK_THAT(row.speedup->median, WithinRel(3.0, 1e-9));
  REQUIRE(row.modes.size() == 4);
  for (const char* const name : {"cold", "hot", "graph"}) {
    CAPTURE(name);
    CHECK_THAT(mode(row, name).time->median.count(), WithinRel(3000.0, 1e-9));
    CHECK_THAT(mode(row, name).speedup->median, WithinRel(3.0, 1e-9));
    CHECK_FALSE(mode(result["a"], name).speedup);
  }
  // Any launch takes the fake host 1 us.
  CHECK_THAT(mode(row, "host").time->median.count(), WithinRel(1000.0, 0.01));
  CHECK_THAT(mode(row, "host").speedup->median, WithinRel(1.0, 0.01));
  CHECK(on.device.blocks > 0);
}

TEST_CASE("with CUDA_LAUNCH_BLOCKING times by launches are not shown, and have no verdict where they are the gate's") {
  const pace::test::Variable set("CUDA_LAUNCH_BLOCKING", "1");
  OnDevice on;
  const auto result = on.compare_with_a().candidate("b", on.taking(3000)).run(on.clock);
  for (const char* const name : {"hot", "host"}) {
    CHECK_FALSE(mode(result["b"], name).time);
    CHECK_THAT(mode(result["b"], name).missing, ContainsSubstring("CUDA_LAUNCH_BLOCKING is set"));
  }
  for (const char* const name : {"cold", "graph"}) CHECK(mode(result["b"], name).time);
  CHECK_THAT(result.conditions.disturbances, IsEmpty());

  OnDevice by_launches;
  const auto options = few_rounds_by(ClockChoice::hot);
  const auto hot = by_launches.compare_with_a(options)
                       .candidate("b", by_launches.taking(3000))
                       .expect(pace::SpeedupAtLeast(1.2).on_device())
                       .run(by_launches.clock);
  REQUIRE(hot["b"].judgements.size() == 1);
  CHECK(hot["b"].judgements[0].verdict == pace::Verdict::undecided);
  CHECK_THAT(hot["b"].judgements[0].message,
             ContainsSubstring("CUDA_LAUNCH_BLOCKING is set") && ContainsSubstring("try: unset CUDA_LAUNCH_BLOCKING"));
}

/// As many rounds as a verdict takes, without other modes.
pace::Options rounds_for_verdicts() {
  auto options = few_rounds();
  options.mode_share = 0;
  options.max_rounds = 100;
  options.budget = options.hard_limit = std::chrono::seconds(10000);
  return options;
}

TEST_CASE("a guard on a GPU allows what it states and no more") {
  for (const auto& [time, verdict] :
       {std::pair(2997.0, pace::Verdict::passed), std::pair(3003.0, pace::Verdict::failed)}) {
    OnDevice on;
    const auto result = on.compare(rounds_for_verdicts())
                            .baseline("a", on.taking(3000))
                            .candidate("b", on.taking(time))
                            .expect(pace::NoSlowerThan(1.00).on_device())
                            .run(on.clock);
    CAPTURE(time, result["b"].message);
    REQUIRE(result["b"].judgements.size() == 1);
    INFO(result["b"].judgements[0].message);
    CHECK(result["b"].judgements[0].verdict == verdict);
  }
}

/// `other` beside a baseline of 9 us on an operand whose values are `given`, timed by events.
template <class F>
pace::Result on_values(OnDevice& on, const at::Tensor& given, F other) {
  auto options = rounds_for_verdicts();
  options.clock = ClockChoice::hot;
  return pace::compare("on a device", given)
      .options(options)
      .device(at::kCPU)
      .baseline("a",
                [&](const at::Tensor& x) {
                  on.device.work(Nanoseconds(9000));
                  return x.mul(3);
                })
      .candidate("b",
                 [&, other](const at::Tensor& x) {
                   on.device.work(Nanoseconds(other(x)));
                   return x.mul(3);
                 })
      .expect(pace::SpeedupAtLeast(1.2).on_device())
      .run(on.clock);
}

TEST_CASE("on a device, too, a claim fails that holds for the values given alone") {
  OnDevice on;
  const at::Tensor given = at::randn({64});
  const auto result =
      on_values(on, given, [given](const at::Tensor& x) { return at::equal(x, given) ? 3000.0 : 9000.0; });
  const auto& row = result["b"];
  INFO(row.message);
  REQUIRE(row.outcome == Outcome::measured);
  CHECK_THAT(row.speedup->median, WithinRel(3.0, 1e-9));
  REQUIRE(row.on_unseen_values);
  CHECK_THAT(row.on_unseen_values->median, WithinRel(1.0, 1e-9));
  CHECK(row.judgements.at(0).verdict == pace::Verdict::failed);
  CHECK_THAT(row.judgements.at(0).message, ContainsSubstring("on unseen values at most 1.00x"));
}

TEST_CASE("on a device, too, a claim holds that is true of all values") {
  OnDevice on;
  const auto result = on_values(on, at::randn({64}), [](const at::Tensor&) { return 3000.0; });
  const auto& row = result["b"];
  INFO(row.message);
  REQUIRE(row.on_unseen_values);
  CHECK_THAT(row.on_unseen_values->median, WithinRel(3.0, 1e-9));
  CHECK(row.judgements.at(0).verdict == pace::Verdict::passed);
}

TEST_CASE("a guard is about the host's time, too, unless it is stated of the device alone") {
  OnDevice on;
  // The same work of the device, but the host launches two kernels instead of one.
  const auto in_two = [&on] {
    on.device.work(Nanoseconds(1500));
    on.device.work(Nanoseconds(1500));
  };
  const auto compare = [&](const pace::Expectation& expectation, ClockChoice clock = ClockChoice::automatic) {
    auto options = rounds_for_verdicts();
    options.clock = clock;
    return on.compare(options)
        .check(pace::test::not_compared())
        .baseline("a", on.taking(3000))
        .candidate("b", in_two)
        .expect(expectation)
        .run(on.clock);
  };
  const auto guard = pace::NoSlowerThan(1.05);
  {
    const auto result = compare(guard);
    CHECK(result.clock == "graph");
    REQUIRE(result["b"].judgements.size() == 1);
    CHECK(result["b"].judgements[0].verdict == pace::Verdict::passed);
    CHECK_THAT(result["b"].judgements[0].message, ContainsSubstring("by the graph clock"));
    const auto& host = result.in_phase(pace::host_phase);
    CHECK(host.name == "on a device/host");
    CHECK(host.clock == "host");
    CHECK_THAT(host["b"].speedup->median, WithinRel(0.5, 0.02));
    REQUIRE(host["b"].judgements.size() == 1);
    CHECK(host["b"].judgements[0].verdict == pace::Verdict::failed);
    CHECK_THAT(host["b"].judgements[0].message, ContainsSubstring("by the host clock"));
    CHECK(mode(result["b"], "host").speedup->median == host["b"].speedup->median);
    const auto match = pace::AsExpected().examine(result);
    CHECK_FALSE(match.met);
    CHECK(match.refuted);
    CHECK_THAT(match.text, ContainsSubstring("by the host clock") && !ContainsSubstring("phase"));
  }
  for (const auto& result : {compare(guard.on_device()), compare(pace::SpeedupAtLeast(0.9)),
                             compare(guard, ClockChoice::graph), compare(guard.on_device(), ClockChoice::hot)}) {
    CAPTURE(result.clock);
    CHECK(result.phases.empty());
    REQUIRE(result["b"].judgements.size() == 1);
    CHECK(result["b"].judgements[0].verdict == pace::Verdict::passed);
  }
  for (const auto& result :
       {compare(guard.on_host()), compare(pace::SpeedupAtLeast(0.9).on_host(), ClockChoice::hot)}) {
    CAPTURE(result.clock);
    CHECK(result["b"].judgements.empty());
    REQUIRE(result.in_phase(pace::host_phase)["b"].judgements.size() == 1);
    CHECK(result.in_phase(pace::host_phase)["b"].judgements[0].verdict == pace::Verdict::failed);
  }
  {
    const auto result = compare(guard.on_host(), ClockChoice::host);
    CHECK(result.phases.empty());
    REQUIRE(result["b"].judgements.size() == 1);
    CHECK(result["b"].judgements[0].verdict == pace::Verdict::failed);
  }
  CHECK_THROWS_WITH(compare(guard.on_device(), ClockChoice::host), ContainsSubstring("on the device"));
  const auto result = compare(guard.on_device());
  CHECK_THROWS_WITH(guard.on_host().examine(result["b"]), ContainsSubstring("the times of the graph clock"));
}

TEST_CASE("a test reads what was judged, by the clock of the comparison and by the host's time") {
  OnDevice on;
  const auto result = on.compare(rounds_for_verdicts())
                          .baseline("eager", on.taking(3000))
                          .candidate("mine",
                                     [&on] {
                                       on.device.work(Nanoseconds(1500));
                                       on.device.work(Nanoseconds(1500));
                                     })
                          .expect("mine", pace::NoSlowerThan(1.05))
                          .run(on.clock);
  const pace::ImplementationResult& row = result["mine"];
  REQUIRE(row.judgements.size() == 1);
  const pace::Judgement& by_graph = row.judgements[0];
  CHECK(by_graph.expectation == "time of at most 1.05x the baseline's");
  CHECK(by_graph.verdict == pace::Verdict::passed);
  CHECK(by_graph.acceptable);
  CHECK_FALSE(by_graph.unresolved);
  CHECK_THAT(by_graph.message, ContainsSubstring("by the graph clock"));

  // On a GPU the guard is about the host's time, too. The host launches two kernels here instead of one.
  const pace::Judgement& by_host = result.in_phase("host")["mine"].judgements.at(0);
  CHECK(by_host.verdict == pace::Verdict::failed);
  CHECK_FALSE(by_host.acceptable);
  CHECK_THAT(by_host.message, ContainsSubstring("by the host clock"));
}

TEST_CASE("on the CPU the host's time is the only one") {
  pace::test::FakeClock clock;
  const auto taking = [&](double time) { return [&clock, time] { clock.advance(Nanoseconds(time)); }; };
  const auto result = pace::Comparison<>("a")
                          .options(rounds_for_verdicts())
                          .baseline("a", taking(3000))
                          .candidate("b", taking(6000))
                          .expect(pace::NoSlowerThan(1.05).on_host())
                          .expect(pace::NoSlowerThan(1.05).on_device())
                          .expect(pace::NoSlowerThan(1.05))
                          .run(clock);
  CHECK(result.phases.empty());
  REQUIRE(result["b"].judgements.size() == 3);
  for (const auto& judgement : result["b"].judgements) {
    CHECK(judgement.verdict == pace::Verdict::failed);
    CHECK_THAT(judgement.message, !ContainsSubstring("clock"));
  }
}

TEST_CASE("a candidate that cannot be captured does not change what the others are gated on") {
  OnDevice on;
  const auto result = on.compare_with_a(rounds_for_verdicts())
                          .check(pace::test::not_compared())
                          .candidate("b", on.waiting(3000))
                          .candidate("c", on.taking(4500))
                          .expect(pace::SpeedupAtLeast(1.5))
                          .run(on.clock);
  CHECK(result.clock == "graph");
  CHECK(result["b"].outcome == Outcome::refused);
  CHECK_THAT(result["b"].message, ContainsSubstring("cannot be timed by the graph clock") &&
                                      ContainsSubstring("--clock hot") && ContainsSubstring("it waits for the device"));
  CHECK(result["c"].judgements.at(0).verdict == pace::Verdict::passed);
  CHECK_FALSE(pace::AsExpected().examine(result).met);
  // Without a baseline in a graph, there is nothing to be gated on there.
  OnDevice other;
  const auto by_events = other.compare(rounds_for_verdicts())
                             .check(pace::test::not_compared())
                             .baseline("a", other.waiting(9000))
                             .candidate("c", other.taking(4500))
                             .expect(pace::SpeedupAtLeast(1.5))
                             .run(other.clock);
  CHECK(by_events.clock == "hot");
  CHECK(by_events["c"].judgements.at(0).verdict == pace::Verdict::passed);
}

TEST_CASE(
    "what throws in the rounds by the host's time is at fault, and its figures in the graph stay, as do the others") {
  OnDevice on;
  const auto throws_on_host = [&on] {
    on.device.work(Nanoseconds(3000));
    if (on.clock.selected() == ClockChoice::host) throw std::runtime_error("no host");
  };
  const auto result = on.compare(rounds_for_verdicts())
                          .baseline("a", on.taking(3000))
                          .candidate("b", throws_on_host)
                          .candidate("c", on.taking(3000))
                          .expect(pace::NoSlowerThan(1.05))
                          .run(on.clock);
  CHECK(result["b"].outcome == Outcome::threw);
  CHECK_THAT(result["b"].message, ContainsSubstring("by the host's time") && ContainsSubstring("no host"));
  CHECK_THAT(result["b"].time->median.count(), WithinRel(3000.0, 1e-9));
  CHECK(result["c"].judgements.at(0).verdict == pace::Verdict::passed);
  const auto& host = result.in_phase(pace::host_phase);
  CHECK(host["b"].judgements.at(0).verdict == pace::Verdict::failed);
  CHECK(host["c"].judgements.at(0).verdict == pace::Verdict::passed);
  // Also where no candidate is left.
  const auto alone = on.compare(rounds_for_verdicts())
                         .baseline("a", on.taking(3000))
                         .candidate("b", throws_on_host)
                         .expect(pace::NoSlowerThan(1.05))
                         .run(on.clock);
  CHECK(alone["b"].outcome == Outcome::threw);
  CHECK_THAT(alone["b"].time->median.count(), WithinRel(3000.0, 1e-9));
  CHECK(alone.in_phase(pace::host_phase)["b"].judgements.at(0).verdict == pace::Verdict::failed);
}

TEST_CASE("a claim on the host's time is open where nothing was timed") {
  OnDevice on;
  auto options = rounds_for_verdicts();
  options.clock = ClockChoice::graph;
  const auto result = on.compare(options)
                          .baseline("a", on.waiting(9000))
                          .candidate("b", on.waiting(3000))
                          .expect(pace::SpeedupAtLeast(1.5).on_host())
                          .run(on.clock);
  CHECK(result.rounds == 0);
  const auto& judgements = result.in_phase(pace::host_phase)["b"].judgements;
  REQUIRE(judgements.size() == 1);
  CHECK(judgements[0].verdict == pace::Verdict::invalid);
  CHECK_FALSE(judgements[0].acceptable);
}

TEST_CASE("a guard on the host's time is not let through without any figure, and names the clock") {
  pace::ImplementationResult row;
  row.name = "b";
  row.outcome = Outcome::measured;
  row.context.clock = "host";
  row.context.enter({pace::Severity::cut_short, "the time is over"});
  const auto judgement = pace::NoSlowerThan(1.05).when_undecided(pace::WhenUndecided::let_through).judge(row);
  CHECK(judgement.verdict == pace::Verdict::undecided);
  CHECK(judgement.acceptable);
  CHECK(judgement.unresolved);
  CHECK_THAT(judgement.message, ContainsSubstring("by the host clock") && ContainsSubstring("the time is over"));
  CHECK_THROWS_WITH(pace::NoSlowerThan(1.05).on_device().examine(row), ContainsSubstring("has the host's times"));
}

/// A GPU that meets its power limit: hungry work charges it, and light work and rests discharge it. From a charge of 20
/// on it has a lower clock, until the charge is below 5.
struct PowerLimited {
  FakeDevice device;
  /// The driver's readings of it.
  struct Clock final : FakeClock {
    explicit Clock(PowerLimited& gpu) : FakeClock(gpu.device), of(gpu) {}
    PowerLimited& of;
    [[nodiscard]] std::optional<pace::timing::GpuReading> look_at_gpu() const override {
      if (of.silent) return std::nullopt;
      return pace::timing::GpuReading{.clock = of.megahertz(), .slowed = of.slowed, .power_limited = of.limited};
    }
    void pause(Nanoseconds time) override {
      of.device.rest(time);
      of.charge_by(-10 * (time / Nanoseconds(1e6)));
      ++of.pauses;
    }
  } clock{*this};

  double charge = 0;
  bool silent = false, slowed = false, limited = false;
  int pauses = 0;

  [[nodiscard]] double megahertz() const { return limited ? 1500 : 1980; }
  void charge_by(double amount) {
    charge = std::clamp(charge + amount, 0.0, 30.0);
    limited = limited ? charge >= 5 : charge > 20;
  }
  /// Work that takes `time` at the highest clock.
  auto taking(double time, double amount) {
    return [this, time, amount] {
      charge_by(amount);
      device.work(Nanoseconds(time * 1980 / megahertz()));
    };
  }
  pace::Result compare(std::function<void()> baseline, std::function<void()> candidate, double tolerated = 0.05,
                       std::optional<Nanoseconds> budget = {}) {
    auto options = rounds_for_verdicts();
    if (budget) options.budget = *budget;
    options.clock = ClockChoice::hot;
    options.max_interference = tolerated;
    return pace::Comparison<>("a")
        .options(options)
        .check(pace::test::not_compared())
        .baseline("a", std::move(baseline))
        .candidate("b", std::move(candidate))
        .expect(pace::NoSlowerThan(1.05))
        .run(clock);
  }
};

pace::Verdict verdict(const pace::Result& result) {
  UNSCOPED_INFO(result["b"].judgements.at(0).message);
  return result["b"].judgements.at(0).verdict;
}

TEST_CASE("a GPU that is throttled equally for both sides gives a verdict") {
  PowerLimited gpu;
  const auto result = gpu.compare(gpu.taking(3000, 12), gpu.taking(3000, 1));
  CHECK(verdict(result) == pace::Verdict::passed);
  REQUIRE(result.conditions.gpu);
  CHECK(result.conditions.gpu->power_limited > 0.9);
  CHECK_THAT(result.conditions.disturbances, IsEmpty());
}

TEST_CASE("cycles at different clocks are left out, rests let the GPU recover, and the verdict is right") {
  for (const bool slower : {false, true}) {
    CAPTURE(slower);
    PowerLimited gpu;
    // With its lower clock, the hungry side would be 1.32 times as slow.
    const auto result = gpu.compare(gpu.taking(3000, -16), gpu.taking(slower ? 3200 : 3000, 12));
    CHECK(verdict(result) == (slower ? pace::Verdict::failed : pace::Verdict::passed));
    REQUIRE(result.conditions.gpu);
    CHECK(result.conditions.gpu->dropped_cycles > 0);
    CHECK(result.conditions.gpu->paused.count() > 0);
    CHECK(gpu.pauses > 0);
    CHECK_THAT(result.notes,
               AnyMatch(ContainsSubstring("are left out, since the GPU's clock") && ContainsSubstring("to cool down")));
    CHECK_THAT(result.conditions.disturbances, IsEmpty());
  }
}

TEST_CASE("cycles that are left out and rests do not spend the budget") {
  PowerLimited gpu;
  const auto whole = gpu.compare(gpu.taking(3000, -16), gpu.taking(3000, 12));
  PowerLimited again;
  const auto half = again.compare(again.taking(3000, -16), again.taking(3000, 12), 0.05, 0.5 * whole.elapsed);
  CHECK(verdict(half) == pace::Verdict::passed);
  CHECK(half.elapsed > 0.6 * whole.elapsed);
}

TEST_CASE("there is no verdict only if the clocks differ until the budget ends") {
  // Each call meets the limit or leaves it at once.
  PowerLimited gpu;
  const auto light = gpu.taking(3000, -1000), hungry = gpu.taking(3000, 1000);
  const auto result = gpu.compare(light, hungry);
  CHECK(verdict(result) == pace::Verdict::undecided);
  REQUIRE(result.conditions.gpu);
  CHECK(result.conditions.gpu->dropped_cycles > 10);
  CHECK(result.stop_reason == pace::StopReason::budget);
  CHECK(result["b"].time);
  CHECK_THAT(result["b"].judgements[0].message,
             ContainsSubstring("A verdict needs") && ContainsSubstring("0 are left"));
  CHECK_THAT(result.notes, AnyMatch(ContainsSubstring("In long runs alone, 'a' has 1980 MHz and 'b' 1500 MHz")));
  // 1 tolerates everything.
  CHECK(gpu.compare(light, hungry, 1).conditions.gpu->dropped_cycles == 0);
}

TEST_CASE("heat that slows one side alone drops cycles, and a GPU without readings is as ever") {
  PowerLimited gpu;
  const auto hot = [&](bool heats) {
    return [&gpu, heats] {
      gpu.device.work(Nanoseconds(3000));
      gpu.slowed = heats;
    };
  };
  const auto hot_side = hot(true), cool_side = hot(false);
  CHECK(verdict(gpu.compare(cool_side, hot_side)) == pace::Verdict::undecided);
  // Both sides alike: the figures hold for that state.
  const auto alike = gpu.compare(hot_side, hot_side);
  CHECK(verdict(alike) == pace::Verdict::passed);
  CHECK_THAT(alike.notes, AnyMatch(ContainsSubstring("for all sides alike")));
  gpu.silent = true;
  const auto silent = gpu.compare(cool_side, hot_side);
  CHECK(verdict(silent) == pace::Verdict::passed);
  CHECK_FALSE(silent.conditions.gpu);
}

/// A GPU whose counter of energy moves every 91 ms, and whose power depends on the work.
struct WithCounter {
  FakeDevice device;
  struct Clock final : FakeClock {
    explicit Clock(WithCounter& gpu) : FakeClock(gpu.device), of(gpu) {}
    WithCounter& of;
    /// The moves that the fake has made meanwhile.
    struct Recording final : pace::timing::EnergyRecording {
      explicit Recording(WithCounter& gpu) : of(gpu), first(gpu.moves.size()) {}
      WithCounter& of;
      std::size_t first;
      [[nodiscard]] std::vector<pace::timing::EnergyMove> stop() override {
        return {of.moves.begin() + static_cast<std::ptrdiff_t>(first), of.moves.end()};
      }
    };
    [[nodiscard]] std::unique_ptr<pace::timing::EnergyRecording> record_energy() override {
      of.recorded_by = name();
      if (!of.has_counter) return nullptr;
      return std::make_unique<Recording>(of);
    }
    [[nodiscard]] std::string device_name() const override { return "NVIDIA Fake"; }
    [[nodiscard]] pace::timing::GpuSharing look_for_others(Nanoseconds) const override { return of.sharing; }
    Nanoseconds sample(pace::timing::Subject& subject, std::size_t operands, std::int64_t iterations) override {
      const Nanoseconds took = FakeClock::sample(subject, operands, iterations);
      // The fake's host looks for the end ten times a second, and the device has no idle power.
      of.spend(took, now());
      return took;
    }
  } clock{*this};

  bool has_counter = true;
  pace::timing::GpuSharing sharing = {};
  std::string recorded_by = {};  ///< the clock at the last recording; empty: there was none
  double watts = 0, joules = 0;
  Nanoseconds last{}, period = std::chrono::milliseconds(91);
  std::vector<pace::timing::EnergyMove> moves;

  /// The power is even over the time since the last sample's end.
  void spend(Nanoseconds took, Nanoseconds now) {
    const double all = joules + watts * took.count() * 1e-9;
    for (Nanoseconds at = period * (std::floor(last / period) + 1); at < now; at += period)
      moves.push_back({at, 1e3 * std::lerp(joules, all, (at - last) / (now - last))});
    joules = all;
    last = now;
  }
  auto taking(double milliseconds, double with_watts) {
    return [this, milliseconds, with_watts] {
      watts = with_watts;
      device.work(Nanoseconds(1e6 * milliseconds));
    };
  }
  pace::Result compare(double ratio, ClockChoice mode = ClockChoice::hot) {
    auto options = rounds_for_verdicts();
    options.clock = mode;
    options.mode_share = 0;
    options.max_rounds = 4;
    return pace::Comparison<>("a")
        .options(options)
        .check(pace::test::not_compared())
        .baseline("a", taking(5, 300))
        .candidate("b", taking(4, 600))
        .expect(pace::EnergyAtMost(ratio))
        .run(clock);
  }
};

TEST_CASE("the energy of a call follows from the moves of the counter, and is judged by its ratio") {
  WithCounter gpu;
  const auto result = gpu.compare(1.7);
  REQUIRE(result["a"].energy);
  REQUIRE(result["b"].energy);
  CHECK_THAT(result["a"].energy->millijoules, WithinRel(1500.0, 0.01));
  CHECK_THAT(result["b"].energy->millijoules, WithinRel(2400.0, 0.01));
  CHECK_THAT(result["b"].energy->ratio.value_or(0), WithinRel(1.6, 0.01));
  CHECK_FALSE(result["a"].energy->ratio);
  CHECK(result["b"].energy->moves > 20);
  REQUIRE(result["b"].energy->ratio_interval);
  CHECK(result["b"].energy->ratio_interval->contains(1.6));
  CHECK(verdict(result) == pace::Verdict::passed);
  CHECK(verdict(gpu.compare(1.5)) == pace::Verdict::failed);
}

TEST_CASE("a counter that hardly moves leaves the gate on energy undecided, and none makes it invalid") {
  WithCounter gpu;
  gpu.period = std::chrono::milliseconds(700);
  const auto coarse = gpu.compare(2);
  CHECK(verdict(coarse) == pace::Verdict::undecided);
  CHECK_FALSE(coarse["b"].energy->interval);
  gpu.has_counter = false;
  const auto none = gpu.compare(2);
  CHECK(verdict(none) == pace::Verdict::invalid);
  CHECK_THAT(none["b"].judgements[0].message, ContainsSubstring("NVIDIA Fake has no counter of energy"));
}

TEST_CASE("an energy that other processes may have taken is missing, with what is known of them") {
  WithCounter gpu;
  const auto missing = [&](const std::optional<double>& others) {
    gpu.sharing = {.processes = 1, .others = others};
    const auto result = gpu.compare(2);
    CHECK(verdict(result) == (result["b"].energy->missing.empty() ? pace::Verdict::passed : pace::Verdict::invalid));
    return result["b"].energy->missing;
  };
  const std::string says = "the counter is the whole board's, and other processes ";
  CHECK(missing(0.5) == says + "used 50 % of the GPU meanwhile");
  CHECK(missing({}) == says + "may have used the GPU meanwhile");
  CHECK(missing(0.01).empty());
}

TEST_CASE("energy is measured by graphs where the gate's clock is cold, since a flush of the cache takes some, too") {
  WithCounter gpu;
  const auto result = gpu.compare(1.7, ClockChoice::cold);
  CHECK(result.clock == "cold");
  CHECK(gpu.recorded_by == "graph");
  CHECK(verdict(result) == pace::Verdict::passed);
}

TEST_CASE("what throws while its energy is measured is at fault, and the others have theirs") {
  WithCounter gpu;
  auto options = rounds_for_verdicts();
  options.clock = ClockChoice::hot;
  options.mode_share = 0;
  options.max_rounds = 4;
  const auto result = pace::Comparison<>("a")
                          .options(options)
                          .check(pace::test::not_compared())
                          .baseline("a", gpu.taking(5, 300))
                          .candidate("b", gpu.taking(4, 600))
                          .candidate("bad",
                                     [&] {
                                       gpu.device.work(Nanoseconds(4e6));
                                       if (!gpu.recorded_by.empty()) throw std::runtime_error("out of luck");
                                     })
                          .expect("b", pace::EnergyAtMost(1.7))
                          .run(gpu.clock);
  CHECK(result["bad"].outcome == Outcome::threw);
  CHECK(result["bad"].message == "after the rounds, when its energy was measured: out of luck");
  CHECK(result["bad"].time);
  CHECK_FALSE(result["bad"].energy);
  REQUIRE(result["a"].energy);
  CHECK_THAT(result["a"].energy->millijoules, WithinRel(1500.0, 0.01));
  CHECK(verdict(result) == pace::Verdict::passed);
}

/// A clock that counts the kernels of a call.
struct Counting final : FakeClock {
  explicit Counting(FakeDevice& device) : FakeClock(device) {}
  bool counts = false;
  [[nodiscard]] std::optional<pace::DeviceCounts> device_counts_of(pace::FunctionRef<void()> call) override {
    counts = true;
    call();
    return pace::DeviceCounts{.kernels = 3, .launches = 2};
  }
};

TEST_CASE("a call of each is counted after the rounds, and what throws then is at fault") {
  FakeDevice device;
  Counting clock(device);
  auto options = few_rounds_by(ClockChoice::hot);
  options.device_counts = true;
  const auto work = [&](bool throws) {
    return [&, throws] {
      device.work(Nanoseconds(3000));
      if (throws && clock.counts) throw std::runtime_error("out of luck");
    };
  };
  const auto result = pace::Comparison<>("a")
                          .options(options)
                          .check(pace::test::not_compared())
                          .baseline("a", work(false))
                          .candidate("bad", work(true))
                          .candidate("c", work(false))
                          .run(clock);
  CHECK(result["bad"].outcome == Outcome::threw);
  CHECK(result["bad"].message == "after the rounds, when a call was counted: out of luck");
  CHECK_FALSE(result["bad"].device_counts);
  for (const char* const name : {"a", "c"}) {
    CHECK(result[name].outcome == Outcome::measured);
    REQUIRE(result[name].device_counts);
    CHECK(*result[name].device_counts == pace::DeviceCounts{.kernels = 3, .launches = 2});
  }
}

TEST_CASE("on a GPU, too, a candidate that makes the thread wait is charged with that, and no other side is") {
  for (const bool on_both_sides : {false, true}) {
    OnDevice on;
    auto options = few_rounds();
    options.clock = ClockChoice::wall;
    options.mode_share = 0;
    options.max_rounds = 100;
    options.budget = options.hard_limit = std::chrono::seconds(10000);
    const auto waiting = [&on](bool waits) {
      return [&on, waits] {
        on.device.work(Nanoseconds(6e3));
        if (waits) on.device.put_thread_aside(Nanoseconds(6e6));
      };
    };
    const auto result = on.compare()
                            .options(options)
                            .baseline("a", waiting(on_both_sides))
                            .candidate("b", waiting(true))
                            .expect(pace::NoSlowerThan(1.02))
                            .run(on.clock);
    CAPTURE(on_both_sides, result.notes, result["b"].message);
    CHECK(result.clock == "wall");
    REQUIRE(result.conditions.sides.size() == 2);
    CHECK((result.conditions.sides[0].waited().count() > 0) == on_both_sides);
    CHECK(result.conditions.sides[1].waited().count() > 0);
    CHECK(*result.conditions.waiting > 0.2);
    REQUIRE(result["b"].judgements.size() == 1);
    INFO(result["b"].judgements[0].message);
    CHECK(result["b"].judgements[0].verdict == (on_both_sides ? pace::Verdict::undecided : pace::Verdict::failed));
    CHECK(result.conditions.disturbances.empty() != on_both_sides);
  }
}

TEST_CASE("one implementation cannot be captured: all are timed by events, and a note gives the reason") {
  OnDevice on;
  const auto result = on.compare_with_a().candidate("b", on.waiting(3000)).run(on.clock);
  CHECK(result.clock == "hot");
  CHECK(result["b"].outcome == Outcome::measured);
  CHECK_THAT(mode(result["b"], "graph").missing, ContainsSubstring("it waits for the device"));
  CHECK(mode(result["b"], "cold").time == std::nullopt);
  CHECK(mode(result["a"], "graph").time);
  CHECK_THAT(result.notes, AnyMatch(ContainsSubstring("'b' cannot be captured")));
}

TEST_CASE("notes on samples go with them when one candidate throws and the others are measured again") {
  OnDevice on;
  int calls = 0;
  const auto throws_later = [&] {
    on.device.work(Nanoseconds(1000));
    if (++calls > 15) throw std::runtime_error("out of luck");
  };
  const auto result = on.compare_with_a().candidate("b", on.waiting(3000)).candidate("c", throws_later).run(on.clock);
  CHECK(result["c"].message == "out of luck");
  CHECK(result["b"].outcome == Outcome::measured);
  std::size_t found = 0;
  for (const auto& note : result.notes) found += note.find("cannot be captured") != std::string::npos;
  CHECK(found == 1);
}

TEST_CASE("a clock asked for by name: what cannot be timed by it is refused") {
  OnDevice on;
  const auto result = on.compare_with_a(few_rounds_by(ClockChoice::cold))
                          .candidate("b", on.waiting(3000))
                          .candidate("c", on.taking(4500))
                          .run(on.clock);
  CHECK(result.clock == "cold");
  CHECK(result["b"].outcome == Outcome::refused);
  CHECK_THAT(result["b"].message, ContainsSubstring("cannot be timed by the cold clock"));
  CHECK_THAT(result["c"].speedup->median, WithinRel(2.0, 1e-9));
  REQUIRE(result["c"].modes.size() == 1);  // its own; no others were asked for
}

TEST_CASE("options that are for calls on a GPU have no effect on others, and notes say so") {
  const std::string elsewhere = " has no effect here: it is for calls on a GPU, and these are timed by the fake clock.";
  const auto notes_of = [](const pace::Options& options, auto& clock, auto call) {
    return pace::Comparison<>("a").options(options).baseline("a", call).candidate("b", call).run(clock).notes;
  };
  const auto elsewhere_notes = [&](const pace::Options& options) {
    pace::test::FakeClock clock;
    return notes_of(options, clock, [&] { clock.advance(Nanoseconds(1000)); });
  };
  using Notes = std::vector<std::string>;
  auto options = few_rounds();
  CHECK_THAT(elsewhere_notes(options), IsEmpty());
  for (const auto clock : {ClockChoice::cold, ClockChoice::graph}) {
    options.clock = clock;
    CHECK(elsewhere_notes(options) == Notes{std::string("--clock ") + pace::to_string(clock) + elsewhere});
  }
  options.asks_for_mode_share = true;
  CHECK(elsewhere_notes(options) == Notes{"--clock graph" + elsewhere, "--mode-share" + elsewhere});
  OnDevice on;
  CHECK_THAT(notes_of(options, on.clock, on.taking(3000)), IsEmpty());
  options.clock = ClockChoice::wall;
  options.asks_for_mode_share = false;
  CHECK_THAT(elsewhere_notes(options), IsEmpty());
}

TEST_CASE("a clock asked for by name that no implementation can be timed by: all are refused, and that is all") {
  for (const auto clock : {ClockChoice::cold, ClockChoice::graph}) {
    OnDevice on;
    auto options = few_rounds();
    options.clock = clock;
    const auto result =
        on.compare(options).baseline("a", on.waiting(9000)).candidate("b", on.waiting(3000)).run(on.clock);
    CHECK(result["a"].outcome == Outcome::refused);
    CHECK_THAT(result["a"].message, ContainsSubstring("cannot be timed by the"));
    CHECK(result["b"].outcome == Outcome::refused);
    CHECK(result.rounds == 0);
  }
}

TEST_CASE("no memory for a capture is no refusal; the others go on") {
  OnDevice on;
  const auto result = on.compare_with_a(few_rounds_by(ClockChoice::graph))
                          .candidate("b", on.out_of_memory(0))
                          .candidate("c", on.taking(4500))
                          .run(on.clock);
  CHECK(result["b"].outcome == Outcome::out_of_memory);
  CHECK_THAT(result["b"].message, ContainsSubstring("nothing is left"));
  CHECK_THAT(result["c"].speedup->median, WithinRel(2.0, 1e-9));
}

TEST_CASE("no memory for a further mode: it is missing, and the gate's own stands") {
  OnDevice on;
  auto options = few_rounds();
  options.clock = ClockChoice::hot;
  // The first capture is the look at whether there can be one.
  const auto result = on.compare_with_a(options).candidate("b", on.out_of_memory(1)).run(on.clock);
  const auto& row = result["b"];
  REQUIRE(row.outcome == Outcome::measured);
  CHECK_THAT(row.speedup->median, WithinRel(3.0, 1e-9));
  CHECK_THAT(mode(row, "cold").missing, ContainsSubstring("nothing is left"));
  CHECK_THAT(mode(result["a"], "cold").missing, ContainsSubstring("nothing is left"));
  CHECK(mode(row, "hot").time);
  CHECK(mode(row, "host").time);
}

TEST_CASE("what throws in a further mode is at fault, and the rounds' figures stay") {
  const bool is_baseline = GENERATE(false, true);
  const bool loses_device = GENERATE(false, true);
  CAPTURE(is_baseline, loses_device);
  OnDevice on;
  auto options = few_rounds();
  options.clock = ClockChoice::hot;
  options.max_rounds = 100;
  options.budget = options.hard_limit = std::chrono::seconds(10000);
  int captures = 0;
  // By the cold clock, whose calls are captured: not in the look at whether there can be a capture, but in the rounds.
  const auto throws_when_cold = [&] {
    on.device.work(Nanoseconds(3000));
    if (!on.device.capturing || ++captures == 1) return;
    if (loses_device) on.device.lose();
    throw std::runtime_error("out of luck");
  };
  auto comparison = on.compare(options);
  comparison.check(pace::test::not_compared());
  if (is_baseline)
    comparison.baseline("bad", throws_when_cold).candidate("good", on.taking(1000));
  else
    comparison.baseline("good", on.taking(9000)).candidate("bad", throws_when_cold);
  const auto result = comparison.candidate("c", on.taking(1500)).expect("c", pace::SpeedupAtLeast(1.2)).run(on.clock);
  const auto& bad = result["bad"];
  CHECK(bad.outcome == Outcome::threw);
  CHECK(bad.message == "after the rounds, by the cold clock: out of luck");
  CHECK(bad.time);
  CHECK(mode(bad, "hot").time);
  CHECK(mode(bad, "cold").missing == "out of luck");
  for (const char* const name : {"good", "c"}) {
    CAPTURE(name);
    CHECK(result[name].outcome == Outcome::measured);
    CHECK(result[name].samples.size() == result.rounds);
    CHECK((mode(result[name], "cold").time.has_value()) != loses_device);
  }
  CHECK_THAT(result["c"].speedup->median, WithinRel(is_baseline ? 2.0 : 6.0, 1e-9));
  CHECK(result["c"].judgements.at(0).verdict == pace::Verdict::passed);
  CHECK(result.lost_device == (loses_device ? "'bad': " + bad.message : ""));
}

TEST_CASE("a lost device: the culprit is named, the others are not to blame, and all of it is told") {
  OnDevice on;
  int calls = 0;
  const auto breaks = [&] {
    on.device.work(Nanoseconds(1000));
    if (++calls == 6) {
      on.device.lose();
      throw std::runtime_error("CUDA error: an illegal memory access was encountered");
    }
  };
  const auto result = on.compare_with_a().candidate("b", breaks).candidate("c", on.taking(1)).run(on.clock);
  CHECK(result["b"].outcome == Outcome::threw);
  CHECK_THAT(result.lost_device, ContainsSubstring("'b': CUDA error: an illegal memory access"));
  CHECK(result["a"].outcome == Outcome::unreached);
  CHECK(result["c"].outcome == Outcome::unreached);
  CHECK_THAT(result["c"].message, ContainsSubstring("lost to this process by 'b'"));
}

}  // namespace
