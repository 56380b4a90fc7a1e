// A way of one's own to run any operator call: in float64, rounded to float32 afterwards.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include "benches/operators/backends/registered.hpp"

namespace {

using namespace pace::benches::operators;

std::vector<at::Tensor> widened(std::vector<at::Tensor> tensors) {
  for (at::Tensor& tensor : tensors)
    if (tensor.scalar_type() == at::kFloat) tensor = tensor.to(at::kDouble);
  return tensors;
}

/// The call bound to float64 operands.
class InFloat64 final : public Executable {
 public:
  explicit InFloat64(OperatorCall call) : call_(std::move(call)) {}

  c10::IValue run(const std::vector<at::Tensor>& tensors) override {
    return call_.run(widened(tensors)).toTensor().to(at::kFloat);
  }

 private:
  OperatorCall call_;
};

class Float64Backend final : public Backend {
 public:
  std::string name() const override { return "float64"; }

  std::unique_ptr<Executable> prepare(const OperatorCall& call) override {
    const auto& returns = call.schema().returns();
    if (call.mutates_inputs() || returns.size() != 1 || returns[0].type()->kind() != c10::TypeKind::TensorType)
      throw pace::Unsupported("float64 runs operators that return one tensor and write to none; " + call.name() +
                              " is another");
    return std::make_unique<InFloat64>(call.with_tensors(widened(call.tensors())));
  }
};

const RegisteredBackend registered([](const BackendOptions&) { return std::make_unique<Float64Backend>(); });

}  // namespace
