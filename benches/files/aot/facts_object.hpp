// One JSON object of a file. Messages about its fields tell the expected value and the place.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "pace/base/error.hpp"
#include "pace/os/parse_json.hpp"

namespace pace::benches::aot::detail {

/// Knows where it stands in its file.
class FactsObject {
 public:
  /// Throws `Error` if it is no object.
  FactsObject(std::string where, const nlohmann::json& json) : where_(std::move(where)), json_(json) {
    if (!json.is_object()) fail("", "an object", json);
  }

  [[nodiscard]] bool has(const std::string& field) const { return json_.contains(field) && !json_.at(field).is_null(); }

  /// Throws `Error` if there is no such field, or it is no `T`; `expected` names that type for people.
  template <class T>
  [[nodiscard]] T get(const std::string& field, const char* expected) const {
    const nlohmann::json& value = at(field, expected);
    const auto read = [&]() -> std::optional<T> {
      if constexpr (std::same_as<T, std::int64_t>) return whole_number<std::int64_t>(value);
      if constexpr (std::same_as<T, std::vector<std::int64_t>>) return whole_numbers<std::int64_t>(value);
      if (std::same_as<T, double> && !value.is_number()) return std::nullopt;
      try {
        return value.get<T>();
      } catch (const nlohmann::json::exception&) {
        return std::nullopt;
      }
    };
    auto found = read();
    if (!found) fail(field, expected, value);
    return std::move(*found);
  }

  /// Leaves `to` as it was if the field is null or missing.
  template <class T>
  void get_if_known(const std::string& field, const char* expected, T& to) const {
    if (has(field)) to = get<T>(field, expected);
  }

  /// `read` makes an element of where it stands and its JSON. Null is an empty list, a field that is not there an
  /// error.
  template <class Read>
  [[nodiscard]] auto list(const std::string& field, const char* expected, Read read) const {
    std::vector<decltype(read(where_, json_))> elements;
    const nlohmann::json& value = at(field, expected);
    if (value.is_null()) return elements;
    if (!value.is_array()) fail(field, expected, value);
    for (std::size_t i = 0; i < value.size(); ++i)
      elements.push_back(read(inside(field) + '[' + std::to_string(i) + ']', value[i]));
    return elements;
  }

  [[noreturn]] void fail(const std::string& field, const char* expected, const nlohmann::json& found) const {
    constexpr std::size_t most = 60;  // characters of the found text
    std::string text = found.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    if (text.size() > most) text = text.substr(0, most) + "...";
    throw Error((field.empty() ? where_ : inside(field)) + ": expected " + expected + ", found " + text);
  }

 private:
  /// The place within the file follows the file's name and a colon.
  [[nodiscard]] std::string inside(const std::string& field) const {
    return where_ + (where_.ends_with(".json") ? ": " : ".") + field;
  }

  [[nodiscard]] const nlohmann::json& at(const std::string& field, const char* expected) const {
    const auto found = json_.find(field);
    if (found == json_.end()) throw Error(inside(field) + ": expected " + expected + ", found no such field");
    return *found;
  }

  std::string where_;
  const nlohmann::json& json_;
};

}  // namespace pace::benches::aot::detail
