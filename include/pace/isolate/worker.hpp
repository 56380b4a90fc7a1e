// SideWorker: verifies, samples and audits one implementation in its process.
#pragma once

#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pace/isolate/answers.hpp"
#include "pace/isolate/message.hpp"
#include "pace/isolate/process.hpp"
#include "pace/measure/calibrate.hpp"
#include "pace/os/activity.hpp"
#include "pace/os/wait_a_moment.hpp"
#include "pace/run/progress.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/plan.hpp"
#include "pace/subject/prepare.hpp"
#include "pace/timing/clock.hpp"
#include "pace/verify/candidate_audit.hpp"
#include "pace/verify/first_calls.hpp"

namespace pace::detail {

/// Returns `plan` with only the baseline and implementation `own`. The others keep their places.
[[nodiscard]] inline ComparisonPlan plan_of_side(const ComparisonPlan& plan, std::size_t own) {
  ComparisonPlan of_side = plan;
  for (std::size_t index = 0; index < of_side.implementations.size(); ++index) {
    auto& planned = of_side.implementations[index];
    if (index == own || planned.is_baseline) continue;
    planned.make = nullptr;
    planned.refusal = "has a process of its own";
  }
  return of_side;
}

/// Serves the clock process's requests for implementation `own`. The baseline runs here too, to compare with; its
/// samples do not count.
class SideWorker {
 public:
  SideWorker(timing::Clock& clock, const ComparisonPlan& plan, StartAudit start_audit, std::size_t own,
             SideMemory& memory, int socket)
      : clock_(clock),
        plan_(plan_of_side(plan, own)),
        start_audit_(start_audit),
        own_(own),
        memory_(memory),
        socket_(socket) {}

  /// Returns when no more requests come.
  void serve() {
    activity() = &memory_.activity;
    SideRequest request;
    while (read(request)) {
      if (request.kind == SideRequest::Kind::sample)
        take_sample(request);
      else
        answer_to(request);
    }
  }

 private:
  using Kind = SideRequest::Kind;

  [[nodiscard]] bool read(SideRequest& request) const {
    ssize_t got;
    do got = ::recv(socket_, &request, sizeof request, MSG_WAITALL);
    while (got < 0 && errno == EINTR);
    if (got < 0) note_lost_socket();
    return got == static_cast<ssize_t>(sizeof request);
  }

  /// Notes an error that only a closed descriptor explains.
  void note_lost_socket() const {
    if (errno == EBADF || errno == ENOTSOCK) memory_.lost_socket.store(true, std::memory_order_release);
  }

  void send(const std::string& bytes) const {
    MessageWriter message;
    message << bytes;
    const std::string& all = message.bytes();
    for (std::size_t sent = 0; sent < all.size();) {
      const ssize_t now = ::send(socket_, all.data() + sent, all.size() - sent, MSG_NOSIGNAL);
      if (now < 0 && errno == EINTR) continue;
      if (now <= 0) {
        note_lost_socket();
        ::_exit(EXIT_FAILURE);
      }
      sent += static_cast<std::size_t>(now);
    }
  }
  /// Sends the exception being handled.
  void send_failure() const {
    const Failure failure = current_failure();
    MessageWriter message;
    message << SideAnswer::failure << failure.message << failure.out_of_memory;
    send(message.bytes());
  }

  void answer_to(const SideRequest& request) {
    try {
      MessageWriter answer;
      answer << SideAnswer::result;
      switch (request.kind) {
        case Kind::verify:
          verify_own(request.cpu, answer);
          break;
        case Kind::begin_pass:
          begin_pass();
          break;
        case Kind::begin_rounds:
          // For a RoundsWatch of this process. Displays are of the process that has the clock.
          report_step({.what = "rounds"});
          audit_->begin_rounds(timed(), request.iterations);
          break;
        case Kind::audit:
          audit(answer);
          break;
        case Kind::check:
          check(request, answer);
          break;
        case Kind::sample:
          break;
      }
      send(answer.bytes());
    } catch (const Error& error) {
      // A row records what an implementation throws in its first calls. Other errors belong to the comparison.
      if (request.kind != Kind::verify) return send_failure();
      MessageWriter message;
      message << SideAnswer::error << std::string(error.what());
      send(message.bytes());
    } catch (...) {
      send_failure();
    }
  }

  /// All sides run on one CPU, so that CPUs cannot differ between implementations. The scheduler chose it for the first
  /// side.
  [[nodiscard]] static int stay_on(int cpu) {
    if (cpu < 0) cpu = ::sched_getcpu();
    cpu_set_t only;
    CPU_ZERO(&only);
    if (cpu < 0 || cpu >= CPU_SETSIZE) return -1;
    CPU_SET(static_cast<std::size_t>(cpu), &only);
    return ::sched_setaffinity(0, sizeof only, &only) == 0 ? cpu : -1;
  }

