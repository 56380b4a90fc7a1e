// Sink: where results go as they come. OwnSink: one that a program adds. FanOut: one result to every sink; a sink that fails
// neither ends the run nor goes unnoticed.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pace/core/result.hpp"
#include "pace/report/environment.hpp"

namespace pace::report {

/// One destination of results. What `write` returns from has left the process: a run that is killed later keeps it.
class Sink {
 public:
  virtual ~Sink() = default;
  /// Throws Error, naming the destination and the reason, if the result could not be written.
  virtual void write(const Result& result) = 0;
  /// After the last result: totals, and whatever closing the destination still finds wrong (throws Error).
  virtual void finish() {}
};

/// A sink of a program's own. An object of this class at namespace scope, in any of the program's files, adds one to every
/// run; session.hpp need not know of it. With --isolation or --processes, each process that measures makes its own.
class OwnSink {
 public:
  /// Makes the sink of a run in this environment, before anything is measured; null: the run has none. What it throws ends
  /// the start with that message.
  using Make = std::function<std::unique_ptr<Sink>(const Environment& environment)>;

  explicit OwnSink(Make make) { all().push_back(std::move(make)); }

  /// Those of this program.
  [[nodiscard]] static std::vector<Make>& all() {
    static std::vector<Make> makers;
    return makers;
  }
};

/// Hands results on. The measurements behind a result may have taken hours, so a full disk under one sink must not
/// keep the result from the others: the failure is told at once, and `failures()` makes the run fail in the end.
class FanOut {
 public:
  using Complaint = std::function<void(const std::string& message)>;

  /// `complain` hears of each failing sink, once.
  explicit FanOut(Complaint complain) : complain_(std::move(complain)) {}

  void add(std::unique_ptr<Sink> sink) { sinks_.push_back(std::move(sink)); }

  void write(const Result& result) {
    each([&](Sink& sink) { sink.write(result); });
  }
  /// `before` is called for each sink first and returns whether it is finished; what it throws counts as that sink's
  /// failure. The file of a sink that is not finished stays as it is: without a result, as it was before.
  void finish(const std::function<bool(Sink&)>& before = [](Sink&) { return true; }) {
    each([&](Sink& sink) {
      if (before(sink)) sink.finish();
    });
  }

  /// How many sinks failed; those get no further results.
  [[nodiscard]] std::size_t failures() const { return failures_; }
  /// Whether there is none left that could be told anything.
  [[nodiscard]] bool all_failed() const { return failures_ > 0 && failures_ == sinks_.size(); }

 private:
  template <class Action>
  void each(const Action& action) {
    for (auto& sink : sinks_) {
      if (!sink) continue;
      try {
        action(*sink);
      } catch (const std::exception& error) {
        give_up_on(sink, error.what());
      } catch (...) {
        give_up_on(sink, "a sink threw something that is no std::exception");
      }
    }
  }

  void give_up_on(std::unique_ptr<Sink>& sink, const std::string& why) {
    sink.reset();
    ++failures_;
    complain_(why);
  }

  Complaint complain_;
  std::vector<std::unique_ptr<Sink>> sinks_;
  std::size_t failures_ = 0;
};

}  // namespace pace::report
