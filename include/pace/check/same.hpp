// same: PyTorch's own comparison of two results, for results that must agree with its benchmark programs.
#pragma once

#include <ATen/core/ivalue.h>
#include <c10/core/DefaultDtype.h>

#include <optional>
#include <string>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/check/raw_memory.hpp"
#include "pace/check/same_options.hpp"
#include "pace/check/same_tensor.hpp"
#include "pace/check/structure.hpp"
#include "pace/check/text.hpp"

namespace pace::check {

namespace detail {

/// The same as torch.tensor() of a number: float of the default type, int64 or bool, without dimensions.
[[nodiscard]] inline at::Tensor tensor_of(const c10::IValue& value) {
  const auto scalar = [](at::ScalarType dtype, const at::Scalar& number) {
    return at::_ops::empty_memory_format::call({}, dtype, c10::kStrided, at::Device(at::kCPU), std::nullopt,
                                               std::nullopt)
        .fill_(number);
  };
  if (value.isTensor() && !is_none(value)) return value.toTensor();
  if (value.isDouble()) return scalar(c10::get_default_dtype_as_scalartype(), value.toDouble());
  if (value.isBool()) return scalar(at::kBool, value.toBool());
  if (value.isInt()) return scalar(at::kLong, value.toInt());
  throw Error("same: expected a tensor or a number, got a " + kind_text(value));
}

/// Python's ==: numbers compare by value whatever their type, everything else only with its own kind.
[[nodiscard]] inline bool python_equal(const c10::IValue& a, const c10::IValue& b) {
  const auto whole = [](const c10::IValue& v) { return v.isInt() || v.isBool(); };
  const auto integer = [](const c10::IValue& v) { return v.isBool() ? std::int64_t{v.toBool()} : v.toInt(); };
  if (whole(a) && whole(b)) return integer(a) == integer(b);
  if (whole(a) && b.isDouble()) return static_cast<double>(integer(a)) == b.toDouble();
  if (a.isString() && b.isString()) return a.toStringRef() == b.toStringRef();
  if (a.isDevice() && b.isDevice()) return a.toDevice() == b.toDevice();
  return is_none(a) && is_none(b);
}

[[nodiscard]] inline bool same_value(const c10::IValue& ref, const c10::IValue& res, const c10::IValue& fp64_ref,
                                     const SameOptions& options);

[[nodiscard]] inline bool same_sequence(const c10::IValue& ref, const c10::IValue& res, const c10::IValue& fp64_ref,
                                        const SameOptions& options) {
  if (!is_sequence(res)) throw Error("same: the reference is a " + kind_text(ref) + ", the result a " + kind_text(res));
  const auto refs = elements_of_sequence(ref), ress = elements_of_sequence(res);
  if (refs.size() != ress.size()) {
    log_to(options, "Length mismatch");
    return false;
  }
  if (!is_sequence(fp64_ref) || elements_of_sequence(fp64_ref).size() != refs.size()) {
    throw Error("same: the float64 reference must have " + std::to_string(refs.size()) + " elements as the reference");
  }
  const auto fp64s = elements_of_sequence(fp64_ref);
  for (std::size_t i = 0; i < refs.size(); ++i) {
    if (!same_value(refs[i], ress[i], fp64s[i], options)) return false;
  }
  return true;
}

[[nodiscard]] inline bool same_dict(const c10::IValue& ref, const c10::IValue& res, const c10::IValue& fp64_ref,
                                    const SameOptions& options) {
  if (!res.isGenericDict()) throw Error("same: the reference is a dict, the result a " + kind_text(res));
  if (!fp64_ref.isGenericDict())
    throw Error("same: the reference is a dict, the float64 reference a " + kind_text(fp64_ref));
  const auto refs = ref.toGenericDict(), ress = res.toGenericDict(), fp64s = fp64_ref.toGenericDict();
  const auto require_key = [](const auto& dict, const c10::IValue& key, const char* which) {
    if (!dict.contains(key)) throw Error(std::string("same: key ") + key_text(key) + " is missing in the " + which);
  };
  for (const auto& key : sorted_keys(res)) require_key(refs, key, "reference");
  for (const auto& key : sorted_keys(ref)) {
    require_key(ress, key, "result");
    require_key(fp64s, key, "float64 reference");
  }
  for (const auto& key : sorted_keys(ref)) {
    if (same_value(refs.at(key), ress.at(key), fp64s.at(key), options)) continue;
    log_to(options, "Accuracy failed for key name " + (key.isString() ? key.toStringRef() : key_text(key)));
    return false;
  }
  return true;
}

[[nodiscard]] inline bool same_value(const c10::IValue& ref, const c10::IValue& res, const c10::IValue& fp64_ref,
                                     const SameOptions& options) {
  if (is_sequence(ref)) return same_sequence(ref, res, fp64_ref, options);
  if (ref.isGenericDict()) return same_dict(ref, res, fp64_ref, options);
  if ((ref.isTensor() && !is_none(ref)) || ref.isDouble()) {
    return same_tensor(tensor_of(ref), tensor_of(res), tensor_of(fp64_ref), options);
  }
  if (ref.isString() || ref.isInt() || ref.isBool() || ref.isDevice() || is_none(ref)) {
    if (options.ignore_non_fp || python_equal(ref, res)) return true;
    log_to(options, "Accuracy failed (" + kind_text(ref) + "): " + scalar_text(ref) + " != " + scalar_text(res));
    return false;
  }
  throw Error("same: unsupported type: " + kind_text(ref));
}

}  // namespace detail

/// Whether `res` is the same as `ref` by the rules of PyTorch's `torch._dynamo.utils.same`; same_tensor() lists the
/// differences from it.
///
/// `fp64_ref` is the reference's result in float64; absent: `ref` itself. Compares dicts in the sorted order of their
/// keys, and stops at the first difference. Throws Error where PyTorch asserts: different containers or keys, a sparse
/// reference for a dense result, or a kind that cannot be compared.
[[nodiscard]] inline bool same(const c10::IValue& ref, const c10::IValue& res,
                               const std::optional<c10::IValue>& fp64_ref = std::nullopt,
                               const SameOptions& options = {}) {
  return detail::same_value(ref, res, fp64_ref ? *fp64_ref : ref, options);
}

/// same() with a tolerance of 0, where 0.0 equals -0.0 and, with `equal_nan`, a NaN equals a NaN.
[[nodiscard]] inline bool bitwise_same(const c10::IValue& ref, const c10::IValue& res, bool equal_nan = false) {
  SameOptions options;
  options.tol = 0;
  options.equal_nan = equal_nan;
  return detail::same_value(ref, res, ref, options);
}

}  // namespace pace::check
