// Comparisons whose implementations run in processes of their own (Isolate::sides).
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <future>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/ops/add.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros_like.h>

#include "pace/compare/comparison.hpp"
#include "pace/gate/times.hpp"
#include "pace/isolate/message.hpp"
#include "pace/timing/clock.hpp"
#include "pace/training.hpp"
#include "tests/support/fake_clock.hpp"

// After LibTorch, which has a CHECK of its own.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using Catch::Matchers::WithinRel;
using pace::Nanoseconds;
using pace::Outcome;
using pace::Verdict;

constexpr Nanoseconds us{1e3}, s{1e9};

/// Memory that all processes of a test share.
struct Shared {
  std::atomic<double> now{0};
  std::atomic<int> candidate_calls{0};
  /// Whether the other candidate is being called, in the rounds; how often a thread of the candidate ran, and then.
  std::atomic<bool> in_other{false};
  std::atomic<int> seen{0}, seen_beside{0};
  /// How often the candidate was called where the clock's thread may run, too.
  std::atomic<int> beside_clock{0};
  /// How often the handler of exit() has run.
  std::atomic<int> exits{0};
  /// Processes where the candidate ran first and last, and the first one where the baseline ran.
  std::atomic<pid_t> of_candidate{0}, of_candidate_last{0}, of_baseline{0};
  /// Calls of the baseline in this process, in the candidate's, and in any where `changed` was set.
  std::atomic<int> baseline_here{0}, baseline_there{0}, baseline_changed{0};
};

class SharedMemory {
 public:
  SharedMemory()
      : memory_(new(::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
                    Shared) {}
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory() { ::munmap(memory_, sizeof(Shared)); }
  Shared* operator->() const { return memory_; }
  Shared* get() const { return memory_; }

 private:
  Shared* memory_;
};

/// Stands still unless the code of some process moves it.
class SharedClock : public pace::timing::Clock {
 public:
  explicit SharedClock(Shared* shared) : shared_(shared) {}
  Nanoseconds time(pace::FunctionRef<void()> body) override {
    const Nanoseconds start = now();
    body();
    return now() - start;
  }
  [[nodiscard]] Nanoseconds now() const override { return Nanoseconds(shared_->now.load()); }
  [[nodiscard]] Nanoseconds resolution() override { return Nanoseconds(10); }
  [[nodiscard]] std::string name() const override { return "shared"; }
  void advance(Nanoseconds time) { shared_->now = shared_->now.load() + time.count(); }

 private:
  Shared* shared_;
};

using Step = std::function<void(int call)>;

/// Each process has its own.
int changed = 0;

/// Counts handlers that exit() runs; null: nothing counts them.
std::atomic<int>* exits = nullptr;
const int registered = std::atexit([] {
  if (exits != nullptr) ++*exits;
});

/// The CPUs that this thread may run on.
cpu_set_t allowed_cpus() {
  cpu_set_t cpus;
  REQUIRE(::sched_getaffinity(0, sizeof cpus, &cpus) == 0);
  return cpus;
}

pace::Options isolated() {
  pace::Options options;
  options.audit = pace::Audit::strict;
  options.isolate = pace::Isolate::sides;
  options.budget = options.least_duration = 0.02 * s;
  options.warm_up = 0.001 * s;
  options.max_interference = 1;
  return options;
}

/// Skips the test on a machine with one CPU: the clock has one of its own.
pace::Options short_options() {
  if (const cpu_set_t cpus = allowed_cpus(); CPU_COUNT(&cpus) < 2) SKIP("needs two CPUs");
  return isolated();
}

/// A baseline and an honest implementation of 100 us each, and a candidate of 50 us that first takes a step, by a clock
/// that all processes share.
struct Case {
  SharedMemory shared;
  SharedClock clock{shared.get()};
  pace::Options options = short_options();
  const double* factor = nullptr;
  std::atomic<bool>* in_other = nullptr;

