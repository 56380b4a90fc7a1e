// Which recorded operators a suite leaves out, and its messages about them.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <ATen/core/dispatch/Dispatcher.h>

#include "benches/operators/calls/operator_name.hpp"

namespace pace::benches::operators {

struct SkipDecision {
  bool skip = false;
  /// For the user; empty where the operator is left out silently.
  std::string message;
};

/// Whether there is anything to measure for an operator name.
using HasImplementation = std::function<bool(std::string_view)>;

/// The running LibTorch has the operator, with a kernel for that kind of device.
[[nodiscard]] inline HasImplementation has_kernel_on(c10::DeviceType device) {
  return [device](std::string_view name) {
    const std::optional<c10::OperatorHandle> found = find_operator(name);
    return found && has_kernel(*found, device);
  };
}

/// PyTorch's operatorbench leaves out operators that compute nothing, have no implementation, or take random inputs
/// that would be out of range. It also leaves out convolutions. The rules, their order and the messages are PyTorch's.
/// Its third rule asks Inductor's tables, which C++ has not; `has_implementation` stands in for them.
[[nodiscard]] inline SkipDecision skip_operator(std::string_view name, const HasImplementation& has_implementation) {
  const auto contains = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  const auto skipping = [&](std::string_view reason) {
    return SkipDecision{true, "Skipping " + std::string(name) + ", " + std::string(reason)};
  };
  constexpr std::array<std::string_view, 5> takes_indices = {"aten.gather.default", "nll_loss", "aten.index",
                                                             "aten.scatter_", "masked_fill_.Scalar"};
  for (const std::string_view part : takes_indices) {
    if (contains(part)) return skipping("input generator nyi");
  }
  if (name == "aten._unsafe_view.default") return skipping("non compute operator");
  if (!has_implementation(name)) return skipping("no inductor impl");
  if (contains("convolution")) return {true, ""};
  return {};
}

}  // namespace pace::benches::operators
