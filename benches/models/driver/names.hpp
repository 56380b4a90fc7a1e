// Words for settings: as they stand in files, in their names and on the command line.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "benches/models/settings.hpp"

namespace pace::benches::models {

[[nodiscard]] inline const char* to_string(Mode mode) {
  switch (mode) {
    case Mode::performance:
      return "performance";
    case Mode::accuracy:
      return "accuracy";
    case Mode::tolerance:
      return "tolerance";
    case Mode::batch_invariance:
      return "batch_invariance";
    case Mode::find_batch_size:
      return "find_batch_size";
    case Mode::throughput:
      return "throughput";
    case Mode::operator_inputs:
      return "operator_inputs";
  }
  return "";
}

[[nodiscard]] inline const char* to_string(Precision precision) {
  switch (precision) {
    case Precision::as_made:
      return "as_made";
    case Precision::float32:
      return "float32";
    case Precision::float16:
      return "float16";
    case Precision::bfloat16:
      return "bfloat16";
    case Precision::amp:
      return "amp";
  }
  return "";
}

/// Whether a row's column `accuracy` is what such a run comes to.
[[nodiscard]] inline bool has_statuses(Mode mode) { return mode == Mode::accuracy || mode == Mode::batch_invariance; }

/// The back ends that get rows: those asked for but eager, which all are compared with; eager itself if that is the
/// only one, and where the mode knows no other.
[[nodiscard]] inline std::vector<std::string> candidates(const Settings& settings) {
  std::vector<std::string> names;
  if (settings.mode == Mode::find_batch_size || settings.mode == Mode::operator_inputs) return {"eager"};
  for (const auto& name : settings.backends)
    if (name != "eager" && std::ranges::find(names, name) == names.end()) names.push_back(name);
  if (names.empty()) names.emplace_back("eager");
  return names;
}

}  // namespace pace::benches::models
