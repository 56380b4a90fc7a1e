// RangeRecorder: records every range that this thread reports to LibTorch's profiler.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <ATen/record_function.h>

#include "pace/base/error.hpp"
#include "pace/kernels/kernel.hpp"
#include "pace/kernels/ranges.hpp"
#include "pace/timing/wall.hpp"

namespace pace::kernel {

/// Whether ranges of this scope are frames, see RangeEvent::frame.
[[nodiscard]] inline bool is_frame(at::RecordScope scope) {
  return scope != at::RecordScope::FUNCTION && scope != at::RecordScope::USER_SCOPE &&
         scope != at::RecordScope::STATIC_RUNTIME_OP;
}

/// Records the ranges of calls on the thread that makes it. Only one can exist at a time. Its memory is kept from call
/// to call, so that recording a range takes some tens of nanoseconds.
class RangeRecorder {
 public:
  /// Registers with LibTorch's profiler. Throws Error if another recorder exists.
  RangeRecorder() {
    RangeRecorder* none = nullptr;
    if (!current().compare_exchange_strong(none, this))
      throw Error("ranges are being recorded already; expected one recorder at a time");
    handle_ = add_callback();
    at::disableCallback(handle_);
  }
  RangeRecorder(const RangeRecorder&) = delete;
  RangeRecorder& operator=(const RangeRecorder&) = delete;
  ~RangeRecorder() {
    at::removeCallback(handle_);
    current() = nullptr;
  }

  /// Runs `call()` and returns the begins and ends of its ranges on this thread, in order.
  template <class Call>
  [[nodiscard]] std::vector<RangeEvent> record(Call&& call) {
    notes_.clear();
    names_.clear();
    elsewhere_ = 0;
    {
      const Enabled recording(handle_);
      call();
    }
    std::vector<RangeEvent> events;
    events.reserve(notes_.size());
    for (const Note& note : notes_) {
      RangeEvent& event = events.emplace_back();
      event.begins = note.begins;
      event.at = note.at;
      event.name = std::string_view(names_).substr(note.name, note.name_length);
      event.frame = note.frame;
    }
    return events;
  }

  /// Number of ranges in the last call on other threads, which this one started.
  [[nodiscard]] std::size_t elsewhere() const { return elsewhere_; }

  /// Measures the time that the recording of a range takes, with many empty ranges.
  [[nodiscard]] RangeCost cost() {
    constexpr int ranges = 256, repeats = 15;
    const auto empty_ranges = [] {
      for (int i = 0; i < ranges; ++i) {
        at::RecordFunction range(at::RecordScope::FUNCTION);
        if (range.isActive()) range.before("cpp_fused_nothing_0");
      }
    };
    std::vector<Nanoseconds> inside, with, without;
    for (int i = 0; i < repeats; ++i) {
      std::vector<RangeEvent> events;
      without.push_back(clock_.time(empty_ranges));
      events = record([&] { with.push_back(clock_.time(empty_ranges)); });
      for (std::size_t begin = 0; begin + 1 < events.size(); begin += 2)
        inside.push_back(events[begin + 1].at - events[begin].at);
    }
    RangeCost cost;
    if (!inside.empty()) cost.inside = summary_of(std::move(inside)).median;
    cost.all = (summary_of(std::move(with)).median - summary_of(std::move(without)).median) / double{ranges};
    cost.all = std::max(cost.all, cost.inside);
    return cost;
  }

 private:
  struct Note {
    Nanoseconds at{};
    std::size_t name = 0, name_length = 0;
    bool begins = true, frame = false;
  };

  class Enabled {
   public:
    explicit Enabled(at::CallbackHandle handle) : handle_(handle) { at::reenableCallback(handle_); }
    Enabled(const Enabled&) = delete;
    Enabled& operator=(const Enabled&) = delete;
    ~Enabled() { at::disableCallback(handle_); }

   private:
    at::CallbackHandle handle_;
  };

  /// The present recorder; null: none. LibTorch's callbacks are plain functions, and other threads may call them after
  /// the recorder's destruction.
  static std::atomic<RangeRecorder*>& current() {
    static std::atomic<RangeRecorder*> recorder = nullptr;
    return recorder;
  }

  static at::CallbackHandle add_callback() {
    return at::addThreadLocalCallback(at::RecordFunctionCallback(
        [](const at::RecordFunction& range) -> std::unique_ptr<at::ObserverContext> {
          if (RangeRecorder* const recorder = current().load()) recorder->begin(range);
          return nullptr;
        },
        [](const at::RecordFunction&, at::ObserverContext*) {
          if (RangeRecorder* const recorder = current().load()) recorder->end();
        }));
  }

  void begin(const at::RecordFunction& range) {
    if (std::this_thread::get_id() != owner_) {
      __atomic_fetch_add(&elsewhere_, 1, __ATOMIC_RELAXED);
      return;
    }
    const std::string_view name(range.name());
    Note& note = notes_.emplace_back();
    note.name = names_.size();
    note.name_length = name.size();
    note.frame = is_frame(range.scope());
    names_.append(name);
    note.at = clock_.now();
  }

  void end() {
    if (std::this_thread::get_id() != owner_) return;
    const Nanoseconds now = clock_.now();
    notes_.push_back({.at = now, .begins = false});
  }

  const std::thread::id owner_ = std::this_thread::get_id();
  timing::WallClock clock_;
  std::vector<Note> notes_;
  std::string names_;
  std::size_t elsewhere_ = 0;
  at::CallbackHandle handle_{};
};

}  // namespace pace::kernel
