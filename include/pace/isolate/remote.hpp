// RemoteImplementation: stands for an implementation in a process of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <ATen/core/ivalue.h>

#include "pace/isolate/process.hpp"
#include "pace/subject/implementation.hpp"

namespace pace::detail {

/// The time of a sample runs from one store in shared memory to another. No code of the implementation runs here, and
/// its outputs stay in its process.
class RemoteImplementation final : public Implementation {
 public:
  RemoteImplementation(const OperandSets& operands, SideProcess& side) : Implementation(operands), side_(side) {}

  /// Returns when the other process has prepared the sample. That process then waits for the start without sleeping.
  void prepare(std::size_t set) override {
    announce();
    side_.send({.kind = SideRequest::Kind::sample,
                .number = ++number_,
                .set = set,
                .kept_call = operands().kept_call,
                .round_seed = operands().round_seed});
    side_.await(side_.memory().ready, number_);
  }

  void run(std::size_t, std::int64_t iterations) override {
    auto& memory = side_.memory();
    memory.iterations = iterations;
    memory.go.store(number_, std::memory_order_release);
    side_.await(memory.done, number_);
  }

  /// Returns when the other process is stopped, so that it does not disturb the next sample.
  void finish() override {
    side_.await(side_.memory().finished, number_);
    side_.stop();
  }

  /// Makes one call. Returns None, since the output stays in the other process.
  c10::IValue call(std::size_t set) override {
    prepare(set);
    run(set, 1);
    finish();
    return {};
  }
  c10::IValue take_output() override { return {}; }

 private:
  SideProcess& side_;
  std::uint64_t number_ = 0;
};

}  // namespace pace::detail
