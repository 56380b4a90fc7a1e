#pragma once

#include <torch/nn/modules/container/sequential.h>
#include <torch/optim/sgd.h>

void train_step(torch::nn::Sequential& model, torch::optim::SGD& optimizer, const at::Tensor& x, const at::Tensor& y);
