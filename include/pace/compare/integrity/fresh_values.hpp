// Fresh values: other inputs for the same buffers, so that an answer kept from earlier values is found out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <ATen/core/Tensor.h>

#include "pace/check/clone_input.hpp"
#include "pace/check/raw_memory.hpp"
#include "pace/compare/operands.hpp"
#include "pace/core/random.hpp"

namespace pace::detail {

/// How other values are made from the given ones, the gentlest first. Integers and bools stay as they are: they may be
/// indices, offsets or masks, of which few others are valid.
enum class Renewal {
  /// Every floating-point value is halved. This is exact and keeps the usual requirements: signs, order, ties,
  /// zeros, symmetry, positive definiteness, ranges such as [0, 1] and [-1, 1], ratios between operands.
  halve,
  /// ... by another power of two for each tensor: for what depends on ratios only.
  scale_each,
  /// Every floating-point tensor keeps its values, but in other places: for what does not depend on scale at all, such
  /// as a normalisation.
  rotate,
  /// There is nothing to renew, or it changes no output.
  none,
};

[[nodiscard]] inline const char* to_string(Renewal renewal) {
  switch (renewal) {
    case Renewal::halve:
      return "halved";
    case Renewal::scale_each:
      return "each scaled by a power of two";
    case Renewal::rotate:
      return "in another order";
    case Renewal::none:
      break;
  }
  return "unchanged";
}

/// The memory under `tensor`, gaps included, as a 1-D tensor of its dtype that may be written to.
[[nodiscard]] inline at::Tensor flat_memory(const at::Tensor& tensor) {
  const auto span = check::detail::byte_span(tensor);
  const auto item = static_cast<std::int64_t>(tensor.element_size());
  return check::detail::over_storage(tensor, tensor.storage(), tensor.scalar_type(), span.begin / item,
                                     {(span.end - span.begin) / item}, {1});
}

/// Whether values of this tensor can be changed in place.
[[nodiscard]] inline bool renewable(const at::Tensor& tensor) {
  return tensor.defined() && check::detail::is_plain(tensor) && tensor.numel() > 0 &&
         (tensor.is_floating_point() || tensor.is_complex());
}

/// Calls `change(flat memory, position)` for the renewable tensors, for memory that several of them share once only.
template <class Change>
void renew_each(const std::vector<at::Tensor>& tensors, Change&& change) {
  std::vector<std::size_t> begins, ends;  // addresses of what is done
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!renewable(tensors[i])) continue;
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
    at::Tensor memory = flat_memory(tensors[i]);
    change(memory, i);
  }
}

/// Halves every floating-point value. Halving goes on for dozens of times before the values of a float32 vanish.
inline void halve(const std::vector<at::Tensor>& tensors) {
  const c10::NoGradGuard no_grad;
  renew_each(tensors, [](at::Tensor& memory, std::size_t) { memory.mul_(0.5); });
}

/// Renews the values of `tensors` in place. Throws c10::Error for dtypes that have no arithmetic.
inline void renew(Renewal renewal, const std::vector<at::Tensor>& tensors) {
  const c10::NoGradGuard no_grad;
  switch (renewal) {
    case Renewal::halve:
      return halve(tensors);
    case Renewal::scale_each:
      return renew_each(tensors, [](at::Tensor& memory, std::size_t i) { memory.mul_(1.0 / (2 << (i % 3))); });
    case Renewal::rotate:
      return renew_each(tensors, [&](at::Tensor& memory, std::size_t i) {
        // What lies in the gaps of a strided view is no value.
        if (tensors[i].is_non_overlapping_and_dense())
          memory.copy_(memory.roll(memory.numel() / 2 + (memory.numel() > 2 ? 1 : 0)));
      });
    case Renewal::none:
      return;
  }
}

}  // namespace pace::detail
