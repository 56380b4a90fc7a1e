// A measuring program for session_test: publishes made-up results instead of measuring.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <streambuf>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "pace/catch2.hpp"  // before LibTorch's headers, one of which defines CHECK

#include <ATen/Parallel.h>
#include <ATen/ops/add.h>
#include <ATen/ops/ones.h>

#include "pace/gate/panel.hpp"
#include "pace/os/process.hpp"
#include "pace/pace.hpp"
#include "pace/run/run_context.hpp"
#include "pace/runner/current_directory.hpp"
#include "pace/runner/session.hpp"
#include "pace/timing/wall.hpp"
#include "tests/support/fake_clock.hpp"

namespace {

std::string extra_option;

/// The process that hangs, or 0; shared by the one that watches.
pid_t* hanging = nullptr;

/// The watching process's clock: an hour passes with each look at a process that hangs, none otherwise.
pace::Nanoseconds now_while_watched() {
  static pace::Nanoseconds now{};
  const pid_t process = __atomic_load_n(hanging, __ATOMIC_RELAXED);
  if (process > 0 && ::kill(process, 0) == 0) now += std::chrono::hours(1);
  return now;
}

[[noreturn]] void hang() {
  __atomic_store_n(hanging, ::getpid(), __ATOMIC_RELAXED);
  for (;;) ::pause();
}

/// Begins now, since deadlines are moments of the real clock, and stands still between calls.
struct CallClock : pace::test::FakeClock {
  CallClock() { advance(pace::timing::WallClock().now()); }
};

/// Adds one, in ten microseconds of the clock's.
auto adding(CallClock& clock) {
  return [&clock](const at::Tensor& x) {
    clock.advance(pace::Nanoseconds(1e4));
    return at::add(x, 1);
  };
}

pace::ImplementationResult measured(const std::string& name, double nanoseconds) {
  pace::ImplementationResult result;
  result.name = name;
  result.outcome = pace::Outcome::measured;
  result.checked = true;
  auto& time = result.time.emplace();
  time.min = time.q20 = time.median = time.q80 = time.max = pace::Nanoseconds(nanoseconds);
  return result;
}

pace::Result comparison(const std::string& name) {
  pace::Result result;
  result.name = name;
  result.confidence = pace::run_context().options.confidence;
  result.seed = pace::run_context().options.seed;
  result.implementations = {measured("eager", 2000), measured("fused", 1000)};
  result.implementations[0].is_baseline = true;
  for (auto& row : result.implementations) row.context.comparison = name;
  auto& speedup = result.implementations[1].speedup.emplace();
  speedup.observations = 5;
  speedup.q20 = speedup.median = speedup.q80 = 2;
  speedup.interval = pace::Interval<double>{1.9, 2.1, result.confidence};
  return result;
}

/// Judges the second implementation by the expectations stated for it, as a comparison does, and publishes the result.
void publish(pace::Result& result, const std::vector<pace::Expectation>& stated = {}) {
  auto& row = result.implementations[1];
  for (const auto& expectation : stated) row.judgements.push_back(expectation.judge(row));
  if (pace::run_context().defers_judgements) pace::gate::defer_judgements(result);
  pace::run_context().publish(result);
}

}  // namespace

TEST_CASE("fast enough") {
  auto result = comparison("first");
  publish(result, {pace::SpeedupAtLeast(1.5)});
  CHECK_THAT(result, pace::AsExpected());
  CHECK_THAT(result["fused"], pace::SpeedupAtLeast(1.5));
}

TEST_CASE("fast enough a second time", "[.]") {
  auto result = comparison("first");
  publish(result, {pace::SpeedupAtLeast(1.5)});
  CHECK_THAT(result, pace::AsExpected());
}

TEST_CASE("fast in another comparison", "[.]") {
  auto result = comparison("another");
  publish(result, {pace::SpeedupAtLeast(1.5)});
  CHECK_THAT(result, pace::AsExpected());
}

TEST_CASE("too slow", "[.]") {
  auto result = comparison("second");
  publish(result, {pace::SpeedupAtLeast(3)});
  CHECK_THAT(result, pace::AsExpected());
}

