// parse_json: parses JSON from files of any origin, with a limit to its depth.
#pragma once

#include <exception>
#include <string>
#include <string_view>

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

}  // namespace pace
