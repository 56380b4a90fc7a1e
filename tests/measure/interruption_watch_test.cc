// Cycles in which other work had the core within a sample.
#include "pace/measure/interruption_watch.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <ATen/ops/add.h>
#include <ATen/ops/ones.h>

#include "pace/compare/comparison.hpp"
#include "pace/gate/times.hpp"
#include "pace/timing/machine_counters.hpp"
#include "tests/support/fake_clock.hpp"

// After LibTorch, which has a CHECK of its own.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using pace::Nanoseconds;
using pace::Verdict;

constexpr Nanoseconds ms{1e6}, s{1e9};

/// A core that this process has for `own`, then another process for `theirs`, and so on. After a pause of 2 ms or more
/// it has the core for `own` at a stretch.
class SharedCore final : public pace::test::FakeClock {
 public:
  SharedCore(Nanoseconds own, Nanoseconds theirs) : own_(own), theirs_(theirs) {}

  Nanoseconds sample(pace::timing::Subject& subject, std::size_t operands, std::int64_t iterations) override {
    compute(preparation);
    const Nanoseconds time = FakeClock::sample(subject, operands, iterations);
    use_ = pace::timing::cpu_use_between(before_, counters_, now() - began_);
    return time;
  }
  [[nodiscard]] std::optional<pace::timing::CpuUse> last_cpu_use() const override { return use_; }
  [[nodiscard]] std::optional<pace::timing::ThreadCounters> thread_counters() const override { return counters_; }
  void pause(Nanoseconds time) override {
    FakeClock::pause(time);
    if (time >= 2 * ms) had_ = {};
    ++pauses;
  }
  /// Computes for `time`.
  void compute(Nanoseconds time) {
    while (had_ + time > own_) {
      time -= own_ - had_;
      run_for(own_ - had_);
      preempt(theirs_);
    }
    had_ += time;
    run_for(time);
  }
  /// Another thread of this process has the core for `time`.
  void give_to_own_thread(Nanoseconds time) {
    counters_.process_cpu += time;
    preempt(time);
  }
  int pauses = 0;
  /// Before each sample is timed.
  Nanoseconds preparation{};

 protected:
  void prepared() override {
    began_ = now();
    before_ = counters_;
  }

 private:
  void run_for(Nanoseconds time) {
    advance(time);
    counters_.cpu += time;
    counters_.process_cpu += time;
  }
  void preempt(Nanoseconds time) {
    advance(time);
    ++counters_.involuntary_switches;
    had_ = {};
  }

  Nanoseconds own_, theirs_, had_{}, began_{};
  pace::timing::ThreadCounters counters_, before_;
  pace::timing::CpuUse use_;
};

/// Compares implementations whose calls do `baseline` and `candidate` on the core.
template <class Baseline, class Candidate>
pace::Result compare(SharedCore& core, Baseline baseline, Candidate candidate, double max_interference = 0.9,
                     pace::Expectation expectation = pace::NoSlowerThan(1.02)) {
  pace::Options options;
  options.audit = pace::Audit::off;
  options.max_interference = max_interference;
  const auto doing = [](auto work) {
    return [work](const at::Tensor& x) mutable {
      work();
      return at::add(x, 1);
    };
  };
  return pace::compare("case", at::ones({4}))
      .options(options)
      .baseline("old", doing(baseline))
      .candidate("new", doing(candidate))
      .expect(expectation)
      .run(core);
}
pace::Result compare(SharedCore& core, Nanoseconds baseline, Nanoseconds candidate, double max_interference = 0.9) {
  const auto taking = [&](Nanoseconds time) { return [&core, time] { core.compute(time); }; };
  return compare(core, taking(baseline), taking(candidate), max_interference);
}

Verdict verdict(const pace::Result& result) { return result["new"].judgements.at(0).verdict; }

}  // namespace

TEST_CASE("calls that are shorter than the core's turns are judged without the interrupted cycles") {
  const double times = GENERATE(1.0, 1.05);
  CAPTURE(times);
  SharedCore core(3.1 * ms, 7 * ms);
  const auto result = compare(core, 0.2 * ms, times * 0.2 * ms);
  CHECK(verdict(result) == (times > 1 ? Verdict::failed : Verdict::passed));
  CHECK(result.conditions.interrupted_cycles > 0);
  CHECK(result.conditions.uninterrupted);
  // No sample that counts has others' time.
  for (const Nanoseconds time : result["old"].samples) CHECK(time < 0.21 * ms);
}

TEST_CASE("a rest before each sample leaves whole cycles where turns are as short as samples") {
  SharedCore core(3.1 * ms, 7 * ms);
  const auto result = compare(core, 2 * ms, 2.1 * ms);
  CHECK(core.pauses > 0);
  CHECK(verdict(result) == Verdict::failed);
  CHECK(result.conditions.uninterrupted);
}

