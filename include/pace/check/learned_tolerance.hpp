// LearnedTolerances: how far correct outputs may differ, learned from calls of the baseline.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <optional>
#include <vector>

namespace pace::check {

/// Learned from calls of the baseline, for one of its output tensors or a number among its outputs.
struct LearnedTolerance {
  /// The baseline's tensor that outputs are compared with, found by identity; undefined for a number.
  at::Tensor output = {};
  double terms = 1;  ///< rough number of operand values that an element depends on; at least 1
  /// Allowance per element beside the tolerance for magnitude and `terms`, in the shape of `output`; undefined: none.
  at::Tensor slack = {};
  /// For a number that is not a tensor: its place among the real and complex numbers of the output, counted from 0, a
  /// dict's by its sorted keys. `slack` then has one element.
  std::optional<std::size_t> number = {};
};

/// The learned tolerances of all outputs that have one.
using LearnedTolerances = std::vector<LearnedTolerance>;

/// Returns the tolerance for the number at place `number`; null if there is none.
[[nodiscard]] inline const LearnedTolerance* find_learned_number(const LearnedTolerances* learned, std::size_t number) {
  if (learned == nullptr) return nullptr;
  for (const auto& each : *learned)
    if (each.number == number) return &each;
  return nullptr;
}

/// Returns the tolerance for `output`; null if there is none.
[[nodiscard]] inline const LearnedTolerance* find_learned(const LearnedTolerances* learned, const at::Tensor& output) {
  if (learned == nullptr) return nullptr;
  for (const auto& each : *learned)
    if (each.output.is_same(output)) return &each;
  return nullptr;
}

}  // namespace pace::check
