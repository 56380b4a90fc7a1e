// Options of same(), under the names that PyTorch's program gives them.
#pragma once

#include <functional>
#include <string>

namespace pace::check {

/// Which PyTorch's rule for how much worse than the reference a result may be.
enum class MultiplierSet {
  v2_6,    ///< larger multipliers 10 and 5, and only from a tolerance of 4e-2 on
  newest,  ///< larger multipliers 10 and 8, at every tolerance
};

struct SameOptions {
  /// Compare directions instead of elements; the float64 reference is not used then.
  bool cos_similarity = false;
  /// Absolute and relative tolerance in one.
  double tol = 1e-4;
  bool equal_nan = false;
  /// Off: the reference is converted to the result's dtype first.
  bool exact_dtype = true;
  /// Take strings, integers, bools, devices and None as equal unseen, and bool tensors too. A trap, kept: without a
  /// float64 reference, a tensor that is *not* close passes, too, whatever its dtype.
  bool ignore_non_fp = false;
  /// More room for tensors of up to 10 and up to 500 elements.
  bool use_larger_multiplier_for_smaller_tensor = false;
  /// Multiplier 10 for every tensor.
  bool force_max_multiplier = false;
  /// Compare bool tensors by intersection over union.
  bool use_iou_for_bool = false;
  double iou_threshold = 0.99;
  MultiplierSet multipliers = MultiplierSet::newest;
  /// Takes the reason of every failure, and warnings; nothing is printed otherwise.
  std::function<void(const std::string&)> log;
};

}  // namespace pace::check
