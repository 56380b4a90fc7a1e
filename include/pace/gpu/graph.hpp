// GraphClock: the time between events inside a graph of calls, without the host, with a hot or a cold cache.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pace/gpu/capture.hpp"
#include "pace/gpu/device.hpp"
#include "pace/gpu/owned.hpp"
#include "pace/gpu/stream_blocker.hpp"
#include "pace/gpu/synchronised_wall.hpp"
#include "pace/gpu/wait.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/phases.hpp"
#include "pace/timing/subject.hpp"

namespace pace::gpu {

/// Options of GraphClock.
struct GraphClockOptions {
  /// Whether the L2 cache is flushed before each call, with a pair of events around each call. Otherwise, one pair of
  /// events encloses all calls.
  bool cold = false;
  /// Largest number of calls in one graph; further calls are further launches of it. Capturing a call takes the host
  /// about as long as making it, in every cycle of rounds, and each node takes memory on the device. With 256 calls the
  /// rounds of an operator of 2 us took 1.5 times as long, with the same spread of their result (H100).
  std::int64_t calls = 64;
  /// Number of graphs that are kept for later samples, each with the memory of its calls. The oldest one is freed.
  std::size_t kept = 64;
  /// Memory that is read to flush the cache, in multiples of the L2's size. 1 would suffice if lines were replaced in
  /// order.
  double flush = 3;
  /// Whether a graph is launched behind a block. An idle device starts a graph while it still fetches the nodes, which
  /// then follow each other at 0.7 us instead of 0.35 us (kernels of 2 us on the H200). Untimed calls before the timed
  /// ones have the same effect, but take longer than a block.
  bool block = true;
  /// Longest time to queue a launch behind a block.
  Nanoseconds time_out = std::chrono::milliseconds(250);
  /// Longest time of one launch, after which a sample throws NeverEnded.
  Nanoseconds longest = longest_sample;
};

/// Times calls inside a CUDA graph, so that the host has no part in the time. Gaps between the nodes of the graph are
/// included, about 0.35 us per kernel (see Overhead).
///
/// A graph is captured for a subject, its operand sets and a number of calls, and launched for each sample until the
/// next cycle begins. Captures of the same calls in the same memory differ in their times, by up to 1 % where the
/// operands fit into the L2 cache. Captures that lasted as long as a comparison would be an error that more rounds do
/// not reduce; with new ones in every cycle, it is part of the spread of the cycles.
///
/// The subject must have run before: its calls are captured after one of them has run on the capture stream, on which
/// libraries then allocate their workspaces.
template <Device D>
class GraphClock final : public timing::Clock {
 public:
  /// Times calls on `device`, which must outlive the clock.
  explicit GraphClock(D& device, GraphClockOptions options = {})
      : device_(device), options_(options), stream_(device.capture_stream()), done_(own_event(device)) {}

  /// Captures `body` and launches it once. The graph is not kept, so that every call takes the time of a capture.
  Nanoseconds time(FunctionRef<void()> body) override {
    device_.synchronise();
    Graphed once(device_, 1);
    once.graph.emplace(capture_calls(once, 1, [&](std::int64_t, std::int64_t) { body(); }));
    return *launch(once);
  }

  Nanoseconds sample(timing::Subject& subject, std::size_t operands, std::int64_t iterations) override {
    return sample(subject, std::span<const std::size_t>(&operands, 1), iterations);
  }

  /// Takes a sample of calls that alternate between the operand sets `sets`. If these are larger than the cache
  /// together, each call finds its operands evicted by the others.
  Nanoseconds sample(timing::Subject& subject, std::span<const std::size_t> sets, std::int64_t iterations) {
    const std::int64_t calls = std::min(iterations, options_.calls);
    Graphed& graphed = graphed_for(subject, sets, calls);
    timing::Phases* const phases = subject.phases();
    if (phases != nullptr) phases->reset();
    Nanoseconds total{};
    std::int64_t done = 0;
    while (done < iterations) {
      for (const std::size_t set : sets) subject.prepare(set);
      subject.put_back_output(graphed.output);
      const auto took = launch(graphed);
      if (!took) continue;
      total += *took;
      for (std::size_t i = 0; phases != nullptr && i < last_times_.size(); ++i)
        phases->add(graphed.phases[i], last_times_[i]);
      done += calls;
    }
    const double share = static_cast<double>(iterations) / static_cast<double>(done);
    if (phases != nullptr) phases->scale(share);
    return share * total;
  }

  /// Number of kernels of one call in the last sample, without copies and fills.
  [[nodiscard]] double kernels_per_call() const { return kernels_per_call_; }
  /// Times of the last launch: of each phase of each call if there are phases, else of each call (cold), or of all
  /// calls together.
  [[nodiscard]] std::span<const Nanoseconds> last_times() const { return last_times_; }

