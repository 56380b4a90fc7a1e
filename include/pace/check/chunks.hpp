// Walks through tensors of one shape piece by piece, so that comparing needs little memory beside them.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "pace/check/text.hpp"
#include "pace/core/error.hpp"

namespace pace::check::detail {

/// Elements of one piece. As many as ATen works on in one thread (at::internal::GRAIN_SIZE): with larger pieces its
/// threads wait for each other at every operation, which took seven times as long on a busy machine, and would still
/// be spinning when timing starts. Fewer, and cutting a piece (some microseconds) would cost more than reading it.
inline constexpr std::int64_t chunk_elements = std::int64_t{1} << 15;

/// `tensor` as an ordinary strided one with real memory: sparse and quantised tensors are expanded. Throws Error for
/// one that holds no data.
[[nodiscard]] inline at::Tensor strided(const at::Tensor& tensor) {
  if (!tensor.defined()) throw Error("expected a tensor, got an undefined one");
  if (tensor.is_meta()) throw Error("cannot compare a tensor on the meta device: it holds no data");
  if (tensor.is_nested()) throw Error("cannot compare a nested tensor as one: unbind it first");
  at::Tensor out = tensor.is_quantized() ? tensor.dequantize() : tensor;
  if (out.layout() != c10::kStrided) out = out.to_dense();
  return out._is_zerotensor() ? out.clone() : out;
}

template <std::size_t N, class Visit>
bool visit_chunks(const std::array<at::Tensor, N>& tensors, std::int64_t offset, Visit& visit) {
  const at::Tensor& first = tensors[0];
  if (first.numel() <= chunk_elements) return visit(offset, tensors);
  const std::int64_t rows = first.size(0);
  const std::int64_t row = first.numel() / rows;
  const std::int64_t step = std::max<std::int64_t>(chunk_elements / row, 1);
  for (std::int64_t begin = 0; begin < rows; begin += step) {
    std::array<at::Tensor, N> parts;
    for (std::size_t i = 0; i < N; ++i) {
      parts[i] = step == 1 ? tensors[i].select(0, begin) : tensors[i].narrow(0, begin, std::min(step, rows - begin));
    }
    if (!visit_chunks(parts, offset + begin * row, visit)) return false;
  }
  return true;
}

/// Calls `visit(offset, pieces)` for consecutive pieces of `tensors` in row-major order, where `offset` counts the
/// elements before the piece; ends early and returns false when `visit` does. The tensors are strided and have one
/// shape.
template <std::size_t N, class Visit>
bool for_each_chunk(std::array<at::Tensor, N> tensors, Visit&& visit) {
  const c10::NoGradGuard no_grad;
  bool flat = true;
  for (const auto& tensor : tensors) {
    if (tensor.sizes() != tensors[0].sizes()) {
      throw Error("cannot compare tensors of shapes " + list_text(tensors[0].sizes()) + " and " +
                  list_text(tensor.sizes()));
    }
    flat = flat && tensor.is_contiguous();
  }
  if (tensors[0].numel() == 0) return true;
  if (flat) {
    for (auto& tensor : tensors) tensor = tensor.view({-1});
  }
  return visit_chunks(tensors, 0, visit);
}

/// A copy of one piece in main memory, dense, as elements of `dtype`. A bool that holds another byte than 0 or 1
/// (some kernels write 0xff) reads as true.
[[nodiscard]] inline at::Tensor on_cpu_as(const at::Tensor& piece, at::ScalarType dtype) {
  at::Tensor part = piece.scalar_type() == at::kBool ? piece.view(at::kByte).ne(0) : piece;
  part = part.resolve_conj().resolve_neg();
  return part.to(at::Device(at::kCPU), dtype).contiguous();
}

}  // namespace pace::check::detail
