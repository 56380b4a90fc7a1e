// Cheats that make the baseline slower, the clock faster, or use more threads than are allowed.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include <ATen/Parallel.h>
#include <ATen/ops/add.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>

#include "pace/audit/time_pairs.hpp"
#include "pace/audit/untouched_process.hpp"
#include "pace/compare/comparison.hpp"
#include "pace/gate/times.hpp"
#include "tests/faults/faulty_machine.hpp"

// After LibTorch, which has a CHECK of its own.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using faults::FaultyMachine;
using pace::Nanoseconds;

constexpr Nanoseconds ms{1e6}, s{1e9};

using Step = std::function<void()>;

/// A baseline of 0.1 ms and a candidate of 0.05 ms, each after its step.
pace::Result compare(FaultyMachine& machine, const Step& in_baseline, const Step& in_candidate,
                     const double* factor = nullptr, pace::Options options = {}) {
  options.audit = pace::Audit::strict;
  options.stop = pace::StopPolicy::budget;
  options.budget = options.hard_limit = 0.3 * s;
  return pace::compare("case", at::ones({4}))
      .options(options)
      .baseline("old",
                [&](const at::Tensor& x) {
                  in_baseline();
                  machine.advance(0.1 * (factor != nullptr ? *factor : 1) * ms);
                  return at::add(x, 1);
                })
      .candidate("new",
                 [&](const at::Tensor& x) {
                   in_candidate();
                   machine.advance(0.05 * ms);
                   return at::add(x, 1);
                 })
      .expect(pace::SpeedupAtLeast(1.2))
      .run(machine);
}

const auto nothing = [] {};

void require_invalid(const pace::Result& result, const std::string& what_was_seen) {
  const auto& row = result["new"];
  CHECK_THAT(row.context.describe(pace::Severity::impossible), ContainsSubstring(what_was_seen));
  REQUIRE(row.judgements.size() == 1);
  CHECK(row.judgements[0].verdict == pace::Verdict::invalid);
  CHECK_FALSE(row.judgements[0].acceptable);
}

void require_passed(const pace::Result& result) {
  const auto& row = result["new"];
  CHECK(row.context.describe(pace::Severity::impossible) == "");
  REQUIRE(row.judgements.size() == 1);
  INFO(row.judgements[0].message);
  CHECK(row.judgements[0].verdict == pace::Verdict::passed);
}

/// Whether the operand has the values given, as in the first call.
class Given {
 public:
  bool operator()(const at::Tensor& x) {
    if (!first_.defined()) first_ = x.clone();
    return first_.equal(x);
  }

 private:
  at::Tensor first_ = {};
};

/// How many times as long a call takes on values other than those given as on these.
using Times = std::function<double()>;

/// A baseline of 0.1 ms and a candidate of 0.05 ms on the values given, which take longer on others.
pace::Result compare_on_unseen_values(FaultyMachine& machine, const Times& of_baseline, const Times& of_candidate) {
  pace::Options options;
  options.audit = pace::Audit::strict;
  options.stop = pace::StopPolicy::budget;
  options.budget = options.hard_limit = 0.3 * s;
  return pace::compare("case", at::randn({4}))
      .options(options)
      .baseline("old",
                [&, given = Given()](const at::Tensor& x) mutable {
                  machine.advance((given(x) ? 0.1 : 0.1 * of_baseline()) * ms);
                  return at::add(x, 1);
                })
      .candidate("new",
                 [&, given = Given()](const at::Tensor& x) mutable {
                   machine.advance((given(x) ? 0.05 : 0.05 * of_candidate()) * ms);
                   return at::add(x, 1);
                 })
      .expect(pace::SpeedupAtLeast(1.5))
      .run(machine);
}

}  // namespace

TEST_CASE("an honest candidate passes") {
  at::set_num_threads(GENERATE(1, 2));
  FaultyMachine machine;
  require_passed(compare(machine, nothing, nothing));
}

TEST_CASE("a candidate whose first call slows the baseline from then on") {
  at::set_num_threads(1);
  FaultyMachine machine;
  double factor = 1;
  const double slowed = GENERATE(1.35, 1.7);
  const auto result = compare(machine, nothing, [&] { factor = slowed; }, &factor);
  require_invalid(result,
                  "in a process in which no candidate was called 100 us at the same time, measured in turn 24 times");
  require_invalid(result, "Something that 'new' has done slows it");
}

TEST_CASE("a candidate whose hundredth call slows the baseline from then on") {
  at::set_num_threads(1);
  FaultyMachine machine;
  double factor = 1;
  int calls = 0;
  require_invalid(compare(
                      machine, nothing, [&] { factor = ++calls < 100 ? 1 : 1.7; }, &factor),
                  "the baseline alone takes 170 us after the rounds");
}

