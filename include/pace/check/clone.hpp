// clone_ivalue: copies of whole argument lists, with the aliasing inside them. Includes restore() for its users.
#pragma once

#include <ATen/core/ivalue.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pace/check/clone_input.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/check/restore.hpp"

namespace pace::check {

namespace detail {

/// Views of one storage are cloned together if their stretch has at most this many times their bytes. Small views of a
/// large storage, such as two slots of a cache, get memory of their own.
inline constexpr std::int64_t most_gaps = 4;

/// Clones of all tensors in a value, found by identity. Views of one storage share one in the clones, too, at the same
/// distances (see most_gaps). Tensors with overlapping extents always do.
class Clones {
 public:
  explicit Clones(const auto& value) {
    for_each_tensor(value, [&](const auto& tensor) {
      if (index_of(tensor) == originals_.size()) originals_.push_back(tensor);
    });
    clones_.resize(originals_.size());
    for (std::size_t i = 0; i < originals_.size(); ++i) {
      const auto& tensor = originals_[i];
      if (!is_plain(tensor))
        clones_[i] = clone_other(tensor);
      else if (tensor.numel() == 0)
        clones_[i] = clone_shared(SharedBytes{{}, {tensor}}).front();
      else if (!clones_[i].defined())
        clone_storage(sharing_storage(i));
    }
    for (std::size_t i = 0; i < originals_.size(); ++i)
      copy_autograd(originals_[i], clones_[i], [](const auto& g) { return clone_input(g); });
  }

  [[nodiscard]] const at::Tensor& of(const auto& tensor) const { return clones_[index_of(tensor)]; }

 private:
  // A linear search: values have few tensors, and a hash table takes long to compile.
  [[nodiscard]] std::size_t index_of(const auto& tensor) const {
    std::size_t i = 0;
    while (i < originals_.size() && !originals_[i].is_same(tensor)) ++i;
    return i;
  }

  [[nodiscard]] std::vector<at::Tensor> sharing_storage(std::size_t first) const {
    std::vector<at::Tensor> sharing;
    for (std::size_t i = first; i < originals_.size(); ++i) {
      const auto& tensor = originals_[i];
      if (is_plain(tensor) && tensor.numel() > 0 && tensor.is_alias_of(originals_[first])) sharing.push_back(tensor);
    }
    return sharing;
  }

  void keep(const auto& tensor, at::Tensor clone) { clones_[index_of(tensor)] = std::move(clone); }

  void clone_storage(const auto& sharing) {
    // In the order of their first bytes. Few tensors share a storage, and std::stable_sort takes long to compile.
    std::vector<at::Tensor> tensors;
    for (const auto& tensor : sharing) {
      auto place = tensors.end();
      while (place != tensors.begin() && byte_span(tensor).begin < byte_span(place[-1]).begin) --place;
      tensors.insert(place, tensor);
    }
    std::int64_t bytes = 0, end = 0;
    for (const auto& tensor : tensors) {
      const ByteSpan span = byte_span(tensor);
      bytes += span.end - span.begin;
      end = std::max(end, span.end);
    }
    const bool together = end - byte_span(tensors.front()).begin <= most_gaps * bytes;
    std::size_t next = 0;
    while (next < tensors.size()) {
      SharedBytes shared{byte_span(tensors[next]), {tensors[next]}};
      for (++next; next < tensors.size() && (together || byte_span(tensors[next]).begin < shared.span.end); ++next) {
        shared.span.end = std::max(shared.span.end, byte_span(tensors[next]).end);
        shared.tensors.push_back(tensors[next]);
      }
      const auto clones = clone_shared(shared);
      for (std::size_t i = 0; i < clones.size(); ++i) keep(shared.tensors[i], clones[i]);
    }
  }

  std::vector<at::Tensor> originals_, clones_;
};

[[nodiscard]] c10::IValue with_clones(const auto& value, const auto& clones) {
  if (value.isTensor()) return value.toTensor().defined() ? c10::IValue(clones.of(value.toTensor())) : value;
  if (value.isTuple()) {
    std::vector<c10::IValue> elements;
    for (const auto& element : value.toTupleRef().elements()) elements.push_back(with_clones(element, clones));
    return c10::ivalue::Tuple::create(std::move(elements));
  }
  if (value.isList()) {
    c10::List<c10::IValue> list = value.toList().copy();  // keeps the element type
    for (std::size_t i = 0; i < list.size(); ++i) list.set(i, with_clones(list.get(i), clones));
    return list;
  }
  if (value.isGenericDict()) {
    c10::Dict<c10::IValue, c10::IValue> dict = value.toGenericDict().copy();
    for (const auto& entry : dict) entry.setValue(with_clones(entry.value(), clones));
    return dict;
  }
  return value;
}

}  // namespace detail

/// Returns a copy of a whole structure, with every tensor cloned as by clone_input(). Tensors that occur twice, or
/// share memory, also do so in the copy. Values other than tensors, lists, tuples and dicts are shared. A named tuple
/// becomes a plain tuple.
[[nodiscard]] inline c10::IValue clone_ivalue(const c10::IValue& value) {
  const c10::NoGradGuard no_grad;
  return detail::with_clones(value, detail::Clones(value));
}

}  // namespace pace::check
