// Networks of plain convolutions: VGG-16 (Simonyan and Zisserman, ICLR 2015) and SqueezeNet 1.1 (Iandola et al., 2016),
// both as torchvision has them. Also the discriminator of DCGAN (Radford et al., ICLR 2016), as torchbench runs it.
#include <ATen/ops/cat.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/max_pool2d.h>
#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/pooling.h>

#include "benches/models/zoo/conv.hpp"
#include "benches/models/zoo/entry.hpp"

namespace pace::benches::zoo {
namespace {

struct Vgg : torch::nn::Module {
  /// Widths of the convolutions; 0 is a pooling that halves the image.
  Vgg(const std::vector<std::int64_t>& widths, std::int64_t pooled, std::int64_t hidden, std::int64_t classes)
      : widths(widths), pooled(pooled) {
    register_module("convolutions", convolutions);
    std::int64_t in = 3;
    for (const std::int64_t width : widths) {
      if (width == 0) continue;
      convolutions->push_back(biased(in, width, 3, 1));
      in = width;
    }
    linear1 = register_module("linear1", torch::nn::Linear(in * pooled * pooled, hidden));
    linear2 = register_module("linear2", torch::nn::Linear(hidden, hidden));
    classify = register_module("classify", torch::nn::Linear(hidden, classes));
    he_convolutions(*this);
    normal_linears(*this, 0.01);
  }

  [[nodiscard]] at::Tensor forward(const at::Tensor& images) {
    at::Tensor x = images;
    std::size_t next = 0;
    for (const std::int64_t width : widths)
      x = width == 0 ? at::max_pool2d(x, {2, 2}, {2, 2})
                     : at::relu(convolutions[next++]->as<torch::nn::Conv2d>()->forward(x));
    x = at::adaptive_avg_pool2d(x, {pooled, pooled}).flatten(1);
    x = at::dropout(at::relu(linear1->forward(x)), 0.5, is_training());
    return classify->forward(at::dropout(at::relu(linear2->forward(x)), 0.5, is_training()));
  }

  std::vector<std::int64_t> widths;
  std::int64_t pooled;
  torch::nn::ModuleList convolutions;
  torch::nn::Linear linear1 = nullptr, linear2 = nullptr, classify = nullptr;
};

const Registered vgg16(of_images(entry("vgg16", Suite::torchbench, "cnn", {64, 4}, 138'357'544, Training::draws),
                                 [](bool small) {
                                   using Widths = std::vector<std::int64_t>;
                                   if (small) return std::make_shared<Vgg>(Widths{8, 0, 16, 0, 32, 32, 0}, 3, 32, 10);
                                   return std::make_shared<Vgg>(Widths{64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512,
                                                                       512, 512, 0, 512, 512, 512, 0},
                                                                7, 4096, 1000);
                                 }));

/// 1x1 to few channels, then 1x1 and 3x3 beside each other.
struct Fire : torch::nn::Module {
  Fire(std::int64_t in, std::int64_t squeezed, std::int64_t each)
      : squeeze(register_module("squeeze", biased(in, squeezed, 1))),
        expand1(register_module("expand1", biased(squeezed, each, 1))),
        expand3(register_module("expand3", biased(squeezed, each, 3, 1))) {}

  [[nodiscard]] at::Tensor forward(const at::Tensor& x) {
    const at::Tensor few = at::relu(squeeze->forward(x));
    return at::cat({at::relu(expand1->forward(few)), at::relu(expand3->forward(few))}, 1);
  }