TEST_CASE("too slow for a matcher", "[.]") {
  auto result = comparison("matched alone");
  publish(result);
  CHECK_THAT(result["fused"], pace::SpeedupAtLeast(3));
}

TEST_CASE("too slow without an assertion", "[.]") {
  auto result = comparison("second");
  publish(result, {pace::SpeedupAtLeast(3)});
}

TEST_CASE("too slow as it should be", "[.]") {
  auto result = comparison("second");
  publish(result, {pace::SpeedupAtLeast(3)});
  CHECK_THAT(result, !pace::AsExpected());
}

TEST_CASE("throws without an assertion", "[.]") {
  CallClock clock;
  (void)pace::compare("throwing", at::ones({16}))
      .baseline("eager", adding(clock))
      .candidate("fused",
                 [](const at::Tensor& x) -> at::Tensor {
                   throw pace::Error("thrown");
                   return x;
                 })
      .budget(std::chrono::milliseconds(10))
      .run(clock);
}

TEST_CASE("wrong", "[.]") {
  auto result = comparison("third");
  result.implementations[1].outcome = pace::Outcome::wrong;
  result.implementations[1].message = "output 0 differs";
  CHECK_THAT(result, pace::Correct());
  CHECK_THAT(result["fused"], pace::SpeedupAtLeast(1.5));
}

TEST_CASE("shows what it was given", "[.]") {
  const auto& options = pace::run_context().options;
  INFO("budget " << options.budget.count() << ", hard limit " << options.hard_limit.count() << ", warm-up "
                 << options.warm_up.count() << ", rounds " << options.max_rounds << ", confidence "
                 << options.confidence << ", seed " << options.seed << ", operands "
                 << static_cast<int>(options.operands) << ", alpha " << options.alpha << ", beta " << options.beta
                 << ", stop " << static_cast<int>(options.stop) << ", threads " << at::get_num_threads() << ", extra "
                 << extra_option);
  FAIL();
}

TEST_CASE("open guard", "[.]") {
  auto result = comparison("guarded");
  result.implementations[1].speedup->interval = pace::Interval<double>{0.5, 2.1, 0.95};
  result.implementations[1].warm_up_iterations = 5;
  publish(result, {pace::NoSlowerThan(1.02)});
  CHECK_THAT(result, pace::AsExpected());
}

TEST_CASE("under load", "[.]") {
  auto result = comparison("loaded");
  result.conditions.disturbances = {"The hypervisor gave others 50 %.", "The clock\njumped."};
  for (auto& row : result.implementations) row.context.disturbance = "The hypervisor gave others 50 %.";
  // Its interval would pass the one and fail the other.
  publish(result, {pace::NoSlowerThan(1.02), pace::NoSlowerThan(0.4)});
  CHECK_THAT(result, pace::AsExpected());
}

TEST_CASE("claims under load", "[.]") {
  auto result = comparison("claimed");
  for (auto& row : result.implementations) row.context.disturbance = "The hypervisor gave others 50 %.";
  publish(result, {pace::SpeedupAtLeast(1.5)});
  CHECK_THAT(result, pace::AsExpected());
}

