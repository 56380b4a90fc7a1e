// Operators that recorded files name and LibTorch 2.11 has no longer, and the calls that are the same today.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "benches/operators/calls/coerce.hpp"
#include "benches/operators/calls/operator_name.hpp"
#include "pace/base/error.hpp"
#include "pace/inputs/generate.hpp"

namespace pace::benches::operators::detail {

struct PresentCall {
  c10::OperatorHandle handle;
  inputs::Inputs inputs;
};

/// Operators that only changed their names: the arguments are the same, in the same order.
struct Renamed {
  std::string_view former, present, reason;
};
inline constexpr Renamed renamed[] = {
    {"aten.im2col_backward.default", "aten.col2im.default", "it called col2im with the same arguments"},
    {"aten.col2im_backward.default", "aten.im2col.default", "it called im2col with the same arguments"},
    {"aten._cat.default", "aten.cat.default", "cat called it for dense tensors"},
    {"aten._s_where.default", "aten.where.self", "where called it with operands of one shape"},
};

/// The argument at a place, or of that name among the kwargs; None without either.
[[nodiscard]] inline c10::IValue argument_of(const inputs::Inputs& inputs, std::size_t place, std::string_view name) {
  if (place < inputs.args.size()) return inputs.args[place];
  for (const auto& [key, value] : inputs.kwargs)
    if (key == name) return value;
  return {};
}

/// The former overload `vec` of an upsampling's backward took (grad_output, output_size or None, input_size[,
/// align_corners], scale_factors or None). The overload without a name replaces it. All of its arguments are known:
/// (grad_output, output_size, input_size[, align_corners], a scale for each dimension or None).
[[nodiscard]] inline inputs::Inputs upsampling_backward(const inputs::Inputs& former,
                                                        const c10::FunctionSchema& present) {
  const bool aligns = present.arguments().size() > 3 && present.arguments()[3].name() == "align_corners";
  const c10::IValue grad = argument_of(former, 0, "grad_output");
  const c10::IValue scales = argument_of(former, aligns ? 4 : 3, "scale_factors");
  inputs::Inputs inputs;
  inputs.args = {grad, argument_of(former, 1, "output_size"), argument_of(former, 2, "input_size")};
  if (inputs.args[1].isNone() && grad.isTensor() && grad.toTensor().dim() > 2) {
    inputs.args[1] = grad.toTensor().sizes().slice(2).vec();  // the output of the forward
  }
  if (aligns) inputs.args.push_back(argument_of(former, 3, "align_corners"));
  if (const std::optional<std::vector<c10::IValue>> each = elements(scales)) {
    inputs.args.insert(inputs.args.end(), each->begin(), each->end());
  }
  return inputs;
}

/// Today's call for an operator that is gone; nothing if there is none.
[[nodiscard]] inline std::optional<PresentCall> present_call(std::string_view name, const inputs::Inputs& inputs) {
  for (const Renamed& each : renamed) {
    if (each.former != name) continue;
    const auto handle = find_operator(each.present);
    return handle ? std::optional(PresentCall{*handle, inputs}) : std::nullopt;
  }
  const std::optional<OperatorName> parts = split_operator_name(name);
  if (!parts || parts->space != "aten") return std::nullopt;
  const auto nameless = find_operator(OperatorName{parts->space, parts->base, ""}.to_string());
  if (!nameless) return std::nullopt;
  // For a while, sizes that may be symbolic had overloads of their own; now the nameless ones take them.
  if (parts->overload == "SymInt") return PresentCall{*nameless, inputs};
  const bool upsampling = parts->base.find("upsample_") != std::string::npos && parts->base.ends_with("_backward");
  if (upsampling && parts->overload == "vec") {
    return PresentCall{*nameless, upsampling_backward(inputs, nameless->schema())};
  }
  return std::nullopt;
}

}  // namespace pace::benches::operators::detail
