// ProcessWatch: lasting changes that an implementation makes for all others.
#pragma once

#include <string>
#include <utility>

#include "pace/settings/called_operators.hpp"
#include "pace/settings/process_settings.hpp"
#include "pace/subject/background.hpp"

namespace pace::detail {

/// Finds changed settings, exchanged kernels, and threads that go on after calls. Returns faults as text, empty for
/// none. Restores changed settings at once.
class ProcessWatch {
 public:
  /// From here on, changes are those of the implementations called.
  void start() {
    settings_ = ProcessSettings::now();
    busy_before_ = background_work_goes_on();
  }
  void restore() { settings_.restore(); }
  /// The operators that the baseline calls must keep their kernels.
  void learn(OperatorKernels kernels) { kernels_of_baseline_ = std::move(kernels); }

  /// Before a pass of measuring. The first pass finds threads that go on since the first calls.
  void begin_pass() {
    settings_.restore();
    if (std::exchange(measured_before_, true)) busy_before_ = background_work_goes_on();
    earlier_.clear();
  }

  /// Changes of settings since start(). `more`: further changes, as text.
  [[nodiscard]] std::string take_settings(const std::string& more) {
    std::string changes = settings_.changes_to(ProcessSettings::now());
    if (!more.empty()) changes += (changes.empty() ? "" : ", ") + more;
    if (changes.empty()) return {};
    settings_.restore();
    // Settings that cannot be restored are no fault of later calls.
    settings_ = ProcessSettings::now();
    return leaves_changed(changes);
  }
  /// Keeps changes for take_all() that the implementation being checked need not have made.
  void note(std::string changes) { earlier_ = std::move(changes); }
  [[nodiscard]] bool has_noted() const { return !earlier_.empty(); }
  /// All changes since start(), with kernels and threads. Takes longer.
  [[nodiscard]] std::string take_all(const std::string& more) {
    if (auto problem = take_settings(more); !problem.empty()) return problem;
    if (!earlier_.empty()) return std::exchange(earlier_, {});
    if (const auto operators = kernels_of_baseline_.take_changed(); !operators.empty())
      return leaves_changed("the kernels of operators that the baseline calls (" + operators + ')');
    if (!busy_before_ && background_work_goes_on())
      return "threads or processes go on computing after its calls have returned, which slows whatever is timed "
             "beside it; try: wait for them before the call returns";
    return {};
  }

 private:
  [[nodiscard]] static std::string leaves_changed(const std::string& what) {
    return "it changes what all implementations share, and leaves it so: " + what +
           "; try: restore it before the call returns";
  }

  ProcessSettings settings_ = ProcessSettings::now();
  OperatorKernels kernels_of_baseline_;
  bool busy_before_ = false, measured_before_ = false;
  std::string earlier_;
};

}  // namespace pace::detail
