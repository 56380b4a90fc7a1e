// Subjects: operands and implementations of functions, as a comparison makes them, without the comparison.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "pace/subject/callable.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/operands.hpp"

namespace pace::test {

/// One set of operand tensors, and implementations that take them as a vector.
class Subjects {
 public:
  using Tensors = std::vector<at::Tensor>;
  using Function = std::function<c10::IValue(Tensors&)>;

  explicit Subjects(Tensors tensors) : given(std::tuple(std::move(tensors))) {
    sets.given = given.tensors();
    sets.sets.push_back(given.clone());
    sets.tensors.push_back(sets.sets.back()->tensors());
  }
  Subjects(const Subjects&) = delete;
  Subjects& operator=(const Subjects&) = delete;

  [[nodiscard]] std::unique_ptr<detail::Implementation> implementation(const Function& function) const {
    return detail::ImplementationOf<Function, Tensors>::make(function, sets);
  }

  /// The original operands, and the sets that calls use.
  detail::TypedOperands<Tensors> given;
  detail::OperandSets sets = {};
};

}  // namespace pace::test