  pace::Result run(const Step& step, bool right = true) {
    at::set_num_threads(1);
    changed = 0;
    const pid_t here = ::getpid();
    return pace::compare("case", at::ones({4}))
        .options(options)
        .baseline("old",
                  [&](const at::Tensor& x) {
                    const pid_t own = ::getpid();
                    pid_t none = 0;
                    (void)shared->of_baseline.compare_exchange_strong(none, own);
                    shared->baseline_here += own == here;
                    shared->baseline_there += own == shared->of_candidate;
                    shared->baseline_changed += own != shared->of_candidate && changed != 0;
                    clock.advance(factor != nullptr ? *factor * 100 * us : 100 * us);
                    return at::add(x, 1);
                  })
        .candidate("new",
                   [&, right](const at::Tensor& x) {
                     pid_t none = 0;
                     (void)shared->of_candidate.compare_exchange_strong(none, ::getpid());
                     shared->of_candidate_last = ::getpid();
                     step(++shared->candidate_calls);
                     clock.advance(50 * us);
                     return right ? at::add(x, 1) : at::add(x, 2);
                   })
        .candidate("other",
                   [&](const at::Tensor& x) {
                     if (in_other != nullptr) {
                       *in_other = true;
                       (void)::usleep(300);
                       *in_other = false;
                     }
                     clock.advance(100 * us);
                     return at::add(x, 1);
                   })
        .expect("new", pace::SpeedupAtLeast(1.5))
        .expect("other", pace::NoSlowerThan(1.1))
        .run(clock);
  }
};

const auto nothing = [](int) {};

/// The others were measured, and have their verdict.
void require_others_measured(const pace::Result& result) {
  CHECK(result["old"].outcome == Outcome::measured);
  CHECK(result["other"].outcome == Outcome::measured);
  REQUIRE(result["other"].judgements.size() == 1);
  INFO(result["other"].judgements[0].message);
  CHECK(result["other"].judgements[0].verdict == Verdict::passed);
}

TEST_CASE("times and verdicts come from the processes") {
  Case sides;
  const auto result = sides.run(nothing);
  CHECK(result["old"].time->median == 100 * us);
  CHECK(result["new"].time->median == 50 * us);
  CHECK_THAT(result["new"].speedup->median, WithinRel(2, 1e-9));
  REQUIRE(result["new"].judgements.size() == 1);
  INFO(result["new"].judgements[0].message);
  CHECK(result["new"].judgements[0].verdict == Verdict::passed);
  CHECK(result["new"].checked);
  CHECK(result["new"].first_call == 50 * us);
  CHECK(result["new"].counts->operator_calls == 1);
  require_others_measured(result);
  std::string notes;
  for (const auto& note : result.notes) notes += note + '\n';
  CHECK_THAT(notes, ContainsSubstring(
                        "Each implementation ran in a process of its own (--isolate sides). Each sample includes "
                        "0.00 ns to start it and to report its end"));
}

TEST_CASE("each implementation runs in a process of its own, and none in the clock's process") {
  Case sides;
  require_others_measured(sides.run(nothing));
  const auto& seen = *sides.shared.get();
  CHECK(seen.of_candidate != 0);
  CHECK(seen.of_candidate != ::getpid());
  CHECK(seen.of_candidate_last == seen.of_candidate);
  CHECK(seen.of_baseline != seen.of_candidate);
  CHECK(seen.baseline_here == 0);
  // There its outputs are compared with.
  CHECK(seen.baseline_there > 0);
}

TEST_CASE("what a candidate does to its process is not done to the others") {
  Case sides;
  require_others_measured(sides.run([](int) { changed = 1; }));
  CHECK(sides.shared->baseline_there > 0);
  CHECK(sides.shared->baseline_changed == 0);
  CHECK(changed == 0);
}

TEST_CASE("a candidate that slows the baseline of its own process gains nothing") {
  Case sides;
  static double factor;
  factor = 1;
  sides.factor = &factor;
  const auto result = sides.run([](int) { factor = 3; });
  CHECK(result["old"].time->median == 100 * us);
  CHECK_THAT(result["new"].speedup->median, WithinRel(2, 1e-9));
  CHECK(result["new"].context.describe(pace::Severity::impossible).empty());
}

TEST_CASE("a setting that a candidate changes is found in its process, and is as it was in this one") {
  Case sides;
  const Step step = GENERATE(Step([](int) { at::globalContext().setFlushDenormal(true); }),
                             Step([](int) { (void)::signal(SIGVTALRM, SIG_IGN); }));
  const auto result = sides.run(step);
  CHECK(result["new"].outcome == Outcome::wrong);
  CHECK_THAT(result["new"].message, ContainsSubstring("it changes what all implementations share"));
  CHECK(::signal(SIGVTALRM, SIG_DFL) == SIG_DFL);
  CHECK(1e-310 * at::ones({1}).item<double>() > 0);
  require_others_measured(result);
}

TEST_CASE("a wrong candidate is dropped") {
  Case sides;
  const auto result = sides.run(nothing, /*right=*/false);
  CHECK(result["new"].outcome == Outcome::wrong);
  CHECK(result["new"].context.beyond_tolerance);
  CHECK_FALSE(result["new"].speedup);
  require_others_measured(result);
}

/// The outcome of a candidate that adds `addend(x, calls so far)` where the baseline adds 1.
template <class Addend>
pace::Result run_adding(const at::Tensor& given, Addend addend, pace::Audit audit = pace::Audit::strict) {
  SharedMemory shared;
  SharedClock clock(shared.get());
  auto options = short_options();
  options.audit = audit;
  options.budget = 0.1 * s;
  options.stop = pace::StopPolicy::budget;
  at::set_num_threads(1);
  return pace::compare("case", given)
      .options(options)
      .baseline("old", [&](const at::Tensor& x) { return clock.advance(50 * us), at::add(x, 1); })
      .candidate("new",
                 [&](const at::Tensor& x) {
                   clock.advance(50 * us);
                   return at::add(x, addend(x, ++shared->candidate_calls));
                 })
      .run(clock);
}

TEST_CASE("a candidate that is wrong in timed calls alone is dropped") {
  const auto result = run_adding(at::ones({4}), [](const at::Tensor&, auto calls) { return calls < 100 ? 1 : 2; });
  CHECK(result["new"].outcome == Outcome::wrong);
  CHECK_THAT(result["new"].message, ContainsSubstring("correct at first, but not in"));
  CHECK(result["old"].outcome == Outcome::measured);
}

TEST_CASE("without an audit, too, times come from the processes, and the last timed outputs are compared") {
  Case sides;
  sides.options.audit = pace::Audit::off;
  const auto result = sides.run(nothing);
  CHECK(result["new"].time->median == 50 * us);
  REQUIRE(result["new"].judgements.size() == 1);
  INFO(result["new"].judgements[0].message);
  CHECK(result["new"].judgements[0].verdict == Verdict::passed);
  require_others_measured(result);
  const auto late =
      run_adding(at::ones({4}), [](const at::Tensor&, auto calls) { return calls < 100 ? 1 : 2; }, pace::Audit::off);
  CHECK(late["new"].outcome == Outcome::wrong);
  CHECK_THAT(late["new"].message, ContainsSubstring("correct at first, but not in the last timed call"));
  CHECK(late["old"].outcome == Outcome::measured);
}

TEST_CASE("a candidate that is wrong in one of 25 calls, and only for the values given, is dropped") {
  const at::Tensor given = at::ones({4});
  const auto result = run_adding(
      given, [&](const at::Tensor& x, auto calls) { return calls > 100 && calls % 25 == 0 && x.equal(given) ? 2 : 1; });
  CHECK(result["new"].outcome == Outcome::wrong);
  CHECK_THAT(result["new"].message, ContainsSubstring("in a timed call: "));
  CHECK(result["old"].outcome == Outcome::measured);
}

TEST_CASE("a candidate that keeps its answer is dropped") {
  Case sides;
  at::Tensor kept;
  const auto result =
      pace::compare("case", at::ones({4}))
          .options(sides.options)
          .baseline("old", [&](const at::Tensor& x) { return sides.clock.advance(100 * us), at::add(x, 1); })
          .candidate("new",
                     [&](const at::Tensor& x) {
                       sides.clock.advance(50 * us);
                       if (!kept.defined()) kept = at::add(x, 1);
                       return kept.clone();
                     })
          .run(sides.clock);
  CHECK(result["new"].outcome == Outcome::wrong);
  CHECK(result["old"].outcome == Outcome::measured);
}

TEST_CASE("a candidate that keeps a part of its answer has no claim") {
  const SharedMemory shared;
  SharedClock clock(shared.get());
  const bool keeps = GENERATE(false, true);
  CAPTURE(keeps);
  const auto result = pace::compare("case", at::randn({4}))
                          .options(short_options())
                          .baseline("old",
                                    [&](const at::Tensor& x) {
                                      clock.advance(100 * us);
                                      return at::add(x, 1);
                                    })
                          .candidate("new",
                                     [&, first = at::Tensor()](const at::Tensor& x) mutable {
                                       if (!first.defined()) first = x.clone();
                                       clock.advance(!keeps || first.equal(x) ? 60 * us : 110 * us);
                                       return at::add(x, 1);
                                     })
                          .expect("new", pace::SpeedupAtLeast(1.5))
                          .run(clock);
  const auto& row = result["new"];
  INFO(row.message << row.judgements.at(0).message);
  REQUIRE(row.on_unseen_values);
  CHECK_THAT(row.on_unseen_values->median, WithinRel(keeps ? 100 / 110.0 : 100 / 60.0, 0.01));
  CHECK(row.acceptable() != keeps);
}

/// A clock of the host's that also counts time in another process.
class HostClock final : public SharedClock {
 public:
  using SharedClock::SharedClock;
  [[nodiscard]] std::optional<pace::timing::ThreadCounters> thread_counters() const override {
    return pace::timing::ThreadCounters{};
  }
};

TEST_CASE("a candidate that keeps an answer and slows the baseline of its process on all unseen values has no claim") {
  const SharedMemory shared;
  HostClock clock(shared.get());
  // The honest baseline takes longer on unseen values by itself.
  const bool cheats = GENERATE(false, true);
  CAPTURE(cheats);
  at::set_num_threads(1);
  double times = cheats ? 1 : 2;
  const auto is_given = [first = at::Tensor()](const at::Tensor& x) mutable {
    if (!first.defined()) first = x.clone();
    return first.equal(x);
  };
  const auto result = pace::compare("case", at::randn({4}))
                          .options(short_options())
                          .baseline("old",
                                    [&, given = is_given](const at::Tensor& x) mutable {
                                      clock.advance(given(x) ? 100 * us : times * 100 * us);
                                      return at::add(x, 1);
                                    })
                          .candidate("new",
                                     [&, given = is_given](const at::Tensor& x) mutable {
                                       times = 2;
                                       clock.advance(given(x) ? 50 * us : 100 * us);
                                       return at::add(x, 1);
                                     })
                          .expect("new", pace::SpeedupAtLeast(1.5))
                          .run(clock);
  const auto& row = result["new"];
  INFO(row.message << row.judgements.at(0).message);
  REQUIRE(row.on_unseen_values);
  CHECK_THAT(row.on_unseen_values->median, WithinRel(cheats ? 1.25 : 2, 0.02));
  CHECK(row.acceptable() != cheats);
}

TEST_CASE("a candidate that computes less once it has been checked is dropped by an audit") {
  SharedMemory shared;
  SharedClock clock(shared.get());
  auto options = short_options();
  // So that there are audits in the rounds.
  options.budget = 0.5 * s;
  options.stop = pace::StopPolicy::budget;
  at::set_num_threads(1);
  at::Tensor kept;
  const auto result = pace::compare("case", at::ones({4}))
                          .options(options)
                          .baseline("old", [&](const at::Tensor& x) { return clock.advance(100 * us), at::add(x, 1); })
                          .candidate("new",
                                     [&](const at::Tensor& x) {
                                       clock.advance(50 * us);
                                       if (++shared->candidate_calls < 100) kept = at::add(x, 1);
                                       return kept.clone();
                                     })
                          .run(clock);
  CHECK(result["new"].outcome == Outcome::wrong);
  CHECK_THAT(result["new"].message, ContainsSubstring("in a timed call"));
  CHECK(result["old"].outcome == Outcome::measured);
}

TEST_CASE("a candidate that ends its process is a row that threw") {
  const int last_call = GENERATE(1, 100);
  struct End {
    std::function<void()> by;
    const char* message;
  };
  const auto end = GENERATE(End{[] { (void)::raise(SIGSEGV); }, "its process was ended by signal 11"},
                            End{[] { (void)::raise(SIGKILL); }, "its process was ended by signal 9"},
                            End{[] { std::abort(); }, "its process was ended by signal 6"},
                            End{[] { ::_exit(0); }, "it ended its process with exit code 0"},
                            End{[] { std::exit(3); }, "it ended its process with exit code 3"},
                            End{[] { std::quick_exit(4); }, "it ended its process with exit code 4"});
  Case sides;
  const auto result = sides.run([&](int call) {
    if (call == last_call) end.by();
  });
  INFO(end.message << ", call " << last_call);
  CHECK(result["new"].outcome == Outcome::threw);
  CHECK_THAT(result["new"].message, ContainsSubstring(end.message));
  require_others_measured(result);
}

TEST_CASE("a candidate that ends its process on values which pace drew has the values and the remedy in its row") {
  at::set_num_threads(1);
  const at::Tensor given = at::ones({4});
  const auto result = pace::compare("case", given)
                          .options(short_options())
                          .baseline("old", [](const at::Tensor& x) { return at::add(x, 1); })
                          .candidate("new",
                                     [&](const at::Tensor& x) {
                                       if (!x.equal(given)) ::_exit(5);
                                       return at::add(x, 1);
                                     })
                          .run();
  CHECK(result["new"].outcome == Outcome::threw);
  CHECK_THAT(result["new"].message,
             ContainsSubstring("it ended its process with exit code 5. This was a call on unseen values: pace "
                               "drew those of operand tensor 0 (") &&
                 ContainsSubstring("check::CheckOptions::unseen_values = scaled or none"));
}

TEST_CASE("a candidate that ends its process is a row that threw where SIGCHLD is ignored") {
  const int last_call = GENERATE(1, 100);
  Case sides;
  const auto before = ::signal(SIGCHLD, SIG_IGN);
  const auto result = sides.run([&](int call) {
    if (call == last_call) ::_exit(0);
  });
  (void)::signal(SIGCHLD, before);
  CHECK(result["new"].outcome == Outcome::threw);
  // The hundredth call may be one on unseen values, which the message says behind this.
  CHECK_THAT(result["new"].message, StartsWith("its process has ended"));
  require_others_measured(result);
}

TEST_CASE("a candidate that calls exit() runs nothing of this process") {
  REQUIRE(registered == 0);
  Case sides;
  exits = &sides.shared->exits;
  const auto result = sides.run([](int) { std::exit(0); });
  exits = nullptr;
  CHECK(result["new"].outcome == Outcome::threw);
  CHECK(sides.shared->exits == 0);
}

TEST_CASE("a candidate that throws is a row that threw, with its message") {
  const int last_call = GENERATE(1, 100);
  Case sides;
  const auto result = sides.run([&](int call) {
    if (call >= last_call) throw std::runtime_error("no kernel for call " + std::to_string(last_call));
  });
  // A call on edge values that throws, which the hundredth may be, is called wrong.
  const auto outcome = result["new"].outcome;
  CHECK((outcome == Outcome::threw || (last_call == 100 && outcome == Outcome::wrong)));
  CHECK_THAT(result["new"].message, ContainsSubstring("no kernel for call " + std::to_string(last_call)));
  require_others_measured(result);
}

TEST_CASE("a candidate that does not return is a row that threw") {
  const int last_call = GENERATE(1, 100);
  Case sides;
  const auto result = sides.run([&](int call) {
    if (call < last_call) return;
    while (true) {
      sides.clock.advance(1000 * s);
      (void)::usleep(1000);
    }
  });
  CHECK(result["new"].outcome == Outcome::threw);
  CHECK_THAT(result["new"].message, ContainsSubstring("it did not return within 300 s, so its process was ended"));
  require_others_measured(result);
}

TEST_CASE("a baseline that ends its process leaves nothing to compare with") {
  at::set_num_threads(1);
  const auto result = pace::compare("case", at::ones({4}))
                          .options(short_options())
                          .baseline("old", [](const at::Tensor& x) { return ::_exit(5), at::add(x, 1); })
                          .candidate("new", [](const at::Tensor& x) { return at::add(x, 1); })
                          .run();
  CHECK(result["old"].outcome == Outcome::threw);
  CHECK(result["old"].message == "it ended its process with exit code 5");
  CHECK(result["new"].outcome == Outcome::refused);
  CHECK_THAT(result["new"].message, ContainsSubstring("there is no baseline to compare with"));
}

TEST_CASE("operands that are written to are restored in each process") {
  SharedMemory shared;
  SharedClock clock(shared.get());
  at::set_num_threads(1);
  const auto result = pace::compare("case", at::ones({4}))
                          .options(short_options())
                          .baseline("old", [&](at::Tensor& x) { clock.advance(100 * us), x.add_(1); })
                          .candidate("new",
                                     [&](at::Tensor& x) {
                                       // On unseen values than the first ones it takes longer.
                                       clock.advance(x.data_ptr<float>()[0] == 1 ? 50 * us : 60 * us);
                                       x.add_(1);
                                     })
                          .expect(pace::SpeedupAtLeast(1.5))
                          .run(clock);
  CHECK(result["new"].message.empty());
  CHECK(result["new"].time->median == 50 * us);
  REQUIRE(result["new"].judgements.size() == 1);
  CHECK(result["new"].judgements[0].verdict == Verdict::passed);
}

TEST_CASE("the wall clock has times, conditions and verdicts") {
  at::set_num_threads(1);
  const auto add = [](const at::Tensor& x) { return at::add(x, 1); };
  auto options = short_options();
  options.controls = true;
  const auto result = pace::compare("case", at::ones({1024}))
                          .options(options)
                          .baseline("old", add)
                          .candidate("new", add)
                          .expect(pace::NoSlowerThan(100))
                          .run();
  REQUIRE(result["new"].outcome == Outcome::measured);
  CHECK(result["new"].time->median.count() > 0);
  CHECK(result["new"].counts->operator_calls == 1);
  CHECK(result["new"].judgements.size() == 1);
  CHECK(result.controls.size() == 2);
  REQUIRE(result.conditions.sides.size() == 2);
  for (const auto& side : result.conditions.sides) CHECK(side.process_cpu.count() > 0);
}

TEST_CASE("what does not go with processes of their own is refused") {
  at::set_num_threads(1);
  const auto add = [](const at::Tensor& x) { return at::add(x, 1); };
  auto comparison = pace::compare("case", at::ones({4})).options(isolated()).baseline("old", add);
  const auto refusal = [&](pace::timing::Clock* clock = nullptr) -> std::string {
    try {
      (void)(clock != nullptr ? comparison.run(*clock) : comparison.run());
    } catch (const pace::Error& error) {
      return error.what();
    }
    return "none";
  };
  const auto begins = StartsWith("comparison 'case': --isolate sides: ");
  SECTION("threads") {
    at::set_num_threads(2);
    CHECK_THAT(refusal(), begins && ContainsSubstring("expected one (--threads 1)"));
    at::set_num_threads(1);
  }
  SECTION("a thread of anyone's, such as one of a pool") {
    std::promise<void> end;
    std::thread parked([until = end.get_future()] { until.wait(); });
    CHECK_THAT(refusal(), begins && ContainsSubstring("this process has 1 other thread"));
    end.set_value();
    parked.join();
  }
  SECTION("one CPU") {
    const cpu_set_t before = allowed_cpus();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &one);
    REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
    CHECK_THAT(refusal(), begins && ContainsSubstring("this process may run on 1; expected two or more"));
    REQUIRE(::sched_setaffinity(0, sizeof before, &before) == 0);
  }
  SECTION("parts of an iteration") {
    const auto step = pace::training_step({}, [](const at::Tensor& x) { return at::add(x, 1).sum(); });
    auto training = pace::compare("case", at::ones({4}));
    training.options(isolated()).baseline("old", step);
    comparison = training;
    CHECK_THAT(refusal(), begins && ContainsSubstring("expected plain callables, not training steps"));
  }
  SECTION("a clock of a device") {
    struct Modes final : pace::timing::ModeClock {
      Nanoseconds time(pace::FunctionRef<void()> body) override { return body(), Nanoseconds(1); }
      [[nodiscard]] Nanoseconds now() const override { return {}; }
      [[nodiscard]] Nanoseconds resolution() override { return Nanoseconds(1); }
      [[nodiscard]] std::string name() const override { return "graph"; }
      void select(pace::ClockChoice) override {}
      [[nodiscard]] pace::ClockChoice selected() const override { return pace::ClockChoice::graph; }
      [[nodiscard]] bool usable() const override { return true; }
      void forget() override {}
    } clock;
    CHECK_THAT(refusal(&clock), begins && ContainsSubstring("the graph clock of a device; expected calls on the CPU"));
  }
  SECTION("counters, and a gate on one") {
    SECTION("the option") {
      auto options = isolated();
      options.counters = {"page_faults"};
      comparison.options(options);
    }
    SECTION("the expectation") {
      comparison.candidate("new", [](const at::Tensor& x) { return at::add(x, 1); })
          .expect(pace::CounterAtMost("page_faults", 1));
    }
    CHECK_THAT(refusal(), begins && ContainsSubstring("are not counted (--counters, CounterAtMost); expected one"));
  }
  SECTION("values of each round") {
    comparison.renew_each_round([](at::Tensor& x) { x.fill_(2); });
    CHECK_THAT(refusal(), begins && ContainsSubstring("(renew_each_round)"));
  }
}

