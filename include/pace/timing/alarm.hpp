// Alarm: calls a function after a set time, unless cancelled before.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "pace/base/units.hpp"

namespace pace::timing {

/// Calls a function on its own thread at a set time of the steady clock, even while the setting thread waits.
class Alarm {
 public:
  /// Starts the thread, which calls `ring` at each set time. `ring` must not throw, nor use this alarm.
  explicit Alarm(std::function<void()> ring) : ring_(std::move(ring)), thread_([this] { watch(); }) {}
  Alarm(const Alarm&) = delete;
  ~Alarm() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  /// Rings once, `after` from now. Replaces an earlier time.
  void set(Nanoseconds after) {
    {
      const std::lock_guard lock(mutex_);
      rang_ = false;
      due_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(after);
    }
    changed_.notify_all();
  }

  /// Cancels the alarm, which does not ring after this returns. Returns whether it has rung since it was set.
  bool cancel() noexcept {
    const std::lock_guard lock(mutex_);
    due_.reset();
    return rang_;
  }

 private:
  using Clock = std::chrono::steady_clock;

  void watch() {
    std::unique_lock lock(mutex_);
    while (!ends_) {
      if (!due_) {
        changed_.wait(lock);
      } else if (Clock::now() >= *due_) {
        due_.reset();
        rang_ = true;
        ring_();
      } else {
        changed_.wait_until(lock, *due_);
      }
    }
  }

  const std::function<void()> ring_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Clock::time_point> due_;
  bool rang_ = false, ends_ = false;
  std::thread thread_;
};

}  // namespace pace::timing
