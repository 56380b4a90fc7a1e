// LearnedTolerances: how far correct outputs may lie apart, as far as calls of the baseline have shown it.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <optional>
#include <vector>

namespace pace::check {

/// What calls of the baseline have shown about one of its output tensors, or a number among its outputs.
struct LearnedTolerance {
  /// The tensor of the baseline that outputs are compared with, which is found by identity; undefined for a number.
  at::Tensor output = {};
  double terms = 1;  ///< about how many values of the operands an element depends on; at least 1
  /// Allowed beside the tolerance for magnitude and `terms`, one number for each element, in the shape of `output`;
  /// undefined: nothing more is allowed.
  at::Tensor slack = {};
  /// For a number that is no tensor: its place among the real and complex numbers of the output, counted from 0, those
  /// of a dict by its sorted keys. `slack` has one element then.
  std::optional<std::size_t> number = {};
};

/// Those of all output tensors for which something is known.
using LearnedTolerances = std::vector<LearnedTolerance>;

/// Returns the one for the number at place `number`; null if there is none.
[[nodiscard]] inline const LearnedTolerance* find_learned_number(const LearnedTolerances* learned, std::size_t number) {
  if (learned == nullptr) return nullptr;
  for (const auto& each : *learned)
    if (each.number == number) return &each;
  return nullptr;
}

/// Returns the one for `output`; null if there is none.
[[nodiscard]] inline const LearnedTolerance* find_learned(const LearnedTolerances* learned, const at::Tensor& output) {
  if (learned == nullptr) return nullptr;
  for (const auto& each : *learned)
    if (each.output.is_same(output)) return &each;
  return nullptr;
}

}  // namespace pace::check
