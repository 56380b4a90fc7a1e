// Tensors that stand for the memory of others.
#pragma once

#include <cstddef>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/core/Storage.h>
#include <c10/core/TensorImpl.h>

namespace pace::benches::loaders {

/// Tensors that stand for the memory of others, so that whoever keeps them keeps none of it. AOTInductor never lets go
/// of a tensor given to it as a constant of its caller's (MaybeOwningAtenTensorHandle in aoti_runtime/utils.h).
class StandIns {
 public:
  /// The tensors have the types, sizes and strides of `like`, and no memory.
  explicit StandIns(const std::vector<at::Tensor>& like) {
    for (const auto& tensor : like) {
      const auto& stand_in = tensors_.emplace_back(at::empty({0}, tensor.options()));
      nothing_.push_back(stand_in.storage());
      stand_in.unsafeGetTensorImpl()->set_sizes_and_strides(tensor.sizes(), tensor.strides());
    }
    memory_.resize(tensors_.size());
  }
  StandIns(const StandIns&) = delete;
  StandIns& operator=(const StandIns&) = delete;
  ~StandIns() { release(); }

  [[nodiscard]] const std::vector<at::Tensor>& tensors() const { return tensors_; }

  [[nodiscard]] bool fits(std::size_t i, const at::Tensor& tensor) const {
    const auto& own = tensors_[i];
    return tensor.scalar_type() == own.scalar_type() && tensor.device() == own.device() &&
           tensor.sizes() == own.sizes() && tensor.strides() == own.strides();
  }
  /// Whether they stand for the memory of `tensor`. Expects that it fits.
  [[nodiscard]] bool stands_for(std::size_t i, const at::Tensor& tensor) const {
    return tensor.numel() == 0 || memory_[i] == tensor.const_data_ptr();
  }
  /// Expects that `tensor` fits. Keeps its memory until the next one or release().
  void stand_for(std::size_t i, const at::Tensor& tensor) {
    auto* const own = tensors_[i].unsafeGetTensorImpl();
    own->set_storage_keep_dtype(tensor.storage());
    own->set_storage_offset(tensor.storage_offset());
    memory_[i] = tensor.const_data_ptr();
  }
  /// Lets go of all memory.
  void release() {
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      auto* const own = tensors_[i].unsafeGetTensorImpl();
      own->set_storage_offset(0);
      own->set_storage_keep_dtype(nothing_[i]);
      memory_[i] = nullptr;
    }
  }

 private:
  std::vector<at::Tensor> tensors_;
  std::vector<const void*> memory_;   ///< where the memory begins that they stand for; null: they stand for nothing
  std::vector<at::Storage> nothing_;  ///< storages without memory, one for each
};

}  // namespace pace::benches::loaders
