// Back ends `cuda_graph`, `torchscript_cuda_graph`, `aot_inductor_cuda_graph`: another back end's work, as a CUDA
// graph.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "benches/operators/backends/backend.hpp"
#include "benches/operators/calls/operator_call.hpp"
#include "pace/base/error.hpp"

#ifdef PACE_CUDA
#include "pace/gpu/cuda/cuda_graph.hpp"
#endif

namespace pace::benches::operators {

#ifdef PACE_CUDA

class CudaGraphExecutable final : public Executable {
 public:
  CudaGraphExecutable(int device, std::shared_ptr<Executable> inner)
      : device_(device), graphed_(device_, Run{std::move(inner)}) {}

  [[nodiscard]] c10::IValue run(const std::vector<at::Tensor>& tensors) override { return graphed_(tensors); }

 private:
  struct Run {
    std::shared_ptr<Executable> inner;
    c10::IValue operator()(const std::vector<at::Tensor>& tensors) const { return inner->run(tensors); }
  };
  cuda::CudaDevice device_;
  cuda::CudaGraphed<Run> graphed_;
};

#endif  // PACE_CUDA

class CudaGraphBackend final : public Backend {
 public:
  /// `inner` must outlive this.
  CudaGraphBackend(std::string name, Backend& inner) : name_(std::move(name)), inner_(inner) {}

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] bool is_differentiable() const override { return false; }
  [[nodiscard]] bool reuses_outputs() const override { return true; }

  /// Throws `Unsupported` for calls that are not on a GPU, or that `inner` refuses. A call that cannot be captured says
  /// so when it first runs.
  [[nodiscard]] std::unique_ptr<Executable> prepare(const OperatorCall& call) override {
    if (call.tensors().empty() || !call.tensors().front().is_cuda())
      throw Unsupported("a CUDA graph holds what a GPU does; the operands of " + call.name() + " are not on one");
#ifdef PACE_CUDA
    return std::make_unique<CudaGraphExecutable>(call.tensors().front().device().index(), inner_.prepare(call));
#else
    throw Unsupported("this program was built without CUDA: build it with --config=cuda");
#endif
  }
  void prepare_all(std::span<const OperatorCall* const> calls) override { inner_.prepare_all(calls); }
  [[nodiscard]] std::optional<double> compile_seconds(const OperatorCall& call) override {
    return inner_.compile_seconds(call);
  }
  [[nodiscard]] bool uses_fuser() const override { return inner_.uses_fuser(); }

 private:
  std::string name_;
  Backend& inner_;
};

}  // namespace pace::benches::operators
