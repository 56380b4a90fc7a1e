// Reads operator-input files: blocks of `Operator: NAME` and `cnt: N, ((args), {kwargs})` lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "pace/base/error.hpp"
#include "pace/corpus/blocks.hpp"
#include "pace/corpus/cursor.hpp"
#include "pace/corpus/scan.hpp"
#include "pace/os/read_file.hpp"

namespace pace::corpus::detail {

/// Largest file that is read. Files of recorded models have a megabyte or two.
inline constexpr std::size_t most_bytes = std::size_t{1} << 30;

/// The whole file. Throws InputError for a file that is no text, cannot be read (see read_file), or has more than
/// `most` bytes.
[[nodiscard]] inline std::string read_text_file(const std::filesystem::path& path, bool pipes = true,
                                                std::size_t most = most_bytes) {
  return read_file(path.string(), "recorded operator inputs", {.most_bytes = most, .text_only = true, .pipes = pipes});
}

/// Turns the lines of one file into blocks.
class TextReader {
 public:
  TextReader(Blocks& blocks, std::string file) : blocks_(blocks), file_(std::move(file)) {}

  void read(std::string_view text) {
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // byte order mark
    for (std::size_t number = 1; !text.empty(); ++number) {
      const std::size_t end = text.find('\n');
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      blocks_.guard([&] { read_line(line, Location{file_, number, 1}); });
    }
  }

 private:
  void read_line(std::string_view line, const Location& where) {
    while (!line.empty() && is_space(line.back())) line.remove_suffix(1);
    Cursor cursor(line, where, {});
    cursor.skip_space();
    if (cursor.at_end()) return;
    const std::size_t start = cursor.position();
    const std::string_view word = cursor.word();
    if (word == "Operator" && cursor.accept(':')) {
      in_block_ = false;  // until the name proves good: the samples of a bad block must not go to the one before
      start_block(cursor, line);
    } else if (word == "cnt" && cursor.accept(':')) {
      add_sample(cursor, line, start);
    } else {
      cursor.rewind(start);
      cursor.fail("'Operator: NAME' or 'cnt: N, ((arguments), {keyword arguments})'");
    }
  }

  void start_block(Cursor& cursor, std::string_view line) {
    cursor.skip_space();
    const std::size_t start = cursor.position();
    if (cursor.at_end()) cursor.fail("the name of an operator, such as aten.add.Tensor");
    while (is_word(cursor.peek()) || cursor.peek() == '.' || cursor.peek() == ':') cursor.advance();
    if (!cursor.at_end()) cursor.fail("the end of the line behind the name of the operator");
    blocks_.start(line.substr(start));
    in_block_ = true;
  }

  void add_sample(Cursor& cursor, std::string_view line, std::size_t start) {
    if (!in_block_) cursor.fail_at(start, "expected a line 'Operator: NAME' before this sample");
    cursor.skip_space();
    const std::size_t count_start = cursor.position();
    const std::int64_t count = scan_int64(cursor, "a count");
    if (count < 0) cursor.fail_at(count_start, "expected a count of at least 0, found " + std::to_string(count));
    cursor.expect(',', "',' behind the count");
    cursor.skip_space();
    const std::string_view text = line.substr(cursor.position());
    blocks_.add(text, count, cursor.location(cursor.position()));
  }

  Blocks& blocks_;
  std::string file_;
  bool in_block_ = false;
};

}  // namespace pace::corpus::detail
