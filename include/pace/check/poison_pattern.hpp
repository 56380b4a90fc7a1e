// Poison: a pattern that correct results do not hold, written to the memory of outputs and found later.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <cstring>

#include "pace/check/chunks.hpp"
#include "pace/check/raw_memory.hpp"

namespace pace::check {

namespace detail {

/// The pattern: a little-endian 16-bit word that fills memory from even addresses on (bytes fa 7f fa 7f ...).
/// - Repeated, it is a quiet NaN in every floating and complex type from 16 bits on. No comparison with a number
///   passes, and results computed from it are NaN again.
/// - Its payload is none that hardware or a library makes (7e00, 7fc0, 7fc00000, 7ff80...0, or all ones), so a computed
///   NaN does not look like poison.
/// - As an integer it is near the largest one (32762, 2147123194, 9.2e18), far from 0, -1 and the extremes.
/// - A bool gets a byte that is neither 0 nor 1. Reading that as a C++ bool is undefined, so the checks read bools as
///   bytes.
inline constexpr std::uint16_t poison_word = 0x7ffa;
inline constexpr std::int32_t poison_32 = 0x7ffa7ffa;
inline constexpr std::int64_t poison_64 = 0x7ffa7ffa7ffa7ffa;
inline constexpr std::uint8_t poison_low = 0xfa, poison_high = 0x7f;

/// A single byte is poison by chance once in 128 times. A one-byte tensor must have at least this many bytes, all
/// poison. A bool holds neither byte unless it is poison.
inline constexpr std::int64_t fewest_poison_bytes = 8;

/// Fills [data, data + bytes) in main memory with poison, about as fast as memset.
inline void poison_memory(void* data, std::size_t bytes) {
  auto* at = static_cast<unsigned char*>(data);
  auto* const end = at + bytes;
  const auto byte_at = [](const unsigned char* address) {
    return reinterpret_cast<std::uintptr_t>(address) % 2 == 0 ? poison_low : poison_high;
  };
  for (; at != end && reinterpret_cast<std::uintptr_t>(at) % 8 != 0; ++at) *at = byte_at(at);
  for (; end - at >= 8; at += 8) std::memcpy(at, &poison_64, 8);
  for (; at != end; ++at) *at = byte_at(at);
}

/// Where `elements` (of elements_of, or a piece of it) are poison, as a bool tensor.
[[nodiscard]] at::Tensor poison_mask(const auto& elements) {
  switch (elements.scalar_type()) {
    case at::kShort:
      return elements.eq(static_cast<std::int64_t>(poison_word));
    case at::kInt:
      return elements.eq(poison_32);
    case at::kLong:
      return elements.eq(poison_64);
    default:
      return elements.eq(poison_low).logical_or_(elements.eq(poison_high));
  }
}

[[nodiscard]] bool has_plain_memory(const auto& tensor) {
  return tensor.defined() && !tensor.is_meta() && !tensor.is_nested() && tensor.layout() == c10::kStrided &&
         tensor.numel() > 0 && tensor.has_storage() && tensor.storage().data() != nullptr;
}

}  // namespace detail

/// Overwrites every element of `tensor` with poison, on any device. Keeps its address, autograd history and version.
/// Does not write the gaps of a strided view, which belong to other tensors. Has no effect on tensors without plain
/// memory (sparse, undefined, meta, empty).
inline void poison_(at::Tensor& tensor) {
  if (!detail::has_plain_memory(tensor)) return;
  const c10::NoGradGuard no_grad;
  if (tensor.is_cpu() && tensor.is_non_overlapping_and_dense()) {
    const detail::ByteSpan span = detail::byte_span(tensor);
    detail::poison_memory(static_cast<char*>(tensor.storage().mutable_data()) + span.begin,
                          static_cast<std::size_t>(span.end - span.begin));
    return;
  }
  auto elements = detail::elements_of(tensor);
  switch (elements.scalar_type()) {
    case at::kShort:
      elements.fill_(static_cast<std::int64_t>(detail::poison_word));
      return;
    case at::kInt:
      elements.fill_(static_cast<std::int64_t>(detail::poison_32));
      return;
    case at::kLong:
      elements.fill_(detail::poison_64);
      return;
    default:
      elements.fill_(static_cast<std::int64_t>(detail::poison_low));
  }
}

/// Returns the number of elements of `tensor` that hold poison; 0 for a tensor without plain memory. One-byte integers
/// can hold it by chance.
[[nodiscard]] std::int64_t poisoned_elements(const auto& tensor) {
  if (!detail::has_plain_memory(tensor)) return 0;
  const c10::NoGradGuard no_grad;
  std::int64_t count = 0;
  const bool pairs = tensor.element_size() == 16;
  for (detail::Chunks pieces{detail::elements_of(tensor)}; pieces.next();)
    count += detail::poison_mask(pieces[0]).sum().template item<std::int64_t>();
  return pairs ? count / 2 : count;
}

/// Whether every element of `tensor` is poison: nothing wrote to it. Mostly reads only the first element.
[[nodiscard]] bool looks_poisoned(const auto& tensor) {
  if (!detail::has_plain_memory(tensor)) return false;
  const c10::NoGradGuard no_grad;
  const bool chancy = tensor.element_size() == 1 && tensor.scalar_type() != at::kBool;
  if (chancy && tensor.numel() < detail::fewest_poison_bytes) return false;
  const auto all_poison = [](const auto& piece) { return detail::poison_mask(piece).all().template item<bool>(); };
  auto elements = detail::elements_of(tensor);
  auto first = elements;
  while (first.dim() > 0) first = first.select(0, 0);
  if (!all_poison(first)) return false;
  for (detail::Chunks pieces{elements}; pieces.next();)
    if (!all_poison(pieces[0])) return false;
  return true;
}

}  // namespace pace::check
