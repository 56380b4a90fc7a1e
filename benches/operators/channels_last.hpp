// The same call on tensors in the channels-last memory format.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "benches/operators/calls/operator_call.hpp"

namespace pace::benches::operators {

/// The call with its tensors of four dimensions in channels-last memory format (NHWC). Tensors that are in it already,
/// and all others, are not copied. Values and shapes stay.
[[nodiscard]] inline benches::operators::OperatorCall channels_last(const benches::operators::OperatorCall& call) {
  constexpr std::int64_t dimensions = 4;
  std::vector<at::Tensor> tensors = call.tensors();
  for (auto& tensor : tensors) {
    if (tensor.dim() != dimensions || tensor.layout() != c10::kStrided) continue;
    tensor = tensor.to(tensor.scalar_type(), /*non_blocking=*/false, /*copy=*/false, at::MemoryFormat::ChannelsLast);
  }
  return call.with_tensors(std::move(tensors));
}

}  // namespace pace::benches::operators
