// parse_call: reads one recorded call, `((args), {kwargs})`, into values; errors name the place and the reason.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/corpus/cursor.hpp"
#include "pace/corpus/scan.hpp"
#include "pace/corpus/scan_tensor.hpp"
#include "pace/corpus/text.hpp"
#include "pace/corpus/value.hpp"

namespace pace::corpus {

namespace detail {

/// Recursive descent over the value language. Recorded data nest three deep; the limit keeps malicious text from
/// overflowing the stack.
class Parser {
 public:
  static constexpr int deepest = 64;

  explicit Parser(Cursor cursor) : cursor_(cursor) {}

  Call call() {
    Call out;
    cursor_.expect('(', "'(' that opens ((arguments), {keyword arguments})");
    cursor_.expect('(', "'(' that opens the tuple of arguments");
    out.args = tuple_items();
    cursor_.expect(',', "',' between the arguments and the keyword arguments");
    cursor_.expect('{', "'{' that opens the keyword arguments");
    out.kwargs = keyword_arguments();
    cursor_.accept(',');
    cursor_.expect(')', "')' behind the keyword arguments");
    cursor_.skip_space();
    if (!cursor_.at_end()) cursor_.fail("the end of the sample behind its last ')'");
    return out;
  }

 private:
  static constexpr std::string_view value_forms =
      "a value: T(...), a number, a string, a dtype, torch.NAME, None, True, False, a list, a tuple or a dict";

  Value value() {
    cursor_.skip_space();
    const std::size_t start = cursor_.position();
    if (depth_ == deepest) {
      cursor_.fail_at(start, "expected at most " + std::to_string(deepest) + " values nested in each other");
    }
    ++depth_;
    Value out = nested(start);
    --depth_;
    return out;
  }

  Value nested(std::size_t start) {
    const char c = cursor_.peek();
    if (c == '[') {
      cursor_.advance();
      return List{items(']', {})};
    }
    if (c == '(') return tuple_or_complex(start);
    if (c == '{') {
      cursor_.advance();
      return dict();
    }
    if (c == '\'' || c == '"') {
      std::string text = scan_string(cursor_);
      // A quoted abbreviation is a dtype: some recorders quote them, and PyTorch's reader removes the quotes.
      const auto dtype = c == '\'' ? dtype_from_abbreviation(text) : std::nullopt;
      return dtype ? spelled(*dtype, start) : spelled(std::move(text), start);
    }
    if (is_digit(c) || c == '-' || c == '.') return spelled(scan_number(cursor_), start);
    if (c == '<') cursor_.refuse_at(start, "the object " + quoted_rest('>') + " was recorded without its value");
    if (is_word_start(c)) return named(start);
    cursor_.fail(value_forms);
  }

  /// Keeps the spelling of a scalar where to_text() would write it differently.
  Value spelled(Value value, std::size_t start) {
    canonical_.clear();
    append_canonical(canonical_, value);
    const std::string_view raw = cursor_.since(start);
    if (raw != canonical_) value.spelling = raw;
    return value;
  }

  Value named(std::size_t start) {
    const std::string_view word = cursor_.word();
    if (word == "T") return scan_tensor(cursor_);
    if (word == "None") return None{};
    if (word == "True") return true;
    if (word == "False") return false;
    if (word == "ST") cursor_.refuse_at(start, "sparse tensors, ST(...), are not implemented");
    if (word == "device") return spelled(scan_device(cursor_), start);
    if (word == "torch" || word == "th") return torch_name(start);
    if (word == "inf" || word == "nan" || word == "infj" || word == "nanj") {
      cursor_.rewind(start);
      return spelled(scan_number(cursor_), start);
    }
    if (const auto dtype = dtype_from_abbreviation(word)) return *dtype;
    cursor_.fail_at(start, "expected " + std::string(value_forms) + ", found the unknown name " + quoted_start(word));
  }

  Value torch_name(std::size_t start) {
    std::string name = scan_dotted_name(cursor_);
    if (cursor_.peek() == '(') {
      if (name == "device") return spelled(scan_device(cursor_), start);
      if (name == "Size") {
        cursor_.advance();
        Value size = value();
        if (!size.is<List>()) cursor_.fail_at(start, "expected a list in torch.Size(...)");
        cursor_.expect(')', "')' behind torch.Size([...]");
        return spelled(std::move(size), start);
      }
    }
    if (const auto dtype = dtype_from_torch_name(name)) return spelled(*dtype, start);
    return spelled(TorchName{std::move(name)}, start);
  }

