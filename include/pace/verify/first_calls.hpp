// FirstCalls: the first calls of each implementation, checked before any timing.
#pragma once

#include <algorithm>
#include <any>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/ivalue.h>

#include "pace/check/outputs.hpp"
#include "pace/check/tolerance.hpp"
#include "pace/run/progress.hpp"
#include "pace/subject/operands.hpp"
#include "pace/subject/participants.hpp"
#include "pace/subject/prepare.hpp"
#include "pace/subject/time_left.hpp"
#include "pace/timing/clock.hpp"
#include "pace/verify/candidate_audit.hpp"
#include "pace/verify/expected.hpp"
#include "pace/verify/sensitivity.hpp"
#include "pace/verify/verified.hpp"

namespace pace::detail {

/// Longest baseline call for which we make more calls to learn tolerances.
inline constexpr Nanoseconds longest_call_to_learn_by = std::chrono::milliseconds(200);

/// Makes the first calls of all implementations, the baseline first. Drops those that are wrong or throw.
class FirstCalls {
 public:
  /// All must outlive it, and it must outlive the last call of `audit`.
  FirstCalls(timing::Clock& clock, Prepared& prepared, CandidateAudit& audit, const check::CheckOptions& check)
      : clock_(clock), prepared_(prepared), audit_(audit), check_(check) {
    if (prepared.options.audit == Audit::off) check_.unseen_values = check::CheckOptions::UnseenValues::none;
    if (!check_.number_dtype) check_.number_dtype = check::detail::widest_floating_type(prepared.operands->given);
  }
  FirstCalls(const FirstCalls&) = delete;  // the audit refers to it
  FirstCalls& operator=(const FirstCalls&) = delete;

  /// Makes the first calls, and frees the reference after those of the baseline.
  [[nodiscard]] Verified make() {
    Verified verified{.participants = prepared_.participants, .result = prepared_.result};
    auto& participants = verified.participants;
    const std::size_t baseline = participants.baseline();
    try {
      if (participants.pending(baseline)) make(baseline, verified);
      prepared_.reference.reset();
      if (participants.remains(baseline)) {
        start_calls_alike(prepared_, expected_, verified.result.notes);
        verified.traffic = audit_.before_candidates();
        audit_.after_first_calls();
      }
      for (std::size_t index = 0; index < prepared_.implementations.size(); ++index) {
        if (!participants.pending(index)) continue;
        if (participants.remains(baseline))
          make(index, verified);
        else
          participants.drop_without_baseline(index);
      }
    } catch (...) {
      enter_out_of_memory(participants);
    }
    return verified;
  }

 private:
  /// Makes and times the first call, then makes checked calls, and admits or drops the implementation.
  void make(std::size_t index, Verified& verified) {
    report_step({.what = "first calls of " + verified.result.implementations[index].name});
    if (time_left(clock_).count() <= 0)
      verified.participants.drop(index, Outcome::unreached, deadline_reason());
    else
      try_to_make(index, verified);
    if (!verified.participants.device_lost()) audit_.after_first_calls();
  }

  void try_to_make(std::size_t index, Verified& verified) {
    auto* const modes = clock_.modes();
    // An implementation may leave another GPU stream current, which must not affect the others.
    const auto stream = modes != nullptr ? modes->keep_stream() : nullptr;
    try {
      if (auto problem = find_problem(index, verified.result); !problem.empty())
        verified.participants.drop(index, Outcome::wrong, problem);
      else
        verified.participants.admit(index);
    } catch (const check::BadDeclaration& error) {
      throw check::BadDeclaration("comparison '" + verified.result.name + "': " + error.what());
    } catch (...) {
      verified.participants.drop_failed(index, current_failure_on(clock_));
    }
  }

  /// Returns the fault of the implementation as text; empty if none.
  [[nodiscard]] std::string find_problem(std::size_t index, Result& result) {
    auto* const modes = clock_.modes();
    auto& implementation = *prepared_.implementations[index];
    const bool is_baseline = index == prepared_.participants.baseline();
    const auto call = [&] { return implementation.call(0); };

    audit_.repair(0);
    audit_.before_first_call();
    result.implementations[index].first_call = clock_.time([&] { (void)call(); });
    if (is_baseline) {
      expected_ = expected_of(implementation, *prepared_.operands, prepared_.options.seed);
      check::validate_outputs(check_, expected_.output, prepared_.operands->given);
      add_reference(expected_, *prepared_.given, result);
    }
    std::vector<bool> with_graph;
    c10::IValue output;
    // By the device's clock, since a call may return before it is done.
    const Nanoseconds took = clock_.time([&] { output = call_checked(implementation, with_graph); });
    if (auto problem = compare(output, with_graph, implementation, result); !problem.empty()) return problem;
    if (is_baseline) learn(implementation, took, result);
    if (auto problem = examine(implementation, took, result); !problem.empty()) return problem;
    if (modes != nullptr)
      if (const auto escape = modes->find_escape([&] { (void)call(); })) return *escape;
    implementation.expect_outputs_like(output);
    if (modes != nullptr)
      result.implementations[index].device_memory = modes->memory_of([&] { return std::any(call()); });
    return {};
  }

  [[nodiscard]] c10::IValue call_checked(Implementation& implementation, std::vector<bool>& with_graph) const {
    return checked_call(implementation, *prepared_.operands, 0, prepared_.options.seed, with_graph);
  }