  /// Number of launches so far that were not queued in time.
  [[nodiscard]] std::int64_t time_outs() const { return time_outs_; }

  /// Frees all graphs, so that each is captured anew for its next sample.
  void begin_cycle() override { graphs_.clear(); }

  /// Frees all graphs, and the outputs that are kept for them.
  void forget() {
    graphs_.clear();
    late_ = false;
    pool_.reset();
  }

  [[nodiscard]] Nanoseconds now() const override { return device_.now(); }
  /// The least time between two consecutive events in a graph; measured once.
  [[nodiscard]] Nanoseconds resolution() override {
    if (resolution_.count() > 0) return resolution_;
    device_.synchronise();
    Graphed empty(device_, 1);
    empty.graph.emplace(capture_calls(empty, 1, [](std::int64_t, std::int64_t) {}));
    return resolution_ = detail::least_empty([&] { return launch(empty).value_or(Nanoseconds{}); });
  }
  [[nodiscard]] std::string name() const override { return options_.cold ? "cold" : "graph"; }

 private:
  struct Graphed {
    Graphed(D& device, std::size_t pairs_wanted) {
      for (std::size_t i = 0; i < pairs_wanted; ++i) pairs.emplace_back(device);
    }
    const void* identity = nullptr;
    std::vector<std::size_t> sets;
    std::int64_t calls = 1;
    std::vector<EventPair<D>> pairs;
    /// The phase of each pair, if the calls have phases.
    std::vector<std::size_t> phases;
    // False before the first launch, which uploads the graph to the device.
    bool launched = false;
    // After the events, so that it is destroyed before them.
    std::optional<Owned<D, typename D::Graph>> graph;
    // Destroyed first: when the graph then frees the memory of its calls, no tensor uses it any more.
    std::shared_ptr<void> output;
  };

  /// Sets the size of the persisting part of the L2 cache to 0 for the lifetime of the object, since persisting lines
  /// survive a flush.
  class NothingPersists {
   public:
    explicit NothingPersists(D& device) : device_(device), before_(device.persisting_bytes()) {
      if (before_ > 0) device_.set_persisting_bytes(0);
      try {
        device_.drop_persisting_lines();
      } catch (...) {
        put_back();
        throw;
      }
    }
    NothingPersists(const NothingPersists&) = delete;
    ~NothingPersists() { put_back(); }

   private:
    void put_back() noexcept {
      if (before_ == 0) return;
      try {
        device_.set_persisting_bytes(before_);
      } catch (...) {  // the device is lost, and its limits do not matter
      }
    }
    D& device_;
    const std::size_t before_;
  };

  Graphed& graphed_for(timing::Subject& subject, std::span<const std::size_t> sets, std::int64_t calls) {
    auto found = std::find_if(graphs_.begin(), graphs_.end(), [&](const Graphed& each) {
      return each.identity == subject.identity() && std::ranges::equal(each.sets, sets) && each.calls == calls;
    });
    if (found != graphs_.end()) {
      kernels_per_call_ = kernels_of(*found);
      return *found;
    }
    // Calibration changes the number of calls; graphs of other numbers are not needed any more.
    graphs_.remove_if([&](const Graphed& each) {
      return each.identity == subject.identity() && std::ranges::equal(each.sets, sets);
    });
    while (graphs_.size() >= std::max<std::size_t>(1, options_.kept)) graphs_.pop_front();
    timing::Phases* const phases = subject.phases();
    Graphed fresh(device_, phases != nullptr ? 0 : options_.cold ? static_cast<std::size_t>(calls) : 1);
    fresh.identity = subject.identity();
    fresh.sets.assign(sets.begin(), sets.end());
    fresh.calls = calls;
    device_.synchronise();
    {
      const OnStream<D> on(device_, stream_);
      for (const std::size_t set : sets) {
        subject.prepare(set);
        subject.run(set, 1);
      }
      device_.synchronise(stream_);
      for (const std::size_t set : sets) subject.prepare(set);
      device_.synchronise(stream_);
    }
    const auto run = [&](std::int64_t first, std::int64_t count) {
      if (sets.size() == 1) return subject.run(sets[0], count);
      for (std::int64_t i = first; i < first + count; ++i)
        subject.run(sets[static_cast<std::size_t>(i) % sets.size()], 1);
    };
    fresh.graph.emplace(phases != nullptr ? capture_phases(fresh, *phases, [&] { run(0, calls); })
                                          : capture_calls(fresh, calls, run));
    fresh.output = subject.keep_output();
    static_cast<void>(launch(fresh));
    kernels_per_call_ = kernels_of(fresh);
    return graphs_.emplace_back(std::move(fresh));
  }

  /// The pool of all graphs, which therefore write their outputs and intermediate results to the same memory: its
  /// address influences their time, and must be the same for all.
  [[nodiscard]] const typename D::Pool& pool() {
    if (!pool_) pool_.emplace(device_.make_pool());
    return *pool_;
  }