/// Twice as fast, in fewer cycles than one process needs to prove anything, and in as many processes as prove it.
pace::Result proven_by_several(const pace::Expectation& expectation = pace::SpeedupAtLeast(1.2)) {
  auto result = comparison("few");
  result.implementations[1].log_ratios = {0.69, 0.7, 0.69};
  result.implementations[1].speedup.reset();
  publish(result, {expectation});
  return result;
}
TEST_CASE("proven by several processes", "[.]") { CHECK_THAT(proven_by_several(), pace::AsExpected()); }
TEST_CASE("proven by several processes, in a combination", "[.]") {
  CHECK_THAT(proven_by_several(), pace::Correct() && pace::AsExpected());
}
TEST_CASE("proven by several processes, beside another failure", "[.]") {
  CHECK_THAT(proven_by_several(), pace::AsExpected());
  CHECK(extra_option == "another");
}
TEST_CASE("proven by several processes, then throws", "[.]") {
  CHECK_THAT(proven_by_several(), pace::AsExpected());
  throw pace::Error("thrown");
}
TEST_CASE("matched in one process", "[.]") { CHECK_THAT(proven_by_several()["fused"], pace::SpeedupAtLeast(1.2)); }
TEST_CASE("proven by several processes, beside what may fail", "[.][!mayfail]") { CHECK(extra_option == "another"); }
TEST_CASE("let through by name, and proven by no process", "[.]") {
  CHECK_THAT(proven_by_several(pace::NoSlowerThan(0.5).when_undecided(pace::WhenUndecided::let_through)),
             pace::AsExpected());
}
TEST_CASE("closed by several processes", "[.]") {
  CallClock clock;
  const auto result = pace::compare("equal", at::ones({16}))
                          .baseline("eager", adding(clock))
                          .candidate("fused", adding(clock))
                          .expect(pace::SpeedupAtLeast(3))
                          .budget(std::chrono::milliseconds(50))
                          .run(clock);
  CHECK_THAT(result, pace::AsExpected());
}
TEST_CASE("removes a file while it runs", "[.]") {
  auto result = comparison("before the removal");
  publish(result);
  const char* const file = std::getenv("REMOVED_FILE");
  REQUIRE(file != nullptr);
  CHECK(std::remove(file) == 0);
}
TEST_CASE("skips in the first process", "[.]") {
  if (std::getenv("PACE_REPLICATE_NUMBER") == std::string("1")) SKIP("not yet");
  CHECK_THAT(proven_by_several(), pace::AsExpected());
}

TEST_CASE("asks for a device", "[.]") {
  auto result = comparison("on a device");
  for (auto& row : result.implementations) row.outcome = pace::Outcome::refused;
  result.missing_device = "cuda:0 was asked for; there is none";
  publish(result, {pace::NoSlowerThan(1.02)});
  CHECK_THAT(result, pace::AsExpected());
}

TEST_CASE("refused and unchecked beside what threw", "[.]") {
  const auto refused = [](const std::string& name) {
    auto result = comparison(name);
    for (auto& row : result.implementations) row.outcome = pace::Outcome::refused;
    publish(result);
    return result;
  };
  auto thrown = comparison("thrown");
  thrown.implementations[1].outcome = pace::Outcome::threw;
  publish(thrown);
  CHECK_THAT(thrown, pace::AsExpected());
  CHECK_THAT(refused("refused, and why not"), pace::AsExpected());
  auto unchecked = comparison("unchecked");
  unchecked.inputs = "Float[16]";
  for (auto& row : unchecked.implementations) row.checked = false;
  publish(unchecked);
  CHECK_THAT(unchecked, pace::AsExpected());
  // Nothing is expected of this one.
  (void)refused("let through");
}

TEST_CASE("measures", "[.]") {
  CallClock clock;
  const auto result = pace::compare("measured", at::ones({16}))
                          .baseline("eager", adding(clock))
                          .candidate("fused", adding(clock))
                          .expect(pace::SpeedupAtLeast(0.01))
                          .budget(std::chrono::milliseconds(100))
                          .run(clock);
  CHECK_THAT(result, pace::AsExpected());
}

TEST_CASE("a device is lost", "[.]") {
  const auto compare = [](const std::string& name, bool breaks) {
    bool told = false;
    CallClock clock;
    const auto add = adding(clock);
    const auto result = pace::compare(name, at::ones({16}))
                            .baseline("eager",
                                      [&, add](const at::Tensor& x) {
                                        if (!std::exchange(told, true)) std::cout << "measures " << name << std::endl;
                                        return add(x);
                                      })
                            .candidate("fused",
                                       [&, add](const at::Tensor& x) {
                                         if (breaks) throw pace::DeviceLost("an illegal address");
                                         return add(x);
                                       })
                            .expect(pace::NoSlowerThan(100))
                            .budget(std::chrono::milliseconds(100))
                            .run(clock);
    CHECK_THAT(result, pace::AsExpected());
  };
  compare("before", false);
  compare("culprit", true);
  compare("between", false);
  compare("culprit", true);
  compare("after", false);
}

namespace {

/// Compares the baseline with one that is equal, unless `wrong`.
pace::Result compare_two(const std::string& name, bool wrong = false) {
  CallClock clock;
  const auto add = adding(clock);
  return pace::compare(name, at::ones({16}))
      .baseline("eager", add)
      .candidate("mine", [add, wrong](const at::Tensor& x) { return wrong ? at::add(add(x), 1) : add(x); })
      .expect("mine", pace::NoSlowerThan(100))
      .budget(std::chrono::milliseconds(50))
      .run(clock);
}

}  // namespace

