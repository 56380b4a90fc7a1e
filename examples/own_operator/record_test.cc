// A training step that is recorded in two lines; the file is read back, and an operator of it bound as the bench does.
#include <filesystem>
#include <string>

#include <ATen/ops/randn.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/linear.h>
#include <pace/corpus/corpus.hpp>
#include <pace/inputs/generate.hpp>

#include "train_step.hpp"

// After LibTorch, whose logging header has a CHECK of its own.
#undef CHECK
#include <catch2/catch_test_macros.hpp>

TEST_CASE("a training step is recorded into a file that can be replayed") {
  std::filesystem::remove_all("recorded");
  torch::nn::Sequential model(torch::nn::Linear(8, 4), torch::nn::ReLU());
  torch::optim::SGD optimizer(model->parameters(), 0.1);
  const at::Tensor x = at::randn({2, 8}), y = at::randn({2, 4});
  train_step(model, optimizer, x, y);

  const auto corpus = pace::corpus::Corpus::from_directory("recorded");
  CHECK(std::filesystem::exists("recorded/my_model_training.txt"));
  for (const char* name : {"aten.addmm.default", "aten.relu.default", "aten.mse_loss.default", "aten.mm.default",
                           "aten.mse_loss_backward.default", "aten.threshold_backward.default", "aten.add_.Tensor"}) {
    INFO(name);
    CHECK(corpus.find(name) != nullptr);
  }
  REQUIRE(corpus.find("aten.addmm.default") != nullptr);
  const auto& sample = corpus.find("aten.addmm.default")->samples.at(0);
  CHECK(sample.text == "((T([4], f32), T([2, 8], f32), T([8, 4], f32, stride=(1, 8))), {})");
  const auto inputs = pace::inputs::generate(pace::corpus::parse_call(sample));
  CHECK(inputs.args.at(2).toTensor().strides() == at::IntArrayRef{1, 8});

  // A file that is there is left alone, and a model in evaluation has one of its own.
  const auto written = std::filesystem::last_write_time("recorded/my_model_training.txt");
  train_step(model, optimizer, x, y);
  CHECK(std::filesystem::last_write_time("recorded/my_model_training.txt") == written);
  model->eval();
  train_step(model, optimizer, x, y);
  CHECK(std::filesystem::exists("recorded/my_model_eval.txt"));
}
