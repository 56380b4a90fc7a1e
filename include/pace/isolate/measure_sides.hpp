// measure_sides: a comparison with a process for each implementation, in lock-step rounds.
#pragma once

#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/base/format.hpp"
#include "pace/base/random.hpp"
#include "pace/base/spelling.hpp"
#include "pace/isolate/answers.hpp"
#include "pace/isolate/clock.hpp"
#include "pace/isolate/process.hpp"
#include "pace/isolate/remote.hpp"
#include "pace/isolate/worker.hpp"
#include "pace/judge/judge.hpp"
#include "pace/judge/measurement.hpp"
#include "pace/judge/summarize.hpp"
#include "pace/measure/audit_schedule.hpp"
#include "pace/measure/calibrate.hpp"
#include "pace/measure/gated_rounds.hpp"
#include "pace/measure/rounds.hpp"
#include "pace/os/exit_guard.hpp"
#include "pace/stats/quantile.hpp"
#include "pace/stats/sorted.hpp"
#include "pace/subject/forked.hpp"
#include "pace/subject/participants.hpp"
#include "pace/subject/plan.hpp"
#include "pace/subject/prepare.hpp"
#include "pace/subject/time_left.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/rounds.hpp"
#include "pace/verify/candidate_audit.hpp"
#include "pace/verify/repeated_numbers.hpp"
#include "pace/verify/round_figures.hpp"
#include "pace/verify/verified.hpp"

namespace pace::detail {

/// CPUs on which the calling thread may run; none if the system does not tell.
[[nodiscard]] inline cpu_set_t allowed_cpus() {
  cpu_set_t found;
  CPU_ZERO(&found);
  (void)::sched_getaffinity(0, sizeof found, &found);
  return found;
}

/// Throws Error for what separate processes do not support, and says what was expected.
inline void refuse_for_sides(timing::Clock& clock, const ComparisonPlan& plan) {
  const auto refuse = [&](const std::string& what) {
    throw Error("comparison '" + plan.name + "': " + option_text("isolate", "sides") + ": " + what);
  };
  if (clock.modes() != nullptr)
    refuse("its calls are timed by the " + clock.name() + " clock of a device; expected calls on the CPU");
  if (!plan.phases.empty())
    refuse("its iterations have phases, which are timed inside of them; expected plain callables, not training steps");
  if (plan.renew)
    refuse(
        "each round has unseen values (renew_each_round), which are in this process; expected the same "
        "values in all rounds");
  const bool counts = !plan.options.counters.empty() || std::ranges::any_of(plan.stated, [](const gate::Stated& each) {
    return !each.expectation.needs_counter().empty();
  });
  if (counts) refuse("the events of its processes are not counted (--counters, CounterAtMost); expected one of them");
  if (const auto reason = reason_not_to_fork(); !reason.empty()) refuse(reason);
  const cpu_set_t allowed = allowed_cpus();
  if (const int cpus = CPU_COUNT(&allowed); cpus < 2)
    refuse("the clock and the implementations run on different CPUs, and this process may run on " +
           std::to_string(cpus) + "; expected two or more");
}

/// Keeps the calling thread off a CPU while it lives.
class OffCpu {
 public:
  OffCpu() : before_(allowed_cpus()) {}
  OffCpu(const OffCpu&) = delete;
  OffCpu& operator=(const OffCpu&) = delete;
  ~OffCpu() { (void)::sched_setaffinity(0, sizeof before_, &before_); }

  /// `cpu` below 0: changes nothing.
  void leave(int cpu) const {
    if (cpu < 0) return;
    cpu_set_t rest = before_;
    CPU_CLR(static_cast<std::size_t>(cpu), &rest);
    if (CPU_COUNT(&rest) > 0) (void)::sched_setaffinity(0, sizeof rest, &rest);
  }

 private:
  cpu_set_t before_;
};

/// The processes of one comparison's implementations, by index.
class Sides {
 public:
  /// Both must outlive it. Each process audits as `start_audit` says.
  Sides(timing::Clock& clock, const ComparisonPlan& plan, StartAudit start_audit)
      : clock_(clock), plan_(plan), start_audit_(start_audit), of_(plan.implementations.size()) {}

