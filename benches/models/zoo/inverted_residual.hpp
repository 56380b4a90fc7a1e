// Networks of inverted residual blocks: narrow between blocks, wide inside (Sandler et al., CVPR 2018).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/ones_like.h>
#include <torch/nn/modules/container/sequential.h>

#include "benches/models/zoo/conv.hpp"

namespace pace::benches::zoo {

/// One block. A 1x1 convolution widens (not if `wide` is `in`), and a depthwise one of kernel `side` has the stride. A
/// squeeze and excitation weighs the channels (unless `squeezed` is 0). A 1x1 convolution without activation narrows.
struct InvertedOptions {
  std::int64_t in, wide, out, side, stride;
  Activation activation;
  std::int64_t squeezed = 0;
  bool residual = true;
};

/// The common style of a network's blocks.
struct InvertedStyle {
  Norm norm = {};
  Activation squeeze_inner = Activation::relu, squeeze_gate = Activation::hardsigmoid;
  /// Probability of dropping the last block's residual for an image, in training mode (Huang et al., ECCV 2016). It
  /// grows linearly from 0 at the first block.
  double stochastic_depth = 0;
};

struct InvertedResidual : torch::nn::Module {
  InvertedResidual(const InvertedOptions& options, const InvertedStyle& style, double drop)
      : drop(drop), around(options.residual && options.stride == 1 && options.in == options.out) {
    register_module("layers", layers);
    const auto layer = [&](std::int64_t in, std::int64_t out, std::int64_t side, ConvNorm::Options how) {
      how.norm = style.norm;
      layers->push_back(std::make_shared<ConvNorm>(in, out, side, how));
    };
    if (options.wide != options.in) layer(options.in, options.wide, 1, {.activation = options.activation});
    layer(options.wide, options.wide, options.side,
          {.stride = options.stride, .groups = options.wide, .activation = options.activation});
    if (options.squeezed > 0)
      layers->push_back(
          std::make_shared<SqueezeExcite>(options.wide, options.squeezed, style.squeeze_inner, style.squeeze_gate));
    layer(options.wide, options.out, 1, {.activation = Activation::none});
  }

  [[nodiscard]] at::Tensor forward(const at::Tensor& x) {
    const at::Tensor narrow = layers->forward(x);
    if (!around) return narrow;
    if (drop == 0 || !is_training()) return narrow + x;
    // One number an image. From a tensor, not from sizes: those would be constants of a trace.
    const at::Tensor number = x.narrow(1, 0, 1).narrow(2, 0, 1).narrow(3, 0, 1);
    const at::Tensor one = at::ones_like(number, {}, at::MemoryFormat::Contiguous);
    return narrow * at::dropout(one, drop, true) + x;
  }

  double drop;
  bool around;
  torch::nn::Sequential layers;
};

struct InvertedNetOptions {
  std::vector<InvertedOptions> blocks;
  InvertedStyle style = {};
  /// Activations of the 3x3 convolution in front, which has stride 2, and of the 1x1 convolution behind.
  Activation first = Activation::relu6, last = Activation::relu6;
  std::int64_t features = 1280;
  /// Width of a linear layer with a hardswish in front of the classifier; 0: there is none.
  std::int64_t hidden = 0;
  double dropout = 0.2;
  std::int64_t classes = 1000;
};

/// Images of [batch, 3, height, width] to [batch, classes]. In training mode when made. Convolutions as
/// `he_convolutions` draws them; linear layers as LibTorch does.
struct InvertedNet : torch::nn::Module {
  explicit InvertedNet(const InvertedNetOptions& options) : dropout(options.dropout) {
    register_module("layers", layers);
    const Norm& norm = options.style.norm;
    layers->push_back(std::make_shared<ConvNorm>(
        3, options.blocks.front().in, 3, ConvNorm::Options{.stride = 2, .activation = options.first, .norm = norm}));
    for (std::size_t i = 0; i < options.blocks.size(); ++i) {
      const double drop =
          options.style.stochastic_depth * static_cast<double>(i) / static_cast<double>(options.blocks.size());
      layers->push_back(std::make_shared<InvertedResidual>(options.blocks[i], options.style, drop));
    }
    layers->push_back(std::make_shared<ConvNorm>(options.blocks.back().out, options.features, 1,
                                                 ConvNorm::Options{.activation = options.last, .norm = norm}));
    if (options.hidden > 0) hidden = register_module("hidden", torch::nn::Linear(options.features, options.hidden));
    classify = register_module(
        "classify", torch::nn::Linear(options.hidden > 0 ? options.hidden : options.features, options.classes));
    he_convolutions(*this);
  }

  [[nodiscard]] at::Tensor forward(const at::Tensor& images) {
    at::Tensor x = global_average(layers->forward(images));
    if (hidden) x = at::hardswish(hidden->forward(x));
    return classify->forward(at::dropout(x, dropout, is_training()));
  }

  double dropout;
  torch::nn::Sequential layers;
  torch::nn::Linear hidden = nullptr, classify = nullptr;
};

/// For a CPU: the first block of each width and the first residual one; a quarter of the channels, in fours.
[[nodiscard]] inline InvertedNetOptions shrunk(InvertedNetOptions options) {
  const auto quarter = [](std::int64_t channels) { return std::max<std::int64_t>(4, channels / 16 * 4); };
  std::vector<InvertedOptions> kept;
  bool residual = false;
  for (InvertedOptions block : options.blocks) {
    const bool repeats = block.in == block.out && block.stride == 1;
    if (repeats && residual) continue;
    residual = residual || (repeats && block.residual);
    const bool widens = block.wide != block.in;
    block.in = kept.empty() ? quarter(block.in) : kept.back().out;
    block.out = repeats ? block.in : quarter(block.out);
    block.wide = widens ? std::max(quarter(block.wide), block.in + 4) : block.in;
    block.squeezed = block.squeezed == 0 ? 0 : quarter(block.squeezed);
    kept.push_back(block);
  }
  options.blocks = kept;
  options.features = quarter(options.features) / 2;
  options.hidden = quarter(options.hidden) * (options.hidden > 0) / 2;
  options.classes = 10;
  return options;
}

}  // namespace pace::benches::zoo
