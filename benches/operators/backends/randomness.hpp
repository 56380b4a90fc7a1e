// Whether a call draws random numbers.
#pragma once

#include <cstddef>
#include <string>

#include <ATen/core/enum_tag.h>
#include <ATen/core/ivalue.h>

#include "benches/operators/calls/operator_call.hpp"

namespace pace::benches::operators {

/// True for operators that LibTorch marks as seeded, unless the call says that nothing is drawn: attention that drops
/// out with probability 0, a dropout outside of training.
[[nodiscard]] inline bool draws_random_numbers(const OperatorCall& call) {
  if (!call.handle().hasTag(at::Tag::nondeterministic_seeded)) return false;
  for (std::size_t i = 0; i < call.arguments().size(); ++i) {
    const std::string& name = call.schema().arguments()[i].name();
    const c10::IValue& value = call.arguments()[i].value;  // None but for constants
    if (name == "dropout_p" && value.isDouble() && value.toDouble() == 0) return false;
    if ((name == "train" || name == "training") && value.isBool() && !value.toBool()) return false;
  }
  return true;
}

}  // namespace pace::benches::operators
