// Progress: the current step of a run and how much is left. Code that takes time reports here and sees no display.
#pragma once

#include <cstddef>
#include <limits>
#include <string>

#include "pace/base/units.hpp"

namespace pace {

/// A step of a run, such as the rounds of a comparison.
struct Step {
  std::string what = {};  ///< name of the step, such as `rounds`
  double share = -1;      ///< part of the step that is done, from 0 to 1; negative: unknown
  /// Time until the step ends, by its budget; infinite: unknown.
  Nanoseconds left{std::numeric_limits<double>::infinity()};
};

/// Display of the progress of a run. Its functions run on the main thread, outside of the timed code.
class Progress {
 public:
  Progress() = default;
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  virtual ~Progress() = default;

  /// Begins part `number`, from 1, of `total` equal parts of the run; `total` 0: their number is unknown.
  virtual void part(std::size_t number, std::size_t total) = 0;
  /// Names the current subject, such as a comparison; empty: nothing with a name.
  virtual void subject(const std::string& name) = 0;
  /// Reports a step of the subject, and again as it advances.
  virtual void step(const Step& step) = 0;
};

/// Returns the display of this process; null: there is none.
[[nodiscard]] inline Progress*& progress() {
  static Progress* current = nullptr;
  return current;
}

/// Reports a step if there is a display.
inline void report_step(const Step& step) {
  if (progress() != nullptr) progress()->step(step);
}

}  // namespace pace
