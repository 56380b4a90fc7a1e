// Back end `static_runtime`: the call by LibTorch's Static Runtime, which plans memory ahead of the calls.
#include <memory>
#include <string>
#include <vector>

#include "benches/files/aot/libtorch_parts.hpp"
#include "benches/operators/backends/backend.hpp"
#include "benches/operators/backends/registered.hpp"
#include "benches/operators/backends/torchscript.hpp"
#include "benches/operators/calls/operator_call.hpp"
#include "pace/base/error.hpp"

#if PACE_HAS_STATIC_RUNTIME
#include <torch/csrc/jit/runtime/static/impl.h>
#endif

namespace pace::benches::operators {
namespace {

#if PACE_HAS_STATIC_RUNTIME
class StaticRuntimeExecutable final : public Executable {
 public:
  explicit StaticRuntimeExecutable(const torch::jit::Module& module) : module_(module) {}

  [[nodiscard]] c10::IValue run(const std::vector<at::Tensor>& tensors) override {
    return module_(std::vector<c10::IValue>(tensors.begin(), tensors.end()));
  }

 private:
  torch::jit::StaticModule module_;
};
#endif

class StaticRuntimeBackend final : public Backend {
 public:
  [[nodiscard]] std::string name() const override { return "static_runtime"; }
  [[nodiscard]] bool is_differentiable() const override { return false; }

  /// Throws `Unsupported` on a GPU, for calls that TorchScript cannot express, and for those that write to their
  /// inputs, which Static Runtime may reorder.
  [[nodiscard]] std::unique_ptr<Executable> prepare(const OperatorCall& call) override {
#if PACE_HAS_STATIC_RUNTIME
    for (const auto& tensor : call.tensors())
      if (!tensor.is_cpu()) throw Unsupported("Static Runtime runs on the CPU only");
    if (call.mutates_inputs())
      throw Unsupported("Static Runtime takes no operator that writes to its inputs, as " + call.name() + " does");
    auto module = to_torchscript(call);
    module.eval();
    try {
      return std::make_unique<StaticRuntimeExecutable>(module);
    } catch (const c10::Error& error) {
      throw Unsupported("Static Runtime cannot run " + call.name() + ": " + error.what_without_backtrace());
    }
#else
    throw Unsupported("this LibTorch has no Static Runtime, for " + call.name());
#endif
  }
};

const RegisteredBackend registered([](const BackendOptions&) { return std::make_unique<StaticRuntimeBackend>(); });

}  // namespace
}  // namespace pace::benches::operators
