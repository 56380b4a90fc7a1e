// StreamBlocker: holds a stream until all of a batch is queued, so that gaps between launches are not timed.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>

#include "pace/clock/device.hpp"
#include "pace/clock/owned.hpp"

namespace pace::clock {

/// Whoever queues work behind a block may come to wait for it himself: a module that is loaded on first use, memory
/// from the driver, a full queue of launches. So a thread of its own releases the stream after `time_out`, whatever
/// the others do. A counter that only grows tells blocks apart: a late device cannot mistake the next one for its own.
template <Device D>
class StreamBlocker {
 public:
  StreamBlocker(D& device, Nanoseconds time_out)
      : device_(device), time_out_(time_out), flag_(own_flag(device)), watchdog_([this] { watch(); }) {}
  StreamBlocker(const StreamBlocker&) = delete;
  ~StreamBlocker() {
    release();
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    watchdog_.join();
  }

  /// Nothing that is queued on `stream` from now on runs before release().
  void block(const typename D::Stream& stream) {
    release();
    ++value_;
    {
      const std::lock_guard lock(mutex_);
      timed_out_ = false;
      deadline_ = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(time_out_);
    }
    changed_.notify_all();
    device_.block_until(stream, flag_.get(), value_);
  }

  /// Releases the stream if it is blocked. False if the time-out had come first. May be called at any time.
  bool release() noexcept {
    bool timed_out;
    {
      const std::lock_guard lock(mutex_);
      deadline_.reset();
      timed_out = timed_out_;
    }
    device_.raise(flag_.get(), value_);
    return !timed_out;
  }

 private:
  void watch() {
    std::unique_lock lock(mutex_);
    while (!ends_) {
      if (!deadline_) {
        changed_.wait(lock);
      } else if (std::chrono::steady_clock::now() >= *deadline_) {
        deadline_.reset();
        timed_out_ = true;
        device_.raise(flag_.get(), value_);
      } else {
        changed_.wait_until(lock, *deadline_);
      }
    }
  }

  D& device_;
  const Nanoseconds time_out_;
  Owned<D, typename D::Flag> flag_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  bool timed_out_ = false, ends_ = false;
  std::uint32_t value_ = 0;
  std::thread watchdog_;
};

/// A stream is blocked from here to end(), or to the end of the scope if something throws.
template <Device D>
class Block {
 public:
  Block(StreamBlocker<D>& blocker, const typename D::Stream& stream) : blocker_(blocker) {
    try {
      blocker_.block(stream);
    } catch (...) {
      blocker_.release();
      throw;
    }
  }
  Block(const Block&) = delete;
  ~Block() { blocker_.release(); }

  /// False if the time-out had come first.
  bool end() noexcept { return blocker_.release(); }

 private:
  StreamBlocker<D>& blocker_;
};

}  // namespace pace::clock