  /// Forks the process of an implementation.
  SideProcess& start(std::size_t index) {
    of_[index] = std::make_unique<SideProcess>(clock_, index, all_, [this, index](SideMemory& memory, int socket) {
      SideWorker(clock_, plan_, start_audit_, index, memory, socket).serve();
    });
    all_.push_back(of_[index].get());
    return *of_[index];
  }

  [[nodiscard]] SideProcess& operator[](std::size_t index) const { return *of_[index]; }
  [[nodiscard]] const std::vector<SideProcess*>& all() const { return all_; }

  /// Ends the processes of dropped implementations, so that they run beside no other.
  void keep(const Participants& participants) const {
    for (std::size_t index = 0; index < of_.size(); ++index)
      if (of_[index] && !participants.remains(index)) of_[index]->end();
  }

 private:
  timing::Clock& clock_;
  const ComparisonPlan& plan_;
  StartAudit start_audit_;
  std::vector<std::unique_ptr<SideProcess>> of_;
  std::vector<SideProcess*> all_;
};

/// Audits each side in its own process between cycles, and collects the findings afterwards: CandidateAudit for all
/// sides.
class SideAudits final : public Auditor {
 public:
  /// All must outlive it.
  SideAudits(timing::Clock& clock, const Prepared& prepared, const Sides& sides)
      : prepared_(prepared), sides_(sides), schedule_(clock, prepared.options.check_seed, prepared.options.audit) {}

  void begin_rounds(const std::vector<std::size_t>& timed, std::int64_t iterations) override {
    schedule_.begin(timed);
    for (const std::size_t index : timed)
      (void)sides_[index].ask({.kind = SideRequest::Kind::begin_rounds, .iterations = iterations});
  }

  void round_started(std::size_t) override { schedule_.round_started(*prepared_.operands); }

  void cycle_ended(const timing::Rounds& so_far) override {
    schedule_.cycle_ended(so_far, *prepared_.operands, [&](std::size_t index) {
      return sides_[index].ask({.kind = SideRequest::Kind::audit}).read<std::string>();
    });
  }

  [[nodiscard]] Nanoseconds took() const override { return schedule_.took(); }
  [[nodiscard]] bool has_fault() const override { return schedule_.found(); }

  /// After the rounds: returns the findings of all sides. Dropped ones may have taken time from all, so the rest is
  /// measured again. `figures`: see CandidateAudit::check().
  [[nodiscard]] AuditFindings check_after_rounds(RoundFigures figures) override {
    AuditFindings findings;
    findings.max_abs_errors.resize(prepared_.implementations.size());
    if (findings.take(schedule_.take_fault())) return findings;
    const std::size_t baseline = prepared_.participants.baseline();
    const auto& timed = schedule_.timed();
    std::vector<std::string> problems;
    std::vector<std::vector<Repetitions>> repetitions;
    for (const std::size_t index : timed) {
      auto answer = sides_[index].ask({.kind = SideRequest::Kind::check,
                                       .elapsed = schedule_.elapsed(),
                                       .shortest = schedule_.shortest_of(index),
                                       .shortest_of_baseline = schedule_.shortest_of(baseline),
                                       .median_of_baseline = figures.baseline,
                                       .speedup = figures.speedups.at(index)});
      ChecksOfSide found;
      found.pass(answer);
      problems.push_back(std::move(found.problem));
      findings.max_abs_errors[index] = found.max_abs_error;
      findings.notes.insert(findings.notes.end(), found.notes.begin(), found.notes.end());
      if (found.keeps) findings.keeps.push_back(index);
      if (!found.objection.why.empty()) findings.objections.push_back({index, std::move(found.objection)});
      if (found.on_unseen_values.observations > 0) findings.on_unseen_values.push_back({index, found.on_unseen_values});
      repetitions.push_back(std::move(found.repetitions));
    }
    const std::size_t place_of_baseline = place_of(baseline, timed);
    for (std::size_t place = 0; place < timed.size(); ++place) {
      auto& problem = problems[place];
      if (problem.empty() && place != place_of_baseline)
        problem = describe_repetitions(repetitions[place_of_baseline], repetitions[place]);
      if (!problem.empty()) findings.dropped.push_back({timed[place], Outcome::wrong, std::move(problem)});
    }
    // A baseline alone has nothing to compare with.
    const bool others_remain = findings.dropped.size() + 1 < timed.size();
    findings.measure_again = !findings.dropped.empty() && others_remain;
    return findings;
  }