  /// Compares an output with the baseline's. If the baseline does not repeat itself, all comparing ends.
  [[nodiscard]] std::string compare(const c10::IValue& output, const std::vector<bool>& with_graph,
                                    Implementation& implementation, Result& result) {
    auto& row = result.implementations[implementation.index];
    const Agreement agreement = agree(expected_, output, *prepared_.operands, 0, check_);
    row.checked = agreement.compared;
    row.max_abs_error = agreement.max_abs_error;
    note_uncompared(agreement, row, result);
    if (!agreement.correct && !row.is_baseline) {
      row.context.beyond_tolerance = agreement.beyond_tolerance;
      return agreement.message;
    }
    if (compares_graphs(implementation))
      if (auto problem = lost_graph(expected_.with_graph, with_graph); !problem.empty()) return problem;
    if (!agreement.correct) {
      result.notes.push_back("The baseline does not repeat itself, so no outputs were compared: " + agreement.message +
                             '.');
      check_.method = check::CheckOptions::Method::none;
      row.checked = false;
      enter_uncompared(Uncompared::varies, row);
      varies_ = true;
    }
    return {};
  }

  /// Learns tolerances from the baseline, and lets the audit learn.
  void learn(Implementation& baseline, Nanoseconds took, Result& result) {
    learns_ = check_.learn_tolerances && check::compares_values(check_.method) && !check_.rtol && !check_.atol &&
              took <= longest_call_to_learn_by;
    learn_tolerances(expected_, *prepared_.given);
    audit_.learn({.baseline = baseline,
                  .took = took,
                  .expected = expected_,
                  .check = check_,
                  .complete =
                      [this, &result](Expected& expected, const OperandSet& values) {
                        add_reference(expected, values, result);
                        learn_tolerances(expected, values);
                      },
                  .learn_tolerances = [this](Expected& expected,
                                             const OperandSet& values) { learn_tolerances(expected, values); },
                  .find_lost_graph = [this](Implementation& candidate) { return find_lost_graph(candidate); }});
  }

  /// Makes the further calls of the audit, and enters their results. If a call throws, the row keeps what was counted.
  [[nodiscard]] std::string examine(Implementation& implementation, Nanoseconds took, Result& result) {
    auto& row = result.implementations[implementation.index];
    Examination examination;
    try {
      audit_.examine(implementation, took, examination);
    } catch (...) {
      enter(examination, row, result.notes);
      throw;
    }
    enter(examination, row, result.notes);
    // Leaves the baseline's caches with the values given, not with unseen ones.
    std::vector<bool> with_graph;
    if (row.is_baseline && examination.problem.empty() && (learns_ || examination.made_calls))
      (void)call_checked(implementation, with_graph);
    return std::move(examination.problem);
  }

  static void enter(Examination& examination, ImplementationResult& row, std::vector<std::string>& notes) {
    row.counts = examination.counts;
    row.why_uncounted = std::move(examination.why_uncounted);
    row.context.repeats_outputs = examination.repeats_outputs;
    row.context.keeps = examination.keeps;
    std::ranges::move(examination.notes, std::back_inserter(notes));
  }

  /// Adds the float64 reference for `operands`, if outputs are compared with it. It comes from the separate reference,
  /// or else from the baseline. If it fails, outputs are compared directly from then on, and a note says so.
  void add_reference(Expected& expected, const OperandSet& operands, Result& result) {
    if (check_.method != check::CheckOptions::Method::float64_reference) return;
    try {
      auto& reference = prepared_.reference ? *prepared_.reference : prepared_.baseline();
      expected.reference = call_in_float64(reference, *prepared_.operands, operands, prepared_.options.seed);
    } catch (...) {
      check_.method = check::CheckOptions::Method::allclose;
      result.notes.push_back("The float64 reference threw, so outputs were compared directly: " + current_message() +
                             '.');
    }
  }

  /// Whether outputs are compared, and the baseline repeats itself.
  [[nodiscard]] bool checks() const { return check_.method != check::CheckOptions::Method::none; }
  /// Not for training steps: they take gradients themselves, and we compare those.
  [[nodiscard]] bool compares_graphs(Implementation& implementation) const {
    return check_.check_autograd && implementation.phases() == nullptr && checks();
  }

  /// Returns which autograd graph an output lacks, as text; empty if none.
  [[nodiscard]] std::string find_lost_graph(Implementation& implementation) const {
    if (!compares_graphs(implementation)) return {};
    std::vector<bool> with_graph;
    prepared_.operands->restore_all(0);
    try {
      (void)call_checked(implementation, with_graph);
    } catch (...) {
      implementation.failed();
    }
    return lost_graph(expected_.with_graph, with_graph);
  }

  /// If nothing was compared though it should be, the row's times prove no claim.
  void note_uncompared(const Agreement& agreement, ImplementationResult& row, Result& result) const {
    if (agreement.compared || !agreement.correct) return;
    // The method is also `none` if the baseline does not repeat itself.
    if (!checks() && !varies_) return;
    enter_uncompared(varies_ ? Uncompared::varies : agreement.why_uncompared(), row);
    // Outputs may well be missing. Only claims need them, and say so.
    if (row.is_baseline && row.uncompared != Uncompared::no_output)
      result.notes.push_back("Nothing was compared of the outputs of '" + row.name + "': " + describe(*row.uncompared) +
                             '.');
  }

  /// Adds tolerances for outputs on the values of `operands`.
  void learn_tolerances(Expected& expected, const OperandSet& operands) {
    if (!learns_) return;
    terms_ = Sensitivity(prepared_.baseline(), *prepared_.operands, operands, prepared_.options.seed,
                         check_.reduction_length, *check_.number_dtype)
                 .learn(expected, terms_);
  }

  timing::Clock& clock_;
  Prepared& prepared_;
  CandidateAudit& audit_;
  check::CheckOptions check_;
  Expected expected_ = {};
  /// The baseline does not repeat itself.
  bool varies_ = false;
  /// Whether tolerances are learned from baseline calls, and the number of terms of each result.
  bool learns_ = false;
  std::vector<double> terms_ = {};
};

}  // namespace pace::detail