TEST_CASE("a candidate that slows the baseline by less than machines do by themselves is let through") {
  at::set_num_threads(1);
  FaultyMachine machine;
  double factor = 1;
  require_passed(compare(machine, nothing, [&] { factor = 1.2; }, &factor));
}

TEST_CASE("what slows the baseline in this process alone, and ends by itself, is no candidate's doing") {
  at::set_num_threads(1);
  FaultyMachine machine;
  double factor = 1;
  bool slow = false;
  const Nanoseconds until = 0.4 * s;
  require_passed(
      compare(machine, [&] { factor = slow && machine.paused < until ? 1.7 : 1; }, [&] { slow = true; }, &factor));
  // The pairs went on until it was over, and no longer than the others could show.
  CHECK(machine.paused > until);
  CHECK(machine.paused < 2 * until);
}

TEST_CASE("a machine that becomes slower slows the untouched process, too") {
  at::set_num_threads(1);
  FaultyMachine machine;
  double factor = 1;
  const double slowed = GENERATE(1.35, 1.7);
  // The other process is on the same machine, which is slower by the time that it is asked.
  const pid_t own = ::getpid();
  require_passed(
      compare(machine, [&] { factor = ::getpid() == own ? factor : slowed; }, [&] { factor = slowed; }, &factor));
}

TEST_CASE("a baseline that throws while it is timed beside the other process has no output, but is not called slowed") {
  at::set_num_threads(1);
  FaultyMachine machine;
  double factor = 1;
  bool threw = false;
  const auto throws_once = [&] {
    if (machine.paused.count() > 0 && !std::exchange(threw, true)) throw std::runtime_error("once");
  };
  const auto result = compare(machine, throws_once, [&] { factor = 1.7; }, &factor);
  CHECK(threw);
  CHECK(result["new"].context.describe(pace::Severity::impossible) == "");
  CHECK_THAT(result["old"].message,
             ContainsSubstring("not in the last timed call") && ContainsSubstring("got nothing"));
}

TEST_CASE("with threads there is no other process: a slowdown that a machine may have is let through") {
  at::set_num_threads(2);
  FaultyMachine machine;
  double factor = 1;
  const double slowed = GENERATE(1.7, 2.3);
  const auto result = compare(machine, nothing, [&] { factor = slowed; }, &factor);
  if (slowed > 2)
    require_invalid(result,
                    "or more after the rounds, and took 100 us or less before any candidate was called. Something");
  else
    require_passed(result);
}

namespace {

/// Two threads on a machine of two cores. Others take a share of it from the candidate's first call on, when the
/// baseline begins to take 4 times as long.
pace::Result compare_beside_others(FaultyMachine& machine, double others, const pace::Options& options = {}) {
  at::set_num_threads(2);
  // The cores are busy where others take 0.6 of them.
  machine.cores = 1.4;
  double factor = 1;
  auto result = compare(
      machine, nothing,
      [&] {
        factor = 4;
        machine.others = others;
      },
      &factor, options);
  at::set_num_threads(1);
  return result;
}

}  // namespace

TEST_CASE("with threads, what other processes take of the CPUs accounts for a slow baseline") {
  FaultyMachine machine;
  pace::Options options;
  options.audit = pace::Audit::strict;
  SECTION("also where all interference is allowed") { options.max_interference = 1; }
  SECTION("by default") {}
  const auto result = compare_beside_others(machine, 0.3, options);
  const auto& row = result["new"];
  CHECK(row.context.describe(pace::Severity::impossible) == "");
  REQUIRE(row.judgements.size() == 1);
  CHECK(row.judgements[0].verdict == pace::Verdict::undecided);
  CHECK_THAT(row.judgements[0].message, ContainsSubstring("Other work slowed the baseline: the baseline alone takes "
                                                          "400 us or more after the rounds, and took 100 us or less"));
  CHECK_THAT(row.judgements[0].message,
             ContainsSubstring("in each second meanwhile 0.600 CPU seconds more than were idle went to other"));
}

TEST_CASE("with threads, a smaller share of the CPUs counts too, since one thread put aside keeps all others waiting") {
  FaultyMachine machine;
  const auto result = compare_beside_others(machine, 0.22);
  CHECK(result["new"].context.describe(pace::Severity::impossible) == "");
  REQUIRE(result["new"].judgements.size() == 1);
  CHECK_THAT(result["new"].judgements[0].message,
             ContainsSubstring("in each second meanwhile 0.280 CPU seconds more than were idle went to other"));
}

