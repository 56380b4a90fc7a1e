// ComparisonPlan: the complete description of one comparison before it runs.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <c10/core/Device.h>

#include "pace/base/config.hpp"
#include "pace/check/check_options.hpp"
#include "pace/gate/expectation.hpp"
#include "pace/result/options.hpp"
#include "pace/result/result.hpp"
#include "pace/run/run_context.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/operands.hpp"

namespace pace::detail {

/// Makes an implementation that runs on the given operand sets; null if there is none.
using MakeImplementation = std::function<std::unique_ptr<Implementation>(const OperandSets&)>;

/// Writes unseen values into operands; null if all rounds have the same values.
using RenewOperands = std::function<void(OperandSet&)>;

/// An implementation before it is made.
struct Planned {
  std::string name;
  bool is_baseline = false;
  /// Null if refused.
  MakeImplementation make = {};
  std::string refusal = {};
  /// Outcome of a refused implementation.
  Outcome outcome = Outcome::refused;
};

/// Complete description of one comparison before it runs.
struct ComparisonPlan {
  std::string name;
  /// Description of the operands (Comparison::inputs); empty: OperandSet::describe() is used.
  std::string inputs = {};
  /// Original operands. Copies of a plan share them, since no implementation can reach them.
  std::shared_ptr<const OperandSet> operands;
  std::vector<Planned> implementations = {};
  MakeImplementation reference = {};
  RenewOperands renew = {};
  /// Names of the phases of each iteration; empty: iterations are timed as a whole.
  std::vector<std::string> phases = {};
  std::vector<gate::Stated> stated = {};
  Options options = run_context().options;
  check::CheckOptions check = {};
  /// Operand tensors that are workspaces, counted from 0.
  std::vector<std::size_t> scratch = {};
  /// Operand tensors from which implementations may keep what they derive, counted from 0.
  std::vector<std::size_t> constant = {};
  /// Whether functions are declared to compute from tensors that they hold themselves.
  bool captures = false;
  /// Whether all implementations' outputs are declared to be read before the next call; if not, which implementations'
  /// are.
  bool reuses_outputs = false;
  std::vector<std::string> reuse_outputs = {};
  /// Bytes that one iteration moves, and its floating-point operations.
  std::optional<double> bytes = {}, flops = {};
  std::optional<at::Device> device = {};
  std::vector<std::string> notes = {};
  /// Return sentences for the result, once all calls are made.
  std::vector<std::function<std::vector<std::string>()>> late_notes = {};

  /// Adds an implementation with these phases. Throws Error if earlier implementations have different ones.
  void add(Planned implementation, std::vector<std::string> of_phases);
  /// Returns a description of the inputs that distinguishes results for different inputs.
  [[nodiscard]] std::string describe_inputs() const;
};

/// Throws Error with the name of the comparison and `which`, the function that is null.
[[noreturn]] void complain_of_null(const ComparisonPlan& plan, const std::string& which);

/// Sets the method of comparing outputs that the Comparison's function `name` declares. Throws Error if a different one
/// is set already.
void check_by(ComparisonPlan& plan, check::CheckOptions::Method method, const std::string& name);

/// Throws Error with the comparison's name and the fault. Faults: options out of range, an operand that is not dense
/// and strided, no baseline or several, equal names, an expectation of an unknown implementation or phase.
void validate(const ComparisonPlan& plan);

}  // namespace pace::detail

#ifdef PACE_HEADER_ONLY
#include "pace/subject/plan-inl.hpp"
#endif
