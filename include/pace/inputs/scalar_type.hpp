// Conversions between the dtypes of the file format and LibTorch's; layouts and memory formats by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/ScalarType.h>

#include "pace/corpus/dtype.hpp"

namespace pace::inputs {

namespace detail {

inline constexpr std::pair<corpus::DType, c10::ScalarType> scalar_types[corpus::dtype_count] = {
    {corpus::DType::bf16, c10::ScalarType::BFloat16},
    {corpus::DType::f64, c10::ScalarType::Double},
    {corpus::DType::f32, c10::ScalarType::Float},
    {corpus::DType::f16, c10::ScalarType::Half},
    {corpus::DType::c32, c10::ScalarType::ComplexHalf},
    {corpus::DType::c64, c10::ScalarType::ComplexFloat},
    {corpus::DType::c128, c10::ScalarType::ComplexDouble},
    {corpus::DType::i8, c10::ScalarType::Char},
    {corpus::DType::i16, c10::ScalarType::Short},
    {corpus::DType::i32, c10::ScalarType::Int},
    {corpus::DType::i64, c10::ScalarType::Long},
    {corpus::DType::b8, c10::ScalarType::Bool},
    {corpus::DType::u8, c10::ScalarType::Byte},
    {corpus::DType::u16, c10::ScalarType::UInt16},
    {corpus::DType::u32, c10::ScalarType::UInt32},
    {corpus::DType::u64, c10::ScalarType::UInt64},
    {corpus::DType::f8e4m3fn, c10::ScalarType::Float8_e4m3fn},
    {corpus::DType::f8e5m2, c10::ScalarType::Float8_e5m2},
    {corpus::DType::f8e4m3fnuz, c10::ScalarType::Float8_e4m3fnuz},
    {corpus::DType::f8e5m2fnuz, c10::ScalarType::Float8_e5m2fnuz},
    {corpus::DType::f8e8m0fnu, c10::ScalarType::Float8_e8m0fnu},
    {corpus::DType::f4e2m1fnx2, c10::ScalarType::Float4_e2m1fn_x2},
    {corpus::DType::b16, c10::ScalarType::Bits16},
    {corpus::DType::b1x8, c10::ScalarType::Bits1x8},
    {corpus::DType::bits8, c10::ScalarType::Bits8},
    {corpus::DType::bits2x4, c10::ScalarType::Bits2x4},
    {corpus::DType::bits4x2, c10::ScalarType::Bits4x2},
};

inline constexpr std::pair<std::string_view, c10::Layout> layouts[] = {
    {"strided", c10::Layout::Strided},      {"sparse_coo", c10::Layout::Sparse},
    {"sparse_csr", c10::Layout::SparseCsr}, {"sparse_csc", c10::Layout::SparseCsc},
    {"sparse_bsr", c10::Layout::SparseBsr}, {"sparse_bsc", c10::Layout::SparseBsc},
    {"_mkldnn", c10::Layout::Mkldnn},       {"jagged", c10::Layout::Jagged},
};

inline constexpr std::pair<std::string_view, c10::MemoryFormat> memory_formats[] = {
    {"contiguous_format", c10::MemoryFormat::Contiguous},
    {"preserve_format", c10::MemoryFormat::Preserve},
    {"channels_last", c10::MemoryFormat::ChannelsLast},
    {"channels_last_3d", c10::MemoryFormat::ChannelsLast3d},
};

}  // namespace detail

/// Returns LibTorch's type for a type of the file format.
[[nodiscard]] constexpr c10::ScalarType scalar_type(corpus::DType dtype) {
  for (const auto& [ours, theirs] : detail::scalar_types) {
    if (ours == dtype) return theirs;
  }
  return c10::ScalarType::Undefined;
}

/// Returns the file format's type for one of LibTorch's; nothing if it has none (quantised types, and those
/// of fewer than eight bits).
[[nodiscard]] constexpr std::optional<corpus::DType> dtype_from_scalar_type(c10::ScalarType type) {
  for (const auto& [ours, theirs] : detail::scalar_types) {
    if (theirs == type) return ours;
  }
  return std::nullopt;
}

/// Returns the integer that operators take for the layout or memory format `torch.NAME`; nothing for other names.
[[nodiscard]] constexpr std::optional<std::int64_t> torch_constant(std::string_view name) {
  for (const auto& [known, layout] : detail::layouts) {
    if (known == name) return static_cast<std::int64_t>(layout);
  }
  for (const auto& [known, format] : detail::memory_formats) {
    if (known == name) return static_cast<std::int64_t>(format);
  }
  return std::nullopt;
}

}  // namespace pace::inputs
