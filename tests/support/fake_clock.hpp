// A clock that stands still unless the measured code moves it: makes measuring deterministic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "pace/timing/clock.hpp"
#include "pace/timing/operation.hpp"

namespace pace::test {

class FakeClock {
 public:
  template <class Body>
  Nanoseconds time(Body&& body) {
    const Nanoseconds start = now_;
    body();
    return now_ - start;
  }
  [[nodiscard]] Nanoseconds now() const { return now_; }
  [[nodiscard]] Nanoseconds resolution() const { return resolution_; }
  [[nodiscard]] std::string name() const { return "fake"; }

  void advance(Nanoseconds time) { now_ += time; }
  void set_resolution(Nanoseconds resolution) { resolution_ = resolution; }

 private:
  Nanoseconds now_{};
  Nanoseconds resolution_{10};
};

static_assert(pace::timing::Clock<FakeClock>);

/// One sample as an operation saw it.
struct Call {
  std::size_t operation;
  std::size_t operands;
  std::int64_t iterations;
};

/// An implementation whose time per iteration is whatever `cost` says; records its calls into a shared log.
class FakeOperation {
 public:
  using Cost = std::function<Nanoseconds(std::size_t operands)>;
  FakeOperation(FakeClock& clock, std::size_t id, Cost cost, std::vector<Call>* log = nullptr)
      : clock_(clock), id_(id), cost_(std::move(cost)), log_(log) {}

  [[nodiscard]] pace::timing::Operation operation() {
    return {this, [](void* state, std::size_t operands, std::int64_t iterations) {
              auto& self = *static_cast<FakeOperation*>(state);
              if (self.log_ != nullptr) self.log_->push_back({self.id_, operands, iterations});
              self.clock_.advance(static_cast<double>(iterations) * self.cost_(operands));
            },
            [](void* state, std::size_t) { ++static_cast<FakeOperation*>(state)->prepared; }};
  }

  std::size_t prepared = 0;

 private:
  FakeClock& clock_;
  std::size_t id_;
  Cost cost_;
  std::vector<Call>* log_;
};

}  // namespace pace::test
