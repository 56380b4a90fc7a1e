// Phases: separately timed parts of one iteration; time between them is not counted.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/units.hpp"

namespace pace::timing {

/// Receives the begin and the end of each phase while an operation runs.
class Lapper {
 public:
  /// Called when phase `phase` begins.
  virtual void begin(std::size_t phase) = 0;
  /// Called when phase `phase` ends.
  virtual void end(std::size_t phase) = 0;

 protected:
  ~Lapper() = default;
};

/// The phases of one operation, which calls begin() and end() around each phase of each iteration. While a clock takes
/// a sample, it listens and adds the times here. The sample's time is their sum.
class Phases {
 public:
  /// One phase for each name, in the order of running.
  explicit Phases(std::vector<std::string> names) : names_(std::move(names)), times_(names_.size()) {}

  /// Names of the phases, such as `forward` and `backward`.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// Time of each phase in the last sample, all its iterations together.
  [[nodiscard]] const std::vector<Nanoseconds>& times() const { return times_; }

  /// The operation calls it when phase `phase` begins.
  void begin(std::size_t phase) {
    if (lapper_ != nullptr) lapper_->begin(phase);
  }
  /// The operation calls it when phase `phase` ends.
  void end(std::size_t phase) {
    if (lapper_ != nullptr) lapper_->end(phase);
  }

  /// Sets all times to 0. For clocks.
  void reset() { times_.assign(times_.size(), Nanoseconds{}); }
  /// Adds `time` to the time of a phase. For clocks.
  void add(std::size_t phase, Nanoseconds time) { times_[phase] += time; }
  /// Multiplies all times by `factor`. For clocks.
  void scale(double factor) {
    for (auto& time : times_) time *= factor;
  }
  /// The sum of all times.
  [[nodiscard]] Nanoseconds total() const {
    Nanoseconds sum{};
    for (const auto time : times_) sum += time;
    return sum;
  }
  /// Calls `run()`, and meanwhile passes the begin and end of each phase to `lapper`. For clocks.
  template <class Run>
  void listen(Lapper& lapper, Run&& run) {
    struct Listening {
      explicit Listening(Phases& phases, Lapper* lapper) : phases(phases) { phases.lapper_ = lapper; }
      Listening(const Listening&) = delete;
      ~Listening() { phases.lapper_ = nullptr; }
      Phases& phases;
    } const listening(*this, &lapper);
    run();
  }

 private:
  std::vector<std::string> names_;
  std::vector<Nanoseconds> times_;
  Lapper* lapper_ = nullptr;
};

}  // namespace pace::timing