TEST_CASE("with threads, a slow baseline is refused if others took idle CPUs alone, or are not counted on these") {
  FaultyMachine machine;
  double others = 0.3;
  SECTION("others took idle CPUs alone") { others = 0.15; }
  SECTION("the process may not use these CPUs") { machine.restricted = true; }
  require_invalid(compare_beside_others(machine, others), "or more after the rounds, and took 100 us or less before");
}

TEST_CASE("a slow baseline is judged without the other process where that has gone") {
  // It ends as soon as it is asked.
  at::set_num_threads(1);
  FaultyMachine machine;
  const pid_t own = ::getpid();
  double factor = 1;
  const double slowed = GENERATE(1.7, 2.3);
  const auto result = compare(
      machine,
      [&] {
        if (::getpid() != own) ::_exit(0);
      },
      [&] { factor = slowed; }, &factor);
  if (slowed > 2)
    require_invalid(result, "or more after the rounds, and took 100 us or less before any candidate was called");
  else
    require_passed(result);
}

TEST_CASE("a candidate that ends the other process") {
  at::set_num_threads(1);
  FaultyMachine machine;
  double factor = 1;
  bool ended = false;
  const bool takes_note = GENERATE(false, true);
  const auto result = compare(
      machine, nothing,
      [&] {
        factor = 1.7;
        if (std::exchange(ended, true)) return;
        std::ifstream children("/proc/self/task/" + std::to_string(::gettid()) + "/children");
        for (pid_t child; children >> child;) {
          REQUIRE(::kill(child, SIGKILL) == 0);
          // Until it has ended, with or without taking note of that.
          siginfo_t info;
          REQUIRE(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | (takes_note ? 0 : WNOWAIT)) == 0);
        }
      },
      &factor);
  const auto& row = result["new"];
  REQUIRE(row.judgements.size() == 1);
  CHECK(row.judgements[0].verdict == pace::Verdict::undecided);
  CHECK_THAT(row.judgements[0].message,
             ContainsSubstring("The process in which no candidate was called has been ended from outside"));
}

TEST_CASE("a baseline that was found slow counts as slow, though it throws before others' work is known") {
  at::set_num_threads(2);
  FaultyMachine machine;
  double factor = 1;
  bool threw = false;
  // No sample of the rounds takes so long.
  const Nanoseconds alone = 0.1 * s;
  Nanoseconds last_of_candidate = 1e9 * s;
  const auto result = compare(
      machine,
      [&] {
        if (machine.now() - last_of_candidate > alone && !std::exchange(threw, true)) throw std::runtime_error("once");
      },
      [&] {
        last_of_candidate = machine.now();
        factor = 4;
      },
      &factor);
  at::set_num_threads(1);
  CHECK(threw);
  CHECK_THAT(result["new"].context.describe(pace::Severity::impossible),
             ContainsSubstring("the baseline alone takes 400 us or more after the rounds"));
}

TEST_CASE("a baseline that is slow where its outputs happen to lie is not slowed by a candidate") {
  at::set_num_threads(1);
  FaultyMachine machine;
  constexpr int calls_of_rounds = 8;
  std::set<const void*> slow;
  int calls_since_candidate = calls_of_rounds;
  pace::Options options;
  options.audit = pace::Audit::strict;
  options.stop = pace::StopPolicy::budget;
  options.budget = options.hard_limit = 0.3 * s;
  require_passed(pace::compare("case", at::ones({1 << 14}))
                     .options(options)
                     .baseline("old",
                               [&](const at::Tensor& x) {
                                 at::Tensor out = at::add(x, 1);
                                 const void* const place = out.const_data_ptr();
                                 if (calls_since_candidate++ < calls_of_rounds) slow.insert(place);
                                 machine.advance((slow.contains(place) ? 0.17 : 0.1) * ms);
                                 return out;
                               })
                     .candidate("new",
                                [&](const at::Tensor& x) {
                                  calls_since_candidate = 0;
                                  machine.advance(0.05 * ms);
                                  return at::add(x, 1);
                                })
                     .expect(pace::SpeedupAtLeast(1.2))
                     .run(machine));
  CHECK_FALSE(slow.empty());
}

