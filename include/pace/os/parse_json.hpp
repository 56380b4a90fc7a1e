// parse_json: parses JSON from files of any origin, with a limit to its depth. whole_number: a number of such a file.
#pragma once

#include <concepts>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/os/read_file.hpp"

namespace pace {

/// Most levels of arrays and objects. pace itself writes about ten.
inline constexpr int deepest_json = 100;

/// Returns the value of `text`; `Json` is a type of nlohmann's library. Throws that library's error for text that is
/// not JSON, and Error for more than `deepest_json` levels. Copying, comparing and writing recurse into the levels, and
/// enough of them exhaust the stack. Calls `visit(depth, event, value)` for each event of the parser. It sees every
/// key; the returned object keeps only the last of equal ones.
template <class Json, class Visit>
[[nodiscard]] Json parse_json(std::string_view text, const Visit& visit) {
  return Json::parse(text, [&visit](int depth, auto event, Json& value) {
    if (depth > deepest_json) throw Error("is JSON nested more than " + std::to_string(deepest_json) + " levels deep");
    visit(depth, event, value);
    return true;
  });
}

/// The same without a visitor.
template <class Json>
[[nodiscard]] Json parse_json(std::string_view text) {
  return parse_json<Json>(text, [](int /*depth*/, auto /*event*/, Json& /*value*/) {});
}

/// Returns the value in the file at `path`. Throws InputError, with the file and the `expected` content, if it cannot
/// be read (see read_file) or is not JSON.
template <class Json>
[[nodiscard]] Json read_json_file(const std::string& path, const std::string& expected) {
  const std::string text = read_file(path, expected);
  try {
    return parse_json<Json>(text);
  } catch (const std::exception& error) {
    throw InputError({path}, std::string(error.what()) + "; expected " + expected);
  }
}

/// Returns the value if it is a whole number that `T` can hold. nlohmann's get() makes another number of a fraction, of
/// true, and of a number beyond the type's range.
template <std::integral T, class Json>
[[nodiscard]] std::optional<T> whole_number(const Json& json) {
  const auto held = [](auto number) {
    return std::in_range<T>(number) ? std::optional(static_cast<T>(number)) : std::nullopt;
  };
  if (json.is_number_unsigned()) return held(json.template get<std::uint64_t>());
  return json.is_number_integer() ? held(json.template get<std::int64_t>()) : std::nullopt;
}

/// The same for a list of whole numbers.
template <std::integral T, class Json>
[[nodiscard]] std::optional<std::vector<T>> whole_numbers(const Json& json) {
  if (!json.is_array()) return std::nullopt;
  std::vector<T> numbers;
  for (const auto& each : json) {
    const auto number = whole_number<T>(each);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

}  // namespace pace
