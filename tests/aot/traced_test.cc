// Definitions as TorchScript.
#include "benches/files/aot/traced.hpp"

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/TracerMode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/jit/serialization/import.h>

#include "tests/support/why.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using pace::benches::aot::Definition;
using pace::benches::aot::trace;
using pace::test::why;
using Tensors = std::vector<at::Tensor>;

at::Tensor parameter(std::vector<std::int64_t> sizes) { return at::rand(sizes).requires_grad_(); }

Definition layer(double factor = 2.5) {
  return {.name = "layer",
          .parameters = {parameter({3, 4}), parameter({3})},
          .inputs = {at::rand({2, 4})},
          .forward = [factor](const Tensors& p, const Tensors& x) {
            const auto y = at::linear(x[0], p[0], p[1]);
            return Tensors{at::relu(y) * factor, y};
          }};
}

TEST_CASE("a traced definition computes the same from other operands", "[aot][traced]") {
  const auto traced = trace(layer());
  REQUIRE(traced.outputs == 2);
  REQUIRE(traced.parameters.size() == 2);
  REQUIRE(traced.inputs.at(0).sizes == std::vector<std::int64_t>{2, 4});
  std::istringstream file(traced.script);
  auto loaded = torch::jit::load(file);
  const auto other = layer();  // other values
  const auto outputs =
      loaded.forward({other.parameters[0], other.parameters[1], other.inputs[0]}).toTupleRef().elements().vec();
  const auto expected = other.forward(other.parameters, other.inputs);
  REQUIRE(outputs.size() == 2);
  REQUIRE(at::allclose(outputs[0].toTensor(), expected[0]));
  REQUIRE(at::allclose(outputs[1].toTensor(), expected[1]));
}

TEST_CASE("equal definitions give equal bytes, others do not", "[aot][traced]") {
  const auto script = trace(layer()).script;
  REQUIRE(script == trace(layer()).script);
  REQUIRE(script != trace(layer(2.5000000000000004)).script);
  auto constant = layer();
  const auto with = [&](const at::Tensor& captured) {
    constant.forward = [captured](const Tensors& p, const Tensors& x) {
      return Tensors{at::linear(x[0], p[0]) + captured};
    };
    return trace(constant).script;
  };
  REQUIRE(with(at::ones({3})) == with(at::ones({3})));
  REQUIRE(with(at::ones({3})) != with(at::zeros({3})));
}

TEST_CASE("tracing leaves inputs as they were", "[aot][traced]") {
  const auto mean = at::zeros({4}), variance = at::ones({4});
  const Definition definition{.name = "norm",
                              .parameters = {parameter({4}), parameter({4})},
                              .inputs = {at::rand({8, 4}), mean, variance},
                              .forward = [](const Tensors& p, const Tensors& x) {
                                return Tensors{at::batch_norm(x[0], p[0], p[1], x[1], x[2], true, 0.1, 1e-5, false)};
                              }};
  (void)trace(definition);
  REQUIRE(at::allclose(mean, at::zeros({4})));
  REQUIRE(at::allclose(variance, at::ones({4})));
  (void)definition.forward(definition.parameters, definition.inputs);
  REQUIRE_FALSE(at::allclose(mean, at::zeros({4})));
}

TEST_CASE("operands may be reached otherwise than through the arguments", "[aot][traced]") {
  auto definition = layer();
  const auto weight = definition.parameters[0], bias = definition.parameters[1];
  definition.forward = [weight, bias](const Tensors&, const Tensors& x) {
    return Tensors{at::linear(x[0], weight, bias)};
  };
  std::istringstream file(trace(definition).script);
  auto loaded = torch::jit::load(file);
  const auto w = parameter({3, 4}), b = parameter({3});
  const auto output = loaded.forward({w, b, definition.inputs[0]}).toTupleRef().elements()[0].toTensor();
  REQUIRE(at::allclose(output, at::linear(definition.inputs[0], w, b)));
}

