// Names of operators: `aten.add.Tensor` as the recorded files write them, found in the running LibTorch.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/TensorOptions.h>

#include "pace/base/edit_distance.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::operators {

/// The parts of `namespace.operator.overload`. The overload that PyTorch calls `default` is the empty string here,
/// as in LibTorch's registry.
struct OperatorName {
  std::string space;
  std::string base;
  std::string overload;

  /// The same in LibTorch's own spelling: `aten::add` and `Tensor`.
  [[nodiscard]] c10::OperatorName registered() const { return {space + "::" + base, overload}; }
  [[nodiscard]] std::string to_string() const {
    return space + '.' + base + '.' + (overload.empty() ? "default" : overload);
  }
};

/// Splits a name. Nothing when it is not of three parts (an operator's base name may itself not hold a dot).
[[nodiscard]] inline std::optional<OperatorName> split_operator_name(std::string_view name) {
  const std::size_t first = name.find('.');
  const std::size_t last = name.rfind('.');
  if (first == std::string_view::npos || first == last || first == 0 || last + 1 == name.size() || last == first + 1) {
    return std::nullopt;
  }
  OperatorName parts{std::string(name.substr(0, first)), std::string(name.substr(first + 1, last - first - 1)),
                     std::string(name.substr(last + 1))};
  if (parts.overload == "default") parts.overload.clear();
  return parts;
}

namespace detail {

/// LibTorch's name as the recorded files write it: `aten::add`, `Tensor` -> `aten.add.Tensor`.
[[nodiscard]] inline std::string dotted_name(const c10::OperatorName& name) {
  std::string text = name.name;
  if (const std::size_t colons = text.find("::"); colons != std::string::npos) text.replace(colons, 2, ".");
  return text + '.' + (name.overload_name.empty() ? "default" : name.overload_name);
}

}  // namespace detail

/// Returns up to `most` names that a user may have meant by `name`, nearest first: other overloads of the same
/// operator, else names spelt alike. Each has three parts, as in aten.add.Tensor.
[[nodiscard]] inline std::vector<std::string> similar_operators(std::string_view name, std::size_t most = 6) {
  const std::optional<OperatorName> parts = split_operator_name(name);
  std::string wanted;  // `aten::add`, whether or not an overload was written
  if (parts) {
    wanted = parts->space + "::" + parts->base;
  } else if (const std::size_t dot = name.find('.'); dot != std::string_view::npos) {
    wanted = std::string(name.substr(0, dot)) + "::" + std::string(name.substr(dot + 1));
  } else {
    wanted = "aten::" + std::string(name);
  }
  const std::string overload = parts ? parts->overload : "";  // as registered: that called `default` is empty
  // A quarter of the letters wrong still reads as the same word; more only brings noise.
  const std::size_t furthest = std::max<std::size_t>(2, (wanted.size() - std::min<std::size_t>(wanted.size(), 6)) / 4);
  struct Found {
    std::size_t distance, overload_distance;
    std::string text;
    auto operator<=>(const Found&) const = default;
  };
  std::vector<Found> found;
  for (const c10::OperatorName& known : c10::Dispatcher::singleton().getAllOpNames()) {
    const std::size_t distance = known.name == wanted ? 0 : edit_distance(known.name, wanted);
    if (distance <= furthest)
      found.push_back({distance, edit_distance(known.overload_name, overload), detail::dotted_name(known)});
  }
  std::sort(found.begin(), found.end());
  const bool base_exists = !found.empty() && found.front().distance == 0;
  std::vector<std::string> names;
  for (const Found& candidate : found) {
    if (names.size() == most || (base_exists && candidate.distance != 0)) break;
    names.push_back(candidate.text);
  }
  return names;
}

/// The operator in the running LibTorch, or nothing if it has none of that name and overload.
[[nodiscard]] inline std::optional<c10::OperatorHandle> find_operator(std::string_view name) {
  const std::optional<OperatorName> parts = split_operator_name(name);
  if (!parts) return std::nullopt;
  return c10::Dispatcher::singleton().findSchema(parts->registered());
}

/// As `find_operator`, but throws `Unsupported` with the likely spellings when there is none.
[[nodiscard]] inline c10::OperatorHandle require_operator(std::string_view name) {
  if (std::optional<c10::OperatorHandle> found = find_operator(name)) return *found;
  std::string message = "this LibTorch has no operator '" + std::string(name) + "'";
  if (!split_operator_name(name)) message += " (a name has three parts, such as aten.add.Tensor or aten.relu.default)";
  const std::vector<std::string> similar = similar_operators(name);
  for (std::size_t i = 0; i < similar.size(); ++i) message += (i == 0 ? "; did you mean " : ", ") + similar[i];
  throw Unsupported(message);
}

/// Whether the operator has a kernel that tensors of this device type reach: its own (dense or sparse), or one that
/// is composed of other operators.
[[nodiscard]] inline bool has_kernel(const c10::OperatorHandle& operation, c10::DeviceType device) {
  for (const c10::Layout layout : {c10::kStrided, c10::kSparse}) {
    const c10::DispatchKey key = c10::computeDispatchKey(c10::ScalarType::Float, layout, c10::Device(device));
    if (operation.hasComputedKernelForDispatchKey(key)) return true;
  }
  return false;
}

}  // namespace pace::benches::operators
