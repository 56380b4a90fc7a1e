// CheckOptions: how outputs are compared with the baseline's. Match: the result of that comparison.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/ivalue.h>

#include "pace/base/error.hpp"

namespace pace::check {

/// How to compare an implementation's outputs with the baseline's.
struct CheckOptions {
  /// What two outputs must have in common.
  enum class Method {
    allclose,           ///< every element within a tolerance of the baseline's
    cosine,             ///< the outputs, as vectors, have nearly the same direction and length
    float64_reference,  ///< the error against a float64 result is not much larger than the baseline's
    bitwise,            ///< the same bits, NaN payloads and signed zeros included
    order_free,         ///< as allclose, after sorting rows (elements of a 1-D tensor)
    sign_free,          ///< as allclose, after giving each vector of a matrix (a column or a row) the baseline's sign
    ties,               ///< as allclose, but integers are indices into an operand: compares the values there
    random,             ///< random numbers: equal means, variances, shares of zeros and correlations
    custom,             ///< the user's own function decides
    none,               ///< not compared at all
  };
  Method method = Method::allclose;  ///< how values are compared

  /// Returns in words how the outputs `actual` are wrong, or an empty text; for Method::custom.
  using Function = std::function<std::string(const c10::IValue& expected, const c10::IValue& actual)>;
  Function function;  ///< the function of Method::custom

  /// Dimension of the operand that the indices of Method::ties count along; negative: from the last one.
  std::int64_t ties_dim = -1;
  std::size_t ties_operand = 0;  ///< operand tensor that these indices point into, counted from 0

  /// An output that holds vectors, for Method::sign_free.
  struct Vectors {
    std::size_t output = 0;  ///< output tensor, counted from 0, a dict's by its sorted keys
    std::int64_t dim = -1;   ///< dimension that counts the vectors: -1 for columns, -2 for rows
  };
  /// Outputs whose vectors are determined up to their signs, for Method::sign_free. Vectors of equal index share a sign
  /// in all of them: an SVD has {{0, -1}, {2, -2}}. Empty: the one output of matrices whose columns, or else rows, have
  /// length 1.
  std::vector<Vectors> vectors;

  /// Relative part of the tolerance |expected - actual| <= atol + rtol * |expected|. Absent: as
  /// torch.testing.assert_close for the expected dtype: float32 1.3e-6, float64 1e-7, float16 1e-3, bfloat16 1.6e-2,
  /// integers and bool 0.
  std::optional<double> rtol;

  /// Absolute part of the tolerance. Absent: from the magnitude of the output, see default_atol().
  std::optional<double> atol;

  /// Type whose tolerance applies to a number that is not a tensor. Absent: float32, or in a comparison the widest
  /// floating type of the operands (0-d tensors count only if there are no others). In any case, a number that float32
  /// holds exactly has float32's tolerance, since it was not computed in float64. So has one that a 16-bit type does
  /// not hold.
  std::optional<at::ScalarType> number_dtype;

  /// Number of terms that an element may sum, in any order. The default atol grows with its square root. 4096 is the
  /// longest reduction common in layers of large models.
  std::int64_t reduction_length = 4096;

  /// Whether a comparison learns tolerances that are absent here, by baseline calls on nearly the given values and in
  /// float64. False for code that can only be called with the given values: the dtypes' tolerances hold.
  bool learn_tolerances = true;

  /// Whether a NaN equals a NaN in the same place (it never equals a number). True by default, since random inputs lead
  /// to NaNs in correct results, too (sqrt, log). Poison is also a NaN, but recognised by its bits.
  bool equal_nan = true;

  /// Smallest cosine that passes, in (0, 1]. A cosine alone would accept twice the right answer. So the lengths of the
  /// two vectors may only differ by the relative error of such an angle: sqrt(2 * (1 - threshold)), 14 % at 0.99.
  double cosine_threshold = 0.99;

  /// Largest ratio of an implementation's error to the baseline's, both against the float64 reference. Absent:
  /// PyTorch's newest rule for `same`, with larger multipliers for small tensors: 10 up to 10 elements, 8 up to 500, 3
  /// below 1000 and for float16 and bfloat16, else 2.
  std::optional<double> error_factor;

