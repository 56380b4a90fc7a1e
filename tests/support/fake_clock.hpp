// A clock that stands still unless the measured code moves it: makes measuring deterministic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "pace/timing/clock.hpp"
#include "pace/timing/subject.hpp"

namespace pace::test {

class FakeClock : public pace::timing::Clock {
 public:
  Nanoseconds time(FunctionRef<void()> body) override {
    const Nanoseconds start = now_;
    body();
    return now_ - start;
  }
  [[nodiscard]] Nanoseconds now() const override { return now_; }
  void pause(Nanoseconds time) override { now_ += time; }
  [[nodiscard]] Nanoseconds resolution() override { return resolution_; }
  [[nodiscard]] std::string name() const override { return "fake"; }

  void advance(Nanoseconds time) { now_ += time; }
  void set_resolution(Nanoseconds resolution) { resolution_ = resolution; }

 private:
  Nanoseconds now_{};
  Nanoseconds resolution_{10};
};

/// One sample as an operation saw it.
struct Call {
  std::size_t operation;
  std::size_t operands;
  std::int64_t iterations;
};

/// An implementation that takes the time `cost` names for each iteration; records its calls into a shared log.
class FakeOperation final : public pace::timing::Subject {
 public:
  using Cost = std::function<Nanoseconds(std::size_t operands)>;
  FakeOperation(FakeClock& clock, std::size_t id, Cost cost, std::vector<Call>* log = nullptr)
      : clock_(clock), id_(id), cost_(std::move(cost)), log_(log) {}

  void run(std::size_t operands, std::int64_t iterations) override {
    if (log_ != nullptr) log_->push_back({id_, operands, iterations});
    clock_.advance(static_cast<double>(iterations) * cost_(operands));
  }
  void prepare(std::size_t /*operands*/) override { ++prepared; }

  std::size_t prepared = 0;

 private:
  FakeClock& clock_;
  std::size_t id_;
  Cost cost_;
  std::vector<Call>* log_;
};

}  // namespace pace::test
