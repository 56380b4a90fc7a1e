// EventClock: the time between two events in the current stream.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
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

struct EventClockOptions {
  /// Whether samples are queued behind a block once the warm-up is over. Otherwise the time of short calls is that of
  /// their launches.
  bool block = true;
  /// To queue one batch. A launch takes some microseconds; what takes longer than this for a batch waits for the
  /// device, or is slow enough on the host to be timed by it.
  Nanoseconds time_out = std::chrono::milliseconds(250);
  /// Calls behind one block at first: a stream's queue takes about a thousand launches before the host must wait.
  std::int64_t batch = 256;
  Nanoseconds longest = longest_sample;
};

/// Reports what the device took from the start of the first call to the end of the last one, gaps included, on the
/// stream that is current when the sample starts.
template <Device D>
class EventClock final : public timing::Clock {
 public:
  explicit EventClock(D& device, EventClockOptions options = {}) : device_(device), options_(options), pair_(device) {}

  /// Never blocks the stream: nothing is known of `body`.
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

  /// A batch that cannot be queued in time is released, and the sample is taken again, from its preparation on, with
  /// batches of half the size; an operation of which not even one call can be queued is no longer blocked.
  Nanoseconds sample(timing::Subject& subject, std::size_t operands, std::int64_t iterations) override {
    // A step with phases is longer than a stream's queue, and what the host makes of it is a part of it.
    if (!warm_ || !options_.block || subject.phases() != nullptr) {
      if (subject.phases() != nullptr) {
        timing::lead_in(subject, operands);
        // Or the host would have a start.
        device_.synchronise();
      } else {
        subject.prepare(operands);
      }
      return unblocked(subject, operands, iterations);
    }
    std::int64_t& batch = batches_.try_emplace(subject.identity(), options_.batch).first->second;
    while (true) {
      subject.prepare(operands);
      if (const auto total = try_sample(subject, operands, iterations, batch)) return *total;
      ++time_outs_;
      batch /= 2;
    }
  }

  [[nodiscard]] Nanoseconds now() const override { return device_.now(); }

  /// The least that two events in a row are apart, of 20 tries; measured once.
  [[nodiscard]] Nanoseconds resolution() override {
    if (resolution_.count() > 0) return resolution_;
    Nanoseconds least = Nanoseconds::max();
    for (int attempt = 0; attempt < 20; ++attempt)
      if (const Nanoseconds apart = time([] {}); apart.count() > 0) least = std::min(least, apart);
    // Documented of events: about half a microsecond.
    return resolution_ = least == Nanoseconds::max() ? Nanoseconds(500) : least;
  }

  [[nodiscard]] std::string name() const override { return "event"; }

  /// Batches that were not queued in time, so far.
  [[nodiscard]] std::int64_t time_outs() const { return time_outs_; }
  /// Calls of this operation that are queued behind one block; 0: it is not blocked.
  [[nodiscard]] std::int64_t batch_of(const void* state) const {
    const auto found = batches_.find(state);
    return found == batches_.end() ? options_.batch : found->second;
  }

 private:
  /// Hears phases by a pair of events around each.
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
    /// Once the device is done.
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

  std::optional<Nanoseconds> try_sample(timing::Subject& subject, std::size_t operands, std::int64_t iterations,
                                        std::int64_t batch) {
    if (batch == 0) return unblocked(subject, operands, iterations);
    if (!blocker_) blocker_.emplace(device_, options_.time_out);
    Nanoseconds total{};
    for (std::int64_t done = 0; done < iterations; done += batch) {
      const auto stream = device_.current_stream();
      Block<D> block(*blocker_, stream);
      device_.record(pair_.start.get(), stream);
      subject.run(operands, std::min(batch, iterations - done));
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
  std::map<const void*, std::int64_t> batches_;
  std::int64_t time_outs_ = 0;
  bool warm_ = false;
  Nanoseconds resolution_{};
};

}  // namespace pace::gpu