TEST_CASE("a candidate that keeps an answer and slows the baseline on all unseen values") {
  // With two threads there is no other process, and a baseline slowed to twice its time passes.
  const int threads = GENERATE(1, 2);
  CAPTURE(threads);
  at::set_num_threads(threads);
  const double times = threads == 1 ? 2 : 2.9;
  FaultyMachine machine;
  double of_baseline = 1;
  const auto result =
      compare_on_unseen_values(machine, [&] { return of_baseline; }, [&] { return of_baseline = times; });
  at::set_num_threads(1);
  const auto& row = result["new"];
  INFO(row.message);
  CHECK(row.outcome == pace::Outcome::measured);
  REQUIRE(row.judgements.size() == 1);
  const auto& judgement = row.judgements[0];
  INFO(judgement.message);
  CHECK(judgement.verdict == pace::Verdict::failed);
  CHECK_THAT(judgement.message,
             ContainsSubstring(threads == 1 ? "on unseen values at most 1.25x" : "on unseen values at most 1.38x"));
  std::string notes;
  for (const auto& note : result.notes) notes += note + '\n';
  CHECK_THAT(notes, ContainsSubstring("its time counts up to"));
}

TEST_CASE("a baseline that is slower on unseen values before any candidate is called is not looked at again") {
  at::set_num_threads(1);
  FaultyMachine machine;
  const double times = GENERATE(1.0, 2.0, 2.9);
  require_passed(compare_on_unseen_values(machine, [&] { return times; }, [&] { return times; }));
  CHECK(machine.paused < pace::detail::pause_between_pairs);
}

TEST_CASE("a machine that is slower on unseen values than it was before is slower in the untouched process, too") {
  at::set_num_threads(1);
  FaultyMachine machine;
  bool slow = false;
  const pid_t own = ::getpid();
  const auto result = compare_on_unseen_values(
      machine, [&] { return slow || ::getpid() != own ? 2 : 1; },
      [&] {
        slow = true;
        return 2;
      });
  require_passed(result);
  CHECK(result["new"].context.excess_in_rounds == 1);
  CHECK(machine.paused > pace::detail::pause_between_pairs);
}

TEST_CASE("a clock that runs slower in the candidate's calls") {
  FaultyMachine machine;
  const double rate = GENERATE(0.5, 0.97);
  require_invalid(compare(
                      machine, [&] { machine.rate = 1; }, [&] { machine.rate = rate; }),
                  "slower in the samples of 'new' than in those of 'old', by the CPU's own counter");
}

TEST_CASE("a clock that is wrong in all calls alike") {
  FaultyMachine machine;
  machine.rate = 1.004;
  require_passed(compare(machine, nothing, nothing));
}

TEST_CASE("more threads than are allowed") {
  at::set_num_threads(1);
  FaultyMachine machine;
  machine.cpu_step = GENERATE(0, 4) * ms;
  require_invalid(
      compare(
          machine, [&] { machine.cores = 1; }, [&] { machine.cores = 8; }),
      "CPU seconds in each second, and 1 thread is allowed (the baseline used 1.00); try: as many threads for all");
}

TEST_CASE("as many threads as are allowed, or as the baseline has") {
  FaultyMachine machine;
  double of_baseline = 1;
  SECTION("allowed") { at::set_num_threads(4); }
  SECTION("the baseline's") {
    at::set_num_threads(1);
    of_baseline = 4;
  }
  require_passed(compare(machine, [&] { machine.cores = of_baseline; }, [&] { machine.cores = 4; }));
  at::set_num_threads(1);
}

TEST_CASE("the untouched process has the memory as it was, keeps what it does there, and answers each question") {
  int value = 1;
  pace::detail::UntouchedProcess<int, int> process([&](int more) { return std::optional(value += more); });
  value = 100;
  CHECK(process.ask(2, 60 * s) == 3);
  CHECK(process.ask(5, 60 * s) == 8);
  CHECK(value == 100);
}

TEST_CASE("a process that has no answer, throws, ends or dies does not answer") {
  const auto work = GENERATE(
      as<std::function<std::optional<int>(int)>>(), [](int) { return std::optional<int>(); },
      [](int) -> std::optional<int> { throw 1; }, [](int) -> std::optional<int> { ::_exit(0); },
      [](int) -> std::optional<int> { std::abort(); });
  pace::detail::UntouchedProcess<int, int> process([&](int question) { return question > 0 ? 1 : work(question); });
  CHECK(process.ask(1, 60 * s) == 1);
  CHECK_FALSE(process.ask(0, 60 * s).has_value());
  CHECK_FALSE(process.ask(1, 60 * s).has_value());
}

TEST_CASE("a process that does not answer in time is ended, so that it works beside nothing else") {
  pace::detail::UntouchedProcess<int, int> process([](int) -> std::optional<int> {
    while (true) ::pause();
  });
  CHECK_FALSE(process.ask(1, Nanoseconds(0)).has_value());
  errno = 0;
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);
}

TEST_CASE("a process that is never asked is no child any more afterwards") {
  {
    const pace::detail::UntouchedProcess<int, int> process([](int) { return std::optional(1); });
  }
  errno = 0;
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);
}
