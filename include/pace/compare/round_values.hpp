// RoundValues: other operands for each round, the same for all implementations in it.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

#include "pace/check/restore.hpp"
#include "pace/compare/operands.hpp"
#include "pace/compare/random_state.hpp"
#include "pace/compare/roster.hpp"

namespace pace::detail {

class RoundValues {
 public:
  /// The roster must outlive it.
  explicit RoundValues(Roster& roster) : roster_(roster) {}

  /// Has other values written, and gives them to all sets and spares. Throws what the user's function throws, and Error
  /// if it makes tensors of other shapes, strides or types.
  void renew(std::size_t round) {
    if (!own_)
      own_ = roster_.first.clone();
    else
      give(roster_.operands.pristine, own_->tensors());
    {
      const RandomStateKept kept;
      reset_random_state(roster_.options.seed + 1 + round);
      roster_.renew(*own_);
    }
    roster_.operands.renewed = own_->tensors();
    give_all(roster_.operands.renewed);
  }

  /// The first values again, for all sets and spares.
  void put_back() {
    roster_.operands.renewed.clear();
    give_all(roster_.operands.pristine);
  }

 private:
  static void give(const std::vector<at::Tensor>& values, const std::vector<at::Tensor>& to) {
    for (std::size_t i = 0; i < values.size(); ++i) check::restore_tensor(values[i], to.at(i));
  }
  void give_all(const std::vector<at::Tensor>& values) {
    for (const auto& set : roster_.operands.tensors) give(values, set);
    for (const auto& spares : roster_.operands.spare_tensors)
      for (const auto& spare : spares) give(values, spare);
  }

  Roster& roster_;
  /// In memory that no implementation gets hold of.
  std::unique_ptr<OperandSet> own_;
};

}  // namespace pace::detail
