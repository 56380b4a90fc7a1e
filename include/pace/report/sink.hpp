// Sink: a destination of results as they come. OwnSink: adds a program's own sink. FanOut: passes each result to every
// sink; a sink that fails is reported and does not end the run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pace/report/environment.hpp"
#include "pace/result/result.hpp"

namespace pace::report {

/// One destination of results. A result has left the process when `write` returns: a run that is killed later keeps it.
class Sink {
 public:
  virtual ~Sink() = default;
  /// Writes one result. Throws Error, which names the destination and the reason, if that fails.
  virtual void write(const Result& result) = 0;
  /// Writes totals after the last result, and closes the destination. Throws Error if either fails.
  virtual void finish() {}
};

/// Adds a program's own sink to every run: an object of this class at namespace scope, in any of the program's files,
/// is enough. With --isolation or --processes, each process that measures makes its own sink.
class OwnSink {
 public:
  /// Makes the sink of a run in this environment, before anything is measured; null: the run has none. An exception
  /// that it throws ends the start of the program with its message.
  using Make = std::function<std::unique_ptr<Sink>(const Environment& environment)>;

  /// Registers `make` for every run of this program.
  explicit OwnSink(Make make) { all().push_back(std::move(make)); }

  /// Returns all that were registered in this program.
  [[nodiscard]] static std::vector<Make>& all() {
    static std::vector<Make> makers;
    return makers;
  }
};

/// Passes results on to all sinks. The measurements behind a result may have taken hours, so a full disk under one sink
/// must not keep the result from the others: the failure is reported at once, and `failures()` makes the run fail in
/// the end.
class FanOut {
 public:
  /// Reports the message of a sink that failed.
  using Complaint = std::function<void(const std::string& message)>;

  /// `complain` is called once for each sink that fails.
  explicit FanOut(Complaint complain) : complain_(std::move(complain)) {}

  /// Adds a sink, which gets all results from now on.
  void add(std::unique_ptr<Sink> sink) { sinks_.push_back(std::move(sink)); }

  /// Returns whether the sink was added and has not failed.
  [[nodiscard]] bool has(const Sink* sink) const {
    return std::any_of(sinks_.begin(), sinks_.end(), [&](const auto& each) { return each && each.get() == sink; });
  }

  /// Passes the result to every sink that has not failed. An exception of a sink counts as its failure, whose message
  /// adds that the sink gets no further results.
  void write(const Result& result) {
    each([&](Sink& sink) { sink.write(result); }, "; no further results go there");
  }
  /// Calls `action` for one of the sinks, unless it has failed and is gone. An exception counts as its failure.
  template <class OneSink, class Action>
  void use(OneSink* wanted, const Action& action) {
    each([&](Sink& sink) {
      if (&sink == wanted) action(*wanted);
    });
  }
  /// Finishes each sink for which `before` returns true; an exception of either counts as the sink's failure. The file
  /// of a sink that is not finished stays as it is; if it got no result, it has its former content.
  void finish(const std::function<bool(Sink&)>& before = [](Sink&) { return true; }) {
    each([&](Sink& sink) {
      if (before(sink)) sink.finish();
    });
  }

  /// Returns how many sinks failed; those get no further results.
  [[nodiscard]] std::size_t failures() const { return failures_; }
  /// Returns whether every sink has failed; false if there are no sinks.
  [[nodiscard]] bool all_failed() const { return failures_ > 0 && failures_ == sinks_.size(); }

 private:
  template <class Action>
  void each(const Action& action, const std::string& consequence = "") {
    for (auto& sink : sinks_) {
      if (!sink) continue;
      try {
        action(*sink);
      } catch (const std::exception& error) {
        give_up_on(sink, error.what() + consequence);
      } catch (...) {
        give_up_on(sink, "a sink threw something that is no std::exception" + consequence);
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