  torch::nn::Conv2d squeeze, expand1, expand3;
};

struct SqueezeNet : torch::nn::Module {
  /// Channels after squeezing, of every fire; they come out eight times as many. 0 halves the image.
  SqueezeNet(const std::vector<std::int64_t>& squeezed, std::int64_t enters, std::int64_t classes)
      : enter(register_module("enter", biased(3, enters, 3, 0, 2))) {
    register_module("fires", fires);
    const auto pool = [] { return torch::nn::MaxPool2d(torch::nn::MaxPool2dOptions(3).stride(2).ceil_mode(true)); };
    fires->push_back(pool());
    std::int64_t in = enters;
    for (const std::int64_t few : squeezed) {
      if (few == 0) {
        fires->push_back(pool());
      } else {
        fires->push_back(std::make_shared<Fire>(in, few, 4 * few));
        in = 8 * few;
      }
    }
    classify = register_module("classify", biased(in, classes, 1));
    for (const auto& module : modules(false)) {
      auto* convolution = module->as<torch::nn::Conv2d>();
      if (convolution == nullptr) continue;
      if (convolution == classify.get())
        torch::nn::init::normal_(convolution->weight, 0, 0.01);
      else
        torch::nn::init::kaiming_uniform_(convolution->weight);
      torch::nn::init::zeros_(convolution->bias);
    }
  }

  [[nodiscard]] at::Tensor forward(const at::Tensor& images) {
    const at::Tensor x = fires->forward(at::relu(enter->forward(images)));
    return global_average(at::relu(classify->forward(at::dropout(x, 0.5, is_training()))));
  }

  torch::nn::Conv2d enter;
  torch::nn::Sequential fires;
  torch::nn::Conv2d classify = nullptr;
};

const Registered squeezenet(
    of_images(entry("squeezenet1_1", Suite::torchbench, "cnn", {32, 16}, 1'235'496, Training::draws), [](bool small) {
      if (small) return std::make_shared<SqueezeNet>(std::vector<std::int64_t>{4, 0, 8, 0}, 16, 10);
      return std::make_shared<SqueezeNet>(std::vector<std::int64_t>{16, 16, 0, 32, 32, 0, 48, 48, 64, 64}, 64, 1000);
    }));

/// Each convolution halves a picture of 64 by 64, and doubles the channels; the last one makes one number of it.
struct Discriminator : torch::nn::Module {
  explicit Discriminator(std::int64_t width) {
    register_module("convolutions", convolutions);
    register_module("norms", norms);
    const auto four = [](std::int64_t in, std::int64_t out, std::int64_t stride, std::int64_t padding) {
      return torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, 4).stride(stride).padding(padding).bias(false));
    };
    convolutions->push_back(four(3, width, 2, 1));
    for (std::int64_t in = width; in < 8 * width; in *= 2) {
      convolutions->push_back(four(in, 2 * in, 2, 1));
      norms->push_back(torch::nn::BatchNorm2d(2 * in));
    }
    convolutions->push_back(four(8 * width, 1, 1, 0));
    for (const auto& each : *convolutions) torch::nn::init::normal_(each->as<torch::nn::Conv2d>()->weight, 0, 0.02);
    for (const auto& each : *norms) torch::nn::init::normal_(each->as<torch::nn::BatchNorm2d>()->weight, 1, 0.02);
  }

  [[nodiscard]] at::Tensor forward(const at::Tensor& images) {
    const auto convolve = [&](std::size_t i, const at::Tensor& x) {
      return convolutions[i]->as<torch::nn::Conv2d>()->forward(x);
    };
    at::Tensor x = at::leaky_relu(convolve(0, images), 0.2);
    for (std::size_t i = 0; i < norms->size(); ++i)
      x = at::leaky_relu(norms[i]->as<torch::nn::BatchNorm2d>()->forward(convolve(i + 1, x)), 0.2);
    return at::sigmoid(convolve(norms->size() + 1, x));
  }

  torch::nn::ModuleList convolutions, norms;
};

const Registered dcgan(of_images(entry("dcgan", Suite::torchbench, "gan", {32, 256}, 2'765'568),
                                 [](bool small) { return std::make_shared<Discriminator>(small ? 8 : 64); },
                                 {.published = {3, 64, 64}, .small = {3, 64, 64}}));

}  // namespace
}  // namespace pace::benches::zoo
