// FakeDevice: a device that only keeps books: queues in simulated time, the live resources, and the order of calls.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "pace/gpu/activity.hpp"
#include "pace/gpu/device.hpp"
#include "pace/timing/machine_counters.hpp"
#include "pace/timing/subject.hpp"

namespace pace::testing {

/// Thrown at the step that a test chose.
struct StepFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class FakeDevice {
 public:
  struct Stream {
    int id;
    bool operator==(const Stream&) const = default;
  };
  struct Event {
    int id;
  };
  struct Graph {
    int id;
  };
  struct Pool {
    int id;
  };
  struct Flag {
    int id;
  };
  struct Buffer {
    int id;
    std::size_t bytes;
  };

  /// Rings in simulated time, and only while the host waits for a device that is blocked.
  class Alarm {
   public:
    Alarm(FakeDevice& device, std::function<void()> ring) : device_(device), ring_(std::move(ring)) {
      device_.alarms_.insert(this);
    }
    Alarm(const Alarm&) = delete;
    ~Alarm() { device_.alarms_.erase(this); }
    void set(Nanoseconds after) {
      rang_ = false;
      due_ = device_.host_ + after;
    }
    bool cancel() noexcept {
      due_.reset();
      return rang_;
    }

   private:
    friend FakeDevice;
    FakeDevice& device_;
    std::function<void()> ring_;
    std::optional<Nanoseconds> due_;
    bool rang_ = false;
  };

  // Tests set these.
  std::size_t fail_at = 0;              ///< the step that throws, from 1; 0: none
  Nanoseconds launch_cost{1000};        ///< of the host, for each thing it queues
  std::set<std::string> log_only = {};  ///< calls that `log` keeps; empty: all
  std::size_t l2 = 1000;
  std::size_t persisting = 0;
  bool launch_waits = false;  ///< a launch returns when the device is done

  // Tests look at these.
  std::vector<std::string> log;
  std::size_t steps = 0;
  int live = 0;    ///< events, graphs, flags and buffers not destroyed yet
  int blocks = 0;  ///< how often a stream was blocked
  bool capturing = false, tracing = false;
  std::vector<std::size_t> buffer_bytes;
  int pools = 0;                   ///< made so far
  std::vector<int> capture_pools;  ///< of each capture

  /// Work of the user's: `duration` on the device, in the current stream.
  void work(Nanoseconds duration, const std::string& name = "kernel") { queue({Item::work, name, duration}); }
  /// Never ends.
  void hang() { queue({Item::hang, "hang", {}}); }
  [[nodiscard]] bool still_blocked() {
    run();
    return next_ < items_.size() && items_[next_].kind == Item::block;
  }

  /// The thread that measures does not run for so long, since something else does.
  void put_thread_aside(Nanoseconds time) {
    host_ += time;
    aside_ += time;
    ++times_aside_;
  }
  [[nodiscard]] pace::timing::ThreadCounters thread_counters() const { return {host_ - aside_, times_aside_, 0}; }
  /// The thread sleeps.
  void rest(Nanoseconds time) { host_ += time; }
  /// Counters of a machine with two cores where no other process runs.
  [[nodiscard]] pace::timing::MachineCounters counters() const {
    constexpr double ticks_per_ns = 1e-7;
    const Nanoseconds own = host_ - aside_;
    pace::timing::MachineCounters counters;
    counters.total_ticks = 2 * host_.count() * ticks_per_ns;
    counters.idle_ticks = *counters.total_ticks - own.count() * ticks_per_ns;
    counters.steal_ticks = 0;
    counters.process_cpu = counters.thread_cpu = own;
    counters.involuntary_switches = times_aside_;
    counters.voluntary_switches = 0;
    return counters;
  }

  void lose() { lost_ = true; }
  [[nodiscard]] bool usable() const { return !lost_; }
  Nanoseconds now() { return host_ += Nanoseconds(1); }
  std::string name() const { return "fake"; }
  Stream current_stream() { return current_; }
  Stream take_stream() {
    step("take_stream");
    return {++streams_};
  }
  Stream capture_stream() {
    step("capture_stream");
    return {1};
  }
  void make_current(Stream stream) noexcept {
    current_ = stream;
    note("make_current " + std::to_string(stream.id));
  }
  void synchronise() {
    step("synchronise");
    // As lazy loading does behind a blocked stream: time passes until an alarm raises the flag.
    for (run(); next_ < items_.size(); run()) ring_next_alarm();
    host_ = std::max(host_, device_);
  }
  void synchronise(Stream) { synchronise(); }

  Event make_event() {
    step("make_event");
    ++live;
    return {++ids_};
  }
  void destroy(Event) noexcept {
    --live;
    note("destroy event");
  }
  void record(Event event, Stream) {
    step("record");
    queue({Item::stamp, "", {}, event.id});
  }
  void record_node(Event event, Stream) {
    step("record_node");
    if (!capturing) throw std::logic_error("record_node outside of a capture");
    queue({Item::stamp, "", {}, event.id});
  }
  bool finished(Event event) {
    step("finished");
    run();
    host_ += std::chrono::milliseconds(100);
    return stamps_.contains(event.id) && next_ == items_.size();
  }
  Nanoseconds elapsed(Event start, Event stop) {
    step("elapsed");
    return stamps_.at(stop.id) - stamps_.at(start.id);
  }