TEST_CASE("it's one \"test\", [with] several, ~ tricks\\ $HOME", "[.]") {
  CHECK_THAT(compare_two("first"), pace::AsExpected());
  CHECK_THAT(compare_two("it's $(echo \"x\") [2],\nnext"), pace::AsExpected());
  CHECK_THAT(compare_two("-third's * `x` \\", true), pace::AsExpected());
  CHECK_THAT(compare_two("last"), !pace::AsExpected() || pace::AsExpected());
}
TEST_CASE("-begins as an option does", "[.]") { FAIL("and fails"); }
namespace {

/// Compares two under one name; the second takes twice as long where `x` is `slow`.
pace::Result compare_sizes(const std::string& name, const at::Tensor& x, bool slow) {
  CallClock clock;
  const auto add = adding(clock);
  return pace::compare(name, x)
      .baseline("eager", add)
      .candidate("mine",
                 [add, slow](const at::Tensor& value) {
                   if (slow) (void)add(value);
                   return add(value);
                 })
      .expect("mine", pace::NoSlowerThan(1.5))
      .budget(std::chrono::milliseconds(50))
      .run(clock);
}

}  // namespace

TEST_CASE("one name for several sizes", "[.]") {
  const int size = GENERATE(16, 32, 64);
  CHECK_THAT(compare_sizes("softmax", at::ones({size}), size != 32), pace::AsExpected());
}
TEST_CASE("one name for several sizes in a loop", "[.]") {
  for (const int size : {16, 32, 64})
    CHECK_THAT(compare_sizes("softmax", at::ones({size}), size == 32), pace::AsExpected());
}
TEST_CASE("one name for several sizes and a matcher", "[.]") {
  const int size = GENERATE(16, 32, 64);
  const auto result = compare_sizes("matched", at::ones({size}), false);
  CHECK_THAT(result["mine"], pace::SpeedupAtLeast(size == 32 ? 3 : 0.5));
}
TEMPLATE_TEST_CASE("one name for several types", "[.]", float, double) {
  const auto type = c10::CppTypeToScalarType<TestType>::value;
  CHECK_THAT(compare_sizes("typed", at::ones({16}, type), type == at::kDouble), pace::AsExpected());
}
TEST_CASE("one name for one size two times", "[.]") {
  CHECK_THAT(compare_sizes("again", at::ones({16}), true), pace::AsExpected());
  CHECK_THAT(compare_sizes("again", at::ones({16}), true), pace::AsExpected());
}
TEST_CASE("reads figures", "[.]") {
  const auto result = compare_two("read");
  CHECK_THAT(result, pace::AsExpected());
  CHECK_THAT(result["mine"], pace::NoSlowerThan(100));
  const double speedup = result["mine"].speedup->median;
  CHECK(speedup > 0);
  CHECK_THAT(compare_two("after"), pace::AsExpected());
}
TEST_CASE("looks into rows", "[.]") {
  const auto result = compare_two("looked into");
  CHECK(result.implementations[1].outcome == pace::Outcome::measured);
  CHECK_THAT(compare_two("after that"), pace::AsExpected());
}
TEST_CASE("fails before anything is compared", "[.]") {
  CHECK(1 == 2);
  CHECK_THAT(compare_two("compared"), pace::AsExpected());
}
TEST_CASE("must fail by its figures", "[.][!shouldfail]") {
  CHECK_THAT(compare_two("tagged", /*wrong=*/true), pace::AsExpected());
}
TEST_CASE("must fail without figures", "[.][!shouldfail]") { CHECK(1 == 2); }
TEST_CASE("makes a bad comparison", "[.]") {
  CHECK_THAT(compare_two("good"), pace::AsExpected());
  static_cast<void>(
      pace::compare("bad", at::ones({16})).candidate("mine", [](const at::Tensor& x) { return x; }).run());
}

TEST_CASE("publishes, then dies", "[.]") {
  pace::run_context().publish(comparison("before death"));
  std::abort();
}

