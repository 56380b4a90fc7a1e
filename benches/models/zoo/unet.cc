// A U-Net that upsamples bilinearly, as torchbench's pytorch_unet has it (Ronneberger et al., MICCAI 2015): a score for
// each of two classes at every pixel.
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/upsample_bilinear2d.h>
#include <torch/nn/modules/container/modulelist.h>

#include "benches/models/zoo/conv.hpp"
#include "benches/models/zoo/entry.hpp"

namespace pace::benches::zoo {
namespace {

/// Twice a 3x3 convolution with a bias (though a norm follows), batch norm, relu.
struct DoubleConv : torch::nn::Module {
  DoubleConv(std::int64_t in, std::int64_t between, std::int64_t out)
      : conv1(register_module("conv1", biased(in, between, 3, 1))),
        norm1(register_module("norm1", torch::nn::BatchNorm2d(between))),
        conv2(register_module("conv2", biased(between, out, 3, 1))),
        norm2(register_module("norm2", torch::nn::BatchNorm2d(out))) {}

  [[nodiscard]] at::Tensor forward(const at::Tensor& x) {
    return at::relu(norm2->forward(conv2->forward(at::relu(norm1->forward(conv1->forward(x))))));
  }

  torch::nn::Conv2d conv1;
  torch::nn::BatchNorm2d norm1;
  torch::nn::Conv2d conv2;
  torch::nn::BatchNorm2d norm2;
};

/// Twice the size, padded with zeros to the size of `like`.
[[nodiscard]] at::Tensor grown(const at::Tensor& x, const at::Tensor& like) {
  const std::vector<double> twice{2, 2};
  const at::Tensor large = at::upsample_bilinear2d(x, std::nullopt, true, twice);
  const std::int64_t rows = like.size(2) - large.size(2), columns = like.size(3) - large.size(3);
  return at::constant_pad_nd(large, {columns / 2, columns - columns / 2, rows / 2, rows - rows / 2}, 0);
}

/// Images of [batch, 3, height, width] to [batch, 2, height, width]. Weights are LibTorch's default.
struct UNet : torch::nn::Module {
  explicit UNet(std::int64_t width) {
    register_module("down", down);
    register_module("up", up);
    down->push_back(std::make_shared<DoubleConv>(3, width, width));
    for (const std::int64_t wide : {2 * width, 4 * width, 8 * width})
      down->push_back(std::make_shared<DoubleConv>(wide / 2, wide, wide));
    down->push_back(std::make_shared<DoubleConv>(8 * width, 8 * width, 8 * width));
    for (const std::int64_t wide : {8 * width, 4 * width, 2 * width})
      up->push_back(std::make_shared<DoubleConv>(2 * wide, wide, wide / 2));
    up->push_back(std::make_shared<DoubleConv>(2 * width, width, width));
    classify = register_module("classify", biased(width, 2, 1));
  }

  [[nodiscard]] at::Tensor forward(const at::Tensor& images) {
    std::vector<at::Tensor> levels{down[0]->as<DoubleConv>()->forward(images)};
    for (std::size_t i = 1; i < down->size(); ++i)
      levels.push_back(down[i]->as<DoubleConv>()->forward(at::max_pool2d(levels.back(), {2, 2}, {2, 2})));
    at::Tensor x = levels.back();
    for (std::size_t i = 0; i < up->size(); ++i) {
      const at::Tensor& level = levels[levels.size() - 2 - i];
      x = up[i]->as<DoubleConv>()->forward(at::cat({level, grown(x, level)}, 1));
    }
    return classify->forward(x);
  }

  torch::nn::ModuleList down, up;
  torch::nn::Conv2d classify = nullptr;
};

// Photographs of 1280 by 1918, at half their size; an odd width, so that padding is at work.
const Registered unet(of_images(entry("pytorch_unet", Suite::torchbench, "segmentation", {1, 1}, 17'267'458),
                                [](bool small) { return std::make_shared<UNet>(small ? 4 : 64); },
                                {.published = {3, 640, 959}, .small = {3, 32, 47}, .settling = {3, 160, 239}}));

}  // namespace
}  // namespace pace::benches::zoo
