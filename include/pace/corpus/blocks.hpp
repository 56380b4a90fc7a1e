// What a reader of recorded operator inputs makes: operators with their samples, and what was malformed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/corpus/parse.hpp"

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
  std::int64_t count = 0;  ///< how often the call was recorded; 0: added by hand, without a weight
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

/// The present name of an operator: aten.sum.SymInt was renamed after most files had been recorded.
[[nodiscard]] inline std::string_view current_name(std::string_view recorded) {
  return recorded == "aten.sum.SymInt" ? "aten.sum.dim_IntList" : recorded;
}

/// The blocks of one file, in its order; an operator may come twice.
class Blocks {
 public:
  explicit Blocks(OnError on_error) : on_error_(on_error) {}

  /// Reads one piece of the file by `read()`. An InputError becomes a Reject, unless it is to stop the reader.
  template <class Read>
  void guard(Read read) {
    try {
      read();
    } catch (const InputError& error) {
      if (on_error_ == OnError::stop) throw;
      rejects.push_back({error.where(), error.what()});
    }
  }

  /// Begins the block of an operator.
  void start(std::string_view name) { operators.push_back({std::string(current_name(name)), {}}); }

  /// Adds a call to the last block. Throws InputError for a malformed one; one that is well-formed but cannot be run
  /// stays, and throws Unsupported where it is to run.
  void add(std::string_view call, std::int64_t count, const Location& where) {
    auto& block = operators.back();
    try {
      static_cast<void>(parse_call(call, where, block.name));
    } catch (const Unsupported&) {
    }
    block.samples.push_back({std::string(call), count, where});
  }

  std::vector<OperatorSamples> operators;
  std::vector<Reject> rejects;

 private:
  OnError on_error_;
};

}  // namespace detail

}  // namespace pace::corpus
