// Values as JSON and back, by the tables of fields.hpp.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "pace/base/error.hpp"
#include "pace/base/units.hpp"
#include "pace/os/parse_json.hpp"
#include "pace/report/fields.hpp"

namespace pace::report {

/// Keys keep the order in which they are written.
using Json = nlohmann::ordered_json;

/// Returns the value as one line of text. Bytes that are not UTF-8 become U+FFFD, so that a message with such bytes
/// does not cost the result.
[[nodiscard]] inline std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

namespace detail {

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;

/// Returns the value as JSON. A number that is not finite is null, since JSON has neither NaN nor infinity.
template <class T>
[[nodiscard]] Json write_value(const T& value) {
  if constexpr (DescribedStruct<T>) {
    Json json = Json::object();
    for_each_field<T>([&]<class Row>(const Row& row) {
      if constexpr (requires { row.member; }) {
        const bool exists = row.only_if == nullptr || value.*row.only_if;
        json.emplace(row.key, exists ? write_value(value.*row.member) : Json(nullptr));
      } else if constexpr (requires { row.map; }) {
        for (const auto& [key, text] : value.*row.map) json.emplace(key, text);  // keeps earlier keys
      } else {
        json.emplace(row.key, write_value((value.*row.function)()));
      }
    });
    return json;
  } else if constexpr (DescribedEnum<T>) {
    return to_string(value);
  } else if constexpr (is_optional<T>) {
    return value ? write_value(*value) : Json(nullptr);
  } else if constexpr (is_vector<T>) {
    Json json = Json::array();
    for (const auto& each : value) json.push_back(write_value(each));
    return json;
  } else if constexpr (std::same_as<T, Nanoseconds>) {
    return value.count();
  } else {
    return value;
  }
}

[[noreturn]] inline void expected(const std::string& what, const Json& found) {
  constexpr std::size_t most = 40;
  std::string text = text_of(found);
  if (text.size() > most) text = text.substr(0, most) + "...";
  throw Error("expected " + what + ", found " + text);
}

/// Calls `read` and puts `what` before the message of an error that it throws.
template <class Read>
void reading(const std::string& what, const Read& read) {
  try {
    read();
  } catch (const std::exception& error) {
    throw Error(what + ": " + error.what());
  }
}

/// Whether the table of `T` names the key.
template <DescribedStruct T>
[[nodiscard]] bool has_field(const std::string& key) {
  bool found = false;
  for_each_field<T>([&](const auto& row) {
    if constexpr (requires { row.key; }) found = found || key == row.key;
  });
  return found;
}

/// Reads `json` into `value`. Throws Error, which names the keys that lead to the place.
template <class T>
void read_value(const Json& json, T& value) {
  if constexpr (DescribedStruct<T>) {
    if (!json.is_object()) expected("an object", json);
    for_each_field<T>([&]<class Row>(const Row& row) {
      if constexpr (requires { row.member; }) {
        const std::string key(row.key);
        const auto found = json.find(key);
        // Null in the place of a number stands for one that was not finite.
        using Member = std::remove_cvref_t<decltype(value.*row.member)>;
        const bool may_be_null =
            (std::floating_point<Member> || std::same_as<Member, Nanoseconds>) && row.only_if == nullptr;
        const bool is_there = found != json.end() && (may_be_null || !found->is_null());
        if (!is_there && row.required) throw Error("has no \"" + key + '"');
        if (is_there) reading(key, [&] { read_value(*found, value.*row.member); });
      } else if constexpr (requires { row.map; }) {
        for (const auto& [key, text] : json.items())
          if (!has_field<T>(key) && text.is_string()) (value.*row.map)[key] = text.template get<std::string>();
      }
    });
  } else if constexpr (DescribedEnum<T>) {
    std::string known;
    for (const T each : Schema<T>::values) {
      if (json == to_string(each)) {
        value = each;
        return;
      }
      known += (known.empty() ? "" : ", ") + std::string(to_string(each));
    }
    expected("one of " + known, json);
  } else if constexpr (is_optional<T>) {
    read_value(json, value.emplace());
  } else if constexpr (is_vector<T>) {
    if (!json.is_array()) expected("an array", json);
    value.clear();
    for (const auto& each : json)
      reading("element " + std::to_string(value.size() + 1), [&] { read_value(each, value.emplace_back()); });
  } else if constexpr (std::same_as<T, std::map<std::string, std::string>>) {
    if (!json.is_object()) expected("an object", json);
    for (const auto& [key, text] : json.items()) reading(key, [&] { read_value(text, value[key]); });
  } else if constexpr (std::same_as<T, Nanoseconds>) {
    double count = 0;
    read_value(json, count);
    value = Nanoseconds(count);
  } else if constexpr (std::same_as<T, bool>) {
    if (!json.is_boolean()) expected("true or false", json);
    value = json.get<bool>();
  } else if constexpr (std::floating_point<T>) {
    if (!json.is_number() && !json.is_null()) expected("a number", json);
    value = json.is_null() ? std::numeric_limits<T>::quiet_NaN() : json.get<T>();
  } else if constexpr (std::integral<T>) {
    const auto whole = whole_number<T>(json);
    if (!whole) expected(std::is_unsigned_v<T> ? "a whole number from 0 on" : "a whole number", json);
    value = *whole;
  } else {
    if (!json.is_string()) expected("a text", json);
    value = json.get<std::string>();
  }
}

}  // namespace detail

}  // namespace pace::report
