// A place in the text being parsed, and errors that point at it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "pace/base/error.hpp"

namespace pace::corpus::detail {

[[nodiscard]] constexpr bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
[[nodiscard]] constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
[[nodiscard]] constexpr bool is_word_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
[[nodiscard]] constexpr bool is_word(char c) { return is_word_start(c) || is_digit(c); }

/// The first 24 bytes of `text` in quotes for a message, with unprintable bytes as `\xNN`.
[[nodiscard]] inline std::string quoted_start(std::string_view text) {
  constexpr std::size_t longest = 24;
  constexpr std::string_view hex = "0123456789abcdef";
  std::string out = "'";
  for (const char c : text.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      out += c;
    } else {
      out += "\\x";
      out += hex[byte >> 4];
      out += hex[byte & 15];
    }
  }
  out += text.size() > longest ? "'..." : "'";
  return out;
}

/// The location behind `text`, which starts at `start`. Columns count characters of UTF-8, as editors do. An unknown
/// line or column of `start` is taken for 1.
[[nodiscard]] inline Location advanced(const Location& start, std::string_view text) {
  Location where = start;
  where.line = std::max<std::size_t>(where.line, 1);
  where.column = std::max<std::size_t>(where.column, 1);
  for (const char c : text) {
    if (c == '\n') {
      ++where.line;
      where.column = 1;
    } else if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) {
      ++where.column;
    }
  }
  return where;
}

/// Reads `text` from left to right. The text and the location must outlive the cursor.
class Cursor {
 public:
  Cursor(std::string_view text, const Location& where, std::string_view op) : text_(text), where_(where), op_(op) {}

  [[nodiscard]] bool at_end() const { return position_ >= text_.size(); }
  /// The next byte; NUL at the end.
  [[nodiscard]] char peek() const { return at_end() ? '\0' : text_[position_]; }
  [[nodiscard]] std::size_t position() const { return position_; }
  [[nodiscard]] std::string_view since(std::size_t start) const { return text_.substr(start, position_ - start); }
  [[nodiscard]] Location location(std::size_t position) const { return advanced(where_, text_.substr(0, position)); }

  void advance(std::size_t count = 1) { position_ = std::min(position_ + count, text_.size()); }
  void rewind(std::size_t position) { position_ = position; }
  void skip_space() {
    while (!at_end() && is_space(text_[position_])) ++position_;
  }
  /// Skips white space, then takes `c` where it comes next.
  bool accept(char c) {
    skip_space();
    if (at_end() || text_[position_] != c) return false;
    ++position_;
    return true;
  }
  void expect(char c, std::string_view expected) {
    if (!accept(c)) fail(expected);
  }
  /// The word (letters, digits, underscores) that starts here; empty where none does.
  std::string_view word() {
    const std::size_t start = position_;
    if (is_word_start(peek())) {
      while (is_word(peek())) ++position_;
    }
    return since(start);
  }

  /// Throws an InputError at the present place: `expected X, found Y`.
  [[noreturn]] void fail(std::string_view expected) const {
    std::string message = "expected ";
    message += expected;
    message += ", found ";
    message += at_end() ? std::string("the end of the sample") : quoted_start(text_.substr(position_));
    fail_at(position_, message);
  }
  [[noreturn]] void fail_at(std::size_t position, const std::string& message) const {
    throw InputError(location(position), of_operator() + message);
  }
  /// Throws Unsupported, for input that is well-formed but cannot be replayed.
  [[noreturn]] void refuse_at(std::size_t position, const std::string& message) const {
    const std::string place = location(position).to_string();
    throw Unsupported((place.empty() ? "" : place + ": ") + of_operator() + message);
  }

 private:
  [[nodiscard]] std::string of_operator() const { return op_.empty() ? "" : std::string(op_) + ": "; }

  std::string_view text_;
  const Location& where_;
  std::string_view op_;
  std::size_t position_ = 0;
};

}  // namespace pace::corpus::detail
