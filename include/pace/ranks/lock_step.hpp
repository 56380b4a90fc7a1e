// LockStep: one rank's part in steps that all take together. LockStepClock: rank 0's clock, by which a sample takes as
// long as on the slowest rank.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/base/function_ref.hpp"
#include "pace/base/units.hpp"
#include "pace/ranks/meeting.hpp"
#include "pace/ranks/sides.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/machine_counters.hpp"
#include "pace/timing/subject.hpp"

namespace pace::ranks::detail {

/// How one rank times its part of a sample.
struct LocalClock {
  timing::Clock& clock;
  /// Waits until the rank's device is idle, before the barrier.
  std::function<void()> settle = [] {};
  /// Whether one call may run between the barrier and the start of the time. On a device, the launch of the first timed
  /// call and what is left of the ranks' distance then pass beside this call.
  bool leads_in = false;
  /// Name of the device, such as `NVIDIA H200`; empty: the CPU.
  std::string device = {};
  /// Whether to read what else this machine does, since `clock` does not.
  bool reads_machine = false;
};

/// A subject whose samples start when all ranks are ready.
class MetSubject final : public timing::Subject {
 public:
  MetSubject(timing::Subject& subject, const LocalClock& local, Meeting& meeting, int rank, bool leads_in)
      : subject_(subject), local_(local), meeting_(meeting), rank_(rank), leads_in_(leads_in) {}

  void prepare(std::size_t operands) override {
    subject_.prepare(operands);
    local_.settle();
    meet();
    if (leads_in_) subject_.run(operands, 1);
  }
  void run(std::size_t operands, std::int64_t iterations) override { subject_.run(operands, iterations); }
  void finish() override { subject_.finish(); }
  [[nodiscard]] std::shared_ptr<void> keep_output() override { return subject_.keep_output(); }
  void put_back_output(const std::shared_ptr<void>& output) override { subject_.put_back_output(output); }
  void failed() override { subject_.failed(); }
  [[nodiscard]] timing::Phases* phases() override { return subject_.phases(); }
  [[nodiscard]] const void* identity() const override { return subject_.identity(); }

  /// Meets the others once, even if the preparation threw.
  void meet() {
    if (!std::exchange(met_, true)) meeting_.wait(rank_);
  }

 private:
  timing::Subject& subject_;
  const LocalClock& local_;
  Meeting& meeting_;
  int rank_;
  bool leads_in_, met_ = false;
};

/// The distance in time at which ranks leave a barrier.
struct BarrierError {
  Nanoseconds median{}, high{};  ///< 95 % are at most `high`
};

/// One rank's part in the steps of a comparison.
class LockStep {
 public:
  LockStep(Meeting& meeting, int rank, const LocalClock& local) : meeting_(meeting), rank_(rank), local_(local) {}

  [[nodiscard]] RankMemory& place() const { return meeting_.place(rank_); }
  [[nodiscard]] Meeting& meeting() const { return meeting_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] const LocalClock& local() const { return local_; }
  void wait() const { meeting_.wait(rank_); }

  /// Measures the barrier by the time at which each rank left it, in 500 barriers. All ranks call it together.
  [[nodiscard]] BarrierError measure_barrier() const {
    constexpr int times = 500;
    std::vector<double> apart;
    for (int i = 0; i < times; ++i) {
      wait();
      place().left_barrier = steady_now().count();
      wait();
      double first = place().left_barrier, last = first;
      for (int rank = 0; rank < meeting_.ranks(); ++rank) {
        first = std::min(first, meeting_.place(rank).left_barrier);
        last = std::max(last, meeting_.place(rank).left_barrier);
      }
      apart.push_back(last - first);
    }
    wait();
    std::ranges::sort(apart);
    const auto at = [&](double share) { return Nanoseconds(apart[static_cast<std::size_t>(share * (times - 1))]); };
    return {at(0.5), at(0.95)};
  }

