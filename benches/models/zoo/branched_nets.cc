// Networks that concatenate outputs of layers: DenseNet-121 (Huang et al., CVPR 2017) and ShuffleNetV2 1.0 (Ma et al.,
// ECCV 2018), as torchvision has them.
#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/max_pool2d.h>
#include <torch/nn/modules/container/sequential.h>

#include "benches/models/zoo/conv.hpp"
#include "benches/models/zoo/entry.hpp"

namespace pace::benches::zoo {
namespace {

/// Batch norm and activation in front of the convolution.
struct NormConv : torch::nn::Module {
  NormConv(std::int64_t in, std::int64_t out, std::int64_t side)
      : norm(register_module("norm", torch::nn::BatchNorm2d(in))),
        conv(register_module("conv", convolution(in, out, side))) {}

  [[nodiscard]] at::Tensor forward(const at::Tensor& x) { return conv->forward(at::relu(norm->forward(x))); }

  torch::nn::BatchNorm2d norm;
  torch::nn::Conv2d conv;
};

/// The input, and `growth` more channels.
struct DenseLayer : torch::nn::Module {
  DenseLayer(std::int64_t in, std::int64_t growth)
      : narrow(register_module("narrow", std::make_shared<NormConv>(in, 4 * growth, 1))),
        grow(register_module("grow", std::make_shared<NormConv>(4 * growth, growth, 3))) {}

  [[nodiscard]] at::Tensor forward(const at::Tensor& x) { return at::cat({x, grow->forward(narrow->forward(x))}, 1); }

  std::shared_ptr<NormConv> narrow, grow;
};

/// Half the channels, half the size.
struct Transition : torch::nn::Module {
  explicit Transition(std::int64_t in) : halve(register_module("halve", std::make_shared<NormConv>(in, in / 2, 1))) {}

  [[nodiscard]] at::Tensor forward(const at::Tensor& x) { return at::avg_pool2d(halve->forward(x), {2, 2}, {2, 2}); }

  std::shared_ptr<NormConv> halve;
};

struct DenseNet : torch::nn::Module {
  DenseNet(const std::vector<std::int64_t>& layers_of_blocks, std::int64_t growth, std::int64_t classes) {
    std::int64_t width = 2 * growth;
    enter = register_module("enter", std::make_shared<ConvNorm>(3, width, 7, ConvNorm::Options{.stride = 2}));
    register_module("layers", layers);
    for (std::size_t block = 0; block < layers_of_blocks.size(); ++block) {
      for (std::int64_t i = 0; i < layers_of_blocks[block]; ++i, width += growth)
        layers->push_back(std::make_shared<DenseLayer>(width, growth));
      if (block + 1 == layers_of_blocks.size()) break;
      layers->push_back(std::make_shared<Transition>(width));
      width /= 2;
    }
    last = register_module("last", torch::nn::BatchNorm2d(width));
    classify = register_module("classify", torch::nn::Linear(width, classes));
    for (const auto& module : modules(false))
      if (auto* convolution = module->as<torch::nn::Conv2d>()) torch::nn::init::kaiming_normal_(convolution->weight);
    torch::nn::init::zeros_(classify->bias);
  }

  [[nodiscard]] at::Tensor forward(const at::Tensor& images) {
    const at::Tensor x = at::max_pool2d(enter->forward(images), {3, 3}, {2, 2}, {1, 1});
    return classify->forward(global_average(at::relu(last->forward(layers->forward(x)))));
  }

