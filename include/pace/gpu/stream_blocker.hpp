// StreamBlocker: blocks a stream until a whole batch is queued, so that gaps between launches are not timed.
#pragma once

#include <cstdint>

#include "pace/gpu/device.hpp"
#include "pace/gpu/owned.hpp"

namespace pace::gpu {

/// Blocks a stream, so that later work in it starts only when the block is released.
///
/// Code that queues work behind a block may have to wait for the device, and so for the block: to load a module on
/// first use, to get memory from the driver, or because the queue of launches is full. Therefore an alarm of the device
/// releases the stream after a time-out. Blocks have increasing numbers, so that a late device cannot mistake the
/// release of one block for the next one's.
template <Device D>
class StreamBlocker {
 public:
  /// Blocks streams of `device`, which must outlive the object, for at most `time_out`.
  StreamBlocker(D& device, Nanoseconds time_out)
      : device_(device), time_out_(time_out), flag_(own_flag(device)), alarm_(device.make_alarm([this] { raise(); })) {}
  StreamBlocker(const StreamBlocker&) = delete;
  ~StreamBlocker() { release(); }

  /// Blocks `stream`: work that is queued from now on does not run before release() or the time-out. Releases an
  /// earlier block.
  void block(const typename D::Stream& stream) {
    release();
    ++value_;
    alarm_.set(time_out_);
    device_.block_until(stream, flag_.get(), value_);
  }

  /// Releases the stream if it is blocked. Returns false if the time-out has released it before. May be called at any
  /// time.
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
  // The last member, so that it is destroyed before the flag that it raises.
  typename D::Alarm alarm_;
};

/// Blocks a stream from its construction to end() or to its destruction.
template <Device D>
class Block {
 public:
  /// Blocks `stream` by `blocker`, which must outlive the object.
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

  /// Releases the stream. Returns false if the time-out has released it before.
  bool end() noexcept { return blocker_.release(); }

 private:
  StreamBlocker<D>& blocker_;
};

}  // namespace pace::gpu
