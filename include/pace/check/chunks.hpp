// Chunks: iterates over tensors of one shape piece by piece, so that a comparison needs little extra memory.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/check/text.hpp"

namespace pace::check::detail {

/// Elements of a piece on the CPU: the most that ATen handles in one thread (at::internal::GRAIN_SIZE). With more, its
/// threads wait for each other at every operation, seven times as long on a busy machine, and still spin when timing
/// starts. With fewer, cutting a piece (some microseconds) takes longer than reading it.
inline constexpr std::int64_t chunk_elements = std::int64_t{1} << 15;
/// Elements of a piece on other devices, where every operation takes at least some microseconds.
inline constexpr std::int64_t device_chunk_elements = std::int64_t{1} << 22;

/// Returns `tensor` as an ordinary strided one with real memory: expands sparse and quantised tensors. Throws Error if
/// it holds no data.
[[nodiscard]] at::Tensor strided(const auto& tensor) {
  if (!tensor.defined()) throw Error("expected a tensor, got an undefined one");
  if (tensor.is_meta()) throw Error("cannot compare a tensor on the meta device: it holds no data");
  if (tensor.is_nested()) throw Error("cannot compare a nested tensor as one; try: unbind it first");
  auto out = tensor.is_quantized() ? tensor.dequantize() : tensor;
  if (out.layout() != c10::kStrided) out = out.to_dense();
  return out._is_zerotensor() ? out.clone() : out;
}

/// Consecutive pieces of strided tensors of one shape, in row-major order:
///
///     for (Chunks pieces{a, b}; pieces.next();) use(pieces[0], pieces[1], pieces.offset());
///
/// Records no gradients during its lifetime. Throws Error if the shapes differ. No function with a visitor, since each
/// visitor would instantiate it again.
class Chunks {
 public:
  Chunks(std::initializer_list<at::Tensor> tensors) : tensors_(tensors) {
    bool flat = true;
    for (const auto& tensor : tensors_) {
      if (tensor.sizes() != tensors_[0].sizes()) {
        throw Error("cannot compare tensors of shapes " + list_text(tensors_[0].sizes()) + " and " +
                    list_text(tensor.sizes()));
      }
      flat = flat && tensor.is_contiguous();
    }
    left_ = tensors_[0].numel();
    if (flat) {
      for (auto& tensor : tensors_) tensor = tensor.view({-1});
    }
    // A piece is some rows of the first dimension with small enough rows.
    const std::int64_t most = tensors_[0].is_cpu() ? chunk_elements : device_chunk_elements;
    row_ = left_;
    while (row_ > most) row_ /= tensors_[0].size(dimension_++);
    if (dimension_ > 0) rows_ = tensors_[0].size(dimension_ - 1);
    step_ = row_ > 0 ? std::max<std::int64_t>(most / row_, 1) : 1;
  }

  /// Advances to the next piece, at first to the first one. Returns false after the last piece.
  [[nodiscard]] bool next() {
    if (left_ == 0) return false;
    offset_ += size_;
    pieces_ = tensors_;
    for (auto& piece : pieces_) cut(piece);
    size_ = pieces_[0].numel();
    left_ -= size_;
    return true;
  }

  [[nodiscard]] const at::Tensor& operator[](std::size_t tensor) const { return pieces_[tensor]; }
  /// Number of elements before the piece.
  [[nodiscard]] std::int64_t offset() const { return offset_; }

 private:
  void cut(at::Tensor& tensor) const {
    std::int64_t position = offset_, block = tensor.numel();
    for (std::int64_t outer = 0; outer + 1 < dimension_; ++outer) {
      block /= tensor.size(0);
      tensor = tensor.select(0, position / block);
      position %= block;
    }
    if (dimension_ == 0) return;
    const std::int64_t begin = position / row_;
    tensor = step_ == 1 ? tensor.select(0, begin) : tensor.narrow(0, begin, std::min(step_, rows_ - begin));
  }

  const c10::NoGradGuard no_grad_;
  std::vector<at::Tensor> tensors_, pieces_;
  /// Number of dimensions that are cut. The last is cut into pieces of `step_` of its `rows_` rows of `row_` elements.
  std::int64_t dimension_ = 0, rows_ = 1, row_ = 0, step_ = 1;
  std::int64_t offset_ = 0, size_ = 0, left_ = 0;
};

/// A piece as elements of `dtype` on its own device. A bool with a byte other than 0 or 1 (some kernels write 0xff) is
/// true.
[[nodiscard]] at::Tensor as_elements(const auto& piece, at::ScalarType dtype) {
  const auto part = piece.scalar_type() == at::kBool ? piece.view(at::kByte).ne(0) : piece;
  return part.resolve_conj().resolve_neg().to(dtype);
}

/// A piece as dense elements of `dtype` in main memory.
[[nodiscard]] at::Tensor on_cpu_as(const auto& piece, at::ScalarType dtype) {
  return as_elements(piece, dtype).to(at::Device(at::kCPU), dtype).contiguous();
}

}  // namespace pace::check::detail
