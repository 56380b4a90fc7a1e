// prepare: makes operands, implementations and rows from a plan.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pace/base/format.hpp"
#include "pace/base/random.hpp"
#include "pace/base/spelling.hpp"
#include "pace/os/memory.hpp"
#include "pace/result/options.hpp"
#include "pace/result/result.hpp"
#include "pace/run/run_context.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/operands.hpp"
#include "pace/subject/participants.hpp"
#include "pace/subject/plan.hpp"
#include "pace/timing/clock.hpp"

namespace pace::detail {

/// UnseenValuesInUse says this of values that the user's function wrote.
inline constexpr std::string_view round_values = "the function of .renew_each_round() wrote them",
                                  remedy_of_round_values = "let that function write values that have it";

/// Input of all later stages. After this stage, only the operands' memory and the members of `operands` change.
struct Prepared {
  /// Options of the plan, adapted to the memory, and to several processes that decide together.
  Options options;
  /// Original operands, which no implementation can reach.
  std::shared_ptr<const OperandSet> given;
  /// Writes unseen values for each round; null: all rounds have the same values.
  RenewOperands renew;
  /// Implementations refer to it.
  std::unique_ptr<OperandSets> operands;
  /// As many as rows of the result; null if refused.
  std::vector<std::unique_ptr<Implementation>> implementations = {};
  /// Separate float64 reference; null: the baseline is the reference.
  std::unique_ptr<Implementation> reference = {};
  /// Whether each implementation's outputs are declared to be read before the next call.
  std::vector<bool> reusing = {};
  Participants participants;
  /// Result with a row for each implementation, which has only its name.
  Result result = {};

