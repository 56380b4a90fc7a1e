// DType: the element types of recorded operator inputs and their names.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace pace::corpus {

/// Element type of a recorded tensor. The enumerators are the abbreviations of the file format: those of PyTorch's
/// torch.utils._dtype_abbrs, and for types that it leaves out the names in PyTorch.
enum class DType : std::uint8_t {
  bf16,
  f64,
  f32,
  f16,
  c32,
  c64,
  c128,
  i8,
  i16,
  i32,
  i64,
  b8,
  u8,
  u16,
  u32,
  u64,
  f8e4m3fn,
  f8e5m2,
  f8e4m3fnuz,
  f8e5m2fnuz,
  f8e8m0fnu,
  f4e2m1fnx2,
  b16,
  b1x8,
  bits8,
  bits2x4,
  bits4x2,
};

/// Number of enumerators of DType.
inline constexpr std::size_t dtype_count = 27;

namespace detail {

struct DTypeNames {
  std::string_view abbreviation;
  std::string_view torch_name;
  std::string_view torch_alias;  // empty where PyTorch has no second name
  std::uint8_t bytes;
};

inline constexpr std::array<DTypeNames, dtype_count> dtype_names{{
    {"bf16", "bfloat16", "", 2},
    {"f64", "float64", "double", 8},
    {"f32", "float32", "float", 4},
    {"f16", "float16", "half", 2},
    {"c32", "complex32", "chalf", 4},
    {"c64", "complex64", "cfloat", 8},
    {"c128", "complex128", "cdouble", 16},
    {"i8", "int8", "", 1},
    {"i16", "int16", "short", 2},
    {"i32", "int32", "int", 4},
    {"i64", "int64", "long", 8},
    {"b8", "bool", "", 1},
    {"u8", "uint8", "", 1},
    {"u16", "uint16", "", 2},
    {"u32", "uint32", "", 4},
    {"u64", "uint64", "", 8},
    {"f8e4m3fn", "float8_e4m3fn", "", 1},
    {"f8e5m2", "float8_e5m2", "", 1},
    {"f8e4m3fnuz", "float8_e4m3fnuz", "", 1},
    {"f8e5m2fnuz", "float8_e5m2fnuz", "", 1},
    {"f8e8m0fnu", "float8_e8m0fnu", "", 1},
    {"f4e2m1fnx2", "float4_e2m1fn_x2", "", 1},
    {"b16", "bits16", "", 2},
    {"b1x8", "bits1x8", "", 1},
    {"bits8", "bits8", "", 1},
    {"bits2x4", "bits2x4", "", 1},
    {"bits4x2", "bits4x2", "", 1},
}};

/// PyTorch's other dtypes, for which the file format has no abbreviation: quantised ones, whose values need a scale,
/// and integers of fewer than eight bits, which LibTorch has no kernels for.
inline constexpr std::array<std::string_view, 19> unmakable_dtypes{
    "qint8", "quint8", "qint32", "quint4x2", "quint2x4", "int1",  "int2",  "int3",  "int4", "int5",
    "int6",  "int7",   "uint1",  "uint2",    "uint3",    "uint4", "uint5", "uint6", "uint7"};

}  // namespace detail

/// The name of the type in the file format: `f16`, `b8`, ...
[[nodiscard]] constexpr std::string_view abbreviation(DType dtype) {
  return detail::dtype_names[static_cast<std::size_t>(dtype)].abbreviation;
}

/// The name of the type in PyTorch, without `torch.`: `float16`, `bool`, ...
[[nodiscard]] constexpr std::string_view torch_name(DType dtype) {
  return detail::dtype_names[static_cast<std::size_t>(dtype)].torch_name;
}

/// Whether `word` is a dtype of PyTorch whose tensors need more than a shape.
[[nodiscard]] constexpr bool is_unmakable_dtype(std::string_view word) {
  for (const auto name : detail::unmakable_dtypes)
    if (name == word) return true;
  return false;
}

/// Bytes of one element.
[[nodiscard]] constexpr std::size_t element_bytes(DType dtype) {
  return detail::dtype_names[static_cast<std::size_t>(dtype)].bytes;
}

/// Whether a run in another precision converts the type: true for bf16, f16, f32 and f64.
[[nodiscard]] constexpr bool is_floating(DType dtype) {
  return dtype == DType::bf16 || dtype == DType::f16 || dtype == DType::f32 || dtype == DType::f64;
}

/// The type that the file format calls `word`; nothing for any other word.
[[nodiscard]] constexpr std::optional<DType> dtype_from_abbreviation(std::string_view word) {
  for (std::size_t i = 0; i < dtype_count; ++i) {
    if (detail::dtype_names[i].abbreviation == word) return static_cast<DType>(i);
  }
  return std::nullopt;
}

/// The type that PyTorch calls `word` (`float16` or `half`, without `torch.`); nothing for any other word.
[[nodiscard]] constexpr std::optional<DType> dtype_from_torch_name(std::string_view word) {
  for (std::size_t i = 0; i < dtype_count; ++i) {
    const auto& names = detail::dtype_names[i];
    if (names.torch_name == word || (!names.torch_alias.empty() && names.torch_alias == word)) {
      return static_cast<DType>(i);
    }
  }
  return std::nullopt;
}

}  // namespace pace::corpus
