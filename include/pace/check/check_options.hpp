// How outputs are compared with the baseline's, and what came of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "pace/core/error.hpp"

namespace pace::check {

struct CheckOptions {
  enum class Method {
    allclose,           ///< every element within a tolerance of the baseline's
    cosine,             ///< the outputs as vectors: nearly the same direction and length
    float64_reference,  ///< not much further from a float64 result than the baseline is
    bitwise,            ///< the same bits, NaN payloads and signed zeros included
    none,               ///< not compared at all
  };
  Method method = Method::allclose;

  /// |expected - actual| <= atol + rtol * |expected|. Absent, rtol is that of torch.testing.assert_close for the
  /// expected dtype (float32 1.3e-6, float64 1e-7, float16 1e-3, bfloat16 1.6e-2, integers and bool 0), and atol
  /// follows the magnitude of the output: see default_atol() in tolerance.hpp. A value set here is used as it is.
  std::optional<double> rtol, atol;

  /// For the default atol: how many terms an element may be the sum of, in whatever order. 4096 is the longest
  /// reduction common in the layers of large models.
  std::int64_t reduction_length = 4096;

  /// NaN agrees with NaN in the same place (never with a number). On, because random inputs make honest NaNs (sqrt,
  /// log); poison, which is a NaN too, is told apart by its bits.
  bool equal_nan = true;

  /// Smallest cosine that passes. The lengths of the two vectors may differ by what a relative error of that angle is,
  /// sqrt(2 * (1 - threshold)) = 14 % at 0.99: a cosine alone would accept twice the right answer.
  double cosine_threshold = 0.99;

  /// How many times the baseline's error to the float64 reference an implementation's may be. Absent: PyTorch's
  /// newest rule for `same` with larger multipliers for small tensors (10 up to 10 elements, 8 up to 500, 3 below
  /// 1000 and for float16 and bfloat16, else 2).
  std::optional<double> error_factor;

  /// An implementation must be right for other values in the same memory as well (the operands halved, as a rule), or
  /// else it may have kept an answer. Off: for one that relies on what is special about the very operands given.
  bool fresh_values = true;

  bool check_dtype = true;
  bool check_device = true;
  bool check_layout = true;

  /// Messages name at most this many outputs that differ.
  std::size_t max_reported = 4;
};

/// Throws Error naming the first option that makes no sense.
inline void validate(const CheckOptions& options) {
  const auto require = [](bool holds, const char* what) {
    if (!holds) throw Error(std::string("check options: ") + what);
  };
  require(options.rtol.value_or(0) >= 0, "rtol must be at least 0");
  require(options.atol.value_or(0) >= 0, "atol must be at least 0");
  require(options.reduction_length >= 1, "reduction_length must be at least 1");
  require(options.cosine_threshold > 0 && options.cosine_threshold <= 1, "cosine_threshold must be in (0, 1]");
  require(options.error_factor.value_or(1) > 0, "error_factor must be above 0");
  require(options.max_reported >= 1, "max_reported must be at least 1");
}

/// Outcome of outputs_match.
struct Match {
  bool correct = true;
  /// What differs, one line for each output, without a final newline; empty if correct.
  std::string message;
  /// Over all compared tensors and numbers; infinite where a NaN or infinity has no partner.
  double max_abs_error = 0, max_rel_error = 0;
  std::int64_t mismatches = 0, elements = 0;
  /// Tensors, numbers and strings that were compared; 0: there was nothing to compare, which proves nothing.
  std::int64_t compared = 0;
  /// Some output holds poison: it was never (or not fully) written.
  bool unwritten = false;
};

}  // namespace pace::check
