// The call as a TorchScript module: equal to eager, before and after saving.
#include "benches/operators/backends/torchscript.hpp"

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/record_function.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/jit/serialization/import.h>

#include "pace/os/activity.hpp"
#include "tests/operators/inputs.hpp"

#include <catch2/catch_test_macros.hpp>

namespace {

using pace::benches::operators::OperatorCall;
using pace::test::inputs;
using pace::test::list;
using pace::test::random;

bool equal(const c10::IValue& a, const c10::IValue& b) {
  if (a.isTensor() && b.isTensor()) {
    const auto &x = a.toTensor(), &y = b.toTensor();
    if (!x.defined() || !y.defined()) return x.defined() == y.defined();
    return x.scalar_type() == y.scalar_type() && x.sizes() == y.sizes() && x.strides() == y.strides() &&
           at::allclose(x.to(at::kDouble), y.to(at::kDouble), 1e-5, 1e-8, true);
  }
  if (a.isNone() || b.isNone()) return a.isNone() && b.isNone();
  if (a.isTuple() != b.isTuple() || a.isList() != b.isList()) return false;
  const auto xs = a.isTuple() ? a.toTupleRef().elements().vec() : a.toListRef().vec();
  const auto ys = b.isTuple() ? b.toTupleRef().elements().vec() : b.toListRef().vec();
  for (std::size_t i = 0; i < xs.size(); ++i) {
    if (ys.size() != xs.size() || !equal(xs[i], ys[i])) return false;
  }
  return true;
}

std::vector<at::Tensor> copies(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> result;
  for (const auto& tensor : tensors) result.push_back(tensor.clone());
  return result;
}

struct Case {
  std::string name;
  pace::inputs::Inputs inputs;
};

std::vector<Case> cases() {
  const auto x = random({2, 3}), y = random({2, 3}), c = random({3}), image = random({2, 3, 4, 4});
  const auto none = c10::IValue();
  const double inf = std::numeric_limits<double>::infinity();
  return {
      {"aten.add.Tensor", inputs({x, y}, {{"alpha", 2}})},
      {"aten.add.Tensor", inputs({x, 0.1})},
      {"aten.add.Tensor", inputs({x.to(at::kHalf), 1e-7})},  // rounds to 0 in half precision
      {"aten.mul.Tensor", inputs({at::arange(4), 2.5})},
      {"aten.floor_divide.default", inputs({at::arange(9), 2})},
      {"aten.add_.Tensor", inputs({x, y})},
      {"aten.copy_.default", inputs({x, y})},
      {"aten.cat.default", inputs({list({x, y, x}), 1})},
      {"aten.stack.default", inputs({list({x, y})})},
      {"aten.sum.dim_IntList", inputs({x, list({}), true})},
      {"aten.mean.dim", inputs({x, list({-1}), true})},
      {"aten._softmax.default", inputs({x, 1, false})},
      {"aten.native_layer_norm.default", inputs({x, list({3}), c, none, 1e-5})},
      {"aten.native_layer_norm_backward.default",
       inputs({x, y, list({3}), random({2, 1}), random({2, 1}), c, none, list({true, true, false})})},
      {"aten.native_batch_norm.default", inputs({image, c, c, none, none, true, 0.1, 1e-5})},
      {"aten.convolution.default",
       inputs({image, random({5, 3, 3, 3}), none, list({1, 1}), list({1, 1}), list({1, 1}), false, list({0, 0}), 1})},
      {"aten.max_pool2d_with_indices.default", inputs({image, list({2, 2}), list({2, 2})})},
      {"aten.constant_pad_nd.default", inputs({image, list({0, 1, 0, 1}), -inf})},
      {"aten.index.Tensor", inputs({x, list({none, at::arange(3)})})},
      {"aten.split.Tensor", inputs({image, 2, 1})},
      {"aten.where.self", inputs({x.gt(0), x, y})},
      {"aten.clamp.default", inputs({x, none, 0.5})},
      {"aten.eq.Scalar", inputs({at::arange(4), 2})},
      {"aten.new_zeros.default", inputs({x, list({4})}, {{"dtype", static_cast<std::int64_t>(at::kLong)},
                                                         {"device", c10::Device(at::kCPU)},
                                                         {"pin_memory", false}})},
      {"aten.gelu.default", inputs({x}, {{"approximate", "tanh"}})},
      {"aten.upsample_nearest2d.vec", inputs({image, none, list({2.0, 2.0})})},
      {"aten.sum.dim_IntList", inputs({x.t(), list({0})})},
      {"aten.as_strided_.default", inputs({x, list({3, 2}), list({1, 3})})},
      {"aten._foreach_add.List", inputs({list({x, c}), list({y, c})}, {{"alpha", 0.5}})},
      {"aten._foreach_mul_.Scalar", inputs({list({x, c}), 0.5})},
      {"aten._foreach_addcdiv_.ScalarList",
       inputs({list({x, c}), list({y, c}), list({x.abs().add(1), c.abs().add(1)}), list({-0.1, -0.2})})},
      {"aten._fused_sgd_.default", inputs({list({x}), list({y}), list({})}, {{"weight_decay", 0.1},
                                                                             {"momentum", 0.0},
                                                                             {"lr", 0.1},
                                                                             {"dampening", 0.0},
                                                                             {"nesterov", false},
                                                                             {"maximize", false},
                                                                             {"is_first_step", true}})},
  };
}

TEST_CASE("TorchScript gives what the operator gives, run again and again", "[aot]") {
  const c10::InferenceMode inference;
  for (const auto& [name, given] : cases()) {
    CAPTURE(name);
    const auto call = OperatorCall::bind(name, given);
    const auto executable = pace::benches::operators::TorchScriptBackend().prepare(call);
    for (int run = 0; run < 3; ++run) {  // the executor profiles, then optimises
      auto here = copies(call.tensors()), there = copies(call.tensors());
      CHECK(equal(call.run(here), executable->run(there)));
      for (std::size_t i = 0; i < here.size(); ++i) CHECK(equal(here[i], there[i]));
    }
  }
}

TEST_CASE("a call that changes the shape of its argument finds the recorded one each time", "[aot]") {
  const c10::InferenceMode inference;
  const auto x = random({2, 3});
  const auto call = OperatorCall::bind("aten.unsqueeze_.default", inputs({x, 0}));
  const auto executable = pace::benches::operators::TorchScriptBackend().prepare(call);
  for (int run = 0; run < 4; ++run) {
    CHECK(executable->run(call.tensors()).toTensor().sizes() == at::IntArrayRef{1, 2, 3});
    CHECK(x.sizes() == at::IntArrayRef{2, 3});
  }
}

TEST_CASE("a loop computes unused values in every iteration, and each iteration beats", "[aot]") {
  const c10::InferenceMode inference;
  static int computed = 0;
  const auto handle = at::addThreadLocalCallback(
      at::RecordFunctionCallback([](const at::RecordFunction& function) -> std::unique_ptr<at::ObserverContext> {
        computed += std::string(function.name()) == "aten::native_layer_norm";
        return nullptr;
      }));
  const auto x = random({2, 3});
  const auto call =
      OperatorCall::bind("aten.native_layer_norm.default", inputs({x, list({3}), c10::IValue(), c10::IValue(), 1e-5}));
  const auto executable = pace::benches::operators::TorchScriptBackend().prepare(call);
  for (const int iterations : {1, 20, 7}) {  // the executor profiles, then optimises
    computed = 0;
    const auto beats = pace::activity()->beats;
    executable->repeat(call.tensors(), iterations);
    CHECK(computed == iterations);
    CHECK(pace::activity()->beats == beats + static_cast<std::uint64_t>(iterations));
  }
  at::removeCallback(handle);
}

TEST_CASE("a loop runs what every call of the operator does", "[aot]") {
  const c10::InferenceMode inference;
  for (const auto& [name, given] : cases()) {
    CAPTURE(name);
    const auto call = OperatorCall::bind(name, given);
    const auto executable = pace::benches::operators::TorchScriptBackend().prepare(call);
    auto here = copies(call.tensors()), there = copies(call.tensors());
    for (int run = 0; run < 3; ++run) static_cast<void>(call.run(here));
    executable->repeat(there, 3);
    for (std::size_t i = 0; i < here.size(); ++i) CHECK(equal(here[i], there[i]));
  }
}

TEST_CASE("a saved module gives the same", "[aot]") {
  const c10::InferenceMode inference;
  const auto path = std::filesystem::temp_directory_path() / "pace_torchscript_test.pt";
  for (const auto& [name, given] : cases()) {
    CAPTURE(name);
    const auto call = OperatorCall::bind(name, given);
    pace::benches::operators::to_torchscript(call).save(path.string());
    auto loaded = torch::jit::load(path.string());
    auto here = copies(call.tensors()), there = copies(call.tensors());
    const auto expected = call.run(here);
    const auto found = loaded.forward(std::vector<c10::IValue>(there.begin(), there.end()));
    // A call that returns nothing is kept by the lists that it writes to.
    if (!call.schema().returns().empty()) {
      CHECK(equal(expected, found));
      continue;
    }
    CHECK(found.isTuple());
    for (std::size_t i = 0; i < here.size(); ++i) CHECK(equal(here[i], there[i]));
  }
  std::filesystem::remove(path);
}

}  // namespace
