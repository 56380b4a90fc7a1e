// Residual networks for images of ImageNet's size: K. He et al., "Deep residual learning for image recognition", CVPR
// 2016; with the stride of a bottleneck in its 3x3 convolution, as torchvision has it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/relu.h>
#include <torch/nn/init.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/pooling.h>

namespace pace::rnn {

namespace detail {

[[nodiscard]] inline torch::nn::Conv2d convolution(std::int64_t in, std::int64_t out, std::int64_t side,
                                                   std::int64_t stride = 1) {
  return torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, side).stride(stride).padding(side / 2).bias(false));
}

/// What the input passes on its way around a block whose output has another shape; empty otherwise.
[[nodiscard]] inline torch::nn::Sequential shortcut(std::int64_t in, std::int64_t out, std::int64_t stride) {
  if (in == out && stride == 1) return torch::nn::Sequential();
  return torch::nn::Sequential(convolution(in, out, 1, stride), torch::nn::BatchNorm2d(out));
}

}  // namespace detail

struct ResidualBlock : torch::nn::Module {
  [[nodiscard]] at::Tensor forward(const at::Tensor& x) {
    return at::relu(residual(x) + (around->is_empty() ? x : around->forward(x)));
  }
  [[nodiscard]] virtual at::Tensor residual(const at::Tensor& x) = 0;

 protected:
  ResidualBlock(std::int64_t in, std::int64_t out, std::int64_t stride)
      : around(register_module("around", detail::shortcut(in, out, stride))) {}

  torch::nn::Sequential around;
};

/// Two 3x3 convolutions; the first has the stride.
struct BasicBlock final : ResidualBlock {
  static constexpr std::int64_t expansion = 1;

  BasicBlock(std::int64_t in, std::int64_t width, std::int64_t stride)
      : ResidualBlock(in, width, stride),
        conv1(register_module("conv1", detail::convolution(in, width, 3, stride))),
        norm1(register_module("norm1", torch::nn::BatchNorm2d(width))),
        conv2(register_module("conv2", detail::convolution(width, width, 3))),
        norm2(register_module("norm2", torch::nn::BatchNorm2d(width))) {}

  [[nodiscard]] at::Tensor residual(const at::Tensor& x) override {
    return norm2->forward(conv2->forward(at::relu(norm1->forward(conv1->forward(x)))));
  }

  torch::nn::Conv2d conv1;
  torch::nn::BatchNorm2d norm1;
  torch::nn::Conv2d conv2;
  torch::nn::BatchNorm2d norm2;
};

/// 1x1, 3x3 with the stride, 1x1 to four times the width.
struct Bottleneck final : ResidualBlock {
  static constexpr std::int64_t expansion = 4;

  Bottleneck(std::int64_t in, std::int64_t width, std::int64_t stride)
      : ResidualBlock(in, expansion * width, stride),
        conv1(register_module("conv1", detail::convolution(in, width, 1))),
        norm1(register_module("norm1", torch::nn::BatchNorm2d(width))),
        conv2(register_module("conv2", detail::convolution(width, width, 3, stride))),
        norm2(register_module("norm2", torch::nn::BatchNorm2d(width))),
        conv3(register_module("conv3", detail::convolution(width, expansion * width, 1))),
        norm3(register_module("norm3", torch::nn::BatchNorm2d(expansion * width))) {}

  [[nodiscard]] at::Tensor residual(const at::Tensor& x) override {
    const at::Tensor narrow = at::relu(norm1->forward(conv1->forward(x)));
    return norm3->forward(conv3->forward(at::relu(norm2->forward(conv2->forward(narrow)))));
  }

  torch::nn::Conv2d conv1;
  torch::nn::BatchNorm2d norm1;
  torch::nn::Conv2d conv2;
  torch::nn::BatchNorm2d norm2;
  torch::nn::Conv2d conv3;
  torch::nn::BatchNorm2d norm3;
};

/// Images of [batch, 3, height, width] to [batch, 1000]. In training mode when made. Weights from the CPU's default
/// generator: convolutions normal by the number of outputs (He et al., ICCV 2015), the classifier LibTorch's default.
struct ResNet : torch::nn::Module {
  [[nodiscard]] at::Tensor forward(const at::Tensor& images) {
    at::Tensor x = pool->forward(at::relu(norm->forward(enter->forward(images))));
    return classify->forward(average->forward(stages->forward(x)).flatten(1));
  }

  /// Numbers of blocks of the four stages.
  template <class Block>
  [[nodiscard]] static std::shared_ptr<ResNet> with(std::initializer_list<std::int64_t> blocks) {
    auto net = std::shared_ptr<ResNet>(new ResNet(512 * Block::expansion));
    std::int64_t in = 64, width = 64;
    for (const std::int64_t count : blocks) {
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t stride = i == 0 && width > 64 ? 2 : 1;
        net->stages->push_back(std::make_shared<Block>(in, width, stride));
        in = Block::expansion * width;
      }
      width *= 2;
    }
    for (const auto& module : net->modules())
      if (auto* convolution = module->as<torch::nn::Conv2d>())
        torch::nn::init::kaiming_normal_(convolution->weight, 0, torch::kFanOut, torch::kReLU);
    return net;
  }

  torch::nn::Conv2d enter = register_module(
      "enter", torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 64, 7).stride(2).padding(3).bias(false)));
  torch::nn::BatchNorm2d norm = register_module("norm", torch::nn::BatchNorm2d(64));
  torch::nn::MaxPool2d pool =
      register_module("pool", torch::nn::MaxPool2d(torch::nn::MaxPool2dOptions(3).stride(2).padding(1)));
  torch::nn::Sequential stages = register_module("stages", torch::nn::Sequential());
  torch::nn::AdaptiveAvgPool2d average = register_module("average", torch::nn::AdaptiveAvgPool2d(1));
  torch::nn::Linear classify;

 private:
  explicit ResNet(std::int64_t features) : classify(register_module("classify", torch::nn::Linear(features, 1000))) {}
};

[[nodiscard]] inline std::shared_ptr<ResNet> resnet18() { return ResNet::with<BasicBlock>({2, 2, 2, 2}); }
[[nodiscard]] inline std::shared_ptr<ResNet> resnet50() { return ResNet::with<Bottleneck>({3, 4, 6, 3}); }

}  // namespace pace::rnn