  /// Runs `work` on this rank, and notes what it throws. Then meets the others.
  template <class F>
  void together(const F& work) {
    forget();
    try {
      work();
    } catch (...) {
      note_exception();
    }
    wait();
  }
  /// Enters the exception being handled, before this rank waits for others that may wait for it.
  void note_exception() const {
    note(pace::detail::current_message());
    place().threw = true;
    place().failed_at.store(steady_now().count());
  }
  /// Takes back what this rank noted, once all have read it.
  void forget() const {
    place().failed_at.store(0);
    place().problem[0] = '\0';
    place().threw = false;
  }
  /// Enters a fault of this rank for the others to see.
  void note(const std::string& problem) const { write_text(place().problem, problem); }
  /// Enters what this rank does, for a rank that hangs.
  void enter(const std::string& doing) const { write_text(place().doing, doing); }

  /// After together() on all ranks: whether a rank threw.
  [[nodiscard]] bool threw() const {
    for (int rank = 0; rank < meeting_.ranks(); ++rank)
      if (meeting_.place(rank).threw) return true;
    return false;
  }
  /// After together() on all ranks: returns the faults that ranks from `first` on noted, empty if there are none. If
  /// some threw, only theirs: without them the others' outputs mean nothing. Nobody may begin another step before all
  /// have read them: see wait().
  [[nodiscard]] std::string problems(int first = 0) const {
    std::string all;
    const bool only_thrown = threw();
    for (int rank = first; rank < meeting_.ranks(); ++rank) {
      const RankMemory& of = meeting_.place(rank);
      if (of.problem[0] == '\0' || (only_thrown && !of.threw)) continue;
      all += (all.empty() ? "rank " : "; rank ") + std::to_string(rank) + ": " + of.problem;
    }
    return all;
  }

  /// Prepares `side` of `sides`, and takes this rank's part of a sample.
  void take_sample(Sides& sides, std::size_t side, std::size_t set, std::int64_t calls, bool leads_in) const {
    pace::detail::Implementation* subject = nullptr;
    try {
      subject = &sides.for_sample(side, set, calls);
    } catch (...) {
      // The others wait for this rank at the start of the sample.
      wait();
      throw;
    }
    (void)sample(*subject, set, calls, leads_in);
    subject->finish();
  }

  /// Times this rank's part of a sample, and enters it.
  Nanoseconds sample(timing::Subject& subject, std::size_t set, std::int64_t calls, bool leads_in) const {
    MetSubject met(subject, local_, meeting_, rank_, leads_in);
    try {
      const Nanoseconds time = local_.clock.sample(met, set, calls);
      place().sample = time.count();
      return time;
    } catch (...) {
      note_exception();
      met.meet();
      throw;
    }
  }

  /// The longest part of the last sample.
  [[nodiscard]] Nanoseconds slowest() const {
    double most = 0;
    for (int rank = 0; rank < meeting_.ranks(); ++rank) most = std::max(most, meeting_.place(rank).sample);
    return Nanoseconds(most);
  }

 private:
  Meeting& meeting_;
  int rank_;
  const LocalClock& local_;
};

/// Rank 0's side of the steps: tells the others what to do.
class Conductor {
 public:
  Conductor(LockStep& step, const pace::detail::ComparisonPlan& plan) : step_(step), plan_(plan) {}
  Conductor(const Conductor&) = delete;
  Conductor& operator=(const Conductor&) = delete;

  /// Tells all ranks to make one call, unless they are within a sample.
  void begin_call(std::size_t side) {
    if (sampling_) return;
    step_.enter("a call of '" + plan_.implementations[side].name + '\'');
    begin({.step = Step::call, .side = side});
  }
  /// Returns when all have made that call. Throws Error with the numbers of ranks that threw.
  void end_call() {
    if (sampling_) return;
    step_.wait();
    throw_problems();
  }
  /// The same while the exception of a call that threw here is handled.
  void abandon_call() {
    if (sampling_) return;
    step_.note_exception();
    step_.wait();
  }

  /// Takes a sample on all ranks; returns the slowest one's time. Throws ImplementationThrew.
  Nanoseconds sample(pace::detail::Implementation& side, std::size_t set, std::int64_t calls, bool leads_in) {
    step_.enter("a sample of '" + plan_.implementations[side.index].name + '\'');
    begin({.step = Step::sample, .side = side.index, .set = set, .calls = leads_in ? -calls : calls});
    sampling_ = true;
    try {
      (void)step_.sample(side, set, calls, leads_in);
    } catch (...) {
      sampling_ = false;
      step_.wait();
      throw;
    }
    sampling_ = false;
    step_.wait();
    if (const std::string problems = step_.problems(1); !problems.empty())
      throw pace::detail::ImplementationThrew(side.index, {.message = problems});
    return step_.slowest();
  }