TEST_CASE("killed after publishing", "[.]") {
  pace::run_context().publish(comparison("before death"));
  ::raise(SIGKILL);
}

TEST_CASE("exits early", "[.]") { std::exit(0); }
TEST_CASE("quick exits early", "[.]") { std::quick_exit(0); }
TEST_CASE("leaves outside", "[.]") { ::_exit(0); }
TEST_CASE("leaves by 7 in the end", "[.]") {
  auto result = comparison("first");
  publish(result);
  CHECK_THAT(result, pace::AsExpected());
  (void)std::atexit([] { ::_exit(7); });
}

TEST_CASE("skips", "[.]") { SKIP("there is no GPU"); }

TEST_CASE("measures nothing", "[.]") {
  auto result = comparison("nowhere");
  for (auto& row : result.implementations) row.outcome = pace::Outcome::refused;
  pace::run_context().publish(result);
}

TEST_CASE("open guard that says so", "[.]") {
  auto result = comparison("guarded");
  result.implementations[1].speedup->interval = pace::Interval<double>{0.5, 2.1, 0.95};
  publish(result, {pace::NoSlowerThan(1.02).when_undecided(pace::WhenUndecided::let_through)});
  CHECK_THAT(result, pace::AsExpected());
}

TEST_CASE("open guard that is only matched", "[.]") {
  auto result = comparison("matched");
  result.implementations[1].speedup->interval = pace::Interval<double>{0.5, 2.1, 0.95};
  publish(result);
  CHECK_THAT(result["fused"], pace::NoSlowerThan(1.02));
}

TEST_CASE("correct in its time", "[.]") {
  CallClock clock;
  const auto result = pace::compare("timely", at::ones({16}))
                          .baseline("eager", adding(clock))
                          .candidate("fused", adding(clock))
                          .expect(pace::NoSlowerThan(10))
                          .budget(std::chrono::milliseconds(100))
                          .run(clock);
  REQUIRE_THAT(result, pace::Correct());
  CHECK_THAT(result, pace::AsExpected());
}

TEST_CASE("correctness alone in its time", "[.]") {
  CallClock clock;
  const auto result = pace::compare("timely", at::ones({16}))
                          .baseline("eager", adding(clock))
                          .candidate("fused", adding(clock))
                          .run(clock);
  CHECK_THAT(result, pace::Correct());
}

TEST_CASE("does nothing", "[.]") {}
TEST_CASE("asserts something", "[.]") { CHECK(extra_option == ""); }

/// Far slower than the time that there is.
TEST_CASE("too slow for its time", "[.]") {
  CallClock clock;
  const auto result = pace::compare("slow", at::ones({16}))
                          .baseline("eager", adding(clock))
                          .candidate("fused", adding(clock))
                          .expect(pace::NoSlowerThan(1.02))
                          .run(clock);
  CHECK(result["fused"].judgements.at(0).verdict != pace::Verdict::passed);
  CHECK(result["fused"].judgements.at(0).acceptable);
}

/// Three comparisons of three implementations each. Those in the middle are `bad`.
void compare_around(const std::function<void()>& bad) {
  for (const std::string name : {"before", "culprit", "after"}) {
    CallClock clock;
    const auto add = adding(clock);
    std::cout << "begins " << name << std::endl;
    const auto result = pace::compare(name, at::ones({16}))
                            .baseline("eager", add)
                            .candidate("bad",
                                       [&, add](const at::Tensor& x) {
                                         if (name == "culprit") bad();
                                         return add(x);
                                       })
                            .candidate("fine", add)
                            .budget(std::chrono::milliseconds(50))
                            .run(clock);
    CHECK_THAT(result, pace::AsExpected());
  }
}

