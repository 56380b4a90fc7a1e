// Shortcuts: ways to return the right values without computing or writing them.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <ATen/MemoryOverlap.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/core/impl/COW.h>

#include "pace/check/check_options.hpp"
#include "pace/check/clone_input.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/check/parts.hpp"

namespace pace::detail {

/// Ways to return an output tensor without memory of its own, or'ed together.
enum Shortcuts : std::int64_t {
  /// It is an operand, or a view of one.
  borrows = 1,
  /// Some of its elements are the same memory (stride 0).
  repeats = 2,
  /// It is only marked as conjugated, negated or zero; reading it computes it.
  defers = 4,
  /// It is a copy-on-write copy.
  postpones = 8,
  /// It shares elements with an earlier output, so writing to one changes the other.
  overlaps = 16,
  /// Nothing ever wrote to its memory; the system supplies zeros on reading.
  unwritten = 32,
};

/// Bits of the shortcuts of one part of a tensor. In order: its values, its indices, its compressed indices.
inline constexpr int shortcut_bits = 8;

/// The shortcuts of a strided or nested tensor. `parts`: memory of operands.
[[nodiscard]] inline std::int64_t shortcuts_of_part(const at::Tensor& tensor, const std::vector<at::Tensor>& parts) {
  std::int64_t found = 0;
  if (tensor.is_conj() || tensor.is_neg() || tensor._is_zerotensor()) found |= defers;
  if (tensor.numel() == 0) return found;
  if (!tensor.is_nested() && tensor.layout() == at::kStrided)
    for (std::int64_t i = 0; i < tensor.dim(); ++i)
      if (tensor.stride(i) == 0 && tensor.size(i) > 1) found |= repeats;
  if (!tensor.has_storage()) return found;
  if (c10::impl::cow::is_cow_data_ptr(tensor.storage().data_ptr())) found |= postpones;
  for (const auto& part : parts)
    if (part.is_alias_of(tensor)) found |= borrows;
  return found;
}

/// The parts of all operands whose memory other tensors may share.
[[nodiscard]] inline std::vector<at::Tensor> shareable_parts_of(const std::vector<at::Tensor>& operands) {
  std::vector<at::Tensor> shareable;
  for (const auto& operand : operands) {
    if (!operand.defined()) continue;
    for (const auto& part : check::detail::parts_of(operand))
      if (part.defined() && part.has_storage()) shareable.push_back(part);
  }
  return shareable;
}

[[nodiscard]] inline std::int64_t shortcuts_of(const at::Tensor& tensor, const std::vector<at::Tensor>& parts) {
  std::int64_t found = 0;
  int shift = 0;
  for (const auto& part : check::detail::parts_of(tensor)) {
    if (part.defined()) found |= shortcuts_of_part(part, parts) << shift;
    shift += shortcut_bits;
  }
  return found;
}

/// Whether a tensor, or a part of it, is an operand or a view of one.
[[nodiscard]] inline bool borrows_any(const at::Tensor& tensor, const std::vector<at::Tensor>& parts) {
  constexpr std::int64_t by_any_part = borrows | borrows << shortcut_bits | borrows << 2 * shortcut_bits;
  return (shortcuts_of(tensor, parts) & by_any_part) != 0;
}

/// Whether two tensors share elements, as far as LibTorch can tell. It cannot for views with gaps.
[[nodiscard]] inline bool have_common_elements(const at::Tensor& one, const at::Tensor& other) {
  if (!check::detail::is_plain(one) || !check::detail::is_plain(other)) return false;
  const auto status = at::get_overlap_status(one, other);
  return status == at::MemOverlapStatus::Full || status == at::MemOverlapStatus::Partial;
}

/// Whether more than half of a CPU tensor's pages were never touched, as after calloc(). Call it before reading the
/// tensor. False below 1 MiB.
[[nodiscard]] inline bool is_unwritten(const at::Tensor& tensor) {
  constexpr std::int64_t fewest_bytes = 1 << 20;
  if (!tensor.is_cpu() || !check::detail::is_plain(tensor) || tensor.numel() == 0) return false;
  const auto span = check::detail::byte_span(tensor);
  if (span.end - span.begin < fewest_bytes) return false;
  const std::int64_t page = ::sysconf(_SC_PAGESIZE);
  auto* const first = const_cast<char*>(static_cast<const char*>(tensor.storage().data()) + span.begin);
  const std::int64_t gap = (page - reinterpret_cast<std::intptr_t>(first) % page) % page;
  std::vector<unsigned char> pages(static_cast<std::size_t>((span.end - span.begin - gap) / page));
  if (::mincore(first + gap, pages.size() * static_cast<std::size_t>(page), pages.data()) != 0) return false;
  const auto absent = std::ranges::count_if(pages, [](unsigned char each) { return (each & 1) == 0; });
  return 2 * absent > std::ssize(pages);
}

/// The shortcuts of each output tensor, in order.
[[nodiscard]] inline std::vector<std::int64_t> shortcuts_of_each(const c10::IValue& output,
                                                                 const std::vector<at::Tensor>& operands) {
  std::vector<std::int64_t> found;
  const auto parts = shareable_parts_of(operands);
  std::vector<at::Tensor> earlier;
  check::for_each_tensor(output, [&](const at::Tensor& tensor) {
    found.push_back(shortcuts_of(tensor, parts));
    const auto is_same_memory = [&](const at::Tensor& other) { return have_common_elements(tensor, other); };
    if (std::any_of(earlier.begin(), earlier.end(), is_same_memory)) found.back() |= overlaps;
    earlier.push_back(tensor);
  });
  return found;
}

/// Whether some element of an output tensor is the same memory as another one.
[[nodiscard]] inline bool repeats_elements(const c10::IValue& output, const std::vector<at::Tensor>& operands) {
  return std::ranges::any_of(shortcuts_of_each(output, operands),
                             [](std::int64_t of_tensor) { return (of_tensor & repeats) != 0; });
}

/// Returns the shortcuts that only the candidate takes, as text; empty if none. Shortcuts of both, such as the view of
/// a transposition, belong to the computation. `options` may allow repeated elements.
[[nodiscard]] inline std::string describe_shortcuts(const std::vector<std::int64_t>& baseline,
                                                    const std::vector<std::int64_t>& candidate,
                                                    const check::CheckOptions& options) {
  constexpr std::array parts{"", " (its indices)", " (its compressed indices)"};
  for (std::size_t i = 0; i < std::min(baseline.size(), candidate.size()); ++i) {
    for (std::size_t part = 0; part < parts.size(); ++part) {
      const std::int64_t own = (candidate[i] & ~baseline[i]) >> (shortcut_bits * static_cast<int>(part));
      const char* what = nullptr;
      if (own & borrows)
        what =
            " shares memory with an operand, and the baseline's does not: nothing was computed; try: a copy in the "
            "candidate (clone, contiguous), or a view in both";
      else if ((own & repeats) && options.check_strides)
        what = " repeats elements in memory (stride 0), and the baseline writes each";
      else if (own & overlaps)
        what = " has elements of an earlier output tensor, and the baseline's has memory of its own";
      else if (own & unwritten)
        what = " is memory that was never written to, which the system fills when it is read; the baseline writes it";
      else if (own & defers)
        what = " is only marked as conjugated, negated or zero, and the baseline computes it";
      else if (own & postpones)
        what = " is a copy that is made when it is written to (copy-on-write), and the baseline makes its own";
      if (what != nullptr) return "output tensor " + std::to_string(i) + parts[part] + what;
    }
  }
  return {};
}

}  // namespace pace::detail
