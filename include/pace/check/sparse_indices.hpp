// Whether the indices of a sparse tensor are in order, as code that reads them may expect.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "pace/check/allclose.hpp"

namespace pace::check::detail {

/// Whether the columns of an int64 matrix in main memory ascend, by their first element, then the second and so on,
/// without equal ones.
[[nodiscard]] inline bool has_ascending_columns(const at::Tensor& matrix) {
  const auto* index = static_cast<const std::int64_t*>(matrix.const_data_ptr());
  const std::int64_t rows = matrix.size(0), columns = matrix.size(1);
  for (std::int64_t column = 1; column < columns; ++column) {
    std::int64_t row = 0;
    while (row < rows && index[row * columns + column - 1] == index[row * columns + column]) ++row;
    if (row == rows || index[row * columns + column - 1] > index[row * columns + column]) return false;
  }
  return true;
}

/// Whether a COO tensor is coalesced, not only marked so. For a compressed one: whether the indices ascend in each row
/// or column, without repetition. True for all other layouts.
[[nodiscard]] inline bool has_ordered_indices(const at::Tensor& tensor) {
  const auto in_memory = [](const at::Tensor& indices) { return on_cpu_as(indices, at::kLong).contiguous(); };
  const auto ascends = [&](const at::Tensor& compressed, const at::Tensor& plain) {
    const at::Tensor starts = in_memory(compressed.reshape({-1, compressed.size(-1)}));
    const at::Tensor indices = in_memory(plain.reshape({starts.size(0), plain.size(-1)}));
    const auto* start = static_cast<const std::int64_t*>(starts.const_data_ptr());
    const auto* index = static_cast<const std::int64_t*>(indices.const_data_ptr());
    for (std::int64_t batch = 0; batch < starts.size(0); ++batch)
      for (std::int64_t line = 0; line + 1 < starts.size(1); ++line) {
        const std::int64_t* bounds = start + batch * starts.size(1) + line;
        // LibTorch has constructors that check nothing.
        if (bounds[0] < 0 || bounds[1] > indices.size(1)) return false;
        for (std::int64_t i = bounds[0] + 1; i < bounds[1]; ++i)
          if (index[batch * indices.size(1) + i - 1] >= index[batch * indices.size(1) + i]) return false;
      }
    return true;
  };
  switch (tensor.layout()) {
    case c10::kSparse:
      return tensor.is_coalesced() && has_ascending_columns(in_memory(tensor._indices()));
    case c10::kSparseCsr:
    case c10::kSparseBsr:
      return ascends(tensor.crow_indices(), tensor.col_indices());
    case c10::kSparseCsc:
    case c10::kSparseBsc:
      return ascends(tensor.ccol_indices(), tensor.row_indices());
    default:
      return true;
  }
}

/// Returns as text why the indices of `actual` are out of order; empty if they are not, or if `expected`'s are, too.
[[nodiscard]] inline std::string indices_problem(const at::Tensor& expected, const at::Tensor& actual) {
  if (expected.layout() == c10::kStrided || expected.layout() != actual.layout() || !has_ordered_indices(expected) ||
      has_ordered_indices(actual))
    return {};
  if (expected.layout() != c10::kSparse)
    return "expected indices in ascending order in each row (CSR, BSR) or column (CSC, BSC), got others";
  return actual.is_coalesced() ? "expected a coalesced tensor, got one that is only marked as coalesced: its indices "
                                 "repeat or are in no order"
                               : "expected a coalesced tensor, got one that is not";
}

}  // namespace pace::check::detail
