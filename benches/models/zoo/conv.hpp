// Building blocks of convolutional networks: convolution, batch norm and activation as one; channel attention; weights.
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>
#include <ATen/ops/adaptive_avg_pool2d.h>
#include <ATen/ops/hardsigmoid.h>
#include <ATen/ops/hardswish.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/relu6.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/silu.h>
#include <torch/nn/init.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

namespace pace::benches::zoo {

enum class Activation { none, relu, relu6, hardswish, silu, sigmoid, hardsigmoid };

[[nodiscard]] inline at::Tensor activate(Activation activation, const at::Tensor& x) {
  switch (activation) {
    case Activation::none:
      break;
    case Activation::relu:
      return at::relu(x);
    case Activation::relu6:
      return at::relu6(x);
    case Activation::hardswish:
      return at::hardswish(x);
    case Activation::silu:
      return at::silu(x);
    case Activation::sigmoid:
      return at::sigmoid(x);
    case Activation::hardsigmoid:
      return at::hardsigmoid(x);
  }
  return x;
}

/// Padded so that stride 1 keeps the image's size; without a bias, for a batch norm follows.
[[nodiscard]] inline torch::nn::Conv2d convolution(std::int64_t in, std::int64_t out, std::int64_t side,
                                                   std::int64_t stride = 1, std::int64_t groups = 1) {
  return torch::nn::Conv2d(
      torch::nn::Conv2dOptions(in, out, side).stride(stride).padding(side / 2).groups(groups).bias(false));
}

/// The same with a bias and no padding, unless asked.
[[nodiscard]] inline torch::nn::Conv2d biased(std::int64_t in, std::int64_t out, std::int64_t side,
                                              std::int64_t padding = 0, std::int64_t stride = 1) {
  return torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, side).stride(stride).padding(padding));
}

/// How a batch norm is set.
struct Norm {
  double eps = 1e-5, momentum = 0.1;
};

/// Convolution, batch norm, activation.
struct ConvNorm : torch::nn::Module {
  struct Options {
    std::int64_t stride = 1, groups = 1;
    Activation activation = Activation::relu;
    Norm norm = {};
  };
  ConvNorm(std::int64_t in, std::int64_t out, std::int64_t side, const Options& options)
      : conv(register_module("conv", convolution(in, out, side, options.stride, options.groups))),
        norm(register_module(
            "norm", torch::nn::BatchNorm2d(
                        torch::nn::BatchNormOptions(out).eps(options.norm.eps).momentum(options.norm.momentum)))),
        activation(options.activation) {}

  [[nodiscard]] at::Tensor forward(const at::Tensor& x) {
    return activate(activation, norm->forward(conv->forward(x)));
  }

  torch::nn::Conv2d conv;
  torch::nn::BatchNorm2d norm;
  Activation activation;
};

/// Scales each channel by a factor that follows from all channels' averages (squeeze and excitation, Hu et al., CVPR
/// 2018).
struct SqueezeExcite : torch::nn::Module {
  SqueezeExcite(std::int64_t channels, std::int64_t squeezed, Activation inner, Activation gate)
      : reduce(register_module("reduce", biased(channels, squeezed, 1))),
        expand(register_module("expand", biased(squeezed, channels, 1))),
        inner(inner),
        gate(gate) {}

  [[nodiscard]] at::Tensor forward(const at::Tensor& x) {
    const at::Tensor small = activate(inner, reduce->forward(at::adaptive_avg_pool2d(x, {1, 1})));
    return x * activate(gate, expand->forward(small));
  }

  torch::nn::Conv2d reduce, expand;
  Activation inner, gate;
};

/// [batch, channels, height, width] to [batch, channels].
[[nodiscard]] inline at::Tensor global_average(const at::Tensor& x) {
  return at::adaptive_avg_pool2d(x, {1, 1}).flatten(1);
}

/// Convolutions normal by their number of outputs, without bias (He et al., ICCV 2015).
inline void he_convolutions(torch::nn::Module& network) {
  for (const auto& module : network.modules(false)) {
    auto* convolution = module->as<torch::nn::Conv2d>();
    if (convolution == nullptr) continue;
    torch::nn::init::kaiming_normal_(convolution->weight, 0, torch::kFanOut, torch::kReLU);
    if (convolution->bias.defined()) torch::nn::init::zeros_(convolution->bias);
  }
}

/// Linear layers normal, without bias.
inline void normal_linears(torch::nn::Module& network, double deviation) {
  for (const auto& module : network.modules(false)) {
    auto* linear = module->as<torch::nn::Linear>();
    if (linear == nullptr) continue;
    torch::nn::init::normal_(linear->weight, 0, deviation);
    if (linear->bias.defined()) torch::nn::init::zeros_(linear->bias);
  }
}

}  // namespace pace::benches::zoo
