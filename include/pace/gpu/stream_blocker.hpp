// StreamBlocker: holds a stream until all of a batch is queued, so that gaps between launches are not timed.
#pragma once

#include <cstdint>

#include "pace/gpu/device.hpp"
#include "pace/gpu/owned.hpp"

namespace pace::gpu {

/// What queues work behind a block may come to wait for it: a module that is loaded on first use, memory from the driver,
/// a full queue of launches. So an alarm of the device releases the stream after `time_out`, whatever the other threads
/// do. A counter that only grows numbers the blocks: a late device cannot mistake the next one for its own.
template <Device D>
class StreamBlocker {
 public:
  StreamBlocker(D& device, Nanoseconds time_out)
      : device_(device), time_out_(time_out), flag_(own_flag(device)), alarm_(device.make_alarm([this] { raise(); })) {}
  StreamBlocker(const StreamBlocker&) = delete;
  ~StreamBlocker() { release(); }

  /// Nothing that is queued on `stream` from now on runs before release().
  void block(const typename D::Stream& stream) {
    release();
    ++value_;
    alarm_.set(time_out_);
    device_.block_until(stream, flag_.get(), value_);
  }

  /// Releases the stream if it is blocked. False if the time-out had come first. May be called at any time.
  bool release() noexcept {
    const bool timed_out = alarm_.cancel();
    raise();
    return !timed_out;
  }

 private:
  void raise() noexcept { device_.raise(flag_.get(), value_); }

  D& device_;
  const Nanoseconds time_out_;
  Owned<D, typename D::Flag> flag_;
  std::uint32_t value_ = 0;
  /// Last: destroyed first, before the flag that it raises.
  typename D::Alarm alarm_;
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

}  // namespace pace::gpu