  Pool make_pool() {
    note("make_pool");
    return {++pools};
  }
  void begin_capture(Stream, Pool pool) {
    step("begin_capture");
    capture_pools.push_back(pool.id);
    capturing = true;
    captured_.clear();
  }
  Graph end_capture(Stream) {
    step("end_capture");
    capturing = false;
    ++live;
    graphs_[++ids_] = captured_;
    return {ids_};
  }
  void abandon_capture(Stream) noexcept {
    capturing = false;
    note("abandon_capture");
  }
  void launch(Graph graph, Stream) {
    step("launch");
    for (const auto& item : graphs_.at(graph.id)) queue(item, false);
    host_ += launch_cost;
    if (launch_waits) synchronise();
  }
  void destroy(Graph) noexcept {
    --live;
    note("destroy graph");
  }
  std::size_t kernels(Graph graph) {
    return static_cast<std::size_t>(std::ranges::count(graphs_.at(graph.id), Item::work, &Item::kind));
  }

  Flag make_flag() {
    step("make_flag");
    ++live;
    return {++ids_};
  }
  void destroy(Flag) noexcept {
    --live;
    note("destroy flag");
  }
  void block_until(Stream, Flag, std::uint32_t value) {
    step("block");
    ++blocks;
    queue({Item::block, "", {}, 0, value});
  }
  void raise(Flag, std::uint32_t value) noexcept { flag_ = value; }
  Alarm make_alarm(std::function<void()> ring) { return {*this, std::move(ring)}; }

  std::size_t l2_bytes() { return l2; }
  Buffer make_buffer(std::size_t bytes) {
    step("make_buffer");
    ++live;
    buffer_bytes.push_back(bytes);
    return {++ids_, bytes};
  }
  void destroy(Buffer) noexcept {
    --live;
    note("destroy buffer");
  }
  void fill(Buffer, Stream) {
    step("fill");
    queue({Item::work, "fill", Nanoseconds(70)});
  }
  void evict(Buffer, Stream) {
    step("evict");
    queue({Item::work, "evict", Nanoseconds(50)});
  }
  void drop_persisting_lines() { step("drop_persisting_lines"); }
  std::size_t persisting_bytes() { return persisting; }
  void set_persisting_bytes(std::size_t bytes) {
    step("persisting " + std::to_string(bytes));
    persisting = bytes;
  }

  void start_trace() {
    step("start_trace");
    tracing = true;
    activities_.clear();
  }
  std::vector<pace::gpu::Activity> stop_trace() {
    step("stop_trace");
    tracing = false;
    return activities_;
  }
  void abandon_trace() noexcept {
    tracing = false;
    note("abandon_trace");
  }

 private:
  struct Item {
    enum Kind { work, stamp, block, hang } kind;
    std::string name;
    Nanoseconds duration;
    int event = 0;
    std::uint32_t value = 0;
    Nanoseconds queued = {};
  };

  void ring_next_alarm() {
    Alarm* next = nullptr;
    for (Alarm* const each : alarms_)
      if (each->due_ && (next == nullptr || *each->due_ < *next->due_)) next = each;
    if (next == nullptr) throw std::logic_error("the host waits for a device that nothing releases");
    host_ = std::max(host_, *std::exchange(next->due_, std::nullopt));
    next->rang_ = true;
    next->ring_();
  }

  void note(const std::string& what) {
    if (log_only.empty() || log_only.contains(what)) log.push_back(what);
  }
  void step(const std::string& what) {
    note(what);
    if (++steps == fail_at) throw StepFailed("step " + std::to_string(steps) + ": " + what);
  }
  void queue(Item item, bool costs = true) {
    if (item.kind == Item::work || item.kind == Item::hang) {
      if (costs) step("queue " + item.name);
    }
    if (costs) host_ += item.kind == Item::work ? launch_cost : Nanoseconds{};
    if (capturing) return captured_.push_back(item);
    item.queued = host_;
    items_.push_back(item);
  }
  void run() {
    for (; next_ < items_.size(); ++next_) {
      const Item& item = items_[next_];
      if (item.kind == Item::hang) return;
      // The flag is raised at the host's time of now.
      if (item.kind == Item::block) {
        if (flag_ < item.value) return;
        device_ = std::max(device_, host_);
        continue;
      }
      device_ = std::max(device_, item.queued);
      if (item.kind == Item::work && tracing)
        activities_.push_back({pace::gpu::Activity::Kind::kernel, item.name, device_, item.duration, 0});
      device_ += item.duration;
      if (item.kind == Item::stamp) stamps_[item.event] = device_;
    }
  }

  bool lost_ = false;
  Nanoseconds host_{}, device_{}, aside_{};
  std::int64_t times_aside_ = 0;
  Stream current_{0};
  int streams_ = 1, ids_ = 0;
  std::uint32_t flag_ = 0;
  std::set<Alarm*> alarms_;
  std::vector<Item> items_, captured_;
  std::size_t next_ = 0;
  std::map<int, std::vector<Item>> graphs_;
  std::map<int, Nanoseconds> stamps_;
  std::vector<pace::gpu::Activity> activities_;
};

static_assert(pace::gpu::Device<FakeDevice> && pace::gpu::TracesActivities<FakeDevice>);

/// An operation of `device.work(duration)`, which writes down each call made on it.
struct FakeSubject : pace::timing::Subject {
  explicit FakeSubject(FakeDevice& on, Nanoseconds takes = Nanoseconds(3000)) : device(on), duration(takes) {}

  FakeDevice& device;
  Nanoseconds duration;
  int runs = 0, prepared = 0;
  std::vector<std::size_t> sets = {};
  int output = 0, outputs = 0;
  bool waits = false;

  void run(std::size_t set, std::int64_t iterations) override {
    for (std::int64_t i = 0; i < iterations; ++i) {
      device.work(duration);
      if (waits && !device.capturing) device.synchronise();
      ++runs;
      sets.push_back(set);
      output = ++outputs;
    }
  }
  void prepare(std::size_t /*set*/) override {
    ++prepared;
    output = 0;
  }
};

}  // namespace pace::testing
