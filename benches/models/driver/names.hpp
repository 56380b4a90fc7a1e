// Words for settings: as they stand in files, in their names and on the command line.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "benches/models/settings.hpp"

namespace pace::benches::models {

// Names are in the order of the values.

[[nodiscard]] inline const char* to_string(Mode mode) {
  static constexpr std::array names{"performance",     "accuracy",   "tolerance",      "batch_invariance",
                                    "find_batch_size", "throughput", "operator_inputs"};
  return names.at(static_cast<std::size_t>(mode));
}

[[nodiscard]] inline const char* to_string(Precision precision) {
  static constexpr std::array names{"as_made", "float32", "float16", "bfloat16", "amp"};
  return names.at(static_cast<std::size_t>(precision));
}

/// Returns the words in `text`, which has blanks between them.
[[nodiscard]] inline std::vector<std::string> words_in(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

/// Whether a mode runs eager and no other back end.
[[nodiscard]] inline bool runs_eager_alone(Mode mode) {
  return mode == Mode::find_batch_size || mode == Mode::operator_inputs;
}

/// Whether a row's column `accuracy` holds the outcome of such a run.
[[nodiscard]] inline bool has_statuses(Mode mode) { return mode == Mode::accuracy || mode == Mode::batch_invariance; }

/// The back ends that get rows: those asked for but eager, since all are compared with eager. Eager itself if it is the
/// only one, and where the mode knows no other.
[[nodiscard]] inline std::vector<std::string> candidates(const Settings& settings) {
  std::vector<std::string> names;
  if (runs_eager_alone(settings.mode)) return {"eager"};
  for (const auto& name : settings.backends)
    if (name != "eager" && std::ranges::find(names, name) == names.end()) names.push_back(name);
  if (names.empty()) names.emplace_back("eager");
  return names;
}

}  // namespace pace::benches::models