  /// Reads values up to the closing bracket and appends them to those that are `read` already.
  std::vector<Value> items(char close, std::vector<Value> read) {
    std::vector<Value> out = std::move(read);
    while (!cursor_.accept(close)) {
      if (!out.empty()) {
        cursor_.expect(',', close == ']' ? "',' or ']'" : "',' or ')'");
        if (cursor_.accept(close)) break;
      }
      out.push_back(value());
    }
    return out;
  }

  /// The elements of a tuple whose '(' is read. One element needs its comma.
  std::vector<Value> tuple_items() {
    if (cursor_.accept(')')) return {};
    std::vector<Value> read;
    read.push_back(value());
    return tuple_rest(std::move(read));
  }

  std::vector<Value> tuple_rest(std::vector<Value> read) {
    cursor_.skip_space();
    if (cursor_.peek() != ',') cursor_.fail("',' (a tuple of one element is written (x,))");
    return items(')', std::move(read));
  }

  Value tuple_or_complex(std::size_t start) {
    cursor_.advance();
    if (cursor_.accept(')')) return Tuple{};
    std::vector<Value> read;
    cursor_.skip_space();
    const std::size_t first = cursor_.position();
    read.push_back(value());
    cursor_.skip_space();
    const char sign = cursor_.peek();
    const bool number = read[0].is<std::int64_t>() || read[0].is<double>() || read[0].is<BigInt>();
    if (!number || (sign != '+' && sign != '-')) return Tuple{tuple_rest(std::move(read))};

    double real = 0;
    if (const auto* number = read[0].get_if<double>()) {
      real = *number;
    } else {
      std::string_view digits = cursor_.since(first);
      while (!digits.empty() && is_space(digits.back())) digits.remove_suffix(1);
      real = to_double(cursor_, first, digits);  // not through the integer: `-0` keeps its sign
    }
    if (sign == '+') cursor_.advance();
    const std::size_t second = cursor_.position();
    const Value imaginary = scan_number(cursor_);
    const auto* part = imaginary.get_if<std::complex<double>>();
    if (part == nullptr) cursor_.fail_at(second, "expected the imaginary part of a complex number, such as 2j");
    cursor_.expect(')', "')' behind the complex number");
    return spelled(std::complex<double>(real, part->imag()), start);
  }

  Value dict() {
    Dict out;
    while (!cursor_.accept('}')) {
      if (!out.items.empty()) {
        cursor_.expect(',', "',' or '}'");
        if (cursor_.accept('}')) break;
      }
      Value key = value();
      cursor_.expect(':', "':' behind the key");
      out.items.emplace_back(std::move(key), value());
    }
    return out;
  }

  std::vector<std::pair<std::string, Value>> keyword_arguments() {
    std::vector<std::pair<std::string, Value>> out;
    while (!cursor_.accept('}')) {
      if (!out.empty()) {
        cursor_.expect(',', "',' or '}'");
        if (cursor_.accept('}')) break;
      }
      cursor_.skip_space();
      const std::size_t start = cursor_.position();
      if (cursor_.peek() != '\'' && cursor_.peek() != '"') cursor_.fail("the name of a keyword argument in quotes");
      std::string key = scan_string(cursor_);
      for (const auto& [name, unused] : out) {
        if (name == key)
          cursor_.fail_at(start, "expected each keyword argument once, found another " + quoted_start(key));
      }
      cursor_.expect(':', "':' behind the name of a keyword argument");
      out.emplace_back(std::move(key), value());
    }
    return out;
  }

  /// From here up to and including `end`, for a message.
  std::string quoted_rest(char end) {
    const std::size_t start = cursor_.position();
    while (!cursor_.at_end() && cursor_.peek() != end) cursor_.advance();
    cursor_.advance();
    return quoted_start(cursor_.since(start));
  }

  Cursor cursor_;
  int depth_ = 0;
  std::string canonical_;
};

}  // namespace detail

/// Parses a recorded call: the `((args), {kwargs})` that follows `cnt: N, ` on a sample line.
///
/// White space may stand between any two tokens; white space and stray quotes around the whole are ignored. `where` is
/// the place of the first character of `text`; `op` names the operator in messages. Throws InputError (file, line,
/// column, and what was expected) for malformed text, and Unsupported for well-formed values that cannot be replayed:
/// sparse tensors, and objects that were recorded by their address.
[[nodiscard]] inline Call parse_call(std::string_view text, const Location& where, std::string_view op = {}) {
  const auto stray = [](char c) { return detail::is_space(c) || c == '\'' || c == '"'; };
  while (!text.empty() && stray(text.back())) text.remove_suffix(1);
  std::size_t start = 0;
  while (start < text.size() && stray(text[start])) ++start;
  const Location first = detail::advanced(where, text.substr(0, start));
  return detail::Parser(detail::Cursor(text.substr(start), first, op)).call();
}

}  // namespace pace::corpus
