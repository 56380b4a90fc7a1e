// Values of any structure with other tensors in the places of theirs.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <ATen/core/Dict.h>
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

namespace pace::benches::aot {

/// `value` with `map(tensor)` in the place of each defined tensor, in the order of check::tensors_of(). Lists and dicts
/// keep the types of their elements. Values that are no tensors stay as they are.
template <class Map>
[[nodiscard]] c10::IValue map_tensors(const c10::IValue& value, Map&& map) {
  if (value.isTensor()) return value.toTensor().defined() ? c10::IValue(at::Tensor(map(value.toTensor()))) : value;
  if (value.isTuple()) {
    std::vector<c10::IValue> elements;
    for (const auto& element : value.toTupleRef().elements()) elements.push_back(map_tensors(element, map));
    return c10::ivalue::Tuple::create(std::move(elements));
  }
  if (value.isList()) {
    c10::List<c10::IValue> list = value.toList().copy();
    for (std::size_t i = 0; i < list.size(); ++i) list.set(i, map_tensors(list.get(i), map));
    return list;
  }
  if (value.isGenericDict()) {
    c10::Dict<c10::IValue, c10::IValue> dict = value.toGenericDict().copy();
    for (const auto& entry : dict) entry.setValue(map_tensors(entry.value(), map));
    return dict;
  }
  return value;
}

}  // namespace pace::benches::aot
