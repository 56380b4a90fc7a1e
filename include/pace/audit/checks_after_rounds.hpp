// ChecksAfterRounds: the checks of a candidate that passed the audits between the rounds.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pace/audit/after_pauses.hpp"
#include "pace/audit/baseline_limit.hpp"
#include "pace/audit/context.hpp"
#include "pace/audit/same_speed.hpp"
#include "pace/audit/speed_on_unseen_values.hpp"
#include "pace/audit/unseen_tensors.hpp"
#include "pace/base/format.hpp"
#include "pace/base/spelling.hpp"
#include "pace/result/result.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/operands.hpp"
#include "pace/subject/prepare.hpp"
#include "pace/subject/time_left.hpp"
#include "pace/unseen/check.hpp"

namespace pace::detail {

/// Makes the checks of Audit::strict until one finds a fault. Keeps the time limit, repairs operands, and repeats
/// checks if memory ran out or the baseline threw.
class ChecksAfterRounds {
 public:
  /// Both must outlive it.
  ChecksAfterRounds(AuditContext& context, const BaselineLimit& baseline_limit) : context_(context) {
    checks_.push_back(std::make_unique<SameSpeed>(context));
    checks_.push_back(std::make_unique<AfterPauses>(context));
    checks_.push_back(std::make_unique<UnseenTensors>(context));
    checks_.push_back(std::make_unique<SpeedOnUnseenValues>(context, baseline_limit));
  }

  /// Makes `check` before all others.
  void add_first(std::unique_ptr<Check> check) { checks_.insert(checks_.begin(), std::move(check)); }

  /// Returns a candidate's fault as text, empty for none. Sets `outcome` if it is not Outcome::wrong.
  [[nodiscard]] std::string find_fault(std::size_t index, Outcome& outcome);

 private:
  struct Thrown {
    std::string message = {};
    bool by_baseline = false, by_candidate = false, out_of_memory = false;

    /// The baseline may not take the values, and others' calls may use up memory.
    [[nodiscard]] bool is_of_candidate() const { return !by_baseline && (by_candidate || !out_of_memory); }
  };
  [[nodiscard]] std::string make_checks(Implementation& candidate);
  [[nodiscard]] Thrown take_exception(std::size_t index);
  [[nodiscard]] std::string out_of_time(std::size_t index);

  AuditContext& context_;
  std::vector<std::unique_ptr<Check>> checks_;
};

inline std::string ChecksAfterRounds::find_fault(std::size_t index, Outcome& outcome) {
  auto& implementation = *context_.prepared.implementations[index];
  constexpr double copies = 12;
  if (are_large(context_.operands.given) && !copies_fit(context_.clock, context_.prepared, copies)) {
    context_.leave_out(index,
                       "further after the rounds, since " + format_significant(copies) +
                           " copies of its operands would not fit into memory",
                       "give it more memory, or choose " + option_text("audit", "standard"));
    return {};
  }
  // Others may leave no memory once, and the baseline need not take every draw.
  constexpr int attempts = 3;
  for (int attempt = 1; attempt <= attempts; ++attempt) {
    try {
      auto problem = make_checks(implementation);
      context_.repair(0);
      return problem;
    } catch (...) {
      const Thrown thrown = take_exception(index);
      if (attempt < attempts && (thrown.by_baseline || thrown.out_of_memory)) continue;
      if (thrown.is_of_candidate()) {
        outcome = Outcome::threw;
        return "after the rounds: " + thrown.message;
      }
      context_.leave_out(index,
                         "for everything after the rounds, since " +
                             std::string(thrown.by_baseline ? "the baseline threw: " : "") + thrown.message,
                         thrown.out_of_memory
                             ? "give it more memory"
                             : "if the baseline takes few values, declare which ones it may be given (" +
                                   spelled("check::CheckOptions::unseen_values, "
                                           ".renew_each_round(function) in C++; --audit standard on a "
                                           "command line",
                                           "check(unseen_values=...), .renew_each_round(function)") +
                                   ')');
    }
  }
  return {};
}

inline std::string ChecksAfterRounds::make_checks(Implementation& candidate) {
  std::string unless_kept;
  for (const auto& check : checks_) {
    if (time_left(context_.clock).count() <= 0) {
      if (unless_kept.empty()) return out_of_time(candidate.index);
      break;
    }
    context_.repair(0);
    auto problem = check->find_fault(candidate);
    if (problem.empty()) continue;
    if (!check->is_explained_by_kept_operand()) return problem;
    unless_kept = std::move(problem);
  }
  return context_.keeps_something(candidate.index) ? std::string() : unless_kept;
}

/// The time limit has passed: notes that, or returns a fault if the candidate's own calls outside of samples took the
/// time.
inline std::string ChecksAfterRounds::out_of_time(std::size_t index) {
  constexpr Nanoseconds long_time = std::chrono::seconds(1);
  constexpr double times = 100;
  const Nanoseconds longest = context_.longest_audits[index],
                    usual = static_cast<double>(context_.iterations) * context_.shortest_of(index);
  if (usual.count() > 0 && longest > long_time && longest > times * usual)
    return "calls that no sample timed took " + format_time(longest) + ", and calls of a sample about " +
           format_time(usual) +
           ", so that it could not be checked further before the time limit: it is fast only while "
           "it is timed";
  context_.leave_out(index, "further after the rounds, since the time limit had passed", AuditContext::more_time());
  return {};
}

/// Takes the exception being handled. Rethrows it if the device is lost.
inline ChecksAfterRounds::Thrown ChecksAfterRounds::take_exception(std::size_t index) {
  Thrown found;
  try {
    throw;
  } catch (const ImplementationThrew& thrown) {
    found.by_baseline = thrown.index == context_.baseline_index;
    found.by_candidate = thrown.index == index;
  } catch (...) {  // its message follows
  }
  const Failure failure = current_failure();
  if (failure.device != Failure::Device::fine) throw;
  context_.repair(0);
  found.message = failure.message;
  found.out_of_memory = failure.out_of_memory;
  return found;
}
}  // namespace pace::detail
