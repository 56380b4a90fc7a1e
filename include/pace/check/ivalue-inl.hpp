// The tensors inside values of any structure.
#pragma once

#include "pace/check/ivalue.hpp"

#include <vector>

namespace pace::check {

PACE_INLINE std::vector<at::Tensor> tensors_of(const c10::IValue& value) {
  std::vector<at::Tensor> tensors;
  for_each_tensor(value, [&](const auto& tensor) { tensors.push_back(tensor); });
  return tensors;
}

}  // namespace pace::check
