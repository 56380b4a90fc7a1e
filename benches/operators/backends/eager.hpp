// Back end `eager`: the operator through LibTorch's dispatcher.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "benches/files/aot/device.hpp"
#include "benches/operators/backends/backend.hpp"
#include "benches/operators/backends/footprint.hpp"
#include "benches/operators/calls/memory.hpp"
#include "benches/operators/calls/operator_call.hpp"
#include "benches/operators/calls/operator_name.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::operators {

class EagerExecutable final : public Executable {
 public:
  explicit EagerExecutable(OperatorCall call) : call_(std::move(call)) {}

  [[nodiscard]] c10::IValue run(const std::vector<at::Tensor>& tensors) override {
    call_.run_into(stack_, tensors);
    return OperatorCall::take_result(stack_);
  }

 private:
  OperatorCall call_;
  torch::jit::Stack stack_;  // kept, so that an iteration allocates nothing of its own
};

class EagerBackend final : public Backend {
 public:
  [[nodiscard]] std::string name() const override { return "eager"; }

  /// Throws `Unsupported` when the operator has no kernel for the device of its tensors, or its results do not fit in
  /// memory.
  [[nodiscard]] std::unique_ptr<Executable> prepare(const OperatorCall& call) override {
    const at::Device device = call.tensors().empty() ? at::kCPU : call.tensors().front().device();
    if (!has_kernel(call.handle(), device.type())) {
      throw Unsupported(call.name() + " has no kernel for " + c10::DeviceTypeName(device.type(), true) +
                        " in this LibTorch");
    }
    if (const std::optional<std::int64_t> bytes = output_bytes(call)) {
      require_memory(*bytes, "the results of " + call.name(), benches::aot::available_memory_on(device));
    }
    return std::make_unique<EagerExecutable>(call);
  }
};

}  // namespace pace::benches::operators