  std::shared_ptr<ConvNorm> enter;
  torch::nn::Sequential layers;
  torch::nn::BatchNorm2d last = nullptr;
  torch::nn::Linear classify = nullptr;
};

// 256 in the paper; 4 where it has to fit in a GPU with everything else that is compared.
const Registered densenet(of_images(entry("densenet121", Suite::torchbench, "cnn", {4, 64}, 7'978'856), [](bool small) {
  if (small) return std::make_shared<DenseNet>(std::vector<std::int64_t>{2, 2, 2}, 8, 10);
  return std::make_shared<DenseNet>(std::vector<std::int64_t>{6, 12, 24, 16}, 32, 1000);
}));

/// 1x1, depthwise 3x3 with the stride, 1x1; without the first where `enters` is false.
[[nodiscard]] torch::nn::Sequential branch(std::int64_t in, std::int64_t out, std::int64_t stride, bool enters) {
  torch::nn::Sequential layers;
  const std::int64_t width = enters ? out : in;
  if (enters) layers->push_back(std::make_shared<ConvNorm>(in, out, 1, ConvNorm::Options{}));
  layers->push_back(std::make_shared<ConvNorm>(
      width, width, 3, ConvNorm::Options{.stride = stride, .groups = width, .activation = Activation::none}));
  layers->push_back(std::make_shared<ConvNorm>(width, out, 1, ConvNorm::Options{}));
  return layers;
}

/// With stride 1 half the channels pass as they are. Then the channels of both halves alternate.
struct ShuffleUnit : torch::nn::Module {
  ShuffleUnit(std::int64_t in, std::int64_t out, std::int64_t stride) : halves(stride == 1) {
    if (!halves) other = register_module("other", branch(in, out / 2, stride, false));
    main = register_module("main", branch(halves ? in / 2 : in, out / 2, stride, true));
  }

  [[nodiscard]] at::Tensor forward(const at::Tensor& x) {
    at::Tensor both;
    if (halves) {
      const std::int64_t half = x.size(1) / 2;
      both = at::cat({x.narrow(1, 0, half), main->forward(x.narrow(1, half, half))}, 1);
    } else {
      both = at::cat({other->forward(x), main->forward(x)}, 1);
    }
    return both.unflatten(1, {2, -1}).transpose(1, 2).flatten(1, 2);
  }

  bool halves;
  torch::nn::Sequential other = nullptr, main = nullptr;
};

struct ShuffleNet : torch::nn::Module {
  ShuffleNet(const std::vector<std::int64_t>& units, const std::vector<std::int64_t>& widths, std::int64_t classes)
      : enter(register_module("enter", std::make_shared<ConvNorm>(3, widths[0], 3, ConvNorm::Options{.stride = 2}))) {
    register_module("layers", layers);
    for (std::size_t stage = 0; stage < units.size(); ++stage)
      for (std::int64_t i = 0; i < units[stage]; ++i)
        layers->push_back(
            std::make_shared<ShuffleUnit>(widths[i == 0 ? stage : stage + 1], widths[stage + 1], i == 0 ? 2 : 1));
    layers->push_back(std::make_shared<ConvNorm>(widths[units.size()], widths.back(), 1, ConvNorm::Options{}));
    classify = register_module("classify", torch::nn::Linear(widths.back(), classes));
  }

  [[nodiscard]] at::Tensor forward(const at::Tensor& images) {
    const at::Tensor x = layers->forward(at::max_pool2d(enter->forward(images), {3, 3}, {2, 2}, {1, 1}));
    return classify->forward(x.mean({2, 3}));
  }

  std::shared_ptr<ConvNorm> enter;
  torch::nn::Sequential layers;
  torch::nn::Linear classify = nullptr;
};

const Registered shufflenet(of_images(entry("shufflenet_v2_x1_0", Suite::torchbench, "cnn", {128, 64}, 2'278'604),
                                      [](bool small) {
                                        using Counts = std::vector<std::int64_t>;
                                        if (small)
                                          return std::make_shared<ShuffleNet>(Counts{2, 2}, Counts{8, 16, 32, 64}, 10);
                                        return std::make_shared<ShuffleNet>(Counts{4, 8, 4},
                                                                            Counts{24, 116, 232, 464, 1024}, 1000);
                                      }));

}  // namespace
}  // namespace pace::benches::zoo
