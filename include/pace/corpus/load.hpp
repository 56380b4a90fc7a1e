// Reads operator-input files: blocks of `Operator: NAME` and `cnt: N, ((args), {kwargs})` lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pace/core/error.hpp"
#include "pace/core/read_file.hpp"
#include "pace/corpus/cursor.hpp"
#include "pace/corpus/parse.hpp"
#include "pace/corpus/scan.hpp"

namespace pace::corpus {

/// What a declaration in source code adds to a call; empty for recorded calls.
struct Declared {
  std::string module = {};      ///< first part of the label, such as `addmm`
  std::string attributes = {};  ///< values in words, such as `M: 8, N: 16`
  /// Numbers of the tensors, in the order of the call, whose gradients a backward pass computes: first of all together,
  /// then of each alone. Empty: of all that can have one, together.
  std::vector<std::size_t> differentiated = {};
};

/// One distinct recorded call of an operator. Its text is not parsed before parse_call().
struct Sample {
  std::string text;        ///< `((args), {kwargs})`
  std::int64_t count = 0;  ///< how often the call was recorded
  Location where;          ///< of the text's first character
  std::string label = {};  ///< name of the sample; empty: none
  Declared declared = {};  ///< what source code declares of it
};

/// The distinct calls of one operator, in the order in which they were first seen.
struct OperatorSamples {
  std::string name;             ///< `namespace.operator.overload`, such as aten.add.Tensor
  std::vector<Sample> samples;  ///< no two with the same text in a Corpus
};

/// A malformed line, or an unusable file, that was left out.
struct Reject {
  Location where;       ///< of the error
  std::string message;  ///< names the place and what was expected there
};

/// What a reader does at a malformed line.
enum class OnError {
  stop,     ///< throws its InputError
  collect,  ///< keeps it as a Reject and reads on
};

/// How files of recorded operator inputs are read.
struct LoadOptions {
  /// Whether an operator with two blocks in one file keeps the later block alone, as PyTorch's reader does; by default,
  /// the blocks are merged. Such files exist because aten.sum.SymInt is read as aten.sum.dim_IntList.
  bool compat = false;
  OnError on_error = OnError::stop;  ///< what a malformed line does
  /// Whether a pipe is read like a file, waiting for its writer. Pipes in a directory are never read.
  bool pipes = true;
  /// Whether the files of a directory are read in the file system's order instead of in the order of their names.
  bool as_listed = false;
};

namespace detail {

/// Largest file that is read. Files of recorded models have a megabyte or two.
inline constexpr std::size_t most_bytes = std::size_t{1} << 30;

/// The whole file. Throws InputError for what is no text file, cannot be read (see read_file), or has more than `most`
/// bytes.
[[nodiscard]] inline std::string read_text_file(const std::filesystem::path& path, bool pipes = true,
                                                std::size_t most = most_bytes) {
  return read_file(path.string(), "recorded operator inputs", {.most_bytes = most, .text_only = true, .pipes = pipes});
}

/// The present name of an operator: aten.sum.SymInt was renamed after most files had been recorded.
[[nodiscard]] inline std::string_view current_name(std::string_view recorded) {
  return recorded == "aten.sum.SymInt" ? "aten.sum.dim_IntList" : recorded;
}

/// Turns the lines of one file into blocks, in file order; an operator may come twice.
class BlockReader {
 public:
  BlockReader(std::string file, const LoadOptions& options) : file_(std::move(file)), options_(options) {}

  void read(std::string_view text) {
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // byte order mark
    for (std::size_t number = 1; !text.empty(); ++number) {
      const std::size_t end = text.find('\n');
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      try {
        read_line(line, Location{file_, number, 1});
      } catch (const InputError& error) {
        if (options_.on_error == OnError::stop) throw;
        rejects.push_back({error.where(), error.what()});
      }
    }
  }

  std::vector<OperatorSamples> blocks;
  std::vector<Reject> rejects;

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
    blocks.push_back({std::string(current_name(line.substr(start))), {}});
    in_block_ = true;
  }

  void add_sample(Cursor& cursor, std::string_view line, std::size_t start) {
    if (!in_block_) cursor.fail_at(start, "expected a line 'Operator: NAME' before this sample");
    cursor.skip_space();
    const std::size_t count_start = cursor.position();
    const std::int64_t count = scan_int64(cursor, "a count");
    if (count < 1) cursor.fail_at(count_start, "expected a count of at least 1, found " + std::to_string(count));
    cursor.expect(',', "',' behind the count");
    cursor.skip_space();
    const std::string_view text = line.substr(cursor.position());
    const Location where = cursor.location(cursor.position());
    auto& block = blocks.back();
    try {
      static_cast<void>(parse_call(text, where, block.name));
    } catch (const Unsupported&) {
      // The sample is well-formed and stays in; running it throws Unsupported.
    }
    block.samples.push_back({std::string(text), count, where});
  }

  std::string file_;
  const LoadOptions& options_;
  bool in_block_ = false;
};

}  // namespace detail

}  // namespace pace::corpus