TEST_CASE("a model that cannot be traced is refused with the reason", "[aot][traced]") {
  auto definition = layer();
  const auto reason = [&] { return why([&] { (void)trace(definition); }); };
  definition.forward = [](const Tensors& p, const Tensors& x) {
    return Tensors{x[0].sum().item<double>() > 0 ? at::relu(p[0]) : p[0]};
  };
  REQUIRE_THAT(reason(), ContainsSubstring("layer cannot be traced: it reads the values of a tensor (aten::item)"));
  const auto forgotten = parameter({4});
  definition.forward = [forgotten](const Tensors&, const Tensors& x) { return Tensors{x[0] * forgotten}; };
  REQUIRE_THAT(reason(), ContainsSubstring("layer cannot be traced") && ContainsSubstring("requires grad"));
  definition.forward = [](const Tensors& p, const Tensors& x) { return Tensors{at::linear(p[0], x[0].t())}; };
  REQUIRE_THAT(reason(), ContainsSubstring("layer cannot be traced") && ContainsSubstring("shapes"));
  definition.forward = [](const Tensors&, const Tensors&) { return Tensors{}; };
  REQUIRE_THAT(reason(), ContainsSubstring("returns nothing"));
  definition.forward = [](const Tensors&, const Tensors&) { return Tensors{at::Tensor()}; };
  REQUIRE_THAT(reason(), ContainsSubstring("output 0 is an undefined tensor"));
  definition.forward = nullptr;
  REQUIRE_THAT(reason(), ContainsSubstring("needs a forward"));
  // The tracer is ready for the next one.
  REQUIRE_NOTHROW(trace(layer()));
}

TEST_CASE("a write that the trace has not recorded is refused, and one that it has is not", "[aot][traced]") {
  const auto writes = [](auto write) {
    const at::Tensor x = at::ones({3});
    const auto problem = why([&] {
      (void)trace({.name = "writes",
                   .parameters = {},
                   .inputs = {x},
                   .forward =
                       [&](const Tensors&, const Tensors& inputs) {
                         write(inputs[0]);
                         return Tensors{inputs[0] + 1};
                       },
                   .differentiated = {}});
    });
    REQUIRE(x.equal(at::ones({3})));
    return problem;
  };
  CHECK(writes([](const at::Tensor& x) { (void)x.mul_(2).add_(1); }) == "nothing was thrown");
  // As for the kernels of lists on a GPU.
  CHECK_THAT(writes([](const at::Tensor& x) {
               const at::tracer::impl::NoTracerDispatchMode unrecorded;
               (void)x.mul_(2);
             }),
             ContainsSubstring("writes cannot be traced: it writes to operands 1 times, and the trace has 0 of them"));
}

TEST_CASE("a module may ask whether two of its operands are one", "[aot][traced]") {
  auto definition = layer();
  definition.forward = [](const Tensors& p, const Tensors& x) {
    return Tensors{at::linear(x[0], p[0]), x[0].equal(x[0]) ? p[1] : p[0]};
  };
  REQUIRE(trace(definition).outputs == 2);
}

TEST_CASE("definitions that contradict themselves", "[aot][traced]") {
  auto definition = layer();
  const auto reason = [&] { return why([&] { (void)trace(definition); }); };
  definition.differentiated = {2};
  REQUIRE_THAT(reason(), ContainsSubstring("output 2 is to be differentiated, but it has 2"));
  definition = layer();
  definition.parameters[1] = at::rand({3});
  REQUIRE_THAT(reason(), ContainsSubstring("does not require a gradient"));
  definition.parameters[1] = at::Tensor();
  REQUIRE_THAT(reason(), ContainsSubstring("does not require a gradient"));
  definition.parameters.clear();
  REQUIRE_THAT(reason(), ContainsSubstring("needs parameters"));
  definition = layer();
  definition.inputs[0] = at::Tensor();
  REQUIRE_THAT(reason(), ContainsSubstring("undefined tensor"));
}

TEST_CASE("compiled code takes one size, or any batch", "[aot]") {
  using pace::benches::aot::TensorMetadata;
  auto of = TensorMetadata::of(at::ones({4, 3}));
  CHECK(of.fits(at::zeros({4, 3})));
  CHECK_FALSE(of.fits(at::zeros({5, 3})));
  CHECK(of.to_string() == "float32[4, 3] with strides [3, 1] on cpu");
  CHECK_FALSE(pace::benches::aot::to_json(of).contains("batch"));
  of.batch = TensorMetadata::Range{};
  CHECK(of.to_string() == "float32[4, 3] with strides [3, 1] on cpu, for a first size of 2 or more");
  CHECK(pace::benches::aot::to_json(of).at("batch") == true);
  CHECK(of.fits(at::zeros({2, 3})));
  CHECK(of.fits(at::zeros({500, 3})));
  CHECK_FALSE(of.fits(at::zeros({1, 3})));
  CHECK_FALSE(of.fits(at::zeros({4, 2})));
  CHECK_FALSE(of.fits(at::zeros({4, 3, 1})));
  CHECK_FALSE(of.fits(at::zeros({3, 4}).t().slice(0, 0, 4)));  // other strides
  of.batch = TensorMetadata::Range{.low = 2, .high = 15};
  CHECK(of.fits(at::zeros({15, 3})));
  CHECK_FALSE(of.fits(at::zeros({16, 3})));
  CHECK(of.to_string() == "float32[4, 3] with strides [3, 1] on cpu, for a first size of 2 to 15");
}

}  // namespace
