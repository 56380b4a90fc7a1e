// OutputCopy: a copy of a call's output in memory reserved for it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/core/GradMode.h>

#include "pace/check/clone.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/check/raw_memory.hpp"

namespace pace::detail {

/// An output that kept its block would push later outputs to other blocks, whose addresses affect the time. Identical
/// relu calls of 16 MB differed by 6 % on an H200. So we copy outputs to memory that we allocate once; again only if
/// shapes change, or an earlier copy is still in use.
class OutputCopy {
 public:
  /// Returns the same structure with copies of its tensors. Tensors for which `stays(tensor)` is true, such as a
  /// returned operand, are not copied.
  template <class Stays>
  [[nodiscard]] c10::IValue copy(const c10::IValue& output, const Stays& stays) {
    const c10::NoGradGuard no_grad;
    std::vector<at::Tensor> tensors;
    check::for_each_tensor(output, [&](const auto& tensor) {
      if (!stays(tensor) && index_of(tensors, tensor) == tensors.size()) tensors.push_back(tensor);
    });
    if (tensors.empty()) return output;
    if (fits(tensors)) {
      for (std::size_t i = 0; i < tensors.size(); ++i) write(tensors[i], memory_[i]);
    } else {
      memory_.clear();
      memory_ = check::tensors_of(check::clone_ivalue(c10::IValue(tensors)));
    }
    return check::detail::with_clones(output, Copies{tensors, memory_});
  }

 private:
  struct Copies {
    const std::vector<at::Tensor>& originals;
    const std::vector<at::Tensor>& copies;
    [[nodiscard]] const at::Tensor& of(const at::Tensor& tensor) const {
      const std::size_t index = index_of(originals, tensor);
      return index < copies.size() ? copies[index] : tensor;
    }
  };

  [[nodiscard]] static std::size_t index_of(const std::vector<at::Tensor>& tensors, const at::Tensor& tensor) {
    std::size_t i = 0;
    while (i < tensors.size() && !tensors[i].is_same(tensor)) ++i;
    return i;
  }

  [[nodiscard]] bool fits(const std::vector<at::Tensor>& tensors) const {
    return std::equal(tensors.begin(), tensors.end(), memory_.begin(), memory_.end(),
                      [](const at::Tensor& from, const at::Tensor& to) {
                        return check::detail::is_plain(from) && check::detail::is_plain(to) && to.use_count() == 1 &&
                               from.scalar_type() == to.scalar_type() && from.device() == to.device() &&
                               from.sizes() == to.sizes() && from.strides() == to.strides() &&
                               from.is_conj() == to.is_conj() && from.is_neg() == to.is_neg();
                      });
  }

  static void write(const at::Tensor& from, const at::Tensor& to) {
    if (from.numel() == 0) return;
    if (!from.is_cpu() || !from.is_non_overlapping_and_dense()) {
      check::detail::elements_of(to).copy_(check::detail::elements_of(from));
      return;
    }
    // Not by LibTorch, which would wake its threads before the next sample.
    const auto source = check::detail::byte_span(from), target = check::detail::byte_span(to);
    std::memcpy(static_cast<char*>(to.storage().mutable_data()) + target.begin,
                static_cast<const char*>(from.storage().data()) + source.begin,
                static_cast<std::size_t>(source.end - source.begin));
  }

  std::vector<at::Tensor> memory_;
};

}  // namespace pace::detail
