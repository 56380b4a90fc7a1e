// EventClock: the time between two events in the current stream.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pace/gpu/device.hpp"
#include "pace/gpu/owned.hpp"
#include "pace/gpu/stream_blocker.hpp"
#include "pace/gpu/wait.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/phases.hpp"
#include "pace/timing/subject.hpp"

namespace pace::gpu {

/// Options of EventClock.
struct EventClockOptions {
  /// Whether samples are queued behind a block of the stream once the warm-up is over. Otherwise the time of short
  /// calls is the time of their launches.
  bool block = true;
  /// Longest time to queue one batch. A launch takes some microseconds; a batch that takes longer than this waits for
  /// the device, or the host is so slow that its time is the time of the calls.
  Nanoseconds time_out = std::chrono::milliseconds(250);
  /// Initial number of calls behind one block. The queue of a stream holds about a thousand launches before the host
  /// must wait.
  std::int64_t batch = 256;
  /// Longest time of one sample, after which it throws NeverEnded.
  Nanoseconds longest = longest_sample;
};

/// Times samples by two events in the stream that is current when the sample starts: from the start of the first call
/// to the end of the last one, gaps included.
template <Device D>
class EventClock final : public timing::Clock {
 public:
  /// Times calls on `device`, which must outlive the clock.
  explicit EventClock(D& device, EventClockOptions options = {}) : device_(device), options_(options), pair_(device) {}

  /// Times `body` without a block, since `body` may wait for the device.
  Nanoseconds time(FunctionRef<void()> body) override {
    const auto stream = device_.current_stream();
    device_.record(pair_.start.get(), stream);
    body();
    device_.record(pair_.stop.get(), stream);
    wait_for(device_, pair_.stop.get(), options_.longest);
    return device_.elapsed(pair_.start.get(), pair_.stop.get());
  }

  /// From now on samples may be queued behind a block.
  void warmed_up() override { warm_ = true; }

  /// Takes a sample behind blocks. If a batch cannot be queued in time, its block is released, and the sample is taken
  /// again, from its preparation on, with batches of half the size. All subjects have batches of the same size, since
  /// all sides must be timed in the same way. If not even one call of a subject can be queued in time, none is
  /// blocked any more.
  Nanoseconds sample(timing::Subject& subject, std::size_t operands, std::int64_t iterations) override {
    // A step with phases has more launches than a stream's queue holds, and the host's time is a part of its time.
    if (!warm_ || !options_.block || subject.phases() != nullptr) {
      if (subject.phases() != nullptr) {
        timing::lead_in(subject, operands);
        // Otherwise the device would still be busy with the lead-in while the host queues the first calls.
        device_.synchronise();
      } else {
        subject.prepare(operands);
      }
      return unblocked(subject, operands, iterations);
    }
    while (true) {
      subject.prepare(operands);
      if (const auto total = try_sample(subject, operands, iterations)) return *total;
      ++time_outs_;
      batch_ /= 2;
    }
  }

  [[nodiscard]] Nanoseconds now() const override { return device_.now(); }

  /// The least time between two consecutive events in 20 tries; measured once.
  [[nodiscard]] Nanoseconds resolution() override {
    if (resolution_.count() > 0) return resolution_;
    Nanoseconds least = Nanoseconds::max();
    for (int attempt = 0; attempt < 20; ++attempt)
      if (const Nanoseconds apart = time([] {}); apart.count() > 0) least = std::min(least, apart);
    // CUDA documents a resolution of events of about half a microsecond.
    return resolution_ = least == Nanoseconds::max() ? Nanoseconds(500) : least;
  }

  [[nodiscard]] std::string name() const override { return "hot"; }

  /// Number of batches so far that were not queued in time.
  [[nodiscard]] std::int64_t time_outs() const { return time_outs_; }
  /// Number of calls that are queued behind one block; 0: nothing is blocked.
  [[nodiscard]] std::int64_t batch() const { return batch_; }

  /// Blocks again as at first, for other subjects.
  void forget() { batch_ = options_.batch; }

 private:
  /// Times phases by a pair of events around each.
  class EventLaps final : public timing::Lapper {
   public:
    EventLaps(D& device, std::deque<EventPair<D>>& pairs, timing::Phases& phases)
        : device_(device), pairs_(pairs), phases_(phases) {}
    void begin(std::size_t phase) override {
      if (which_.size() == pairs_.size()) pairs_.emplace_back(device_);
      device_.record(pairs_[which_.size()].start.get(), device_.current_stream());
      which_.push_back(phase);
    }
    void end(std::size_t) override { device_.record(pairs_[which_.size() - 1].stop.get(), device_.current_stream()); }
    /// Adds the times to the phases. Requires that the device has ended all work.
    void collect() {
      for (std::size_t i = 0; i < which_.size(); ++i)
        phases_.add(which_[i], device_.elapsed(pairs_[i].start.get(), pairs_[i].stop.get()));
    }

   private:
    D& device_;
    std::deque<EventPair<D>>& pairs_;
    timing::Phases& phases_;
    /// The phase of each pair in use.
    std::vector<std::size_t> which_;
  };

  Nanoseconds unblocked(timing::Subject& subject, std::size_t operands, std::int64_t iterations) {
    const auto run = [&] { subject.run(operands, iterations); };
    timing::Phases* const phases = subject.phases();
    if (phases == nullptr) return time(run);
    EventLaps laps(device_, lap_pairs_, *phases);
    phases->reset();
    static_cast<void>(time([&] { phases->listen(laps, run); }));
    laps.collect();
    return phases->total();
  }

  std::optional<Nanoseconds> try_sample(timing::Subject& subject, std::size_t operands, std::int64_t iterations) {
    if (batch_ == 0) return unblocked(subject, operands, iterations);
    if (!blocker_) blocker_.emplace(device_, options_.time_out);
    Nanoseconds total{};
    for (std::int64_t done = 0; done < iterations; done += batch_) {
      const auto stream = device_.current_stream();
      Block<D> block(*blocker_, stream);
      device_.record(pair_.start.get(), stream);
      subject.run(operands, std::min(batch_, iterations - done));
      device_.record(pair_.stop.get(), stream);
      const bool in_time = block.end();
      wait_for(device_, pair_.stop.get(), options_.longest);
      if (!in_time) return std::nullopt;
      total += device_.elapsed(pair_.start.get(), pair_.stop.get());
    }
    return total;
  }

  D& device_;
  const EventClockOptions options_;
  EventPair<D> pair_;
  std::deque<EventPair<D>> lap_pairs_;
  std::optional<StreamBlocker<D>> blocker_;
  std::int64_t batch_ = options_.batch;
  std::int64_t time_outs_ = 0;
  bool warm_ = false;
  Nanoseconds resolution_{};
};

}  // namespace pace::gpu
