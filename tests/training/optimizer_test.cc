// Training steps with an optimiser: its updates, that each step is the same one, and the contents of its phase.
#include "pace/training/optimizer.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <c10/core/DispatchKey.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/optim/adam.h>
#include <torch/optim/sgd.h>

#include "pace/catch2.hpp"
#include "pace/pace.hpp"
#include "tests/support/comparisons.hpp"
#include "tests/support/operator_observer.hpp"

#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using pace::Nanoseconds;
using pace::OptimizerOptions;
using pace::Outcome;
using pace::test::FakeClock;
using pace::test::few_rounds;
using Algorithm = OptimizerOptions::Algorithm;
using Code = OptimizerOptions::Code;
using Step = pace::TrainingStep<at::Tensor>;

at::Tensor leaf(double value) { return at::full({2, 3}, value).set_requires_grad(true); }

void set_gradient(at::Tensor& parameter, double value) { parameter.mutable_grad() = at::full({2, 3}, value); }

double value_of(const at::Tensor& tensor) { return tensor.flatten()[0].item<double>(); }

/// The values of two parameters after three steps; the second one has no gradient.
std::vector<double> after_steps(const OptimizerOptions& options) {
  at::Tensor first = leaf(1), second = leaf(5);
  pace::Updater updater({first, second}, options);
  std::vector<double> values;
  for (const double gradient : {2.0, -1.0, 0.5}) {
    set_gradient(first, gradient);
    updater.step();
    values.push_back(value_of(first));
  }
  values.push_back(value_of(second));
  return values;
}

TEST_CASE("all codes of an algorithm compute what its formula says") {
  const auto code = GENERATE(Code::single, Code::foreach, Code::fused);
  CAPTURE(static_cast<int>(code));
  const auto close = [](const std::vector<double>& actual, const std::vector<double>& expected) {
    REQUIRE(actual.size() == expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i) {
      CAPTURE(i, actual[i], expected[i]);
      REQUIRE(std::abs(actual[i] - expected[i]) < 1e-6);
    }
  };
  close(after_steps({.code = code, .rate = 0.1}), {0.8, 0.9, 0.85, 5});
  // Momentum 2, then 0.5 * 2 - 1, then 0.5 * 0 + 0.5.
  close(after_steps({.code = code, .rate = 0.1, .momentum = 0.5}), {0.8, 0.8, 0.75, 5});
  // Gradients 2 + 0.5 * 1, -1 + 0.5 * 0.75, 0.5 + 0.5 * 0.8125.
  close(after_steps({.code = code, .rate = 0.1, .weight_decay = 0.5}), {0.75, 0.8125, 0.721875, 5});
  std::vector<double> adam;
  // After a thousand steps, with a mean of squares of 1.
  double parameter = 1, mean = 0, squares = 1;
  for (int i = 1001; const double gradient : {2.0, -1.0, 0.5}) {
    const double decayed = gradient + 0.25 * parameter;
    mean = 0.9 * mean + 0.1 * decayed;
    squares = 0.999 * squares + 0.001 * decayed * decayed;
    const double corrected = mean / (1 - std::pow(0.9, i)), root = std::sqrt(squares / (1 - std::pow(0.999, i)));
    adam.push_back(parameter -= 0.1 * corrected / (root + 1e-8));
    ++i;
  }
  adam.push_back(5);
  close(after_steps({.algorithm = Algorithm::adam, .code = code, .rate = 0.1, .weight_decay = 0.25}), adam);
}

TEST_CASE("adam computes the same where its operators are traced one by one") {
  const OptimizerOptions options{
      .algorithm = Algorithm::adam, .code = Code::foreach, .rate = 0.1, .weight_decay = 0.5, .capturable = true};
  const auto plain = after_steps(options);
  const c10::impl::IncludeDispatchKeyGuard traced(c10::DispatchKey::Tracer);
  const auto values = after_steps(options);
  REQUIRE(values.size() == plain.size());
  for (std::size_t i = 0; i < values.size(); ++i) CHECK_THAT(values[i], Catch::Matchers::WithinRel(plain[i], 1e-6));
}