  void verify_own(int cpu, MessageWriter& answer) {
    const int stays_on = stay_on(cpu);
    // A candidate cannot slow a baseline in another process. But the samples on unseen values come from here.
    const bool is_baseline = plan_.implementations[own_].is_baseline;
    pending_audit_ =
        start_audit_(clock_, plan_, is_baseline ? BaselineSamples::none : BaselineSamples::on_unseen_values);
    prepared_.emplace(prepare(clock_, plan_));
    make_as_many_operands_as_others();
    audit_ = pending_audit_->begin(*prepared_);
    first_calls_.emplace(clock_, *prepared_, *audit_, plan_.check);
    const Verified verified = first_calls_->make();
    Result result = verified.result;
    verified.participants.enter(result);
    FirstCallsOfSide{.cpu = stays_on,
                     .row = std::move(result.implementations[own_]),
                     .notes = std::move(result.notes),
                     .max_iterations = prepared_->options.max_iterations,
                     .traffic = verified.traffic,
                     .now = clock_.now()}
        .pass(answer);
  }

  /// A candidate's process has a second operand set, for the baseline. More memory is slower, so the baseline's process
  /// gets one too.
  void make_as_many_operands_as_others() {
    OperandSets& operands = *prepared_->operands;
    if (own_ != prepared_->participants.baseline() || operands.sets.size() != 1) return;
    if (prepared_->options.operands == OperandPolicy::shared) return;
    operands.sets.push_back(prepared_->given->clone());
    operands.tensors.push_back(operands.sets.back()->tensors());
  }

  void begin_pass() {
    report_step({.what = "warm-up"});
    audit_->begin_pass();
    Calibration own{.subjects = {&implementation()}, .options = prepared_->options};
    touch_spares(*prepared_->operands, own);
  }

  void audit(MessageWriter& answer) {
    // A sample's output may have shown a fault before.
    answer << (audit_->has_fault() ? audit_->check_after_rounds({}).dropped.at(0).message : audit_->check_now(own_));
  }

  void check(const SideRequest& request, MessageWriter& answer) {
    report_step({.what = "checks after the rounds"});
    const std::size_t baseline = prepared_->participants.baseline();
    if (own_ != baseline) {
      audit_->take_times(request.elapsed, {request.shortest_of_baseline, request.shortest});
      // The checks use the baseline's last output too, but no baseline sample ran here.
      (void)timing::take_sample(clock_, prepared_->baseline(), 0, 1);
    }
    RoundFigures figures{.baseline = request.median_of_baseline};
    figures.speedups.resize(prepared_->implementations.size());
    figures.speedups.at(own_) = request.speedup;
    figures.of_phases.resize(prepared_->implementations.size());
    const AuditFindings findings = audit_->check_after_rounds(std::move(figures));
    ChecksOfSide checks{
        .max_abs_error = findings.max_abs_errors.at(own_), .notes = findings.notes, .keeps = !findings.keeps.empty()};
    for (const auto& each : findings.dropped)
      if (checks.problem.empty() || each.index == own_)
        checks.problem =
            each.index == own_ ? each.message : "in its process the baseline is not what it was: " + each.message;
    for (const auto& [index, objection] : findings.objections)
      if (index == own_ && checks.objection.why.empty()) checks.objection = objection;
    if (!findings.on_unseen_values.empty()) checks.on_unseen_values = findings.on_unseen_values.front().speedup;
    if (audit_->draws_anew()) checks.repetitions = audit_->repetitions_of(own_);
    checks.pass(answer);
  }

  void take_sample(const SideRequest& request) {
    auto& subject = implementation();
    const std::size_t set = request.set % prepared_->operands->sets.size();
    try {
      prepared_->operands->kept_call = request.kept_call;
      prepared_->operands->round_seed = audit_->draws_anew() ? request.round_seed : std::nullopt;
      audit_->sample_started();
      subject.prepare(set);
      memory_.ready.store(request.number, std::memory_order_release);
      while (memory_.go.load(std::memory_order_acquire) != request.number) wait_a_moment();
      if (memory_.iterations > 0) subject.run(set, memory_.iterations);
      memory_.done.store(request.number, std::memory_order_release);
      subject.finish();
      audit_->sample_ended(timed().size() - 1);
      audit_->judge_timed_outputs();
    } catch (...) {
      send_failure();
      memory_.failed.store(true, std::memory_order_release);
    }
    memory_.used = clock_.thread_counters().value_or(timing::ThreadCounters());
    memory_.finished.store(request.number, std::memory_order_release);
  }

  [[nodiscard]] std::vector<std::size_t> timed() const {
    const std::size_t baseline = prepared_->participants.baseline();
    return own_ == baseline ? std::vector{own_} : std::vector{baseline, own_};
  }
  [[nodiscard]] Implementation& implementation() const { return *prepared_->implementations[own_]; }

  timing::Clock& clock_;
  ComparisonPlan plan_;
  StartAudit start_audit_;
  std::size_t own_;
  SideMemory& memory_;
  int socket_;
  std::unique_ptr<PendingAudit> pending_audit_;
  std::optional<Prepared> prepared_;
  std::unique_ptr<CandidateAudit> audit_;
  std::optional<FirstCalls> first_calls_;
};

}  // namespace pace::detail