 private:
  const Prepared& prepared_;
  const Sides& sides_;
  AuditSchedule schedule_;
};

/// Makes the first calls in an implementation's process, and enters the answer. Throws Error if the clock shows
/// different times in the two processes.
inline void verify_side(timing::Clock& clock, SideProcess& side, std::size_t index, int& cpu, Options& options,
                        Verified& verified) {
  const Nanoseconds before = clock.now();
  auto answer = side.ask({.kind = SideRequest::Kind::verify, .cpu = cpu});
  FirstCallsOfSide found{.row = verified.result.implementations[index]};
  found.pass(answer);
  if (found.now < before || found.now > clock.now())
    throw Error("comparison '" + verified.result.name + "': " + option_text("isolate", "sides") + ": the " +
                clock.name() + " clock shows another time in another process; expected the wall clock");
  cpu = found.cpu;
  auto& row = verified.result.implementations[index] = std::move(found.row);
  for (const auto& note : found.notes) add_once(verified.result.notes, note);
  auto& most = options.max_iterations;
  if (found.max_iterations > 0) most = most > 0 ? std::min(most, found.max_iterations) : found.max_iterations;
  if (index == verified.participants.baseline()) verified.traffic = found.traffic;
  if (row.outcome == Outcome::measured)
    verified.participants.admit(index);
  else
    verified.participants.drop(index, row.outcome, row.message);
}

/// Makes the first calls of each side, one after the other, the baseline first. The clock's thread then leaves the
/// sides' CPU.
[[nodiscard]] inline Verified verify_sides(timing::Clock& clock, Prepared& prepared, const Sides& sides,
                                           const OffCpu& clocks_place) {
  Verified verified{.participants = prepared.participants, .result = prepared.result};
  auto& participants = verified.participants;
  const std::size_t baseline = participants.baseline();
  std::vector<std::size_t> order{baseline};
  for (std::size_t index = 0; index < prepared.implementations.size(); ++index)
    if (index != baseline) order.push_back(index);
  int cpu = -1;
  for (const std::size_t index : order) {
    if (!participants.pending(index)) continue;
    if (index != baseline && !participants.remains(baseline)) {
      participants.drop_without_baseline(index);
    } else if (time_left(clock).count() <= 0) {
      participants.drop(index, Outcome::unreached, deadline_reason());
    } else {
      try {
        verify_side(clock, sides[index], index, cpu, prepared.options, verified);
      } catch (const ImplementationThrew& thrown) {
        participants.drop_failed(index, thrown.failure);
      }
    }
    if (index == baseline) clocks_place.leave(cpu);
  }
  sides.keep(participants);
  return verified;
}

/// Returns the median time of a sample without calls: how long the processes take to see each other's stores.
[[nodiscard]] inline Nanoseconds time_handshake(timing::Clock& clock, std::span<timing::Subject* const> subjects) {
  constexpr int samples_of_each = 15;
  std::vector<double> times;
  for (int i = 0; i < samples_of_each; ++i)
    for (auto* subject : subjects) times.push_back(timing::take_sample(clock, *subject, 0, 0).count());
  return Nanoseconds(stats::median(stats::sorted(std::move(times))));
}

/// Largest unremarkable share of the handshake in a sample. Samples are that long if calls and budget allow.
inline constexpr double largest_handshake_share = 0.01;

[[nodiscard]] inline std::string note_on_sides(Nanoseconds handshake, const Samples& samples) {
  std::string note = "Each implementation ran in a process of its own (" + option_text("isolate", "sides") +
                     "). Each sample includes " + format_time(handshake) + " to start it and to report its end";
  Nanoseconds shortest(std::numeric_limits<double>::infinity());
  for (std::size_t place = 0; place < samples.timed.size(); ++place) {
    std::vector<double> times;
    for (const Nanoseconds time : samples.of(place, 0)) times.push_back(time.count());
    if (times.empty()) continue;
    shortest = std::min(shortest, static_cast<double>(samples.iterations) *
                                      Nanoseconds(stats::median(stats::sorted(std::move(times)))));
  }
  if (handshake > largest_handshake_share * shortest)
    note += ": " + format_percent(handshake / shortest) +
            " of the fastest one's, so that speed-ups may look nearer to 1 than they are";
  return note +
         ". Memory lies differently in each process, so that identical code differs by some tenths of a percent; "
         "try: " +
         program_option_text("--processes 12") + " for a limit that close.";
}

/// One pass over the remaining sides, as Passes::next() within one process.
[[nodiscard]] inline Measurement measure_sides_once(timing::Clock& clock, Prepared& prepared, const Gates& gates,
                                                    const Sides& sides, Participants left) {
  Measurement pass{.participants = std::move(left)};
  auto& participants = pass.participants;
  const auto timed = participants.remaining();
  try {
    if (time_left(clock).count() <= 0) return participants.run_out_of_time(deadline_reason()), pass;
    std::vector<timing::Subject*> subjects;
    for (const std::size_t index : timed) {
      (void)sides[index].ask({.kind = SideRequest::Kind::begin_pass});
      subjects.push_back(prepared.implementations[index].get());
    }
    const Nanoseconds handshake = time_handshake(clock, subjects);
    auto& shortest = prepared.options.min_sample;
    shortest = std::max<Nanoseconds>(shortest, handshake / largest_handshake_share);

    SideAudits audits(clock, prepared, sides);
    pass.gate = run_gated_rounds(clock, prepared, {timed, parts_of_iteration(prepared)}, gates, audits);
    if (!pass.gate.ran()) return participants.run_out_of_time(deadline_reason()), pass;
    pass.gate.findings.notes.push_back(note_on_sides(handshake, pass.gate.samples));
    pass.drop(pass.gate.findings);
  } catch (...) {
    enter_exception(clock, participants);
    pass.again = !participants.empty();
  }
  sides.keep(participants);
  return pass;
}

/// Runs all stages of a comparison for Isolate::sides. `own_clock` and `given`: see run_comparison(); `gates` and
/// `family_alpha`: see measure(). Throws Error as refuse_for_sides() does.
[[nodiscard]] inline Measured measure_sides(timing::Clock& own_clock, const ComparisonPlan& given,
                                            StartAudit start_audit, const Gates& gates, double family_alpha) {
  refuse_for_sides(own_clock, given);
  const ExitGuard no_exit("inside the comparison '" + given.name + "'");
  ComparisonPlan plan = given;
  // All processes check by one seed, which the result records.
  if (plan.options.check_seed == 0) plan.options.check_seed = draw_seed();
  Sides sides(own_clock, plan, start_audit);
  SidesClock clock(own_clock, sides.all());

  ComparisonPlan remote = plan;
  remote.reference = nullptr;
  for (std::size_t index = 0; index < remote.implementations.size(); ++index)
    if (auto& planned = remote.implementations[index]; planned.make != nullptr)
      planned.make = [&sides, index](const OperandSets& operands) {
        return std::make_unique<RemoteImplementation>(operands, sides.start(index));
      };
  // The sides hold the operands of the samples. Only the number of sets matters here.
  remote.options.operands = OperandPolicy::shared;
  Prepared prepared = prepare(clock, remote);
  prepared.options.alpha = family_alpha;
  prepared.options.operands = plan.options.operands;
  if (plan.options.operands != OperandPolicy::shared)
    prepared.operands->sets.resize(std::max<std::size_t>(sides.all().size(), 1));

  const OffCpu clocks_place;
  const Verified verified = verify_sides(clock, prepared, sides, clocks_place);
  Measurement measurement{.participants = verified.participants, .again = !verified.participants.empty()};
  while (measurement.again)
    measurement = measure_sides_once(clock, prepared, gates, sides, std::move(measurement.participants));
  return {summarize(clock, prepared, verified, measurement), std::move(measurement.gate.samples.panels),
          verified.traffic};
}

}  // namespace pace::detail