TEST_CASE("a restored optimiser starts anew, in the memory that it has") {
  const auto code = GENERATE(Code::single, Code::foreach, Code::fused);
  const auto algorithm = GENERATE(Algorithm::sgd, Algorithm::adam);
  CAPTURE(static_cast<int>(code), static_cast<int>(algorithm));
  at::Tensor parameter = leaf(1);
  const void* const memory = parameter.data_ptr();
  pace::Updater updater(
      {parameter},
      {.algorithm = algorithm, .code = code, .rate = 0.1, .momentum = algorithm == Algorithm::sgd ? 0.5 : 0});
  const auto two_steps = [&] {
    std::vector<double> values;
    for (const double gradient : {2.0, -1.0}) {
      set_gradient(parameter, gradient);
      updater.step();
      values.push_back(value_of(parameter));
    }
    return values;
  };
  updater.restore();
  const auto first = two_steps();
  REQUIRE(first[0] != 1);
  REQUIRE(two_steps() != first);
  updater.restore();
  REQUIRE(value_of(parameter) == 1);
  REQUIRE(two_steps() == first);
  REQUIRE(parameter.data_ptr() == memory);
}

/// Two parameters of other sizes and one without a gradient, in float64, after each of five steps that `update` makes.
template <class Update>
std::vector<at::Tensor> trained(const Update& update) {
  const auto made = [](std::int64_t size) {
    return at::linspace(-1, 2, size, at::TensorOptions(at::kDouble)).set_requires_grad(true);
  };
  std::vector<at::Tensor> parameters{made(4), made(7), made(5)}, values;
  const auto step = update(parameters);
  for (int i = 0; i < 5; ++i) {
    for (const std::size_t which : {0, 1})
      parameters[which].mutable_grad() = (parameters[which].detach() + 0.3 * i).sin();
    step();
    for (const auto& parameter : parameters) values.push_back(parameter.detach().clone());
  }
  return values;
}

TEST_CASE("an optimiser that continues is torch::optim's, from its first step on") {
  const auto algorithm = GENERATE(Algorithm::sgd, Algorithm::adam);
  const bool adam = algorithm == Algorithm::adam;
  const OptimizerOptions given{
      .algorithm = algorithm, .rate = 0.05, .momentum = adam ? 0 : 0.9, .weight_decay = 0.01, .continues = true};
  const auto expected = trained([&](const std::vector<at::Tensor>& parameters) -> std::function<void()> {
    std::shared_ptr<torch::optim::Optimizer> optimizer;
    if (adam)
      optimizer = std::make_shared<torch::optim::Adam>(parameters, torch::optim::AdamOptions(0.05).weight_decay(0.01));
    else
      optimizer = std::make_shared<torch::optim::SGD>(parameters,
                                                      torch::optim::SGDOptions(0.05).momentum(0.9).weight_decay(0.01));
    return [optimizer] { optimizer->step(); };
  });
  for (const auto code : {Code::single, Code::foreach, Code::fused}) {
    for (const bool capturable : {false, true}) {
      if (capturable && code == Code::single) continue;
      CAPTURE(adam, static_cast<int>(code), capturable);
      auto options = given;
      options.code = code;
      options.capturable = capturable;
      const auto values = trained([&](const std::vector<at::Tensor>& parameters) -> std::function<void()> {
        return [updater = std::make_shared<pace::Updater>(parameters, options)] { updater->step(); };
      });
      REQUIRE(values.size() == expected.size());
      for (std::size_t i = 0; i < values.size(); ++i) {
        CAPTURE(i, values[i], expected[i]);
        REQUIRE(values[i].allclose(expected[i], 1e-9, 1e-12));
      }
    }
  }
}

TEST_CASE("operators on all parameters are as many for many parameters as for few") {
  const auto calls = [](const OptimizerOptions& options, std::size_t count) {
    std::vector<at::Tensor> parameters;
    for (std::size_t i = 0; i < count; ++i) {
      parameters.push_back(leaf(1));
      set_gradient(parameters.back(), 2);
    }
    pace::Updater updater(parameters, options);
    std::size_t all = 0, fused = 0;
    const pace::test::OperatorObserver observer([&](std::string_view op) {
      if (op.starts_with("aten::_foreach_") || op.starts_with("aten::_fused_")) ++all;
      if (op.starts_with("aten::_fused_")) ++fused;
    });
    updater.step();
    return std::pair(all, fused);
  };
  for (const auto algorithm : {Algorithm::sgd, Algorithm::adam}) {
    for (const bool capturable : {false, true}) {
      OptimizerOptions options{.algorithm = algorithm, .code = Code::foreach, .capturable = capturable};
      CAPTURE(static_cast<int>(algorithm), capturable);
      const auto few = calls(options, 2);
      REQUIRE(few.first > 0);
      REQUIRE(calls(options, 20) == few);
      options.code = Code::fused;
      REQUIRE(calls(options, 20).second == 1);
    }
  }
}

