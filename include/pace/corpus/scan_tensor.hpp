// Tensors, dtypes, devices and names of the torch module in the recorded value language.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pace/corpus/cursor.hpp"
#include "pace/corpus/dtype.hpp"
#include "pace/corpus/scan.hpp"
#include "pace/corpus/value.hpp"

namespace pace::corpus::detail {

/// The cursor is behind the word `torch` or `th`: the names after it, with points between them.
inline std::string scan_dotted_name(Cursor& cursor) {
  std::string name;
  do {
    if (cursor.peek() != '.') cursor.fail("'.' and a name behind 'torch'");
    cursor.advance();
    const std::string_view word = cursor.word();
    if (word.empty()) cursor.fail("a name behind 'torch.'");
    if (!name.empty()) name += '.';
    name += word;
  } while (cursor.peek() == '.');
  return name;
}

/// What stands where a dtype is expected, for a message.
[[nodiscard]] inline std::string expected_dtype() {
  std::string text = "a dtype (";
  for (const auto& names : dtype_names) text += std::string(names.abbreviation) + ' ';
  return text + "or torch.NAME)";
}

/// `f16`, `'f16'` or `torch.float16`. Throws Unsupported for a dtype without tensors.
inline DType scan_dtype(Cursor& cursor) {
  cursor.skip_space();
  const std::size_t start = cursor.position();
  std::optional<DType> dtype;
  if (cursor.peek() == '\'') {
    dtype = dtype_from_abbreviation(scan_string(cursor));
  } else {
    const std::string_view word = cursor.word();
    if (word.empty()) cursor.fail(expected_dtype());
    const bool torch = word == "torch" || word == "th";
    const std::string name = torch ? scan_dotted_name(cursor) : std::string(word);
    if (is_unmakable_dtype(name))
      cursor.refuse_at(start, "no tensor of the dtype " + name + " can be made: " +
                                  (name.starts_with('q') ? "it needs a scale, and the text of inputs has none"
                                                         : "LibTorch has no kernels that copy its values"));
    dtype = torch ? dtype_from_torch_name(name) : dtype_from_abbreviation(name);
  }
  if (dtype) return *dtype;
  cursor.fail_at(start, "expected " + expected_dtype() + ", found " + quoted_start(cursor.since(start)));
}

/// A limit above what LibTorch's operators take. Some would spend minutes on a tensor of a million dimensions.
inline constexpr std::size_t most_dimensions = 64;

/// A list or tuple of integers that are not negative: `[2, 3]`, `(1,)`, `()`.
inline std::vector<std::int64_t> scan_naturals(Cursor& cursor, std::string_view what, std::string_view each) {
  const bool list = cursor.accept('[');
  if (!list && !cursor.accept('(')) cursor.fail(what);
  const char close = list ? ']' : ')';
  const std::size_t begin = cursor.position();
  std::vector<std::int64_t> out;
  while (!cursor.accept(close)) {
    if (!out.empty()) {
      cursor.expect(',', list ? "',' or ']'" : "',' or ')'");
      if (cursor.accept(close)) break;
    }
    if (out.size() == most_dimensions)
      cursor.fail_at(begin, "expected at most " + std::to_string(most_dimensions) + " dimensions of a tensor");
    cursor.skip_space();
    const std::size_t start = cursor.position();
    out.push_back(scan_int64(cursor, each));
    if (out.back() < 0) {
      cursor.fail_at(start, "expected " + std::string(each) + " of at least 0, found " + std::to_string(out.back()));
    }
  }
  return out;
}

/// The cursor is behind the word `T`: `(sizes, dtype[, stride=strides])`.
inline TensorSpec scan_tensor(Cursor& cursor) {
  TensorSpec out;
  cursor.expect('(', "'(' behind T");
  out.sizes = scan_naturals(cursor, "the list of sizes", "a size");
  cursor.expect(',', "',' between the sizes and the dtype");
  out.dtype = scan_dtype(cursor);
  cursor.skip_space();
  const std::size_t comma = cursor.position();
  if (cursor.accept(',')) {
    cursor.skip_space();
    if (is_word_start(cursor.peek())) {
      const std::size_t key = cursor.position();
      if (cursor.word() != "stride") cursor.fail_at(key, "expected stride=(...)");
      cursor.expect('=', "'=' behind stride");
    }
    out.strides = scan_naturals(cursor, "the tuple of strides", "a stride");
    if (out.strides->size() != out.sizes.size()) {
      cursor.fail_at(comma, "expected as many strides as sizes (" + std::to_string(out.sizes.size()) + "), found " +
                                std::to_string(out.strides->size()));
    }
  }
  cursor.expect(')', "')' behind the tensor");
  return out;
}

/// Skips `name=` where it comes next.
inline void scan_keyword(Cursor& cursor, std::string_view name) {
  cursor.skip_space();
  if (!is_word_start(cursor.peek())) return;
  const std::size_t start = cursor.position();
  if (cursor.word() != name) cursor.fail_at(start, "expected " + std::string(name) + "=...");
  cursor.expect('=', "'='");
  cursor.skip_space();
}

/// The cursor is behind the word `device`: `('cuda')`, `('cuda', 0)` or `(type='cuda', index=0)`.
inline Device scan_device(Cursor& cursor) {
  Device out;
  cursor.expect('(', "'(' behind device");
  scan_keyword(cursor, "type");
  if (cursor.peek() != '\'' && cursor.peek() != '"') cursor.fail("the device type in quotes");
  out.type = scan_string(cursor);
  if (cursor.accept(',')) {
    scan_keyword(cursor, "index");
    out.index = scan_int64(cursor, "a device index");
  }
  cursor.expect(')', "')' behind the device");
  return out;
}

}  // namespace pace::corpus::detail
