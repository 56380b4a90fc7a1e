// to_text: writes a recorded call as text, the inverse of parse_call().
#pragma once

#include <charconv>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "pace/corpus/dtype.hpp"
#include "pace/corpus/python_repr.hpp"
#include "pace/corpus/value.hpp"

namespace pace::corpus {

namespace detail {

inline void append_value(std::string& out, const Value& value);

inline void append_number(std::string& out, std::int64_t number) {
  char buffer[24];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, number).ptr);
}

/// Elements with `, ` between them; `write` writes one.
template <typename Items, typename Write>
void append_items(std::string& out, const Items& items, Write write) {
  bool first = true;
  for (const auto& item : items) {
    if (!first) out += ", ";
    first = false;
    write(item);
  }
}

/// `(a, b)`, `(a,)` or `()`.
template <typename Items, typename Write>
void append_tuple(std::string& out, const Items& items, Write write) {
  out += '(';
  append_items(out, items, write);
  out += items.size() == 1 ? ",)" : ")";
}

inline void append_tensor(std::string& out, const TensorSpec& tensor) {
  const auto number = [&out](std::int64_t n) { append_number(out, n); };
  out += "T([";
  append_items(out, tensor.sizes, number);
  out += "], ";
  out += abbreviation(tensor.dtype);
  if (tensor.strides) {
    out += ", stride=";
    append_tuple(out, *tensor.strides, number);
  }
  out += ')';
}

inline void append_device(std::string& out, const Device& device) {
  out += "device(type=";
  append_repr(out, std::string_view(device.type));
  if (device.index) {
    out += ", index=";
    append_number(out, *device.index);
  }
  out += ')';
}

/// Appends the string in quotes, as repr() does. An abbreviation of a dtype gets double quotes: in single ones it would
/// be read as the dtype.
inline void append_string(std::string& out, const std::string& text) {
  if (dtype_from_abbreviation(text))
    out += '"' + text + '"';
  else
    append_repr(out, std::string_view(text));
}

/// Appends `value` as it is written without a spelling of its own.
inline void append_canonical(std::string& out, const Value& value) {
  const auto child = [&out](const Value& item) { append_value(out, item); };
  const auto write = [&]<typename T>(const T& v) {
    if constexpr (std::is_same_v<T, None>) {
      out += "None";
    } else if constexpr (std::is_same_v<T, bool>) {
      out += v ? "True" : "False";
    } else if constexpr (std::is_same_v<T, std::int64_t>) {
      append_number(out, v);
    } else if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::complex<double>>) {
      append_repr(out, v);
    } else if constexpr (std::is_same_v<T, BigInt>) {
      out += v.digits;
    } else if constexpr (std::is_same_v<T, std::string>) {
      append_string(out, v);
    } else if constexpr (std::is_same_v<T, TensorSpec>) {
      append_tensor(out, v);
    } else if constexpr (std::is_same_v<T, DType>) {
      out += abbreviation(v);
    } else if constexpr (std::is_same_v<T, TorchName>) {
      out += "torch.";
      out += v.name;
    } else if constexpr (std::is_same_v<T, Device>) {
      append_device(out, v);
    } else if constexpr (std::is_same_v<T, List>) {
      out += '[';
      append_items(out, v.items, child);
      out += ']';
    } else if constexpr (std::is_same_v<T, Tuple>) {
      append_tuple(out, v.items, child);
    } else {
      static_assert(std::is_same_v<T, Dict>);
      out += '{';
      append_items(out, v.items, [&](const std::pair<Value, Value>& item) {
        append_value(out, item.first);
        out += ": ";
        append_value(out, item.second);
      });
      out += '}';
    }
  };
  std::visit(write, value.data);
}

inline void append_value(std::string& out, const Value& value) {
  if (value.spelling.empty()) {
    append_canonical(out, value);
  } else {
    out += value.spelling;
  }
}

}  // namespace detail

/// Returns the value as Python's repr() writes it, with scalars in the spelling in which they were read.
[[nodiscard]] inline std::string to_text(const Value& value) {
  std::string out;
  detail::append_value(out, value);
  return out;
}

/// Returns the call as `((args), {kwargs})`, which follows `cnt: N, ` on a sample line.
[[nodiscard]] inline std::string to_text(const Call& call) {
  std::string out = "(";
  detail::append_tuple(out, call.args, [&out](const Value& value) { detail::append_value(out, value); });
  out += ", {";
  detail::append_items(out, call.kwargs, [&out](const std::pair<std::string, Value>& item) {
    detail::append_repr(out, std::string_view(item.first));
    out += ": ";
    detail::append_value(out, item.second);
  });
  out += "})";
  return out;
}

}  // namespace pace::corpus