TEST_CASE("an optimiser that continues keeps its state and restores nothing") {
  at::Tensor parameter = leaf(1);
  const OptimizerOptions options{
      .algorithm = Algorithm::adam, .code = Code::foreach, .capturable = true, .continues = true};
  pace::Updater updater({parameter}, options);
  // Two means of 6 numbers in float32, and one number of steps in float64.
  REQUIRE(updater.state_bytes() == 2 * 6 * 4 + 8);
  REQUIRE_THROWS_MATCHES(updater.restore(), pace::Error, MessageMatches(ContainsSubstring("continues is false")));
  Step step;
  step.parameters = {parameter};
  const auto continuing = pace::with_optimizer(step, options);
  REQUIRE_FALSE(static_cast<bool>(continuing.restore));
  REQUIRE(continuing.capturable);
  const auto captures = [&](Algorithm algorithm, Code code) {
    return pace::with_optimizer(step, {.algorithm = algorithm, .code = code}).capturable;
  };
  REQUIRE(captures(Algorithm::adam, Code::fused));
  REQUIRE(captures(Algorithm::sgd, Code::foreach));
  REQUIRE_FALSE(captures(Algorithm::adam, Code::foreach));
  REQUIRE_FALSE(captures(Algorithm::sgd, Code::single));
}

/// x * w; forward takes 300 ns and backward 200 ns. `w` is a leaf of its own.
Step product(FakeClock& clock) {
  const at::Tensor w = at::ones({4, 4}).mul_(0.5).set_requires_grad(true);
  Step step;
  step.parameters = {w};
  step.forward = [&clock, w](at::Tensor& x) -> c10::IValue {
    clock.advance(Nanoseconds(300));
    return at::matmul(x, w);
  };
  step.backward_setup = pace::OutputGradient();
  step.backward = [&clock](const c10::IValue& prepared) {
    clock.advance(Nanoseconds(200));
    pace::run_backward(prepared);
  };
  return step;
}

