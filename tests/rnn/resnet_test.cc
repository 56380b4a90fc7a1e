// The residual networks: as large and as expensive as the published ones; traced or not, the same step.
#include "benches/models/zoo/resnet.hpp"

#include <cstdint>
#include <memory>

#include <ATen/ATen.h>
#include <ATen/record_function.h>

#include "benches/rnn/runners.hpp"
#include "pace/base/error.hpp"
#include "pace/inputs/record_inputs.hpp"
#include "tests/rnn/one_step.hpp"

#include <catch2/catch_test_macros.hpp>

namespace {

using namespace pace::benches::rnn;
using namespace pace::benches::zoo;
using pace::test::difference;

std::int64_t count(const std::vector<at::Tensor>& tensors) {
  std::int64_t sum = 0;
  for (const at::Tensor& tensor : tensors) sum += tensor.numel();
  return sum;
}

TEST_CASE("ResNet-18 and ResNet-50 have as many parameters as published") {
  REQUIRE(count(resnet18()->parameters()) == 11'689'512);
  REQUIRE(count(resnet50()->parameters()) == 25'557'032);
}

/// Multiplications of the convolutions that this thread runs; of one image each.
std::int64_t multiplications = 0;

/// Inputs can be read at the start of a call only, outputs at its end.
struct WeightSize : at::ObserverContext {
  std::int64_t numel = 0;
};

std::unique_ptr<at::ObserverContext> remember_weight(const at::RecordFunction& function) {
  auto size = std::make_unique<WeightSize>();
  if (function.name() == std::string("aten::convolution"))
    size->numel = pace::inputs::observed_inputs(function)[1].toTensor().numel();
  return size;
}
void add_convolution(const at::RecordFunction& function, at::ObserverContext* context) {
  const std::int64_t weight = static_cast<WeightSize*>(context)->numel;
  if (weight == 0) return;
  const at::Tensor& output = function.outputs()[0].toTensor();
  multiplications += weight * output.size(2) * output.size(3);
}

std::int64_t multiplications_of(ResNet& net) {
  const at::NoGradGuard no_gradients;
  net.eval();  // batch norm would want more than one value
  multiplications = 0;
  const auto handle = at::addThreadLocalCallback(at::RecordFunctionCallback(remember_weight, add_convolution)
                                                     .needsInputs(true)
                                                     .needsOutputs(true)
                                                     .scopes({at::RecordScope::FUNCTION}));
  const at::Tensor scores = net.forward(at::randn({1, 3, 224, 224}));
  at::removeCallback(handle);
  REQUIRE(scores.sizes() == at::IntArrayRef{1, 1000});
  return multiplications + net.classify->weight.numel();
}

TEST_CASE("ResNet-18 and ResNet-50 need as many multiplications per image as published") {
  // Torchvision's figures: 1.814 and 4.089 thousand million.
  REQUIRE(multiplications_of(*resnet18()) / 1'000'000 == 1'814);
  REQUIRE(multiplications_of(*resnet50()) / 1'000'000 == 4'089);
}

TEST_CASE("A block is its convolutions plus its input") {
  BasicBlock block(4, 4, 1);
  block.eval();
  const at::Tensor x = at::randn({2, 4, 8, 8});
  REQUIRE(at::equal(block.forward(x), at::relu(block.residual(x) + x)));
  Bottleneck wide(4, 4, 2);
  wide.eval();
  REQUIRE(wide.forward(x).sizes() == at::IntArrayRef{2, 16, 4, 4});
}

TEST_CASE("The traced network's scores and gradients are the network's, at every step") {
  const Sizes sizes{.seed = 17, .images = 4, .image_side = 64};
  for (const std::string name : {"resnet18", "resnet50"}) {
    ModelDef plain = find_runner(name).make(sizes);
    ModelDef traced = find_runner(name + "_jit").make(sizes);
    REQUIRE(difference({traced.inputs[0].toTensor()}, {plain.inputs[0].toTensor()}, 0) == "");
    REQUIRE(difference(traced.step.parameters, plain.step.parameters, 0) == "");
    for (int step = 0; step < 3; ++step) {
      INFO("step " << step);
      const auto expected = pace::test::one_step(plain), actual = pace::test::one_step(traced);
      REQUIRE(actual.answer[0].sizes() == at::IntArrayRef{4, 1000});
      REQUIRE(difference(actual.answer, expected.answer, 1e-5) == "");
      REQUIRE(difference(actual.gradients, expected.gradients, 1e-5) == "");
      for (const at::Tensor& gradient : actual.gradients) REQUIRE(gradient.abs().max().item<double>() > 0);
    }
    // In training mode: an image's scores depend on the others.
    const at::Tensor images = plain.inputs[0].toTensor();
    Stack others{at::cat({images.narrow(0, 0, 1), 3 * at::randn_like(images.narrow(0, 1, 3))})};
    const at::Tensor before = plain.step.forward(plain.inputs).toTensor()[0];
    REQUIRE_FALSE(at::allclose(plain.step.forward(others).toTensor()[0], before, 1e-3, 1e-3));
    REQUIRE_FALSE(at::allclose(traced.step.forward(others).toTensor()[0], before, 1e-3, 1e-3));
  }
}

TEST_CASE("The images are 32 of 224 by 224 unless asked; none is refused") {
  REQUIRE(Sizes().images == 32);
  REQUIRE(Sizes().image_side == 224);
  REQUIRE_THROWS_AS(find_runner("resnet18").make({.images = 0}), pace::InputError);
  REQUIRE_THROWS_AS(find_runner("resnet18").make({.image_side = -1}), pace::InputError);
}

}  // namespace
