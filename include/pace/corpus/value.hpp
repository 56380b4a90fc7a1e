// One recorded argument: a value of the small Python language that operator-input files are written in.
#pragma once

#include <complex>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "pace/corpus/dtype.hpp"

namespace pace::corpus {

struct Value;

/// Python's `None`.
struct None {
  friend bool operator==(const None&, const None&) = default;  ///< always true
};

/// `T([2, 3], f16)` or `T([2, 3], f16, stride=(1, 2))`: a tensor, recorded by its metadata alone. Sizes and
/// strides count elements.
struct TensorSpec {
  std::vector<std::int64_t> sizes;                                         ///< elements in each dimension
  DType dtype = DType::f32;                                                ///< type of the elements
  std::optional<std::vector<std::int64_t>> strides;                        ///< one for each size; absent: contiguous
  friend bool operator==(const TensorSpec&, const TensorSpec&) = default;  ///< compares all members
};

/// A name of the torch module other than a dtype's, such as `strided` or `channels_last`.
struct TorchName {
  std::string name;                                                      ///< without `torch.`
  friend bool operator==(const TorchName&, const TorchName&) = default;  ///< compares the names
};

/// `device(type='cuda', index=0)`. A quoted `'cuda'` is a string, not a Device.
struct Device {
  std::string type;                                                ///< such as `cuda`
  std::optional<std::int64_t> index;                               ///< number of the device; absent: not recorded
  friend bool operator==(const Device&, const Device&) = default;  ///< compares type and index
};

/// An integer that 64 bits cannot hold, as its decimal digits. It can be read and written; no operator takes it.
struct BigInt {
  std::string digits;                                              ///< with a leading `-` if negative
  friend bool operator==(const BigInt&, const BigInt&) = default;  ///< compares the digits
};

/// `[a, b]`: a Python list.
struct List {
  std::vector<Value> items;                              ///< the elements in order
  friend bool operator==(const List& a, const List& b);  ///< compares the elements in order
};

/// `(a, b)`: a Python tuple.
struct Tuple {
  std::vector<Value> items;                                ///< the elements in order
  friend bool operator==(const Tuple& a, const Tuple& b);  ///< compares the elements in order
};

/// `{a: b}`: a Python dict, with its entries in the order of the text.
struct Dict {
  std::vector<std::pair<Value, Value>> items;            ///< keys and values
  friend bool operator==(const Dict& a, const Dict& b);  ///< compares the entries in order
};

namespace detail {

using ValueData = std::variant<None, bool, std::int64_t, double, std::complex<double>, BigInt, std::string, TensorSpec,
                               DType, TorchName, Device, List, Tuple, Dict>;

template <typename T, typename Variant>
struct IsAlternative;
template <typename T, typename... Ts>
struct IsAlternative<T, std::variant<Ts...>> : std::bool_constant<(std::same_as<T, Ts> || ...)> {};

}  // namespace detail

/// A recorded value: a variant of the Python types that recorded calls hold.
struct Value {
  detail::ValueData data;  ///< the value
  /// How a scalar was written, where that differs from what to_text() writes (`1e5` for 100000.0, `torch.bool` for
  /// b8), so that a sample can be written again as it was; otherwise empty.
  std::string spelling;

  Value() = default;  ///< None

  /// Holds `value`, which must be of a type that `data` lists: no conversion takes place (a pointer is no bool).
  template <typename T>
    requires(detail::IsAlternative<std::remove_cvref_t<T>, detail::ValueData>::value)
  Value(T&& value) : data(std::forward<T>(value)) {}  // NOLINT: implicit on purpose
  /// Holds `value` as std::int64_t.
  Value(int value) : data(std::int64_t{value}) {}  // NOLINT
  /// Holds `text` as std::string.
  Value(const char* text) : data(std::string(text)) {}  // NOLINT

  /// Returns the value as a T, or nullptr if it is of another type.
  template <typename T>
  [[nodiscard]] const T* get_if() const {
    return std::get_if<T>(&data);
  }
  /// Returns the value as a T, or nullptr if it is of another type.
  template <typename T>
  [[nodiscard]] T* get_if() {
    return std::get_if<T>(&data);
  }
  /// Whether the value is a T.
  template <typename T>
  [[nodiscard]] bool is() const {
    return std::holds_alternative<T>(data);
  }

  /// Compares the data; the spellings may differ.
  friend bool operator==(const Value& a, const Value& b) { return a.data == b.data; }
};

inline bool operator==(const List& a, const List& b) { return a.items == b.items; }
inline bool operator==(const Tuple& a, const Tuple& b) { return a.items == b.items; }
inline bool operator==(const Dict& a, const Dict& b) { return a.items == b.items; }

/// One recorded call of an operator: `((args), {kwargs})`.
struct Call {
  std::vector<Value> args;                                     ///< positional arguments
  std::vector<std::pair<std::string, Value>> kwargs;           ///< names and values of keyword arguments
  friend bool operator==(const Call&, const Call&) = default;  ///< compares all arguments, keyword arguments in order
};

}  // namespace pace::corpus
