// The self-test's command line, and how long its parts may run.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace pace::benches::selftest {

/// The defaults are the short form: all together in about two minutes on two cores.
struct Settings {
  /// A/A gates, and gates of twins; a tenth as many for each line of the power table, two at least.
  std::size_t gates = 200;
  std::size_t processes = 4;
  /// A file for one line per A/A gate; empty for none.
  std::string log;
  /// Whether options ask for more than the short form: then nothing is cut off by time.
  bool long_form = false;
};

inline Settings& settings() {
  static Settings settings;
  return settings;
}

/// Opens the file of --log, if that is given. Throws Error if it cannot be written.
void open_log();

/// Ends a part of the short form that a busy machine draws out.
class Deadline {
 public:
  explicit Deadline(std::chrono::seconds after) : end_(std::chrono::steady_clock::now() + after) {}
  [[nodiscard]] bool over() const { return !settings().long_form && std::chrono::steady_clock::now() > end_; }

 private:
  std::chrono::steady_clock::time_point end_;
};

}  // namespace pace::benches::selftest
