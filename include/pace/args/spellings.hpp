// Text of command lines: spellings of names, and lines of the help.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace pace::args::detail {

/// Returns the parts of `text` between the letters `at`.
inline std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// Returns the name and the spellings that are accepted for it.
inline std::set<std::string> variants(const std::string& name, bool camel_case) {
  std::set<std::string> all{name};
  if (!name.starts_with("--")) return all;
  std::string underscores = name, camel = "--";
  std::replace(underscores.begin() + 2, underscores.end(), '-', '_');
  bool upper = false;
  for (const char letter : name.substr(2)) {
    if (letter != '-') camel += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(letter))) : letter;
    upper = letter == '-';
  }
  all.insert(underscores);
  if (camel_case) all.insert(camel);
  return all;
}

/// Returns `text` in lines of at most `width` columns, broken at blanks.
inline std::string wrapped(const std::string& text, std::size_t width) {
  std::string lines;
  std::size_t column = 0;
  for (const auto& word : split(text, ' ')) {
    if (column > 0 && column + 1 + word.size() > width) lines += '\n', column = 0;
    if (column > 0) lines += ' ', ++column;
    lines += word;
    column += word.size();
  }
  return lines;
}

/// Returns `text` with small letters in place of capitals.
inline std::string in_small_letters(std::string text) {
  for (char& letter : text) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return text;
}

}  // namespace pace::args::detail
