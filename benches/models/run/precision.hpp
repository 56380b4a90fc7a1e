// Which precision a model really runs in: the one asked for, unless a list says that it cannot.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <c10/core/ScalarType.h>

#include "benches/models/config.hpp"
#include "benches/models/settings.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::models {

struct ChosenPrecision {
  /// The type that parameters and floating inputs are cast to; none: they stay as they were made.
  std::optional<at::ScalarType> cast = {};
  /// The type of autocast around forward and loss; none: there is none.
  std::optional<at::ScalarType> autocast = {};
  /// Why it differs from the requested one; empty: it does not.
  std::string warning = {};

  [[nodiscard]] bool operator==(const ChosenPrecision&) const = default;
};

/// Throws InputError unless it is bfloat16 or float16.
[[nodiscard]] inline at::ScalarType amp_dtype_of(std::string_view name) {
  if (name == "bfloat16") return at::kBFloat16;
  if (name == "float16") return at::kHalf;
  throw InputError({}, "--amp-dtype: expected bfloat16 or float16, found '" + std::string(name) + "'");
}

/// The rules of torchbench's cast_based_on_args and setup_amp.
[[nodiscard]] inline ChosenPrecision choose_precision(std::string_view name, Precision asked,
                                                      std::string_view amp_dtype, const Config& config) {
  const auto& rules = config.dtype;
  const std::string model(name);
  const bool half = asked == Precision::float16 || asked == Precision::bfloat16;
  if (asked == Precision::float32) return {.cast = at::kFloat};
  if (asked != Precision::as_made && rules.fp32_only_models.contains(name))
    return {.cast = at::kFloat, .warning = model + " supports float32 only; it runs in that"};
  const at::ScalarType type = asked == Precision::float16 ? at::kHalf : at::kBFloat16;
  const std::string type_name = asked == Precision::float16 ? "float16" : "bfloat16";
  if (half && rules.force_amp_for_fp16_bf16_models.contains(name))
    return {.autocast = type, .warning = model + " does not support " + type_name + "; it runs with amp instead"};
  if (asked == Precision::bfloat16 && rules.force_fp16_for_bf16_models.contains(name))
    return {.cast = at::kHalf, .warning = model + " does not support bfloat16; it runs in float16 instead"};
  if (half) return {.cast = type};
  if (asked == Precision::amp) return {.autocast = amp_dtype_of(amp_dtype)};
  return {};
}

}  // namespace pace::benches::models
