// same_tensor: the tensor branch of same(), with allclose, cosine, and the rule for errors against a float64 reference.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <string>

#include "pace/base/c_numbers.hpp"
#include "pace/base/error.hpp"
#include "pace/check/chunks.hpp"
#include "pace/check/error_multiplier.hpp"
#include "pace/check/error_norms.hpp"
#include "pace/check/same_options.hpp"
#include "pace/check/text.hpp"

namespace pace::check {

namespace detail {

inline void log_to(const SameOptions& options, const std::string& message) {
  if (options.log) options.log(message);
}

/// A dtype that ATen can subtract and compare, with room for every value of `dtype`.
[[nodiscard]] inline at::ScalarType comparable(at::ScalarType dtype) {
  switch (dtype) {
    case at::kBool:
      return at::kByte;
    case at::kUInt16:
    case at::kUInt32:
    case at::kUInt64:
      return at::kLong;
    case at::kComplexHalf:
      return at::kComplexFloat;
    default:
      return c10::isFloat8Type(dtype) ? at::kFloat : dtype;
  }
}

/// ATen's own allclose, which rounds at the boundary as PyTorch does: |a - b| <= tol + tol * |b| in the tensors' type.
[[nodiscard]] inline bool torch_allclose(const at::Tensor& a, const at::Tensor& b, double tol, bool equal_nan) {
  const at::ScalarType dtype = comparable(b.scalar_type());
  for (Chunks pieces{a, b}; pieces.next();)
    if (!pieces[0].to(dtype).allclose(pieces[1].to(dtype), tol, tol, equal_nan)) return false;
  return true;
}

[[nodiscard]] inline bool has_nan(const at::Tensor& tensor) {
  if (!tensor.is_floating_point() && !tensor.is_complex()) return false;
  for (Chunks pieces{tensor}; pieces.next();)
    if (pieces[0].isnan().any().item<bool>()) return true;
  return false;
}

[[nodiscard]] inline bool same_bool_iou(const at::Tensor& ref, const at::Tensor& res, const SameOptions& options) {
  double both = 0, either = 0;
  for (Chunks pieces{ref, res}; pieces.next();) {
    both += static_cast<double>(pieces[0].logical_and(pieces[1]).sum().item<std::int64_t>());
    either += static_cast<double>(pieces[0].logical_or(pieces[1]).sum().item<std::int64_t>());
  }
  if (either == 0) return true;
  const double iou = both / either;
  if (iou >= options.iou_threshold) return true;
  log_to(options, "IoU accuracy failed: " + number_text(iou) + " < " + number_text(options.iou_threshold) +
                      " (intersection: " + number_text(both) + ", union: " + number_text(either) + ")");
  return false;
}

[[nodiscard]] inline bool same_direction(const at::Tensor& ref, const at::Tensor& res, const SameOptions& options) {
  // Without this early exit, two zero tensors (cosine 0) would fail, and so would NaN in the same places.
  const auto single = [](const at::Tensor& t) { return t.to(t.is_complex() ? at::kComplexFloat : at::kFloat); };
  bool close = true;
  for (Chunks pieces{ref, res}; close && pieces.next();)
    close = single(pieces[0]).allclose(single(pieces[1]), options.tol, options.tol, /*equal_nan=*/true);
  if (close) return true;
  constexpr double epsilon = 1e-6, threshold = 0.99;
  const double score = angle_between<float>(ref, res).cosine(epsilon);
  if (score < threshold) log_to(options, "Similarity score=" + number_text(score));
  return score >= threshold;
}

/// Whether the result's error to the float64 reference is small enough, relative to the reference's own error.
[[nodiscard]] inline bool same_by_reference(const at::Tensor& ref, const at::Tensor& res, const at::Tensor& fp64_ref,
                                            const SameOptions& options) {
  // A result without NaN passes if only the lower-precision reference has some.
  constexpr double loose = 4e-2;
  if (!has_nan(fp64_ref) && !has_nan(res) && has_nan(ref) &&
      torch_allclose(fp64_ref.to(res.scalar_type()), res, loose, options.equal_nan)) {
    return true;
  }
  const double ref_error = rms_difference(fp64_ref, ref);
  const double res_error = rms_difference(fp64_ref, res);
  if (std::isnan(ref_error)) log_to(options, "Found nan in reference. Consider running in higher precision.");
  const bool one_by_one = ref.dim() == 4 && ref.size(2) == 1 && ref.size(3) == 1;
  const double multiplier = error_multiplier(res.scalar_type(), fp64_ref.numel(), one_by_one, options);
  if (res_error <= multiplier * ref_error + options.tol / 10) return true;
  if (options.equal_nan && std::isnan(ref_error) && std::isnan(res_error)) return true;
  std::array<char, 200> numbers, rest;
  const CNumbers c_numbers;
  std::snprintf(numbers.data(), numbers.size(), "RMSE (res-fp64): %.5f, (ref-fp64): %.5f", res_error, ref_error);
  std::snprintf(rest.data(), rest.size(), "multiplier: %f, tol: %f, use_larger_multiplier_for_smaller_tensor: %d",
                multiplier, options.tol, options.use_larger_multiplier_for_smaller_tensor ? 1 : 0);
  log_to(options, std::string(numbers.data()) + " and shape=torch.Size(" + list_text(res.sizes()) +
                      "). res.dtype: torch." + dtype_text(res.scalar_type()) + ", " + rest.data());
  return false;
}

}  // namespace detail

/// Whether the tensor `res_in` is the same as `ref_in` by the rules of PyTorch's `torch._dynamo.utils.same`. `fp64_in`
/// is the reference's result in float64, and unused if it has another dtype.
///
/// Differences from PyTorch: tensors of different shapes are never the same (PyTorch broadcasts them), nor are tensors
/// on different devices (PyTorch throws). Sums are taken in double. Complex tensors keep their imaginary part. Throws
/// Error if only the reference is sparse, or if the float64 reference differs in shape from the reference.
[[nodiscard]] inline bool same_tensor(const at::Tensor& ref_in, const at::Tensor& res_in, const at::Tensor& fp64_in,
                                      const SameOptions& options = {}) {
  const c10::NoGradGuard no_grad;
  if (ref_in.is_sparse() && !res_in.is_sparse()) {
    throw Error("same: the reference is sparse, so the result must be sparse, too");
  }
  const auto dense = [](const at::Tensor& t) { return t.layout() == c10::kStrided ? t : t.to_dense(); };
  at::Tensor ref = dense(ref_in), res = dense(res_in), fp64_ref = dense(fp64_in);
  if (options.exact_dtype && ref.scalar_type() != res.scalar_type()) {
    detail::log_to(options, "dtype mismatch torch." + detail::dtype_text(ref.scalar_type()) + ", torch." +
                                detail::dtype_text(res.scalar_type()));
    return false;
  }
  if (ref.sizes() != res.sizes()) {
    detail::log_to(options, "shape mismatch " + detail::list_text(ref.sizes()) + ", " + detail::list_text(res.sizes()));
    return false;
  }
  if (ref.device() != res.device()) {
    detail::log_to(options, "device mismatch " + ref.device().str() + ", " + res.device().str());
    return false;
  }
  if (options.exact_dtype && ref.scalar_type() == at::kBool) {
    if (options.ignore_non_fp) return true;
    if (options.use_iou_for_bool) return detail::same_bool_iou(ref, res, options);
    const bool equal = detail::torch_allclose(ref, res, options.tol, options.equal_nan);
    if (!equal) detail::log_to(options, "Accuracy failed: uint8 tensor did not match");
    return equal;
  }
  if (options.cos_similarity) return detail::same_direction(ref, res, options);
  if (!options.exact_dtype) ref = ref.to(res.scalar_type());
  if (detail::torch_allclose(ref, res, options.tol, options.equal_nan)) return true;
  if (fp64_ref.scalar_type() == at::kDouble) {
    if (fp64_ref.sizes() != ref.sizes()) {
      throw Error("same: the float64 reference has shape " + detail::list_text(fp64_ref.sizes()) + ", expected " +
                  detail::list_text(ref.sizes()));
    }
    return detail::same_by_reference(ref, res, fp64_ref, options);
  }
  if (options.ignore_non_fp) return true;
  detail::log_to(options, "Accuracy failed: allclose not within tol=" + detail::number_text(options.tol));
  return false;
}

}  // namespace pace::check
