// The calls that an operator bench replays, and its back ends.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <c10/core/ScalarType.h>

#include "pace/base/error.hpp"
#include "pace/corpus/dtype.hpp"
#include "pace/inputs/scalar_type.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/instruction_counter.hpp"

namespace pace::benches::operators {

/// Which recorded operators are left out before anything is tried.
enum class SkipRules {
  none,      ///< none: a call that cannot run is refused when its turn comes, with the reason
  upstream,  ///< those that PyTorch's operatorbench leaves out (see benches::operators::skip_operator), and embeddings
};

/// The measured part of an operator.
enum class Pass {
  forward,   ///< the call as it was recorded, below autograd
  backward,  ///< the gradients of its tensors, from random gradients of its outputs
  both,      ///< the call and then its gradients
};

/// Returns the pass in words: `forward`, `backward`, `forward and backward`.
[[nodiscard]] inline std::string to_string(Pass pass) {
  return pass == Pass::forward ? "forward" : pass == Pass::backward ? "backward" : "forward and backward";
}

struct ReplayOptions {
  /// One file of recorded inputs, or a directory of them; at most one is given. With neither, the caller's default.
  std::string inp_file, suite_dir;
  /// `all`, or names such as `aten.add.Tensor`, separated by commas.
  std::string op = "all";
  /// Only operators with one of these small letters as operator_letter() run; empty: all.
  std::string letters = {};
  SkipRules skip_rules = SkipRules::none;
  /// Type that recorded floating-point inputs are converted to; `float16` converts nothing (see inputs::generate), and
  /// `recorded` says so.
  std::string dtype = "float32";
  std::string device = "cpu";
  /// Samples per operator: the first `start_idx` are left out, then at most `max_samples` are taken.
  std::size_t max_samples = 15;
  std::size_t start_idx = 0;
  /// Back ends by name, separated by commas; the first is the baseline.
  std::string backends = "eager,torchscript,aot_inductor";
  /// A candidate that is proven to take more than this many times the baseline's time fails. None: speed decides
  /// nothing.
  std::optional<double> no_slower_than;
  /// A candidate fails if its call has more memory at once than this many times the baseline's. None: memory decides
  /// nothing.
  std::optional<double> peak_memory_at_most = {};
  /// Operators whose speed is exempt from `no_slower_than`: their speed is reported only.
  std::set<std::string> reported;
  /// Directories of compiled packages to look in before compiling.
  std::vector<std::string> packages;
  /// The pass that a row, a guard and the table of operators measure.
  Pass pass = Pass::forward;
  /// Tensors of four dimensions are given in channels-last memory format.
  bool channels_last = false;
  /// Whether later calls of a back end may overwrite the outputs of its earlier ones.
  bool reuses_outputs = false;
  /// Correctness alone: as operatorbench asks for it, by cosine, with the fewest rounds that make a time.
  bool accuracy_only = false;
  /// Rounds at most, as so many cycles of all back ends; none: as the budget goes.
  std::optional<std::size_t> repeats;
  /// Times every comparison in the place of the comparison's own clock; null: that one does.
  std::shared_ptr<timing::Clock> clock = {};
  /// The same for calls that write to their operands, if `clock` is not null.
  std::shared_ptr<timing::Clock> clock_of_writers = {};
  /// Counts instructions in the place of times; null: times are taken.
  std::shared_ptr<timing::InstructionCounter> counter = {};
  /// A candidate that executes more than this many times the baseline's instructions fails; none: that decides nothing.
  std::optional<double> instructions_at_most = {};
  /// Where a trace of each operator goes, by LibTorch's profiler, in a pass of its own; empty: no traces.
  std::string traces;

  /// Whether something is expected of the times of this operator.
  [[nodiscard]] bool gates(const std::string& name) const { return no_slower_than && !reported.contains(name); }
};

/// The parts of a comma-separated list, none of them empty; commas in brackets do not separate. Throws InputError
/// naming `option` otherwise.
[[nodiscard]] inline std::vector<std::string> split_list(std::string_view list, std::string_view option) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= list.size();) {
    std::size_t comma = begin;
    for (int depth = 0; comma < list.size() && (list[comma] != ',' || depth > 0); ++comma)
      depth += list[comma] == '[' ? 1 : list[comma] == ']' ? -1 : 0;
    if (comma == begin)
      throw InputError({}, std::string(option) + ": expected names separated by commas, found an empty one in '" +
                               std::string(list) + "'");
    parts.emplace_back(list.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return parts;
}

/// Reads letters and ranges of letters, such as `a-c,f`, as all letters that they name: `abcf`. Returns whether `text`
/// is such a list.
[[nodiscard]] inline bool read_letters(std::string_view text, std::string& letters) {
  letters.clear();
  const auto letter = [](char c) -> std::optional<char> {
    if (c >= 'A' && c <= 'Z') return static_cast<char>(c - 'A' + 'a');
    return c >= 'a' && c <= 'z' ? std::optional(c) : std::nullopt;
  };
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    const bool is_range = part.size() == 3 && part[1] == '-';
    if (part.size() != 1 && !is_range) return false;
    const auto first = letter(part.front()), last = letter(part.back());
    if (!first || !last || *first > *last) return false;
    for (char each = *first; each <= *last; ++each) letters += each;
    begin = end + 1;
  }
  return true;
}

/// `float32`, or the abbreviation `f32`; none for `recorded`. Throws InputError that lists the floating types.
[[nodiscard]] inline std::optional<at::ScalarType> parse_dtype(std::string_view name) {
  if (name == "recorded") return std::nullopt;
  for (const auto dtype : {corpus::DType::f32, corpus::DType::f16, corpus::DType::bf16, corpus::DType::f64})
    if (name == corpus::abbreviation(dtype) || name == corpus::torch_name(dtype)) return inputs::scalar_type(dtype);
  throw InputError(
      {}, "--dtype: expected float32, float16, bfloat16, float64 or recorded, found '" + std::string(name) + "'");
}

}  // namespace pace::benches::operators
