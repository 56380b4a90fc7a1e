// parts_of: the tensors that a tensor consists of.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/GradMode.h>

#include <array>

namespace pace::check::detail {

/// Values, plain indices and compressed indices of a tensor, undefined if it has none. A tensor that is not sparse is
/// its own values.
[[nodiscard]] inline std::array<at::Tensor, 3> parts_of(const at::Tensor& tensor) {
  const c10::NoGradGuard no_grad;
  switch (tensor.layout()) {
    case at::kSparse:
      return {tensor._values(), tensor._indices(), at::Tensor()};
    case at::kSparseCsr:
    case at::kSparseBsr:
      return {tensor.values(), tensor.col_indices(), tensor.crow_indices()};
    case at::kSparseCsc:
    case at::kSparseBsc:
      return {tensor.values(), tensor.row_indices(), tensor.ccol_indices()};
    default:
      return {tensor, at::Tensor(), at::Tensor()};
  }
}

}  // namespace pace::check::detail