TEST_CASE("crashes", "[.]") {
  compare_around([] { ::raise(SIGSEGV); });
}
TEST_CASE("crashes in comparisons of one name", "[.]") {
  for (const std::string culprit : {"bad", "bad", "fine", "none"}) {
    CallClock clock;
    const auto add = adding(clock);
    const auto crash_if = [&](const std::string& name) {
      return [&, add, name](const at::Tensor& x) {
        if (name == culprit) ::raise(SIGSEGV);
        return add(x);
      };
    };
    CHECK_THAT(pace::compare("twin", at::ones({16}))
                   .baseline("eager", add)
                   .candidate("bad", crash_if("bad"))
                   .candidate("fine", crash_if("fine"))
                   .budget(std::chrono::milliseconds(50))
                   .run(clock),
               pace::AsExpected());
  }
}
/// Three gates with two matchers each, and their error budgets. The second gate ends its process.
TEST_CASE("crashes between gates", "[.]") {
  for (const std::string name : {"before", "culprit", "after"}) {
    CallClock clock;
    const auto add = adding(clock);
    const auto result = pace::compare(name, at::ones({16}))
                            .baseline("eager", add)
                            .candidate("bad",
                                       [&, add](const at::Tensor& x) {
                                         if (name == "culprit") ::raise(SIGSEGV);
                                         return add(x);
                                       })
                            .candidate("fine", add)
                            .expect("fine", pace::NoSlowerThan(100))
                            .budget(std::chrono::milliseconds(50))
                            .run(clock);
    for (const double limit : {10.0, 20.0})
      std::cout << name << ": " << pace::NoSlowerThan(limit).judge(result["fine"]).speed.value().alpha << std::endl;
  }
}
TEST_CASE("has an error rate of its own", "[.]") {
  CallClock clock;
  (void)pace::compare("own", at::ones({16}))
      .baseline("eager", adding(clock))
      .candidate("fused", adding(clock))
      .expect(pace::NoSlowerThan(100).alpha(1e-4))
      .run(clock);
}
TEST_CASE("leaves", "[.]") {
  compare_around([] { ::_exit(0); });
}
TEST_CASE("calls exit", "[.]") {
  compare_around([] { std::exit(0); });
}
TEST_CASE("leaves a process behind", "[.]") {
  compare_around([] {
    if (const pid_t left = ::fork(); left == 0) {
      for (;;) ::pause();
    } else {
      std::cout << "leaves " << left << std::endl;
    }
    ::_exit(0);
  });
}
TEST_CASE("hangs", "[.]") { compare_around(hang); }
/// Like compare_around(), but an implementation of the middle one is `bad` only where `x` does not hold the ones given:
/// for values that pace draws.
void compare_around_ones(const std::function<void()>& bad, const std::string& culprit) {
  for (const std::string name : {"before", "culprit", "after"}) {
    CallClock clock;
    const auto add = adding(clock);
    const auto bad_if = [&](const std::string& which) {
      return [&, add, which](const at::Tensor& x) {
        if (name == "culprit" && which == culprit && !x.equal(at::ones({16}))) bad();
        return add(x);
      };
    };
    auto comparison = pace::compare(name, at::ones({16}));
    comparison.baseline("eager", bad_if("eager")).candidate("bad", bad_if("bad")).candidate("fine", add);
    CHECK_THAT(comparison.budget(std::chrono::milliseconds(50)).run(clock), pace::AsExpected());
  }
}
TEST_CASE("crashes on unseen values", "[.]") {
  compare_around_ones([] { ::raise(SIGSEGV); }, "bad");
}
TEST_CASE("hangs on unseen values", "[.]") { compare_around_ones(hang, "bad"); }
TEST_CASE("the baseline crashes on unseen values", "[.]") {
  compare_around_ones([] { ::raise(SIGSEGV); }, "eager");
}
TEST_CASE("is killed", "[.]") {
  compare_around([] { ::raise(SIGKILL); });
}
TEST_CASE("takes all memory", "[.]") {
  compare_around([] {
    // More than any machine has, piece by piece, as a leak does; the pages are never touched.
    std::vector<std::unique_ptr<char[]>> pieces;
    for (;;) pieces.emplace_back(new char[std::size_t{1} << 30]);
  });
}
TEST_CASE("is interrupted with its parent", "[.]") {
  compare_around([] {
    ::kill(::getppid(), SIGINT);
    ::raise(SIGINT);
  });
}
TEST_CASE("hears of a closed pipe", "[.]") {
  compare_around([] {
    std::signal(SIGPIPE, SIG_DFL);
    ::raise(SIGPIPE);
  });
}
TEST_CASE("prints a lot", "[.]") {
  compare_around([] { std::cout << std::string(100000, 'x') << std::endl; });
}
TEST_CASE("has an evil name", "[.]") {
  auto result = comparison(
      "evil\033[2J\xc2\x9b"
      "1m\x9b\r");
  result.implementations[1].name = "fused\033]0;title\007";
  result.implementations[1].outcome = pace::Outcome::wrong;
  result.implementations[1].message = "differs\033[8m";
  pace::run_context().publish(result);
  CHECK_THAT(result, pace::Correct());
  throw pace::Error("thrown\033[2J");
}
TEST_CASE("the baseline crashes", "[.]") {
  for (const std::string name : {"culprit", "after"}) {
    CallClock clock;
    const auto add = adding(clock);
    const auto result = pace::compare(name, at::ones({16}))
                            .baseline("eager",
                                      [&, add](const at::Tensor& x) {
                                        if (name == "culprit") ::raise(SIGILL);
                                        return add(x);
                                      })
                            .candidate("fine", add)
                            .budget(std::chrono::milliseconds(50))
                            .run(clock);
    CHECK_THAT(result, pace::AsExpected());
  }
}
TEST_CASE("crashes outside", "[.]") {
  pace::run_context().publish(comparison("before death"));
  ::raise(SIGSEGV);
}
TEST_CASE("waits to be interrupted", "[.]") {
  compare_around([] {
    std::cout << "waits" << std::endl;
    if (std::getenv("TIME_PASSES") != nullptr) hang();
    for (;;) ::pause();
  });
}
TEST_CASE("waits for another program", "[.]") {
  static_cast<void>(pace::detail::run_process({"sh", "-c", "sleep 1000 & echo waits for $!; wait"},
                                              [](std::string_view line) { std::cout << line << std::endl; }));
}
TEST_CASE("reports the signals that it ignores, and those that its supervisor does", "[.]") {
  for (const std::string& process : {std::string("self"), std::to_string(::getppid())}) {
    std::ifstream status("/proc/" + process + "/status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("SigIgn:")) std::cout << line << std::endl;
  }
}

/// Hands on the printed text, and gets a signal when a process has ended and the next one is about to start.
struct InterruptedBetweenProcesses : std::streambuf {
  explicit InterruptedBetweenProcesses(std::streambuf* out) : out_(out) {}

 protected:
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    const auto written = out_->sputn(text, size);
    if (std::string_view(text, static_cast<std::size_t>(size)).find("a fresh process goes on") !=
        std::string_view::npos)
      ::raise(SIGTERM);
    return written;
  }
  int overflow(int c) override { return out_->sputc(static_cast<char>(c)); }
  int sync() override { return out_->pubsync(); }

 private:
  std::streambuf* out_;
};