TEST_CASE("a clock of one process is refused") {
  const pace::Options options = short_options();
  pace::test::FakeClock clock;
  CHECK_THROWS_WITH(pace::compare("case", at::ones({4}))
                        .options(options)
                        .baseline("old", [](const at::Tensor& x) { return at::add(x, 1); })
                        .candidate("new", [&](const at::Tensor& x) { return clock.advance(us), at::add(x, 1); })
                        .run(clock),
                    StartsWith("comparison 'case': --isolate sides: ") &&
                        ContainsSubstring("the fake clock shows another time in another process"));
}

TEST_CASE("no thread of a candidate runs beside the samples of another") {
  Case sides;
  std::atomic<bool>* const in_other = &sides.shared->in_other;
  sides.in_other = in_other;
  std::optional<std::jthread> thread;
  const auto result = sides.run([&](int call) {
    // So that its thread runs, on the one CPU that the process may use.
    if (call > 30) (void)::usleep(500);
    if (call != 30) return;
    thread.emplace([&, in_other](const std::stop_token& end) {
      while (!end.stop_requested()) {
        (void)::usleep(100);
        if (*in_other) ++sides.shared->seen_beside;
        ++sides.shared->seen;
      }
    });
  });
  CHECK(result["other"].outcome == Outcome::measured);
  CHECK(sides.shared->seen > 0);
  CHECK(sides.shared->seen_beside == 0);
}

TEST_CASE("the thread of the clock leaves the CPU of the implementations, and may then run where it could before") {
  const cpu_set_t before = allowed_cpus();
  Case sides;
  require_others_measured(sides.run([&, clock = ::getpid()](int) {
    cpu_set_t cpus;
    const bool known = ::sched_getaffinity(clock, sizeof cpus, &cpus) == 0;
    sides.shared->beside_clock += !known || CPU_ISSET(static_cast<std::size_t>(::sched_getcpu()), &cpus);
  }));
  CHECK(sides.shared->beside_clock == 0);
  const cpu_set_t after = allowed_cpus();
  CHECK(CPU_EQUAL(&before, &after));
}

TEST_CASE("nothing is read past the end of a message from another process") {
  pace::detail::MessageWriter message;
  message << std::string("four");
  const std::string& whole = message.bytes();
  CHECK(pace::detail::MessageReader(whole).read<std::string>() == "four");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    pace::detail::MessageReader part(whole.substr(0, size));
    CHECK_THROWS_AS(part.read<std::string>(), pace::detail::MessageEndsEarly);
  }
}

}  // namespace
