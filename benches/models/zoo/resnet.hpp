// Residual networks: K. He et al., "Deep residual learning for image recognition", CVPR 2016; with the stride of a
// bottleneck in its 3x3 convolution, as torchvision has it; in groups, S. Xie et al., "Aggregated residual
// transformations for deep neural networks", CVPR 2017.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/pooling.h>

#include "benches/models/zoo/conv.hpp"

namespace pace::benches::zoo {

/// The 3x3 convolution of a bottleneck: in how many groups, and how wide each is where the block is 64 wide.
struct Groups {
  std::int64_t count = 1, width = 64;
};

struct ResidualBlock : torch::nn::Module {
  [[nodiscard]] at::Tensor forward(const at::Tensor& x) {
    return at::relu(residual(x) + (around->is_empty() ? x : around->forward(x)));
  }
  [[nodiscard]] virtual at::Tensor residual(const at::Tensor& x) = 0;

 protected:
  ResidualBlock(std::int64_t in, std::int64_t out, std::int64_t stride)
      : around(register_module("around", shortcut(in, out, stride))) {}

  /// The shortcut of the input around a block that changes the shape; empty otherwise.
  [[nodiscard]] static torch::nn::Sequential shortcut(std::int64_t in, std::int64_t out, std::int64_t stride) {
    if (in == out && stride == 1) return torch::nn::Sequential();
    return torch::nn::Sequential(convolution(in, out, 1, stride), torch::nn::BatchNorm2d(out));
  }

  torch::nn::Sequential around;
};

/// Two 3x3 convolutions; the first has the stride. Never in groups.
struct BasicBlock final : ResidualBlock {
  static constexpr std::int64_t expansion = 1;

  BasicBlock(std::int64_t in, std::int64_t width, std::int64_t stride, Groups = {})
      : ResidualBlock(in, width, stride),
        conv1(register_module("conv1", convolution(in, width, 3, stride))),
        norm1(register_module("norm1", torch::nn::BatchNorm2d(width))),
        conv2(register_module("conv2", convolution(width, width, 3))),
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

  Bottleneck(std::int64_t in, std::int64_t width, std::int64_t stride, Groups groups = {})
      : Bottleneck(in, width, width * groups.width / 64 * groups.count, stride, groups.count) {}

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

 private:
  Bottleneck(std::int64_t in, std::int64_t width, std::int64_t inner, std::int64_t stride, std::int64_t groups)
      : ResidualBlock(in, expansion * width, stride),
        conv1(register_module("conv1", convolution(in, inner, 1))),
        norm1(register_module("norm1", torch::nn::BatchNorm2d(inner))),
        conv2(register_module("conv2", convolution(inner, inner, 3, stride, groups))),
        norm2(register_module("norm2", torch::nn::BatchNorm2d(inner))),
        conv3(register_module("conv3", convolution(inner, expansion * width, 1))),
        norm3(register_module("norm3", torch::nn::BatchNorm2d(expansion * width))) {}
};

struct ResNetOptions {
  /// How many blocks each stage has; every stage is twice as wide as the one before.
  std::vector<std::int64_t> blocks;
  std::int64_t width = 64;
  Groups groups = {};
  std::int64_t in_channels = 3, outputs = 1000;
  /// As for ImageNet: a 7x7 convolution and pooling in front, weights as `he_convolutions` draws them, scores behind.
  /// Otherwise a 3x3 convolution, a first stage with a stride instead of pooling, LibTorch's weights, and a sigmoid.
  bool for_imagenet = true;
};

/// Images of [batch, in_channels, height, width] to [batch, outputs]. In training mode when made. Weights from the
/// CPU's default generator; the classifier's are LibTorch's default.
struct ResNet : torch::nn::Module {
  [[nodiscard]] at::Tensor forward(const at::Tensor& images) {
    at::Tensor x = at::relu(norm->forward(enter->forward(images)));
    if (for_imagenet) x = pool->forward(x);
    const at::Tensor scores = classify->forward(average->forward(stages->forward(x)).flatten(1));
    return for_imagenet ? scores : at::sigmoid(scores);
  }

  template <class Block>
  [[nodiscard]] static std::shared_ptr<ResNet> with(const ResNetOptions& options) {
    const std::int64_t widest = options.width << (options.blocks.size() - 1);
    auto net = std::shared_ptr<ResNet>(new ResNet(options, widest * Block::expansion));
    std::int64_t in = options.width, width = options.width;
    for (const std::int64_t count : options.blocks) {
      for (std::int64_t i = 0; i < count; ++i) {
        const bool first_stage = width == options.width;
        const std::int64_t stride = i == 0 && !(first_stage && options.for_imagenet) ? 2 : 1;
        net->stages->push_back(std::make_shared<Block>(in, width, stride, options.groups));
        in = Block::expansion * width;
      }
      width *= 2;
    }
    if (options.for_imagenet) he_convolutions(*net);
    return net;
  }

  bool for_imagenet;
  torch::nn::Conv2d enter;
  torch::nn::BatchNorm2d norm;
  torch::nn::MaxPool2d pool;
  torch::nn::Sequential stages;
  torch::nn::AdaptiveAvgPool2d average;
  torch::nn::Linear classify;

 private:
  ResNet(const ResNetOptions& options, std::int64_t features)
      : for_imagenet(options.for_imagenet),
        enter(register_module("enter", convolution(options.in_channels, options.width, for_imagenet ? 7 : 3, 2))),
        norm(register_module("norm", torch::nn::BatchNorm2d(options.width))),
        pool(register_module("pool", torch::nn::MaxPool2d(torch::nn::MaxPool2dOptions(3).stride(2).padding(1)))),
        stages(register_module("stages", torch::nn::Sequential())),
        average(register_module("average", torch::nn::AdaptiveAvgPool2d(1))),
        classify(register_module("classify", torch::nn::Linear(features, options.outputs))) {}
};

[[nodiscard]] inline std::shared_ptr<ResNet> resnet18() { return ResNet::with<BasicBlock>({.blocks = {2, 2, 2, 2}}); }
[[nodiscard]] inline std::shared_ptr<ResNet> resnet50() { return ResNet::with<Bottleneck>({.blocks = {3, 4, 6, 3}}); }

}  // namespace pace::benches::zoo