TEST_CASE("calls that are longer than the core's turns are measured with others' time") {
  SharedCore core(3.1 * ms, 7 * ms);
  const auto result = compare(core, 20 * ms, 20 * ms);
  CHECK(verdict(result) != Verdict::failed);
  // A sample that is longer than any turn tells at once.
  CHECK(result.conditions.interrupted_cycles == 0);
  CHECK_FALSE(result.conditions.uninterrupted);
  CHECK(result["old"].time->median > 20 * ms);
}

TEST_CASE("with an interference of 1 all cycles count") {
  SharedCore core(3.1 * ms, 7 * ms);
  const auto result = compare(core, 0.2 * ms, 0.2 * ms, 1);
  CHECK(result.conditions.interrupted_cycles == 0);
  CHECK(core.pauses == 0);
}

TEST_CASE("a quiet machine loses nothing") {
  SharedCore core(3600 * s, ms);
  const auto result = compare(core, 0.2 * ms, 0.2 * ms);
  CHECK(verdict(result) == Verdict::passed);
  CHECK(result.conditions.interrupted_cycles == 0);
  CHECK(core.pauses == 0);
}

TEST_CASE("what a side's own threads take is its cost, however rarely they have the core") {
  const int every = GENERATE(3, 8);
  CAPTURE(every);
  SharedCore core(3600 * s, ms);
  int calls = 0;
  const auto result = compare(
      core, [&] { core.compute(ms); },
      [&, every] {
        core.compute(0.9 * ms);
        if (++calls % every == 0) core.give_to_own_thread(20 * ms);
      },
      0.9, pace::MeanNoSlowerThan(1.02));
  CHECK(verdict(result) != Verdict::passed);
  CHECK(result.conditions.interrupted_cycles == 0);
  CHECK_FALSE(result.conditions.uninterrupted);
}

TEST_CASE("beside other processes, too, own threads are a cost") {
  SharedCore core(20 * ms, 7 * ms);
  int calls = 0;
  const auto result = compare(
      core, [&] { core.compute(ms); },
      [&] {
        core.compute(0.9 * ms);
        if (++calls % 2 == 0) core.give_to_own_thread(20 * ms);
      },
      0.9, pace::MeanNoSlowerThan(1.02));
  CHECK(verdict(result) != Verdict::passed);
  CHECK_FALSE(result.conditions.uninterrupted);
}

TEST_CASE("what passes before a sample is timed does not count") {
  // The preparation alone takes longer than any turn, and than a sample may.
  SharedCore core(3.1 * ms, 7 * ms);
  core.preparation = 9 * ms;
  const auto result = compare(core, 0.2 * ms, 0.21 * ms);
  CHECK(result.conditions.uninterrupted);
  CHECK_FALSE(result.conditions.gave_up_leaving_out);
  CHECK(verdict(result) == Verdict::failed);
}

TEST_CASE("there is no verdict if the long calls of one side are left out") {
  SharedCore core(16 * ms, 7 * ms);
  int calls = 0;
  const auto result =
      compare(core, [&] { core.compute(2 * ms); }, [&] { core.compute(++calls % 4 == 0 ? 7.8 * ms : 1.8 * ms); });
  CHECK(result.conditions.interrupted_cycles > 0);
  CHECK(result.conditions.unevenness > 1.1);
  CHECK(verdict(result) == Verdict::undecided);
  CHECK_THAT(result["new"].judgements.at(0).message, ContainsSubstring("the rest favour one side"));
}

TEST_CASE("a machine where the thread waits between samples alone gives verdicts") {
  // It waits for 95 % of the time, but a sample of 0.2 ms fits into each turn.
  SharedCore core(1.1 * ms, 40 * ms);
  const auto result = compare(core, 0.2 * ms, 0.21 * ms);
  CHECK(result.conditions.uninterrupted);
  CHECK(verdict(result) == Verdict::failed);
}

TEST_CASE("a process that stood still for a cycle that is left out gives verdicts") {
  SharedCore core(30 * ms, 1.5 * s);
  const auto result = compare(core, 0.2 * ms, 0.2 * ms);
  CHECK(result.conditions.interrupted_cycles > 0);
  CHECK(result.conditions.longest_cycle < 30 * ms);
  CHECK(verdict(result) == Verdict::passed);
}

TEST_CASE("a note says that cycles are left out, and that later ones all count") {
  SharedCore core(3.1 * ms, 7 * ms);
  const bool is_long = GENERATE(false, true);
  CAPTURE(is_long);
  const Nanoseconds time = is_long ? 5 * ms : 0.2 * ms;
  const auto result = compare(core, time, time);
  std::string notes;
  for (const auto& note : result.notes) notes += note + '\n';
  CHECK_THAT(notes, ContainsSubstring("are left out, since another process had the core within a sample"));
  CHECK(result.conditions.gave_up_leaving_out == is_long);
  CHECK((notes.find("later cycles all count") != std::string::npos) == is_long);
}