TEST_CASE("the update is a phase; parameters are put back outside of it, and compared as it leaves them") {
  FakeClock clock;
  const auto step = [&clock](const OptimizerOptions& options, double update) {
    auto made = pace::with_optimizer(product(clock), options);
    made.update = [&clock, update, inner = made.update] {
      clock.advance(Nanoseconds(update));
      inner();
    };
    made.restore = [&clock, inner = made.restore] {
      clock.advance(Nanoseconds(50'000));
      inner();
    };
    return made;
  };
  const OptimizerOptions fused{.algorithm = Algorithm::adam, .code = Code::fused};
  auto nothing = step({.algorithm = Algorithm::adam}, 100);
  nothing.update = [&clock] { clock.advance(Nanoseconds(100)); };
  auto kept = step({.algorithm = Algorithm::adam}, 100);
  kept.restore = [] {};
  const auto result = pace::compare("product", at::randn({3, 4}))
                          .options(few_rounds())
                          .baseline("one by one", step({.algorithm = Algorithm::adam}, 400))
                          .candidate("fused", step(fused, 100))
                          .candidate("another rate", step({.algorithm = Algorithm::adam, .rate = 0.5}, 100))
                          .candidate("no update", nothing)
                          .candidate("never put back", kept)
                          .run(clock);
  REQUIRE(result["fused"].outcome == Outcome::measured);
  REQUIRE(result["fused"].checked);
  for (const char* const wrong : {"another rate", "no update", "never put back"}) {
    INFO(wrong);
    REQUIRE(result[wrong].outcome == Outcome::wrong);
  }
  REQUIRE(result.phases.size() == 3);
  for (const auto sample : result.in_phase("update").baseline().samples) REQUIRE(sample == Nanoseconds(400));
  for (const auto sample : result.in_phase("update")["fused"].samples) REQUIRE(sample == Nanoseconds(100));
  for (const auto sample : result.in_phase("forward")["fused"].samples) REQUIRE(sample == Nanoseconds(300));
  for (const auto sample : result.baseline().samples) REQUIRE(sample == Nanoseconds(900));
}

TEST_CASE("gradients are taken away, outside of the timing, where that is asked for, and otherwise kept") {
  for (const bool set_to_none : {true, false}) {
    CAPTURE(set_to_none);
    FakeClock clock;
    int found = 0, backwards = 0, zeroed = 0;
    const pace::test::OperatorObserver observer([&](std::string_view op) {
      if (op != "aten::zero_") return;
      ++zeroed;
      clock.advance(Nanoseconds(7000));
    });
    auto step = pace::with_optimizer(product(clock), {.set_to_none = set_to_none});
    // Puts nothing to zero of its own.
    step.restore = {};
    step.update = [] {};
    step.backward = [&, inner = step.backward, w = step.parameters[0]](const c10::IValue& prepared) {
      ++backwards;
      found += w.grad().defined() ? 1 : 0;
      inner(prepared);
    };
    const auto result =
        pace::compare("product", at::randn({3, 4})).options(few_rounds()).baseline("eager", step).run(clock);
    REQUIRE(result.baseline().outcome == Outcome::measured);
    REQUIRE(backwards > 2);
    REQUIRE(found == (set_to_none ? 0 : backwards - 1));
    REQUIRE((zeroed > 0) != set_to_none);
    for (const auto sample : result.baseline().samples) REQUIRE(sample == Nanoseconds(500));
  }
}

TEST_CASE("an optimiser goes around a user's own forward") {
  FakeClock clock;
  const auto step = [&clock](Code code) {
    const at::Tensor w = at::ones({4, 4}).mul_(0.5).set_requires_grad(true);
    return pace::with_optimizer(pace::training_step({w},
                                                    [&clock, w](const at::Tensor& x) {
                                                      clock.advance(Nanoseconds(1000));
                                                      return at::matmul(x, w).square().mean();
                                                    }),
                                {.code = code, .rate = 0.1, .momentum = 0.9});
  };
  const auto result = pace::compare("loss", at::randn({3, 4}))
                          .options(few_rounds())
                          .baseline("single", step(Code::single))
                          .candidate("foreach", step(Code::foreach))
                          .candidate("fused", step(Code::fused))
                          .run(clock);
  CHECK_THAT(result, pace::Correct());
  REQUIRE(result.phases.size() == 3);
  REQUIRE(result.phases[2].name == "loss/update");
}

TEST_CASE("figures that no optimiser has are refused by their names") {
  const auto refused = [](const OptimizerOptions& options, const std::string& message) {
    REQUIRE_THROWS_MATCHES(pace::with_optimizer(Step(), options), pace::Error,
                           MessageMatches(ContainsSubstring(message)));
  };
  refused({.rate = -1}, "OptimizerOptions::rate: expected a number of at least 0, found -1");
  refused({.momentum = 1}, "OptimizerOptions::momentum: expected a number from 0 to less than 1, found 1");
  refused({.weight_decay = -0.5}, "OptimizerOptions::weight_decay: expected a number of at least 0, found -0.5");
  refused({.algorithm = Algorithm::adam, .momentum = 0.5},
          "OptimizerOptions::momentum: expected 0 beside Algorithm::adam, which has none, found 0.5");
  refused({.capturable = true},
          "OptimizerOptions::capturable: expected false beside Code::single, which counts its steps on the host");
}

TEST_CASE("a step whose gradients are taken away is not captured") {
  FakeClock clock;
  const auto step = pace::with_optimizer(product(clock), {.set_to_none = true});
  REQUIRE_THROWS_MATCHES(pace::graphed_step(at::Device(at::kCPU), step), pace::Unsupported,
                         MessageMatches(ContainsSubstring("expected a step whose set_to_none is false")));
}

#ifndef PACE_CUDA
TEST_CASE("a program without CUDA says how to build one that captures steps") {
  FakeClock clock;
  const auto step = pace::with_optimizer(product(clock), {});
  REQUIRE_THROWS_MATCHES(pace::graphed_step(at::Device(at::kCPU), step), pace::Unsupported,
                         MessageMatches(ContainsSubstring("was built without CUDA: build it with --config=cuda")));
}
#endif

}  // namespace
