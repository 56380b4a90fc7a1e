// Training steps on a GPU: phases by every clock, gradients checked, steps as CUDA graphs.
#include <string>
#include <vector>

#include <ATen/ops/matmul.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/tanh.h>

#include "pace/catch2.hpp"
#include "pace/pace.hpp"
#include "pace/training/graphed_step.hpp"
#include "pace/training/optimizer.hpp"
#include "pace/training/training.hpp"
#include "tests/gpu/cuda/gpu.hpp"

#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using Step = pace::TrainingStep<at::Tensor>;

/// A few layers whose kernels are short, so that the host's part shows.
Step layers(double gradient_factor = 1) {
  Step step;
  for (int i = 0; i < 4; ++i)
    step.parameters.push_back(
        at::mul(at::ones({64, 64}, at::TensorOptions().device(at::kCUDA)), 0.02).set_requires_grad(true));
  step.forward = [weights = step.parameters](at::Tensor& x) -> c10::IValue {
    at::Tensor y = x;
    for (const auto& weight : weights) y = at::tanh(at::matmul(y, weight));
    return y;
  };
  step.backward_setup = pace::OutputGradient();
  step.backward = [gradient_factor](const c10::IValue& prepared) {
    const auto& elements = prepared.toTupleRef().elements();
    elements[0].toTensor().backward(at::mul(elements[1].toTensor(), gradient_factor));
  };
  return step;
}

at::Tensor input() { return at::randn({32, 64}, at::TensorOptions().device(at::kCUDA)); }

}  // namespace

TEST_CASE("phases have all timing modes, and a step as CUDA graphs computes the same", "[gpu]") {
  (void)pace::testing::on_gpu();
  const auto result = pace::compare("layers", input())
                          .budget(std::chrono::milliseconds(300))
                          .baseline("eager", layers())
                          .candidate("graphed", pace::graphed_step(at::Device(at::kCUDA), layers()))
                          .candidate("wrong", layers(1.5))
                          .candidate("wrong graphed", pace::graphed_step(at::Device(at::kCUDA), layers(1.5)))
                          .run();
  CHECK(result["graphed"].outcome == pace::Outcome::measured);
  CHECK(result["graphed"].checked);
  CHECK(result["wrong"].outcome == pace::Outcome::wrong);
  CHECK(result["wrong graphed"].outcome == pace::Outcome::wrong);
  // Training launches every step.
  CHECK(result.clock == "hot");
  for (const char* phase : {"forward", "backward"}) {
    INFO(phase);
    const auto& part = result.in_phase(phase);
    for (const char* name : {"eager", "graphed"}) {
      INFO(name);
      std::string modes;
      for (const auto& mode : part[name].modes) {
        modes += mode.name + ' ';
        CHECK(mode.missing == "");
        CHECK(mode.time);
      }
      CHECK(modes == "cold hot graph host ");
    }
  }
}

TEST_CASE("a graphed step takes operands at other addresses, and adds to gradients that are there", "[gpu]") {
  (void)pace::testing::on_gpu();
  const Step plain = layers();
  const Step graphed = pace::graphed_step(at::Device(at::kCUDA), layers());
  const auto gradient_of = [](const Step& step, at::Tensor x) {
    for (const auto& parameter : step.parameters)
      if (parameter.grad().defined()) parameter.mutable_grad().zero_();
    auto output = step.forward(x);
    if (step.backward_setup) output = step.backward_setup(output);
    step.backward(output);
    return step.parameters[0].grad().clone();
  };
  std::vector<at::Tensor> inputs = {input(), input(), input()};
  for (const std::size_t i : {0, 1, 0, 2, 1}) {
    INFO(i);
    CHECK(gradient_of(graphed, inputs[i]).allclose(gradient_of(plain, inputs[i]), 1e-4, 1e-6));
  }
  // The values that are there when it is launched.
  inputs[0].mul_(0.5);
  CHECK(gradient_of(graphed, inputs[0]).allclose(gradient_of(plain, inputs[0]), 1e-4, 1e-6));
}

