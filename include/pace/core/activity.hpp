// Activity: what this process is doing, where a process that watches over it can read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace pace {

/// Plain memory, so that it may be shared with another process, and outlive this one.
struct Activity {
  static constexpr std::size_t longest_name = 1023;

  /// Grows whenever a call, or a sample of calls, begins.
  std::uint64_t beats = 0;
  /// Name of the comparison under way, whose inputs may still be made; empty: none.
  char comparison[longest_name + 1] = {};
  /// Index of the implementation whose code runs, or ran last; below 0: of none.
  std::int64_t implementation = -1;
  /// Whether beats are to be expected: not while something is compiled.
  bool watched = false;
  /// Whether all tests are through: a process that ends before that, with whatever exit code, has not passed.
  bool finished = false;

  /// Relaxed stores, which cost what any store costs: samples are timed around them.
  void running(std::int64_t index) {
    __atomic_store_n(&implementation, index, __ATOMIC_RELAXED);
    __atomic_store_n(&beats, beats + 1, __ATOMIC_RELAXED);
  }
  void watch(bool expects_beats) {
    __atomic_store_n(&watched, expects_beats, __ATOMIC_RELAXED);
    __atomic_store_n(&beats, beats + 1, __ATOMIC_RELAXED);
  }
};

/// The activity of this process; a process that watches it puts memory there that both can see.
[[nodiscard]] inline Activity*& activity() {
  static Activity own;
  static Activity* current = &own;
  return current;
}

/// While it lives, the named comparison is under way. One inside another of the same comparison changes nothing.
class AtWork {
 public:
  explicit AtWork(const std::string& comparison) : outermost_(activity()->comparison[0] == '\0') {
    if (!outermost_) return;
    activity()->running(-1);
    char* to = activity()->comparison;
    for (std::size_t i = 0; i < Activity::longest_name && i < comparison.size(); ++i) *to++ = comparison[i];
    *to = '\0';
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

}  // namespace pace
