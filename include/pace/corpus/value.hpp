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
  friend bool operator==(const None&, const None&) = default;
};

/// `T([2, 3], f16)` or `T([2, 3], f16, stride=(1, 2))`: a tensor known by its metadata only. Sizes and strides count
/// elements; without strides the tensor is contiguous.
struct TensorSpec {
  std::vector<std::int64_t> sizes;
  DType dtype = DType::f32;
  std::optional<std::vector<std::int64_t>> strides;
  friend bool operator==(const TensorSpec&, const TensorSpec&) = default;
};

/// A name of the torch module that is no dtype, kept without `torch.`: `strided`, `channels_last`, ...
struct TorchName {
  std::string name;
  friend bool operator==(const TorchName&, const TorchName&) = default;
};

/// `device(type='cuda', index=0)`. A quoted `'cuda'` is a string, not a Device.
struct Device {
  std::string type;
  std::optional<std::int64_t> index;
  friend bool operator==(const Device&, const Device&) = default;
};

/// An integer that 64 bits cannot hold, as its decimal digits. It is read and written, but no operator takes it.
struct BigInt {
  std::string digits;
  friend bool operator==(const BigInt&, const BigInt&) = default;
};

struct List {
  std::vector<Value> items;
  friend bool operator==(const List& a, const List& b);
};

struct Tuple {
  std::vector<Value> items;
  friend bool operator==(const Tuple& a, const Tuple& b);
};

struct Dict {
  std::vector<std::pair<Value, Value>> items;
  friend bool operator==(const Dict& a, const Dict& b);
};

namespace detail {

using ValueData = std::variant<None, bool, std::int64_t, double, std::complex<double>, BigInt, std::string, TensorSpec,
                               DType, TorchName, Device, List, Tuple, Dict>;

template <typename T, typename Variant>
struct IsAlternative;
template <typename T, typename... Ts>
struct IsAlternative<T, std::variant<Ts...>> : std::bool_constant<(std::same_as<T, Ts> || ...)> {};

}  // namespace detail

/// A recorded value. `data` is what it means; `spelling` is how a scalar was written, kept only where that differs
/// from what text.hpp would write (`1e5` for 100000.0, `torch.bool` for b8), so that any sample can be written again
/// as it was. Comparison looks at the meaning.
struct Value {
  detail::ValueData data;
  std::string spelling;

  Value() = default;

  /// Takes exactly the alternatives of `data`: nothing converts on the way (a pointer does not become a bool).
  template <typename T>
    requires(detail::IsAlternative<std::remove_cvref_t<T>, detail::ValueData>::value)
  Value(T&& value) : data(std::forward<T>(value)) {}    // NOLINT: implicit on purpose
  Value(int value) : data(std::int64_t{value}) {}       // NOLINT
  Value(const char* text) : data(std::string(text)) {}  // NOLINT

  /// The alternative T, or nullptr where the value is something else.
  template <typename T>
  [[nodiscard]] const T* get_if() const {
    return std::get_if<T>(&data);
  }
  template <typename T>
  [[nodiscard]] T* get_if() {
    return std::get_if<T>(&data);
  }
  template <typename T>
  [[nodiscard]] bool is() const {
    return std::holds_alternative<T>(data);
  }

  friend bool operator==(const Value& a, const Value& b) { return a.data == b.data; }
};

inline bool operator==(const List& a, const List& b) { return a.items == b.items; }
inline bool operator==(const Tuple& a, const Tuple& b) { return a.items == b.items; }
inline bool operator==(const Dict& a, const Dict& b) { return a.items == b.items; }

/// One recorded call of an operator: `((args), {kwargs})`.
struct Call {
  std::vector<Value> args;
  std::vector<std::pair<std::string, Value>> kwargs;
  friend bool operator==(const Call&, const Call&) = default;
};

}  // namespace pace::corpus
