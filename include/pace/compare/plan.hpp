// ComparisonPlan: everything that a user said of one comparison, before it runs.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <c10/core/Device.h>

#include "pace/check/check_options.hpp"
#include "pace/compare/implementation.hpp"
#include "pace/compare/operands.hpp"
#include "pace/core/config.hpp"
#include "pace/core/options.hpp"
#include "pace/core/result.hpp"
#include "pace/core/run_context.hpp"
#include "pace/gate/expectation.hpp"

namespace pace::detail {

/// Null if there is none.
using MakeImplementation = std::function<std::unique_ptr<Implementation>(const OperandSets&)>;

/// Writes other values into operands; null if rounds keep theirs.
using RenewOperands = std::function<void(OperandSet&)>;

/// An implementation as the user named it.
struct Planned {
  std::string name;
  bool is_baseline = false;
  /// Null if refused.
  MakeImplementation make = {};
  std::string refusal = {};
  /// How an earlier process of this run has seen one that was refused end, if it has.
  Outcome outcome = Outcome::refused;
};

struct ComparisonPlan {
  std::string name;
  /// What the operands are, in words of the user's; empty: the operands describe themselves.
  std::string inputs = {};
  /// As the user gave them. Copies of a plan share them: no implementation ever gets hold of them.
  std::shared_ptr<const OperandSet> operands;
  std::vector<Planned> implementations = {};
  MakeImplementation reference = {};
  RenewOperands renew = {};
  /// The parts of each iteration that are timed apart; empty: iterations are timed as a whole.
  std::vector<std::string> phases = {};
  std::vector<gate::Stated> stated = {};
  Options options = run_context().options;
  check::CheckOptions check = {};
  /// What one iteration moves and computes.
  std::optional<double> bytes = {}, flops = {};
  std::optional<at::Device> device = {};
  std::vector<std::string> notes = {};

  /// Adds an implementation with iterations of these phases. Throws Error if those before it have others.
  void add(Planned implementation, std::vector<std::string> of_phases);
  /// In words by which results of other inputs are told apart.
  [[nodiscard]] std::string describe_inputs() const;
};

/// Compares outputs with a float64 reference. Throws Error if they are to be compared otherwise already.
void check_by_reference(ComparisonPlan& plan);

/// Throws Error that names the comparison and what is wrong with it: options, baseline, names, or an expectation of what
/// is not there.
void validate(const ComparisonPlan& plan);

}  // namespace pace::detail

#ifdef PACE_HEADER_ONLY
#include "pace/compare/plan-inl.hpp"
#endif
