// The three models whose operator inputs are shipped: small enough that an operator takes tens of microseconds to a few
// milliseconds on two cores.
#pragma once

#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>

#include <torch/torch.h>

namespace corpus_models {

/// Two convolutions with batch norm around a shortcut, pooled and classified: 16 images of 16x28x28 into 1000 classes.
struct ResidualBlockImpl : torch::nn::Module {
  static constexpr int batch = 16, channels = 16, side = 28, classes = 1000;

  torch::Tensor forward(const torch::Tensor& x) {
    auto y = torch::relu(norm1(conv1(x)));
    y = torch::relu(norm2(conv2(y)) + x);
    return classify(torch::avg_pool2d(y, /*kernel_size=*/4).flatten(1));
  }
  torch::Tensor loss() {
    const auto labels = torch::randint(classes, {batch});
    return torch::cross_entropy_loss(forward(torch::randn({batch, channels, side, side})), labels);
  }

  static torch::nn::Conv2d convolution() {
    return torch::nn::Conv2d(torch::nn::Conv2dOptions(channels, channels, 3).padding(1).bias(false));
  }
  torch::nn::Conv2d conv1 = register_module("conv1", convolution());
  torch::nn::Conv2d conv2 = register_module("conv2", convolution());
  torch::nn::BatchNorm2d norm1 = register_module("norm1", torch::nn::BatchNorm2d(channels));
  torch::nn::BatchNorm2d norm2 = register_module("norm2", torch::nn::BatchNorm2d(channels));
  torch::nn::Linear classify =
      register_module("classify", torch::nn::Linear(channels * (side / 4) * (side / 4), classes));
};

/// Self-attention and a feed-forward layer, each behind a layer norm, and a linear head: 8 sequences of 64 tokens.
struct TransformerBlockImpl : torch::nn::Module {
  static constexpr int batch = 8, tokens = 64, width = 128, heads = 4, classes = 1000;

  torch::Tensor forward(torch::Tensor x) {
    x = x + attention(norm1(x));
    x = x + contract(torch::gelu(expand(norm2(x))));
    return head(x);
  }
  /// Written out, so that its products and its softmax are recorded as operators of their own.
  torch::Tensor attention(const torch::Tensor& x) {
    const auto parts = project_in(x).view({batch, tokens, 3, heads, width / heads}).permute({2, 0, 3, 1, 4}).unbind(0);
    const auto scores = torch::matmul(parts[0], parts[1].transpose(-2, -1)) / std::sqrt(double{width} / heads);
    const auto mixed = torch::matmul(torch::softmax(scores, -1), parts[2]);
    return project_out(mixed.transpose(1, 2).reshape({batch, tokens, width}));
  }
  torch::Tensor loss() {
    const auto labels = torch::randint(classes, {batch * tokens});
    return torch::cross_entropy_loss(forward(torch::randn({batch, tokens, width})).view({-1, classes}), labels);
  }

  torch::nn::LayerNorm norm1 = register_module("norm1", torch::nn::LayerNorm(std::vector<std::int64_t>{width}));
  torch::nn::LayerNorm norm2 = register_module("norm2", torch::nn::LayerNorm(std::vector<std::int64_t>{width}));
  torch::nn::Linear project_in = register_module("project_in", torch::nn::Linear(width, 3 * width));
  torch::nn::Linear project_out = register_module("project_out", torch::nn::Linear(width, width));
  torch::nn::Linear expand = register_module("expand", torch::nn::Linear(width, 4 * width));
  torch::nn::Linear contract = register_module("contract", torch::nn::Linear(4 * width, width));
  torch::nn::Linear head = register_module("head", torch::nn::Linear(width, classes));
};

/// A loop of LSTM cells (torch::nn::LSTM would be a single fused operator) that predicts the next input: 256 sequences
/// of 6 steps.
struct LstmImpl : torch::nn::Module {
  static constexpr int batch = 256, steps = 6, inputs = 128, hidden = 384;

  torch::Tensor forward(const torch::Tensor& x) {
    auto h = torch::zeros({batch, hidden});
    auto c = torch::zeros({batch, hidden});
    std::vector<torch::Tensor> outputs;
    for (const auto& step : x.unbind(0)) {
      std::tie(h, c) = cell(step, std::tuple(h, c));
      outputs.push_back(h);
    }
    return head(torch::stack(outputs));
  }
  torch::Tensor loss() {
    const auto x = torch::randn({steps + 1, batch, inputs});
    return torch::mse_loss(forward(x.narrow(0, 0, steps)), x.narrow(0, 1, steps));
  }

  torch::nn::LSTMCell cell = register_module("cell", torch::nn::LSTMCell(inputs, hidden));
  torch::nn::Linear head = register_module("head", torch::nn::Linear(hidden, inputs));
};

TORCH_MODULE(ResidualBlock);
TORCH_MODULE(TransformerBlock);
TORCH_MODULE(Lstm);

}  // namespace corpus_models
