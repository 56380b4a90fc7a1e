// Inputs for the tests of the subject layer.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/randn.h>

#include "pace/inputs/generate.hpp"

namespace pace::test {

/// A list as the corpus makes them: of Any.
inline c10::IValue list(const std::vector<c10::IValue>& items) {
  c10::impl::GenericList list(c10::AnyType::get());
  for (const c10::IValue& item : items) list.push_back(item);
  return list;
}

inline pace::inputs::Inputs inputs(std::vector<c10::IValue> args,
                                   std::vector<std::pair<std::string, c10::IValue>> kwargs = {}) {
  return {std::move(args), std::move(kwargs)};
}

/// Random normal numbers in float32.
inline at::Tensor random(std::vector<std::int64_t> sizes) { return at::randn(sizes); }

}  // namespace pace::test