TEST_CASE("a step with an optimiser has a third phase, whichever code updates", "[gpu]") {
  (void)pace::testing::on_gpu();
  using Options = pace::OptimizerOptions;
  for (const auto algorithm : {Options::Algorithm::sgd, Options::Algorithm::adam}) {
    const auto step = [&](Options::Code code, bool set_to_none = false) {
      return pace::with_optimizer(layers(), Options{.algorithm = algorithm, .code = code, .set_to_none = set_to_none});
    };
    const auto result = pace::compare("layers", input())
                            .budget(std::chrono::milliseconds(300))
                            .baseline("single", step(Options::Code::single))
                            .candidate("foreach", step(Options::Code::foreach))
                            .candidate("fused", step(Options::Code::fused))
                            .candidate("set to none", step(Options::Code::fused, true))
                            .candidate("graphed", pace::graphed_step(at::Device(at::kCUDA), step(Options::Code::fused)))
                            .run();
    for (const char* const name : {"single", "foreach", "fused", "set to none", "graphed"}) {
      INFO(name << ": " << result[name].message);
      CHECK(result[name].outcome == pace::Outcome::measured);
      CHECK(result.in_phase("update")[name].time);
    }
  }
}

TEST_CASE("an update that a graph holds counts its steps, and parameters are what they are without one", "[gpu]") {
  (void)pace::testing::on_gpu();
  using Options = pace::OptimizerOptions;
  for (const auto algorithm : {Options::Algorithm::sgd, Options::Algorithm::adam}) {
    for (const auto code : {Options::Code::foreach, Options::Code::fused}) {
      INFO(static_cast<int>(algorithm) << ' ' << static_cast<int>(code));
      const auto step = [&](Options::Code by, bool capturable) {
        return pace::with_optimizer(
            layers(),
            Options{.algorithm = algorithm, .code = by, .rate = 0.05, .capturable = capturable, .continues = true});
      };
      auto plain = step(Options::Code::single, false);
      auto graphed = pace::graphed_step(at::Device(at::kCUDA), step(code, true));
      REQUIRE(graphed.capturable);
      std::vector<at::Tensor> before;
      for (const auto& parameter : plain.parameters) before.push_back(parameter.detach().clone());
      at::Tensor x = input();
      for (int i = 0; i < 5; ++i) {
        for (auto* each : {&plain, &graphed}) {
          for (const auto& parameter : each->parameters)
            if (parameter.grad().defined()) parameter.mutable_grad().zero_();
          auto output = each->forward(x);
          if (each->backward_setup) output = each->backward_setup(output);
          each->backward(output);
          each->update();
        }
        for (std::size_t which = 0; which < plain.parameters.size(); ++which) {
          INFO(i << ' ' << which);
          // As a whole, since Adam's step of an element does not shrink with its gradient. Where the gradient is nearly
          // zero, rounding in another order of sums moves the element by as much as a step. A step that was counted
          // wrongly changes all of them.
          const auto norm = [](const at::Tensor& of) { return of.norm().item<double>(); };
          const double off = norm(graphed.parameters[which].sub(plain.parameters[which]));
          CHECK(off <= 1e-2 * norm(plain.parameters[which].sub(before[which])));
        }
      }
    }
  }
}

TEST_CASE("what cannot be captured says why in its first step", "[gpu]") {
  (void)pace::testing::on_gpu();
  Step waits = layers();
  waits.forward = [inner = waits.forward](at::Tensor& x) {
    c10::IValue output = inner(x);
    (void)output.toTensor().sum().item<float>();
    return output;
  };
  const auto result = pace::compare("layers", input())
                          .budget(std::chrono::milliseconds(100))
                          .baseline("eager", layers())
                          .candidate("graphed", pace::graphed_step(at::Device(at::kCUDA), waits))
                          .run();
  CHECK(result["graphed"].outcome == pace::Outcome::threw);
  CHECK_THAT(result["graphed"].message, ContainsSubstring("captur"));
  CHECK(result["eager"].outcome == pace::Outcome::measured);
  CHECK_THROWS_AS(pace::graphed_step(at::Device(at::kCPU), layers()), pace::Unsupported);
}
