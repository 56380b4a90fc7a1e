// ProcessWatch: what an implementation leaves changed for all others, outside of its outputs.
#pragma once

#include <string>
#include <utility>

#include "pace/audit/called_operators.hpp"
#include "pace/audit/process_settings.hpp"
#include "pace/subject/background.hpp"

namespace pace::detail {

/// Finds settings of the process that calls leave changed, kernels of operators that they exchange, and threads that
/// go on after them. What it returns is a fault as text, which is empty if there is none. Settings are restored as soon
/// as they are found to be changed, so that no later call returns them again.
class ProcessWatch {
 public:
  /// From here on changes are those of the implementations that are called.
  void start() {
    settings_ = ProcessSettings::now();
    busy_before_ = background_work_goes_on();
  }
  void restore() { settings_.restore(); }
  /// The operators that the baseline calls must keep their kernels.
  void learn(OperatorKernels kernels) { kernels_of_baseline_ = std::move(kernels); }

  /// Before a pass of measuring. Threads that go on since the first calls are for the first pass to find.
  void begin_pass() {
    settings_.restore();
    if (std::exchange(measured_before_, true)) busy_before_ = background_work_goes_on();
    earlier_.clear();
  }

  /// Changes of settings since start(). `more`: what else was changed, as text.
  [[nodiscard]] std::string take_settings(const std::string& more) {
    std::string changes = settings_.changes_to(ProcessSettings::now());
    if (!more.empty()) changes += (changes.empty() ? "" : ", ") + more;
    if (changes.empty()) return {};
    settings_.restore();
    // Settings that cannot be restored are no fault of those that are called next.
    settings_ = ProcessSettings::now();
    return leaves_changed(changes);
  }
  /// Keeps changes for take_all(), which need not be by the implementation that is checked at the moment.
  void note(std::string changes) { earlier_ = std::move(changes); }
  [[nodiscard]] bool has_noted() const { return !earlier_.empty(); }
  /// All changes since start(), those of kernels and threads included, for which it takes longer.
  [[nodiscard]] std::string take_all(const std::string& more) {
    if (auto problem = take_settings(more); !problem.empty()) return problem;
    if (!earlier_.empty()) return std::exchange(earlier_, {});
    if (const auto operators = kernels_of_baseline_.take_changed(); !operators.empty())
      return leaves_changed("the kernels of operators that the baseline calls (" + operators + ')');
    if (!busy_before_ && background_work_goes_on())
      return "threads or processes go on computing after its calls have returned, which slows whatever is timed "
             "beside it";
    return {};
  }

 private:
  [[nodiscard]] static std::string leaves_changed(const std::string& what) {
    return "it changes what all implementations share, and leaves it so: " + what;
  }

  ProcessSettings settings_ = ProcessSettings::now();
  OperatorKernels kernels_of_baseline_;
  bool busy_before_ = false, measured_before_ = false;
  std::string earlier_;
};

}  // namespace pace::detail
