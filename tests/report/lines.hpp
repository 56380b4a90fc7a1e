// Results files as one value, which tests change and look into, and as the lines that they are.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

namespace lines {

using Json = nlohmann::ordered_json;

/// The lines of a file: a first one with all keys of `document` but "results", whose elements are the others.
inline std::string text_of(Json document) {
  Json results = Json::array();
  if (document.is_object() && document.contains("results")) {
    results = document["results"];
    document.erase("results");
  }
  std::string text = document.dump() + '\n';
  for (const auto& each : results) text += each.dump() + '\n';
  return text;
}

/// The same backwards. Every line must have an end, and there must be one.
inline Json document_of(const std::string& text) {
  Json document, results = Json::array();
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = text.find('\n', begin);
    if (end == std::string::npos) throw std::runtime_error("a line without an end: " + text.substr(begin));
    auto line = Json::parse(text.substr(begin, end - begin));
    if (begin == 0)
      document = std::move(line);
    else
      results.push_back(std::move(line));
    begin = end + 1;
  }
  document["results"] = std::move(results);
  return document;
}

}  // namespace lines
