// The arguments of a call by the names that its schema gives them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include "benches/operators/calls/operator_call.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::operators::detail {

class NamedArguments {
 public:
  explicit NamedArguments(const OperatorCall& call) : call_(call) {}

  /// Null where the schema has no argument of that name.
  [[nodiscard]] const BoundArgument* find(std::string_view name) const {
    for (std::size_t i = 0; i < call_.arguments().size(); ++i) {
      if (call_.schema().arguments()[i].name() == name) return &call_.arguments()[i];
    }
    return nullptr;
  }
  [[nodiscard]] const BoundArgument& bound(std::string_view name) const {
    if (const BoundArgument* found = find(name)) return *found;
    throw Error(call_.name() + " has no argument '" + std::string(name) + "'");
  }
  /// Whether the call has a tensor in that argument.
  [[nodiscard]] bool has_tensor(std::string_view name) const {
    const BoundArgument* found = find(name);
    return found != nullptr && found->kind == BoundArgument::Kind::tensor;
  }
  /// The tensors of that argument, one or a list; none where the schema has no argument of that name.
  [[nodiscard]] std::vector<at::Tensor> tensors(std::string_view name) const {
    std::vector<at::Tensor> found;
    if (const BoundArgument* argument = find(name))
      for (const std::int32_t position : argument->positions)
        if (position != BoundArgument::hole) found.push_back(call_.tensors()[static_cast<std::size_t>(position)]);
    return found;
  }
  [[nodiscard]] const at::Tensor& tensor(std::string_view name) const {
    const BoundArgument& argument = bound(name);
    if (argument.kind != BoundArgument::Kind::tensor) {
      throw Unsupported("its argument '" + std::string(name) + "' is no tensor");
    }
    return call_.tensors()[static_cast<std::size_t>(argument.positions.front())];
  }
  /// Size of a dimension of a tensor argument; a scalar counts as one element.
  [[nodiscard]] std::int64_t size(std::string_view name, std::int64_t dim) const {
    return tensor(name).dim() == 0 ? 1 : tensor(name).size(dim);
  }
  [[nodiscard]] std::int64_t integer(std::string_view name) const { return call_.constant(name).toInt(); }
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view name) const {
    return call_.constant(name).toIntVector();
  }

 private:
  const OperatorCall& call_;
};

}  // namespace pace::benches::operators::detail
