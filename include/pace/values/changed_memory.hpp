// Changed memory: operands change in place, and memory that several of them share changes once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "pace/check/clone_input.hpp"
#include "pace/check/raw_memory.hpp"

namespace pace::detail {

/// The memory under `tensor`, gaps included, as a 1-D tensor of its dtype that may be written to.
[[nodiscard]] inline at::Tensor flat_memory(const at::Tensor& tensor) {
  const auto span = check::detail::byte_span(tensor);
  const auto item = static_cast<std::int64_t>(tensor.element_size());
  return check::detail::over_storage(tensor, tensor.storage(), tensor.scalar_type(), span.begin / item,
                                     {(span.end - span.begin) / item}, {1});
}

/// Whether a tensor has floating-point or complex values that can change in place.
[[nodiscard]] inline bool is_changeable(const at::Tensor& tensor) {
  return tensor.defined() && check::detail::is_plain(tensor) && tensor.numel() > 0 &&
         (tensor.is_floating_point() || tensor.is_complex()) && !check::detail::holds_only_bits(tensor.scalar_type());
}

/// Calls `change(position)` for the tensors that `chosen(position)` is true for. Of those that share memory, it takes
/// the first one alone.
template <class Chosen, class Change>
void change_each_if(const std::vector<at::Tensor>& tensors, const Chosen& chosen, Change&& change) {
  std::vector<std::size_t> begins, ends;  // addresses of those that are done
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!chosen(i)) continue;
    const auto span = check::detail::byte_span(tensors[i]);
    const auto base = reinterpret_cast<std::uintptr_t>(tensors[i].storage().data());
    const std::size_t begin = base + static_cast<std::size_t>(span.begin);
    const std::size_t end = base + static_cast<std::size_t>(span.end);
    bool seen = false;
    for (std::size_t other = 0; other < begins.size(); ++other)
      seen = seen || (begin < ends[other] && begins[other] < end);
    if (seen) continue;
    begins.push_back(begin);
    ends.push_back(end);
    change(i);
  }
}

/// As change_each_if() for those that are changeable, by `change(flat memory, position)`.
template <class Change>
void change_each(const std::vector<at::Tensor>& tensors, Change&& change) {
  change_each_if(
      tensors, [&](std::size_t i) { return is_changeable(tensors[i]); },
      [&](std::size_t i) {
        at::Tensor memory = flat_memory(tensors[i]);
        change(memory, i);
      });
}

}  // namespace pace::detail
