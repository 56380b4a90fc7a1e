// What is replayed when nobody says what: a few operators of each kind from the corpora that pace ships.
#pragma once

#include <fstream>
#include <string>

#include "pace/core/error.hpp"
#include "pace/corpus/corpus.hpp"
#include "pace/families/operators/options.hpp"

namespace pace::benches {

/// Where the corpora lie, from the root of the workspace or of the runfiles.
inline constexpr const char* shipped_corpus = "benches/corpus/pace_train";
inline constexpr const char* shipped_set = "benches/operators/default_set.txt";

/// Samples of each operator: the first and second recorded shapes. More take longer to compile than to measure.
inline constexpr std::size_t shipped_samples = 2;

/// Sets `options` to the default set: the operators that `file` lists, one a line. Throws InputError without any.
inline void choose_default_set(families::operators::ReplayOptions& options, const std::string& file) {
  std::ifstream lines(file);
  std::string names;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == '#') continue;
    names += (names.empty() ? "" : ",") + line;
  }
  if (names.empty()) throw InputError({file}, "expected the names of operators, one a line");
  options.op = names;
  options.max_samples = shipped_samples;
}

/// The inputs that the options name. A malformed line stops the run when it stands in the only file, and is counted
/// and left out of a suite. `compat`: see corpus::LoadOptions.
[[nodiscard]] inline corpus::Corpus load(const families::operators::ReplayOptions& options, bool compat = false) {
  if (!options.inp_file.empty() && !options.suite_dir.empty())
    throw InputError({}, "--inp-file and --suite-dir exclude each other; give one of them");
  corpus::LoadOptions how;
  how.compat = compat;
  if (!options.inp_file.empty()) return corpus::Corpus::from_file(options.inp_file, how);
  how.on_error = corpus::OnError::collect;
  return corpus::Corpus::from_directory(options.suite_dir, how);
}

}  // namespace pace::benches
