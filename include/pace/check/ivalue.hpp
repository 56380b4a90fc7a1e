// Values of any structure: a functor's result as an IValue, and the tensors inside an IValue.
#pragma once

#include <ATen/core/ivalue.h>

#include <array>
#include <complex>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pace/base/config.hpp"

namespace pace {

/// Converts a functor's result of type T to an IValue, by a static `convert(const T&)`. Tensors are not copied.
///
/// Specialisations exist for
///  - tensors, arithmetic types, strings, std::complex, at::Scalar, at::Device, c10::IValue, std::nullopt;
///  - std::optional: an empty one becomes None;
///  - c10::intrusive_ptr of what an IValue can hold;
///  - std::vector, std::array, at::ArrayRef, c10::List, at::TensorList: lists;
///  - std::map, std::unordered_map, c10::Dict: dicts;
///  - std::tuple, std::pair: tuples.
///
/// Further types need a specialisation, whose conversion is a part of the timed call:
///   template <> struct pace::ToIValue<MyOutput> {
///     static c10::IValue convert(const MyOutput& out) { return pace::to_ivalue(std::tie(out.logits, out.hidden)); }
///   };
template <class T>
struct ToIValue {};

template <class T>
[[nodiscard]] c10::IValue to_ivalue(T&& value);

namespace check::detail {

template <class T>
concept HasConversion = requires(const T& value) { ToIValue<T>::convert(value); };

/// A list of values of any types.
template <class Range>
[[nodiscard]] c10::IValue list_of(const Range& values) {
  c10::impl::GenericList list(c10::AnyType::get());
  for (auto&& value : values) list.push_back(to_ivalue(value));
  return list;
}

template <class Map>
[[nodiscard]] c10::IValue dict_of(const Map& values) {
  c10::impl::GenericDict dict(c10::AnyType::get(), c10::AnyType::get());
  for (const auto& each : values) dict.insert_or_assign(to_ivalue(each.first), to_ivalue(each.second));
  return dict;
}

template <class Tuple>
[[nodiscard]] c10::IValue tuple_of(const Tuple& values) {
  std::vector<c10::IValue> elements;
  std::apply([&](const auto&... each) { (elements.push_back(to_ivalue(each)), ...); }, values);
  return c10::ivalue::Tuple::create(std::move(elements));
}

}  // namespace check::detail

/// @cond

// The primary template documents these specialisations. First, types that an IValue takes directly.
template <class T>
  requires(std::is_arithmetic_v<T> || std::is_same_v<T, at::Tensor> || std::is_same_v<T, c10::IValue> ||
           std::is_same_v<T, std::string> || std::is_same_v<T, at::Scalar> || std::is_same_v<T, at::Device> ||
           std::is_same_v<T, c10::complex<double>> || std::is_same_v<T, std::nullopt_t>)
struct ToIValue<T> {
  static c10::IValue convert(const T& value) {
    if constexpr (std::is_same_v<T, bool> || !std::is_arithmetic_v<T>) {
      return value;
    } else if constexpr (std::is_floating_point_v<T>) {
      return static_cast<double>(value);
    } else if constexpr (std::is_unsigned_v<T> && sizeof(T) == 8) {
      return static_cast<std::uint64_t>(value);
    } else {
      return static_cast<std::int64_t>(value);
    }
  }
};
template <class T>
  requires(std::is_base_of_v<at::TensorBase, T> && !std::is_same_v<T, at::Tensor>)
struct ToIValue<T> {
  static c10::IValue convert(const T& value) { return at::Tensor(value); }
};
template <class T>
  requires(!std::is_same_v<T, std::string> && std::is_convertible_v<const T&, std::string_view>)
struct ToIValue<T> {
  static c10::IValue convert(const T& value) { return std::string(std::string_view(value)); }
};
template <class T>
struct ToIValue<std::complex<T>> {
  static c10::IValue convert(const std::complex<T>& value) {
    return c10::complex<double>(static_cast<double>(value.real()), static_cast<double>(value.imag()));
  }
};
template <class T>
struct ToIValue<std::optional<T>> {
  static c10::IValue convert(const std::optional<T>& value) { return value ? to_ivalue(*value) : c10::IValue(); }
};
template <class T>
struct ToIValue<c10::intrusive_ptr<T>> {
  static c10::IValue convert(const c10::intrusive_ptr<T>& value) { return value; }
};

template <>
struct ToIValue<std::vector<at::Tensor>> {
  static c10::IValue convert(const std::vector<at::Tensor>& values) { return values; }
};
template <>
struct ToIValue<at::TensorList> {
  static c10::IValue convert(at::TensorList values) { return values; }
};
template <class T>
struct ToIValue<std::vector<T>> {
  static c10::IValue convert(const std::vector<T>& values) { return check::detail::list_of(values); }
};
template <class T>
struct ToIValue<at::ArrayRef<T>> {
  static c10::IValue convert(at::ArrayRef<T> values) { return check::detail::list_of(values); }
};
template <class T, std::size_t n>
struct ToIValue<std::array<T, n>> {
  static c10::IValue convert(const std::array<T, n>& values) { return check::detail::list_of(values); }
};
template <class T>
struct ToIValue<c10::List<T>> {
  static c10::IValue convert(const c10::List<T>& values) { return values; }
};
template <class K, class V>
struct ToIValue<c10::Dict<K, V>> {
  static c10::IValue convert(const c10::Dict<K, V>& values) { return values; }
};
template <class K, class V>
struct ToIValue<std::map<K, V>> {
  static c10::IValue convert(const std::map<K, V>& values) { return check::detail::dict_of(values); }
};
template <class K, class V>
struct ToIValue<std::unordered_map<K, V>> {
  static c10::IValue convert(const std::unordered_map<K, V>& values) { return check::detail::dict_of(values); }
};
template <class... T>
struct ToIValue<std::tuple<T...>> {
  static c10::IValue convert(const std::tuple<T...>& values) { return check::detail::tuple_of(values); }
};
template <class A, class B>
struct ToIValue<std::pair<A, B>> {
  static c10::IValue convert(const std::pair<A, B>& values) { return check::detail::tuple_of(values); }
};

namespace check::detail {

/// Whether converting a T only wraps it, and runs no code of the user.
template <class T>
inline constexpr bool only_wraps =
    std::is_arithmetic_v<T> || std::is_base_of_v<at::TensorBase, T> || std::is_same_v<T, c10::IValue> ||
    std::is_same_v<T, std::string> || std::is_same_v<T, at::Scalar> || std::is_same_v<T, at::Device> ||
    std::is_same_v<T, c10::complex<double>> || std::is_same_v<T, std::nullopt_t> || std::is_same_v<T, at::TensorList>;
template <class T>
inline constexpr bool only_wraps<std::complex<T>> = true;
template <class T>
inline constexpr bool only_wraps<c10::intrusive_ptr<T>> = true;
template <class T>
inline constexpr bool only_wraps<c10::List<T>> = true;
template <class K, class V>
inline constexpr bool only_wraps<c10::Dict<K, V>> = true;
template <class T>
inline constexpr bool only_wraps<std::optional<T>> = only_wraps<T>;
template <class T>
inline constexpr bool only_wraps<std::vector<T>> = only_wraps<T>;
template <class T, std::size_t n>
inline constexpr bool only_wraps<std::array<T, n>> = only_wraps<T>;
template <class K, class V>
inline constexpr bool only_wraps<std::map<K, V>> = only_wraps<K> && only_wraps<V>;
template <class K, class V>
inline constexpr bool only_wraps<std::unordered_map<K, V>> = only_wraps<K> && only_wraps<V>;
template <class... T>
inline constexpr bool only_wraps<std::tuple<T...>> = (only_wraps<T> && ...);
template <class A, class B>
inline constexpr bool only_wraps<std::pair<A, B>> = only_wraps<A> && only_wraps<B>;

}  // namespace check::detail

/// @endcond

/// Converts `value` to an IValue by ToIValue, without copying tensors. Does not compile for a type without one.
template <class T>
[[nodiscard]] c10::IValue to_ivalue(T&& value) {
  using Plain = std::remove_cvref_t<T>;
  static_assert(check::detail::HasConversion<Plain>,
                "pace cannot compare results of this type: return a tensor, a number, a string, or a tuple, pair, "
                "vector, map or optional of these, or specialise pace::ToIValue<T> with a static convert(const T&)");
  if constexpr (check::detail::HasConversion<Plain>) return ToIValue<Plain>::convert(value);
}

/// Calls `function(arguments...)` and converts its result by to_ivalue; returns None if `function` returns void.
template <class Function, class... Arguments>
[[nodiscard]] c10::IValue invoke_to_ivalue(Function&& function, Arguments&&... arguments) {
  if constexpr (std::is_void_v<std::invoke_result_t<Function, Arguments...>>) {
    std::forward<Function>(function)(std::forward<Arguments>(arguments)...);
    return {};
  } else {
    return to_ivalue(std::forward<Function>(function)(std::forward<Arguments>(arguments)...));
  }
}

namespace check {

using pace::invoke_to_ivalue;
using pace::to_ivalue;

/// Calls `visit(const at::Tensor&)` for every defined tensor in `value`, depth first and in order. Looks into lists,
/// tuples and dicts. Visits a tensor that occurs twice twice.
template <class Visit>
void for_each_tensor(const c10::IValue& value, Visit&& visit) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) visit(value.toTensor());
  } else if (value.isTuple()) {
    for (const auto& element : value.toTupleRef().elements()) for_each_tensor(element, visit);
  } else if (value.isList()) {
    for (const auto& element : value.toListRef()) for_each_tensor(element, visit);
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) for_each_tensor(entry.value(), visit);
  }
}

/// Returns the tensors that for_each_tensor() visits, in the same order.
[[nodiscard]] std::vector<at::Tensor> tensors_of(const c10::IValue& value);

}  // namespace check
}  // namespace pace

#ifdef PACE_HEADER_ONLY
#include "pace/check/ivalue-inl.hpp"
#endif
