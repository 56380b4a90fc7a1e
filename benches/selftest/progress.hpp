// Progress: one line on the standard error that says how far a long run is.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>

#include "pace/run/progress.hpp"

namespace pace::benches::selftest {

/// While it lives, it replaces the display of the hundreds of single comparisons.
class Progress {
 public:
  Progress(std::string what, std::size_t all)
      : what_(std::move(what)), all_(all), of_comparisons_(std::exchange(pace::progress(), nullptr)) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() {
    if (terminal_ && shown_) std::fputs("\r\033[K", stderr);
    pace::progress() = of_comparisons_;
  }

  /// `done` of all; `remark`: the findings so far. On a terminal every second, in a file every minute.
  void show(std::size_t done, const std::string& remark = {}) {
    const auto now = std::chrono::steady_clock::now();
    if (done == 0 || (now - last_ < (terminal_ ? std::chrono::seconds(1) : std::chrono::seconds(60)))) return;
    last_ = now;
    shown_ = true;
    const double elapsed = std::chrono::duration<double>(now - start_).count();
    const double left = elapsed / static_cast<double>(done) * static_cast<double>(all_ - done);
    std::fprintf(stderr, "%s%s: %zu of %zu, %.1f min left%s%s%s", terminal_ ? "\r\033[K" : "", what_.c_str(), done,
                 all_, left / 60, remark.empty() ? "" : "; ", remark.c_str(), terminal_ ? "" : "\n");
    std::fflush(stderr);
  }

 private:
  std::string what_;
  std::size_t all_;
  pace::Progress* of_comparisons_;
  bool terminal_ = isatty(STDERR_FILENO) == 1, shown_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now(), last_ = start_;
};

}  // namespace pace::benches::selftest
