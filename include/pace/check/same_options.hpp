// SameOptions: options of same(), with the names of the parameters of torch._dynamo.utils.same.
#pragma once

#include <functional>
#include <string>

namespace pace::check {

/// Version of PyTorch whose multipliers limit a result's error, relative to the reference's.
enum class MultiplierSet {
  v2_6,    ///< larger multipliers 10 and 5, only from a tolerance of 4e-2 on
  newest,  ///< larger multipliers 10 and 8, at every tolerance
};

/// Options of same(), which compares as PyTorch's benchmark programs do.
struct SameOptions {
  /// Whether to compare directions of tensors, not elements; the float64 reference is then unused.
  bool cos_similarity = false;
  /// Both the absolute and the relative tolerance.
  double tol = 1e-4;
  bool equal_nan = false;  ///< whether a NaN equals a NaN
  /// Whether dtypes must be equal; otherwise the reference is converted to the result's dtype.
  bool exact_dtype = true;
  /// Whether strings, integers, bools, devices, None and bool tensors count as equal without a comparison. As in
  /// PyTorch, a tensor of any dtype that is *not* close then passes, too, if there is no float64 reference.
  bool ignore_non_fp = false;
  /// Whether tensors of up to 10 and of up to 500 elements have larger multipliers.
  bool use_larger_multiplier_for_smaller_tensor = false;
  /// Whether every tensor has the multiplier 10.
  bool force_max_multiplier = false;
  /// Whether to compare bool tensors by intersection over union.
  bool use_iou_for_bool = false;
  double iou_threshold = 0.99;                        ///< smallest intersection over union that passes
  MultiplierSet multipliers = MultiplierSet::newest;  ///< version of the multipliers
  /// Receives the reason of every failure and every warning; empty: dropped.
  std::function<void(const std::string&)> log;
};

}  // namespace pace::check
