// CapturedOutput: the output of a captured call, which every launch of the graph overwrites.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "pace/check/clone.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/check/poison.hpp"
#include "pace/check/raw_memory.hpp"

namespace pace::detail {

/// Keeps views of an output, and releases its memory to the pool of the capture. The next capture gets that memory, so
/// all graphs of a pool write to the same place. The views live as long as the pool, and hold this graph's output until
/// another launch.
class CapturedOutput {
 public:
  // By value: the output dies here, and its memory goes back to the pool.
  explicit CapturedOutput(c10::IValue output) {  // NOLINT(performance-unnecessary-value-param)
    std::vector<at::Tensor> originals, views;
    for (auto& tensor : check::tensors_of(output)) {
      // Only the value and this vector hold such memory; a weight that the callable returns has other owners.
      const bool own = tensor.use_count() == 2 && check::detail::is_plain(tensor) && tensor.numel() > 0 &&
                       tensor.storage().use_count() == 1 && !tensor.is_conj() && !tensor.is_neg();
      if (!own) continue;
      views.push_back(view_of(tensor));
      originals.push_back(std::move(tensor));
    }
    value_ = check::detail::with_clones(output, Views{originals, views});
    own_ = std::move(views);
  }

  [[nodiscard]] const c10::IValue& value() const { return value_; }

  /// Poisons the memory, so that a launch without effect does not pass with an earlier launch's output.
  void poison() {
    for (auto& tensor : own_) check::poison_(tensor);
  }

 private:
  struct Views {
    const std::vector<at::Tensor>& originals;
    const std::vector<at::Tensor>& views;
    [[nodiscard]] at::Tensor of(const at::Tensor& tensor) const {
      for (std::size_t i = 0; i < originals.size(); ++i)
        if (originals[i].is_same(tensor)) return views[i];
      return tensor;
    }
  };

  [[nodiscard]] static at::Tensor view_of(const at::Tensor& tensor) {
    const auto& storage = tensor.storage();
    const c10::Storage same(c10::Storage::use_byte_size_t(), storage.nbytes(),
                            c10::DataPtr(storage.mutable_data(), tensor.device()), nullptr, false);
    return check::detail::over_storage(tensor, same, tensor.scalar_type(), tensor.storage_offset(), tensor.sizes(),
                                       tensor.strides());
  }

  c10::IValue value_;
  std::vector<at::Tensor> own_;
};

}  // namespace pace::detail