  /// Unseen values, in the same memory, for which outputs are compared as well. They reveal an implementation that
  /// keeps results, or that is right only for the caller's values.
  enum class UnseenValues {
    /// Each floating-point value times its own random factor in [1/2, 1). Operands with ties, order or symmetry get
    /// values that have them, too. Integers and bools change places.
    varied,
    /// all values times one random factor: for code that needs order, ties, symmetry or ratios of the operands
    scaled,
    none,  ///< none: for code that is right only for the caller's values
  };
  UnseenValues unseen_values = UnseenValues::varied;  ///< kind of unseen values

  /// Whether to compare outputs for extreme values, too: large ones, rows of zeros, denormals, and random values in
  /// place of operands of zeros, such as a bias. Also for operands without their special structure: equal values, rows
  /// that are multiples of each other, full lengths. Leaves out values that the baseline does not accept.
  bool edge_values = true;

  /// Whether `edge_values` includes large 64-bit integers (up to 2^40), if the baseline's outputs are linear in them.
  /// Code that uses them as indices, such as into a table, would read beyond its end.
  bool large_integers = false;

  bool check_dtype = true;   ///< dtypes must be equal
  bool check_device = true;  ///< devices must be equal
  /// Layouts (strided, sparse COO, ...) must be equal. A sparse tensor must be coalesced, or have its indices in order,
  /// if the baseline's is or has.
  bool check_layout = true;
  /// Whether to reject outputs that repeat elements in memory (stride 0, as after expand()) unless the baseline's does.
  /// False by default: the values are right, though a consumer has to read them differently.
  bool check_strides = false;
  /// Whether an output must require gradients if the baseline's does, and must lead to about the baseline's gradients
  /// of the operands.
  bool check_autograd = true;

  /// Largest number of differing outputs that a message names.
  std::size_t max_reported = 4;
};

/// Throws Error with the name and the range of the first option that is out of range.
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
  require(options.method != CheckOptions::Method::custom || options.function != nullptr,
          "the method custom needs a function; expected one in `function`");
  for (const auto& each : options.vectors)
    require(each.dim == -1 || each.dim == -2, "the dimension of vectors must be -1 (columns) or -2 (rows)");
}

/// Whether `method` compares elements one by one within a tolerance, possibly after sorting or changing signs.
[[nodiscard]] inline bool compares_values(CheckOptions::Method method) {
  using Method = CheckOptions::Method;
  return method == Method::allclose || method == Method::order_free || method == Method::sign_free ||
         method == Method::ties;
}

/// Whether a tolerance decides if values agree.
[[nodiscard]] inline bool has_tolerance(CheckOptions::Method method) {
  using Method = CheckOptions::Method;
  return compares_values(method) || method == Method::cosine || method == Method::float64_reference;
}

/// The declaration in `options`, as a sentence for the result; empty for methods without one.
[[nodiscard]] inline std::string declaration_text(const CheckOptions& options) {
  using Method = CheckOptions::Method;
  switch (options.method) {
    case Method::order_free:
      return "Rows of outputs are compared in any order, as declared (order_free); outputs with equally many rows have "
             "one order.";
    case Method::sign_free:
      return "Vectors of the outputs are compared up to their signs, as declared (sign_free).";
    case Method::ties:
      return "Indices are compared by the values that they select from operand tensor " +
             std::to_string(options.ties_operand) + " (counted from 0) along dimension " +
             std::to_string(options.ties_dim) + ", as declared (ties).";
    case Method::random:
      return "Outputs are random numbers, as declared (random): their means, variances, shares of zeros and "
             "correlations are compared, not their values.";
    case Method::custom:
      return "Outputs are compared by the function given to compare_outputs().";
    default:
      return {};
  }
}

/// Result of outputs_match. Errors and counts are over all compared tensors and numbers. Errors are infinite where a
/// NaN or an infinity lacks an equal partner.
struct Match {
  bool correct = true;          ///< nothing differs by more than the options allow
  std::string message;          ///< one line for each output that differs, without a final newline; empty if correct
  double max_abs_error = 0;     ///< largest |expected - actual|
  double max_rel_error = 0;     ///< largest error relative to the expected value
  std::int64_t mismatches = 0;  ///< elements beyond the tolerance, in outputs that differ
  std::int64_t elements = 0;    ///< elements of all outputs
  std::int64_t compared = 0;    ///< compared tensors, numbers and strings; with 0, `correct` proves nothing
  std::int64_t only_nan = 0;    ///< tensors and numbers not compared, since both sides are NaN throughout
  std::int64_t empty = 0;       ///< tensors not compared, since both sides have no elements
  bool unwritten = false;       ///< an output holds poison: the implementation did not write all of it
};

}  // namespace pace::check
