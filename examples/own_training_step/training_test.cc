#include <torch/torch.h>
#include <pace/catch2.hpp>
#include <pace/training.hpp>

// LibTorch's CHECK ends the program, Catch2's a test.
#undef CHECK
#include <catch2/catch_test_macros.hpp>

template <class Activation>
torch::nn::Sequential network(Activation activation) {
  torch::manual_seed(1);  // equal weights for all
  return torch::nn::Sequential(torch::nn::Linear(64, 256), activation, torch::nn::Linear(256, 8));
}

auto step_of(torch::nn::Sequential model) {
  return pace::training_step(model->parameters(), [model](const at::Tensor& x, const at::Tensor& target) mutable {
    return torch::mse_loss(model->forward(x), target);
  });
}

TEST_CASE("relu as a module and as a function train alike", "[perf]") {
  const auto module = network(torch::nn::ReLU());
  const auto function = network(torch::nn::Functional(torch::relu));
  const auto result = pace::compare("network", at::randn({32, 64}), at::randn({32, 8}))
                          .baseline("module", step_of(module))
                          .candidate("function", step_of(function))
                          .expect("function", pace::NoSlowerThan(1.5))
                          .expect("function", pace::NoSlowerThan(1.5).in_phase("forward"))
                          .expect("function", pace::NoSlowerThan(1.5).in_phase("backward"))
                          .run();
  CHECK_THAT(result, pace::AsExpected());  // the loss and every gradient are correct, too
}
