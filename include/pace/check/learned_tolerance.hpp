// LearnedTolerances: how far correct outputs may lie apart, as far as calls of the baseline have shown it.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace pace::check {

/// What calls of the baseline have shown about one of its output tensors.
struct LearnedTolerance {
  at::Tensor output;  ///< the tensor of the baseline that outputs are compared with; it is found by identity
  double terms = 1;   ///< about how many values of the operands an element depends on; at least 1
  /// Allowed beside the tolerance for magnitude and `terms`, one number for each element, in the shape of `output`;
  /// undefined: nothing more is allowed.
  at::Tensor slack = {};
};

/// Those of all output tensors for which something is known.
using LearnedTolerances = std::vector<LearnedTolerance>;

/// Returns the one for `output`; null if there is none.
[[nodiscard]] inline const LearnedTolerance* find_learned(const LearnedTolerances* learned, const at::Tensor& output) {
  if (learned == nullptr) return nullptr;
  for (const auto& each : *learned)
    if (each.output.is_same(output)) return &each;
  return nullptr;
}

}  // namespace pace::check