  /// Ends the other ranks' service.
  void end() { begin({.step = Step::end}); }

 private:
  void begin(const Command& command) {
    step_.forget();
    step_.meeting().table().command = command;
    step_.wait();
  }
  void throw_problems() const {
    if (const std::string problems = step_.problems(1); !problems.empty()) throw Error(problems);
  }

  LockStep& step_;
  const pace::detail::ComparisonPlan& plan_;
  bool sampling_ = false;
};

/// Serves rank 0's steps on another rank, until the end.
inline void serve(LockStep& step, const pace::detail::ComparisonPlan& plan, Sides& sides) {
  while (true) {
    step.wait();
    // Rank 0 has read it.
    step.forget();
    const Command command = step.meeting().table().command;
    if (command.step == Step::end) return;
    const bool is_call = command.step == Step::call;
    step.enter((is_call ? "a call of '" : "a sample of '") + plan.implementations[command.side].name + '\'');
    step.together([&] {
      if (is_call) return sides.call(command.side);
      const std::int64_t calls = std::abs(command.calls);
      step.take_sample(sides, command.side, command.set, calls, command.calls < 0);
    });
  }
}

/// A callable of rank 0 that all ranks call together.
template <class F>
class OnAllRanks {
 public:
  OnAllRanks(Conductor& conductor, std::size_t side, F function)
      : conductor_(&conductor), side_(side), function_(std::move(function)) {}

  template <class... Operands>
  auto operator()(Operands&... operands) -> decltype(std::declval<F&>()(operands...)) {
    using Returned = decltype(function_(operands...));
    conductor_->begin_call(side_);
    if constexpr (std::is_void_v<Returned>) {
      call(operands...);
      conductor_->end_call();
    } else {
      Returned returned = call(operands...);
      conductor_->end_call();
      if constexpr (std::is_reference_v<Returned>)
        return static_cast<Returned>(returned);
      else
        return returned;
    }
  }

 private:
  template <class... Operands>
  decltype(auto) call(Operands&... operands) {
    try {
      return function_(operands...);
    } catch (...) {
      conductor_->abandon_call();
      throw;
    }
  }

  Conductor* conductor_;
  std::size_t side_;
  F function_;
};

/// Rank 0's clock. A sample takes as long as on the slowest rank.
class LockStepClock final : public timing::Clock {
 public:
  /// All must outlive it. Samples are long enough that `barrier` counts as little as the clock's own resolution.
  LockStepClock(LockStep& step, Conductor& conductor, const BarrierError& barrier, bool leads_in, std::string device)
      : local_(step.local()),
        conductor_(conductor),
        barrier_(barrier),
        leads_in_(leads_in),
        device_(std::move(device)) {}

  Nanoseconds time(FunctionRef<void()> body) override { return local_.clock.time(body); }
  Nanoseconds sample(timing::Subject& subject, std::size_t operands, std::int64_t iterations) override {
    auto* const side = dynamic_cast<pace::detail::Implementation*>(&subject);
    if (side == nullptr) return local_.clock.sample(subject, operands, iterations);
    return conductor_.sample(*side, operands, iterations, leads_in_);
  }
  [[nodiscard]] Nanoseconds now() const override { return local_.clock.now(); }
  void pause(Nanoseconds time) override { local_.clock.pause(time); }
  [[nodiscard]] Nanoseconds resolution() override { return std::max(local_.clock.resolution(), barrier_.high); }
  [[nodiscard]] std::string name() const override { return local_.clock.name(); }
  [[nodiscard]] std::string device_name() const override { return device_; }
  [[nodiscard]] std::optional<timing::ThreadCounters> thread_counters() const override {
    return local_.reads_machine ? timing::read_thread_counters() : local_.clock.thread_counters();
  }
  [[nodiscard]] std::optional<timing::MachineCounters> counters() const override {
    return local_.reads_machine ? timing::read_machine_counters() : local_.clock.counters();
  }

 private:
  const LocalClock& local_;
  Conductor& conductor_;
  BarrierError barrier_;
  bool leads_in_;
  std::string device_;
};

}  // namespace pace::ranks::detail
