// Activity: what this process does now, in memory that a supervising process can read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pace {

/// Current activity of a process. Plain memory, so that another process can share it and outlive this one.
struct Activity {
  /// Longest name of a comparison, in bytes; longer names are cut.
  static constexpr std::size_t longest_name = 1023;

  /// Longest remark on the values of operands, in bytes; longer ones are cut.
  static constexpr std::size_t longest_remark = 1023;

  /// Number of calls and samples of calls begun so far.
  std::uint64_t beats = 0;
  /// Comparison that runs or whose inputs are being made; empty: none.
  char comparison[longest_name + 1] = {};
  /// Index of the implementation that runs or ran last; below 0: none.
  std::int64_t implementation = -1;
  /// Whether `beats` must keep growing; false, for example, during compilation.
  bool watched = false;
  /// Whether all tests have run and their results are written. A process that ends earlier has not passed, whatever its
  /// exit code.
  bool finished = false;
  /// Exit code of a `finished` process. Later code may still end the process with another one.
  int exit_code = 0;
  /// Whether exit() or quick_exit() was called before the work was done. ExitGuard then sets the exit code.
  bool called_exit = false;
  /// Whether the process could print nothing at its end, since its standard error was closed.
  bool is_mute = false;
  /// Sentences on how the operands of current calls differ from the caller's values, with a remedy; empty: they do not.
  /// See UnseenValuesInUse.
  char unseen_values[longest_remark + 1] = {};

  /// Writes `text` to `to`, which has room for `longest` bytes and a zero.
  static void write(char* to, std::size_t longest, std::string_view text) {
    to[text.copy(to, std::min(longest, text.size()))] = '\0';
  }

  /// Notes that the implementation `index` begins to run. Relaxed atomic stores are as fast as plain ones and do not
  /// disturb the samples around them.
  void running(std::int64_t index) {
    __atomic_store_n(&implementation, index, __ATOMIC_RELAXED);
    __atomic_store_n(&beats, beats + 1, __ATOMIC_RELAXED);
  }
  /// Sets whether `beats` must keep growing.
  void watch(bool expects_beats) {
    __atomic_store_n(&watched, expects_beats, __ATOMIC_RELAXED);
    __atomic_store_n(&beats, beats + 1, __ATOMIC_RELAXED);
  }
};

/// Returns the pointer to this process's activity. A supervisor points it to memory that both share.
[[nodiscard]] inline Activity*& activity() {
  static Activity own;
  static Activity* current = &own;
  return current;
}

/// Enters a comparison into this process's activity for its lifetime. Has no effect inside another such object.
class AtWork {
 public:
  /// Enters the name of the comparison.
  explicit AtWork(const std::string& comparison) : outermost_(activity()->comparison[0] == '\0') {
    if (!outermost_) return;
    activity()->running(-1);
    Activity::write(activity()->comparison, Activity::longest_name, comparison);
  }
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;
  ~AtWork() {
    if (!outermost_) return;
    activity()->watch(false);
    activity()->comparison[0] = '\0';
  }

 private:
  bool outermost_;
};

/// Enters into this process's activity, for its lifetime, that calls use unseen values. An implementation that now
/// crashes, throws or hangs may be right for the caller's values, so its message gets the remark. The innermost object
/// counts.
class UnseenValuesInUse {
 public:
  /// Enters nothing.
  UnseenValuesInUse() = default;
  /// `which` says where the values come from, as a clause such as `pace tried large values`. `remedy` completes the
  /// clause `if the code relies on special values, ...`.
  UnseenValuesInUse(std::string_view which, std::string_view remedy) : before_(activity()->unseen_values) {
    Activity::write(activity()->unseen_values, Activity::longest_remark,
                    "This was a call on unseen values: " + std::string(which) +
                        "; try: if the code relies on special values, " + std::string(remedy));
  }
  UnseenValuesInUse(const UnseenValuesInUse&) = delete;
  UnseenValuesInUse& operator=(const UnseenValuesInUse&) = delete;
  ~UnseenValuesInUse() {
    if (before_) Activity::write(activity()->unseen_values, Activity::longest_remark, *before_);
  }

  /// Returns `message` with the remark in `activity`, if there is one.
  [[nodiscard]] static std::string add_to(std::string message, const Activity& activity) {
    if (activity.unseen_values[0] != '\0') message += std::string(". ") + activity.unseen_values;
    return message;
  }

 private:
  std::optional<std::string> before_;
};

}  // namespace pace
