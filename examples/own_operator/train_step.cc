#include <torch/torch.h>
#include <pace/record.hpp>

#include "train_step.hpp"

void train_step(torch::nn::Sequential& model, torch::optim::SGD& optimizer, const at::Tensor& x, const at::Tensor& y) {
  pace::inputs::Recorder recorder;
  optimizer.zero_grad();
  torch::mse_loss(model->forward(x), y).backward();
  optimizer.step();
  // recorded/my_model_training.txt
  recorder.write_as({.directory = "recorded", .model = "my_model", .training = model->is_training()});
}