  [[nodiscard]] Implementation& baseline() const { return *implementations[participants.baseline()]; }
  [[nodiscard]] bool reuses_outputs(std::size_t index) const { return reusing[index]; }
};

/// Takes out of the checkpoint the failures that ended earlier processes of this run, so that later comparisons of the
/// same name do not get them. Returns them by implementation. These are not called again.
[[nodiscard]] inline std::map<std::size_t, RunContext::PriorFailure> take_prior_failures(
    const std::string& comparison) {
  std::map<std::size_t, RunContext::PriorFailure> found;
  RunContext::PriorFailure failure;
  auto* const earlier = run_context().recollection;
  while (earlier != nullptr && earlier->next_fate(comparison, failure))
    found[static_cast<std::size_t>(std::max<std::int64_t>(failure.implementation, 0))] = failure;
  return found;
}

/// Adds a note for each option without effect on the CPU. Not an error, since other comparisons of the program may run
/// on a GPU.
inline void note_options_for_gpu(const Options& options, Result& result) {
  for (const auto& option : options_for_gpu(options))
    result.notes.push_back(option + " has no effect here: it is for calls on a GPU, and these are timed by the " +
                           result.clock + " clock.");
}

/// Makes an operand set for each implementation. Makes one for all if the options say so, if more would not fit, or if
/// several large sets would take much memory. `available`: free memory of the operands' device in bytes, if known.
inline void copy_operands(Prepared& prepared, std::optional<std::int64_t> available) {
  const auto able =
      static_cast<std::size_t>(std::count_if(prepared.implementations.begin(), prepared.implementations.end(),
                                             [](const auto& each) { return each != nullptr; }));
  OperandSets& operands = *prepared.operands;
  std::size_t sets = prepared.options.operands == OperandPolicy::shared ? 1 : std::max<std::size_t>(able, 1);
  operands.given = prepared.given->tensors();
  const double bytes = bytes_of(operands.given);
  // Half of the free memory. Outputs and implementations need the rest.
  const bool fits = !available || bytes * static_cast<double>(sets) <= 0.5 * static_cast<double>(*available);
  constexpr std::size_t most_large_sets = 3;
  const bool few = sets <= most_large_sets || prepared.options.audit == Audit::strict || !are_large(operands.given);
  if (sets > 1 && !(fits && few)) {
    prepared.result.notes.push_back(
        "All implementations share one set of operands: " +
        (fits ? std::to_string(sets) + " copies of " + format_significant(1e-6 * bytes) + " MB would take much memory."
              : std::string("copies for each would not fit in memory.")));
    sets = 1;
    prepared.options.operands = OperandPolicy::shared;
  }
  for (std::size_t set = 0; set < sets; ++set) {
    operands.sets.push_back(prepared.given->clone());
    operands.tensors.push_back(operands.sets.back()->tensors());
  }
}

/// Gives `tensors`, the operands of `set`, their first values, whatever calls did to them.
inline void repair(const Prepared& prepared, std::unique_ptr<OperandSet>& set, std::vector<at::Tensor>& tensors) {
  try {
    prepared.operands->restore_all(tensors);
  } catch (...) {  // of another shape, or without memory
    set = prepared.given->clone();
    tensors = set->tensors();
  }
}

/// The same for a set, by its number.
inline void repair(const Prepared& prepared, std::size_t set) {
  repair(prepared, prepared.operands->sets[set], prepared.operands->tensors[set]);
}

/// The same for all sets and spares. Forgets a round's values.
inline void repair_all(const Prepared& prepared) {
  OperandSets& operands = *prepared.operands;
  operands.of_round.clear();
  for (std::size_t set = 0; set < operands.sets.size(); ++set) {
    repair(prepared, set);
    if (operands.spares.empty()) continue;
    for (std::size_t spare = 0; spare < operands.spares[set].size(); ++spare)
      repair(prepared, operands.spares[set][spare], operands.spare_tensors[set][spare]);
  }
}

/// Whether this many more copies of the operands leave half of the free memory to the implementations.
[[nodiscard]] inline bool copies_fit(timing::Clock& clock, const Prepared& prepared, double copies) {
  const auto* const modes = clock.modes();
  const auto available = modes != nullptr ? modes->available_memory() : available_memory();
  return !available || copies * bytes_of(prepared.operands->given) <= 0.5 * static_cast<double>(*available);
}

/// What would take less memory than this plan does, as a clause; empty if nothing would.
[[nodiscard]] inline std::string remedy_for_memory(const ComparisonPlan& plan) {
  std::vector<std::string> remedies;
  const bool has_operands = !plan.operands->tensors().empty();
  if (has_operands && plan.options.operands != OperandPolicy::shared)
    remedies.emplace_back(option_text("operands", "shared") + ", which copies the operands once");
  if (plan.options.audit != Audit::off) remedies.push_back(option_text("audit", "off"));
  if (has_operands) remedies.emplace_back("smaller operands");
  return joined(remedies, ", or ");
}

/// Returns the plan's options and operands, adapted to this run. There are no implementations and no rows yet.
[[nodiscard]] inline Prepared without_implementations(const ComparisonPlan& plan) {
  std::vector<std::string> names;
  std::size_t baseline = 0;
  for (const auto& planned : plan.implementations) {
    if (planned.is_baseline) baseline = names.size();
    names.push_back(planned.name);
  }
  Prepared prepared{.options = plan.options,
                    .given = plan.operands,
                    .renew = plan.renew,
                    .operands = std::make_unique<OperandSets>(),
                    .participants = Participants(std::move(names), baseline, remedy_for_memory(plan))};
  if (prepared.options.check_seed == 0) prepared.options.check_seed = draw_seed();
  prepared.operands->scratch = plan.scratch;
  prepared.operands->constant = plan.constant;
  for (const auto& each : plan.stated) {
    prepared.options.device_counts |= each.expectation.needs_device_counts();
    prepared.options.energy |= each.expectation.needs_energy();
    const auto& counter = each.expectation.needs_counter();
    auto& counters = prepared.options.counters;
    if (!counter.empty() && std::ranges::find(counters, counter) == counters.end()) counters.push_back(counter);
  }
  // Rounds that end as soon as a gate looks proven are biased away from the limit.
  if (run_context().defers_judgements) prepared.options.stop = StopPolicy::budget;
  return prepared;
}

/// Enters the inputs, the clock and the seeds in the result.
inline void describe_comparison(timing::Clock& clock, const ComparisonPlan& plan, Prepared& prepared) {
  Result& result = prepared.result;
  result.name = plan.name;
  result.inputs = plan.describe_inputs();
  result.device = clock.device_name();
  result.clock = clock.name();
  result.clock_resolution = clock.resolution();
  result.confidence = plan.options.confidence;
  result.seed = plan.options.seed;
  result.check_seed = prepared.options.check_seed;
  result.audit = to_string(plan.options.audit);
}

/// Makes the plan's implementations, each with its row. Drops those that ended an earlier process of this run, and
/// those that the plan refuses.
inline void make_implementations(const ComparisonPlan& plan, Prepared& prepared) {
  Result& result = prepared.result;
  const auto failures = take_prior_failures(plan.name);
  for (std::size_t index = 0; index < plan.implementations.size(); ++index) {
    const auto& planned = plan.implementations[index];
    auto& row = result.implementations.emplace_back();
    row.name = planned.name;
    row.is_baseline = planned.is_baseline;
    row.context.comparison = plan.name;
    row.context.inputs = result.inputs;
    const bool declared = std::ranges::find(plan.reuse_outputs, planned.name) != plan.reuse_outputs.end();
    prepared.reusing.push_back(plan.reuses_outputs || declared);
    auto& implementation = prepared.implementations.emplace_back();
    if (const auto failure = failures.find(index); failure != failures.end()) {
      prepared.participants.drop(index, failure->second.outcome, failure->second.message);
    } else if (planned.make == nullptr) {
      prepared.participants.drop(index, planned.outcome, planned.refusal);
    } else {
      implementation = planned.make(*prepared.operands);
      implementation->index = index;
      if (declared && !plan.reuses_outputs)
        result.notes.push_back("Later calls of '" + planned.name +
                               "' may overwrite its earlier outputs, as declared (reuses_outputs).");
    }
  }
}

/// Adds a note for each declaration that changes checks or timing.
inline void note_declarations(const ComparisonPlan& plan, Result& result) {
  if (auto declared = check::declaration_text(plan.check); !declared.empty())
    result.notes.push_back(std::move(declared));
  if (!plan.scratch.empty())
    result.notes.push_back("The values that calls leave in operand tensor " + listed(plan.scratch) +
                           " (counted from 0) are not compared, as declared (scratch).");
  if (!plan.constant.empty())
    result.notes.push_back("What implementations derive from operand tensor " + listed(plan.constant) +
                           " (counted from 0) may be kept between calls, as declared (constant): these values stay the "
                           "same while times are "
                           "taken.");
  if (plan.reuses_outputs)
    result.notes.push_back("Later calls may overwrite the outputs of earlier ones, as declared (reuses_outputs).");
  if (plan.renew)
    result.notes.push_back("Every round has unseen values, equal for all implementations; writing them is not timed.");
}

/// Prepares a comparison. If memory runs out for the operands, no participant is left.
[[nodiscard]] inline Prepared prepare(timing::Clock& clock, const ComparisonPlan& plan) {
  Prepared prepared = without_implementations(plan);
  describe_comparison(clock, plan, prepared);
  make_implementations(plan, prepared);
  note_declarations(plan, prepared.result);
  const auto* const modes = clock.modes();
  if (modes == nullptr) note_options_for_gpu(plan.options, prepared.result);
  try {
    copy_operands(prepared, modes != nullptr ? modes->available_memory() : available_memory());
    if (plan.reference) {
      prepared.reference = plan.reference(*prepared.operands);
      prepared.reference->index = prepared.participants.baseline();
    }
  } catch (...) {
    enter_out_of_memory(prepared.participants);
  }
  return prepared;
}

}  // namespace pace::detail
