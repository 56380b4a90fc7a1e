// Phases: parts of one iteration that are timed apart, and what lies between them, which is not timed.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "pace/core/units.hpp"

namespace pace::timing {

/// Is told where phases begin and end, while an operation runs.
class Lapper {
 public:
  virtual void begin(std::size_t phase) = 0;
  virtual void end(std::size_t phase) = 0;

 protected:
  ~Lapper() = default;
};

/// The phases of one operation, which calls `begin` and `end` around each phase of each iteration. A clock listens
/// while it takes a sample, and leaves the times here; the time of the sample is the sum of them.
class Phases {
 public:
  explicit Phases(std::vector<std::string> names) : names_(std::move(names)), times_(names_.size()) {}

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// Times of the last sample, all its iterations together.
  [[nodiscard]] const std::vector<Nanoseconds>& times() const { return times_; }

  void begin(std::size_t phase) {
    if (lapper_ != nullptr) lapper_->begin(phase);
  }
  void end(std::size_t phase) {
    if (lapper_ != nullptr) lapper_->end(phase);
  }

  // For clocks.
  void reset() { times_.assign(times_.size(), Nanoseconds{}); }
  void add(std::size_t phase, Nanoseconds time) { times_[phase] += time; }
  void scale(double factor) {
    for (auto& time : times_) time *= factor;
  }
  [[nodiscard]] Nanoseconds total() const {
    Nanoseconds sum{};
    for (const auto time : times_) sum += time;
    return sum;
  }
  /// Whatever `run` does, `lapper` is told of.
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