int main(int argc, char** argv) {
  std::streambuf* const own_errors = std::cerr.rdbuf();
  InterruptedBetweenProcesses interrupted(own_errors);
  if (std::getenv("INTERRUPTED_BETWEEN_PROCESSES") != nullptr) std::cerr.rdbuf(&interrupted);
  void* const shared = ::mmap(nullptr, sizeof *hanging, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 1;
  hanging = static_cast<pid_t*>(shared);
  pace::runner::SessionConfig config;
  config.now = now_while_watched;
  config.options.budget = pace::Nanoseconds(7e9);
  config.environment["sample"] = "yes";
  config.own_options = {
      {"Sample", {{"--extra", "the program's own option", pace::args::text(extra_option, "word", "a word")}}}};
  config.after_parse = [](pace::runner::SessionOptions&) {
    if (extra_option == "bad") throw pace::InputError({}, "--extra: 'bad' was given, another word was expected");
  };
  config.prepare = [](std::ostream&, std::ostream&) {
    if (extra_option == "unusable") throw pace::InputError({}, "no such inputs");
  };
  config.complaint = [] { return extra_option == "incomplete" ? "a line was left out" : ""; };
  if (std::getenv("SAMPLE_READY_MADE") != nullptr) config.list = [](std::ostream& out) { out << "first\nsecond\n"; };
  config.configuration = [] { return pace::report::Configuration{{"content of inputs", ""}}; };
  const int code = pace::runner::main(argc, argv, config);
  std::cerr.rdbuf(own_errors);
  return code;
}
