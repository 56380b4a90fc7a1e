// Sides: the implementations of one comparison on one rank, with operands of this rank's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pace/check/check_options.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/operands.hpp"
#include "pace/subject/plan.hpp"
#include "pace/verify/expected.hpp"

namespace pace::ranks::detail {

/// Calls and checks the implementations of `plan` on this rank. Makes copies of the operands as they are needed.
class Sides {
 public:
  /// `plan` must outlive it. Its implementations must be callables without phases.
  explicit Sides(const pace::detail::ComparisonPlan& plan) : plan_(plan) {
    operands_.given = plan.operands->tensors();
    operands_.scratch = plan.scratch;
    add_set();
    for (const auto& planned : plan.implementations) {
      sides_.push_back(planned.make(operands_));
      sides_.back()->index = sides_.size() - 1;
    }
  }
  Sides(const Sides&) = delete;  // implementations refer to the operands
  Sides& operator=(const Sides&) = delete;

  /// Calls a side once on the operands' first values. Returns the fault of its outputs, empty if there is none; the
  /// baseline's become those that the others are compared with.
  [[nodiscard]] std::string check(std::size_t side) {
    if (plan_.implementations[side].is_baseline && !has_expected_) {
      operands_.restore_all(0);
      expected_ = pace::detail::expected_of(*sides_[side], operands_, plan_.options.seed);
      has_expected_ = true;
      return {};
    }
    std::vector<bool> with_graph;
    const auto output = pace::detail::checked_call(*sides_[side], operands_, 0, plan_.options.seed, with_graph);
    return pace::detail::agree(expected_, output, operands_, 0, plan_.check).message;
  }

  /// After check() of the baseline: whether a call changes what the next one computes.
  [[nodiscard]] bool calls_add_up() const { return !operands_.mutated.empty() || expected_.random; }

  /// Calls a side once on the operands' first values, beside a call of rank 0.
  void call(std::size_t side) {
    operands_.restore_all(0);
    (void)sides_[side]->call(0);
  }

  /// Returns a side for a sample of `calls` calls on operand set `set`. If calls write to operands, each gets a copy of
  /// its own, as on rank 0.
  [[nodiscard]] pace::detail::Implementation& for_sample(std::size_t side, std::size_t set, std::int64_t calls) {
    while (operands_.sets.size() <= set) add_set();
    if (!operands_.mutated.empty()) {
      operands_.spares.resize(operands_.sets.size());
      operands_.spare_tensors.resize(operands_.sets.size());
      auto& spares = operands_.spares[set];
      while (static_cast<std::int64_t>(spares.size()) + 1 < calls) {
        spares.push_back(plan_.operands->clone());
        operands_.spare_tensors[set].push_back(spares.back()->tensors());
      }
    }
    return *sides_[side];
  }

 private:
  void add_set() {
    operands_.sets.push_back(plan_.operands->clone());
    operands_.tensors.push_back(operands_.sets.back()->tensors());
  }

  const pace::detail::ComparisonPlan& plan_;
  pace::detail::OperandSets operands_;
  std::vector<std::unique_ptr<pace::detail::Implementation>> sides_;
  pace::detail::Expected expected_ = {};
  bool has_expected_ = false;
};

}  // namespace pace::ranks::detail
