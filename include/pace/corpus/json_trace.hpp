// Reads operator inputs that were recorded as JSON: `{"NAME": [{"count": N, "inputs": "((args), {kwargs})"}]}`.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "pace/base/error.hpp"
#include "pace/corpus/blocks.hpp"
#include "pace/corpus/cursor.hpp"
#include "pace/os/parse_json.hpp"

namespace pace::corpus::detail {

/// Whether a file of recorded inputs is JSON, by its first character. No line of the text format begins with a brace.
[[nodiscard]] inline bool looks_like_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

/// Turns one JSON file into blocks, in the order of the file; an operator may come twice, as in the text format. Each
/// entry of an operator has its call in "inputs", and in "count" how often it was recorded (1 without it). Other fields
/// are left alone.
class JsonReader {
 public:
  JsonReader(Blocks& blocks, std::string file) : blocks_(blocks), file_(std::move(file)) {}

  /// Throws InputError for text that is no such JSON, and for a malformed entry unless the blocks collect these.
  void read(std::string_view text) {
    Json json;
    std::vector<std::pair<std::string, Json>> operators;
    try {
      json = parse_operators(text, operators);
    } catch (const std::exception& error) {
      throw InputError({file_},
                       std::string(error.what()) + "; expected recorded operator inputs as text or as " + form);
    }
    if (!json.is_object()) throw InputError({file_}, "expected recorded operator inputs as " + form);
    rest_ = text;
    for (const auto& [name, entries] : operators) {
      bool good = false;
      blocks_.guard([&] {
        start(name, entries);
        good = true;
      });
      for (std::size_t i = 0; good && i < entries.size(); ++i) blocks_.guard([&] { add(name, i, entries[i]); });
    }
  }

 private:
  using Json = nlohmann::ordered_json;
  static inline const std::string form =
      R"json({"NAME": [{"count": N, "inputs": "((arguments), {keyword arguments})"}]})json";

  /// Moves the members of the file into `operators`, and leaves an object without their values. An object would keep
  /// the last of two equal keys alone, and lose the samples of the first. Throws Error for an entry with two equal
  /// keys.
  [[nodiscard]] static Json parse_operators(std::string_view text,
                                            std::vector<std::pair<std::string, Json>>& operators) {
    using Event = Json::parse_event_t;
    constexpr int in_file = 1, in_list = 2, in_entry = 3;
    std::string name;
    std::vector<std::string> keys;
    return parse_json<Json>(text, [&](int depth, Event event, Json& value) {
      const bool is_start = event == Event::object_start || event == Event::array_start;
      if (depth == in_file && event == Event::key) {
        name = value.template get<std::string>();
      } else if (depth == in_file && !is_start) {
        operators.emplace_back(name, std::move(value));
      } else if (depth == in_list && event == Event::object_start) {
        keys.clear();
      } else if (depth == in_entry && event == Event::key) {
        keys.push_back(value.template get<std::string>());
        if (std::ranges::count(keys, keys.back()) > 1)
          throw Error(name + ": an entry has the key '" + keys.back() + "' twice");
      }
    });
  }

  [[noreturn]] void refuse(const std::string& name, const std::string& message) const {
    throw InputError({file_}, name + ": " + message);
  }

  void start(const std::string& name, const Json& entries) {
    const auto in_name = [](char c) { return is_word(c) || c == '.' || c == ':'; };
    if (name.empty() || !std::ranges::all_of(name, in_name))
      refuse(quoted_start(name), "expected the name of an operator, such as aten.add.Tensor");
    if (!entries.is_array()) refuse(name, "expected a list of recorded calls");
    blocks_.start(name);
  }

  void add(const std::string& name, std::size_t number, const Json& entry) {
    const std::string which = "entry " + std::to_string(number + 1) + ": ";
    if (!entry.is_object() || !entry.contains("inputs") || !entry["inputs"].is_string())
      refuse(name, which + R"(expected an object with the string "inputs")");
    std::int64_t count = 1;
    if (entry.contains("count")) {
      if (!entry["count"].is_number_integer() || entry["count"] < 0)
        refuse(name, which + "expected a whole \"count\" of at least 0, found " + entry["count"].dump());
      count = entry["count"].get<std::int64_t>();
    }
    const auto call = entry["inputs"].get<std::string>();
    blocks_.add(call, count, find(call));
  }

  /// Where the string stands in the file. Entries come in the order of the file, so each is sought behind the last. Of
  /// a string with escapes, only the file is known.
  Location find(const std::string& call) {
    const std::size_t at = rest_.find(call);
    if (at == std::string_view::npos) return {file_};
    where_ = advanced(where_, rest_.substr(0, at));
    rest_.remove_prefix(at);
    return where_;
  }

  Blocks& blocks_;
  std::string file_;
  std::string_view rest_;
  Location where_{file_, 1, 1};
};

}  // namespace pace::corpus::detail