  void make_cache() {
    if (!options_.cold || cache_) return;
    const double bytes = options_.flush * static_cast<double>(device_.l2_bytes());
    auto cache = own_buffer(device_, static_cast<std::size_t>(bytes));
    const auto alone = capture(device_, stream_, pool(), [&] { device_.evict(cache.get(), stream_); });
    kernels_per_flush_ = device_.kernels(alone.get());
    cache_.emplace(std::move(cache));
  }

  /// Captures `calls` calls. `run(first, count)` makes `count` calls, from the call of index `first` on.
  template <class Run>
  [[nodiscard]] Owned<D, typename D::Graph> capture_calls(Graphed& graphed, std::int64_t calls, Run&& run) {
    make_cache();
    return capture(device_, stream_, pool(), [&] {
      const auto pairs = static_cast<std::int64_t>(graphed.pairs.size());
      for (std::int64_t i = 0; i < pairs; ++i) {
        if (options_.cold) device_.evict(cache_->get(), stream_);
        device_.record_node(graphed.pairs[static_cast<std::size_t>(i)].start.get(), stream_);
        run(i, calls / pairs);
        device_.record_node(graphed.pairs[static_cast<std::size_t>(i)].stop.get(), stream_);
      }
    });
  }

  /// Captures all calls, which `run()` makes, with a pair of events around each phase.
  template <class Run>
  [[nodiscard]] Owned<D, typename D::Graph> capture_phases(Graphed& graphed, timing::Phases& phases, Run&& run) {
    class Nodes final : public timing::Lapper {
     public:
      Nodes(GraphClock& clock, Graphed& graphed) : clock_(clock), graphed_(graphed) {}
      void begin(std::size_t phase) override {
        if (clock_.options_.cold) clock_.device_.evict(clock_.cache_->get(), clock_.stream_);
        graphed_.phases.push_back(phase);
        clock_.device_.record_node(graphed_.pairs.emplace_back(clock_.device_).start.get(), clock_.stream_);
      }
      void end(std::size_t) override { clock_.device_.record_node(graphed_.pairs.back().stop.get(), clock_.stream_); }

     private:
      GraphClock& clock_;
      Graphed& graphed_;
    } nodes(*this, graphed);
    make_cache();
    return capture(device_, stream_, pool(), [&] { phases.listen(nodes, run); });
  }

  /// Launches the graph and returns the time; nothing if the launch could not be queued in time, after which no graph
  /// is launched behind a block any more.
  std::optional<Nanoseconds> launch(Graphed& graphed) {
    std::optional<NothingPersists> nothing_persists;
    if (options_.cold) nothing_persists.emplace(device_);
    const auto stream = device_.current_stream();
    bool in_time = true;
    {
      std::optional<Block<D>> block;
      if (options_.block && graphed.launched && !late_) {
        if (!blocker_) blocker_.emplace(device_, options_.time_out);
        block.emplace(*blocker_, stream);
      }
      device_.launch(graphed.graph->get(), stream);
      device_.record(done_.get(), stream);
      if (block) in_time = block->end();
    }
    wait_for(device_, done_.get(), options_.longest);
    graphed.launched = true;
    if (!in_time) {
      ++time_outs_;
      late_ = true;
      return std::nullopt;
    }
    last_times_.clear();
    Nanoseconds total{};
    for (const auto& pair : graphed.pairs) {
      last_times_.push_back(device_.elapsed(pair.start.get(), pair.stop.get()));
      total += last_times_.back();
    }
    return total;
  }

  [[nodiscard]] double kernels_of(const Graphed& graphed) {
    const auto all = static_cast<double>(device_.kernels(graphed.graph->get()));
    const double flushes = options_.cold ? static_cast<double>(graphed.pairs.size()) : 0;
    return (all - flushes * static_cast<double>(kernels_per_flush_)) / static_cast<double>(graphed.calls);
  }

  D& device_;
  const GraphClockOptions options_;
  typename D::Stream stream_;
  Owned<D, typename D::Event> done_;
  std::optional<Owned<D, typename D::Buffer>> cache_;
  std::size_t kernels_per_flush_ = 0;
  // Before the graphs, so that it is destroyed after them.
  std::optional<typename D::Pool> pool_;
  std::list<Graphed> graphs_;
  /// Whether a launch was not queued in time. Then none of any subject is blocked: a block has an effect on the time,
  /// which must be the same for all that are compared.
  bool late_ = false;
  std::optional<StreamBlocker<D>> blocker_;
  std::int64_t time_outs_ = 0;
  std::vector<Nanoseconds> last_times_;
  double kernels_per_call_ = 0;
  Nanoseconds resolution_{};
};

}  // namespace pace::gpu
