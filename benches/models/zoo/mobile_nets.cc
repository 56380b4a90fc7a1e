// Networks for telephones: MobileNetV2 (Sandler et al., CVPR 2018), MobileNetV3-Large (Howard et al., ICCV 2019),
// MNASNet 1.0 (Tan et al., CVPR 2019) and EfficientNet-B0 (Tan and Le, ICML 2019). All are as torchvision has them.
#include <cmath>

#include "benches/models/zoo/entry.hpp"
#include "benches/models/zoo/inverted_residual.hpp"

namespace pace::benches::zoo {
namespace {

using enum Activation;

/// Blocks of one width: the first has the stride. `expansion` is how many times wider they are inside.
struct Stage {
  std::int64_t expansion, out, repeats, stride, side = 3;
};

/// As MobileNetV2, MNASNet and EfficientNet lay out their blocks.
std::vector<InvertedOptions> blocks_of(const std::vector<Stage>& stages, Activation activation, bool squeeze) {
  std::vector<InvertedOptions> blocks;
  std::int64_t in = 32;
  for (const Stage& stage : stages) {
    for (std::int64_t i = 0; i < stage.repeats; ++i) {
      blocks.push_back({.in = in,
                        .wide = in * stage.expansion,
                        .out = stage.out,
                        .side = stage.side,
                        .stride = i == 0 ? stage.stride : 1,
                        .activation = activation,
                        .squeezed = squeeze ? in / 4 : 0});
      in = stage.out;
    }
  }
  return blocks;
}

/// Draws the weights of the linear layers, by the network's own rule.
template <class Draw>
auto making(const InvertedNetOptions& options, Draw draw) {
  return [=](bool small) {
    auto network = std::make_shared<InvertedNet>(small ? shrunk(options) : options);
    draw(*network);
    return network;
  };
}

const auto normal_classifier = [](InvertedNet& network) { normal_linears(network, 0.01); };

const Registered mobilenet_v2(of_images(entry("mobilenet_v2", Suite::torchbench, "cnn", {96, 16}, 3'504'872,
                                              Training::draws),
                                        making({.blocks = blocks_of({{1, 16, 1, 1},
                                                                     {6, 24, 2, 2},
                                                                     {6, 32, 3, 2},
                                                                     {6, 64, 4, 2},
                                                                     {6, 96, 3, 1},
                                                                     {6, 160, 3, 2},
                                                                     {6, 320, 1, 1}},
                                                                    relu6, false)},
                                               normal_classifier)));

/// In eights, and not a tenth fewer.
std::int64_t quarter_in_eights(std::int64_t channels) {
  const std::int64_t quarter = channels / 4, rounded = std::max<std::int64_t>(8, (quarter + 4) / 8 * 8);
  return 10 * rounded < 9 * quarter ? rounded + 8 : rounded;
}

std::vector<InvertedOptions> v3_blocks() {
  struct Line {
    std::int64_t side, wide, out;
    bool squeeze;
    Activation activation;
    std::int64_t stride;
  };
  std::vector<InvertedOptions> blocks;
  std::int64_t in = 16;
  for (const Line& line : std::vector<Line>{{3, 16, 16, false, relu, 1},
                                            {3, 64, 24, false, relu, 2},
                                            {3, 72, 24, false, relu, 1},
                                            {5, 72, 40, true, relu, 2},
                                            {5, 120, 40, true, relu, 1},
                                            {5, 120, 40, true, relu, 1},
                                            {3, 240, 80, false, hardswish, 2},
                                            {3, 200, 80, false, hardswish, 1},
                                            {3, 184, 80, false, hardswish, 1},
                                            {3, 184, 80, false, hardswish, 1},
                                            {3, 480, 112, true, hardswish, 1},
                                            {3, 672, 112, true, hardswish, 1},
                                            {5, 672, 160, true, hardswish, 2},
                                            {5, 960, 160, true, hardswish, 1},
                                            {5, 960, 160, true, hardswish, 1}}) {
    blocks.push_back({.in = in,
                      .wide = line.wide,
                      .out = line.out,
                      .side = line.side,
                      .stride = line.stride,
                      .activation = line.activation,
                      .squeezed = line.squeeze ? quarter_in_eights(line.wide) : 0});
    in = line.out;
  }
  return blocks;
}

const Registered mobilenet_v3(of_images(entry("mobilenet_v3_large", Suite::torchbench, "cnn", {32, 32}, 5'483'032,
                                              Training::draws),
                                        making({.blocks = v3_blocks(),
                                                .style = {.norm = {.eps = 1e-3, .momentum = 0.01}},
                                                .first = hardswish,
                                                .last = hardswish,
                                                .features = 960,
                                                .hidden = 1280},
                                               normal_classifier)));

const Registered mnasnet(of_images(entry("mnasnet1_0", Suite::torchbench, "cnn", {32, 16}, 4'383'312, Training::draws),
                                   // Running averages that move by 3 in 10,000.
                                   making({.blocks = blocks_of({{1, 16, 1, 1},
                                                                {3, 24, 3, 2},
                                                                {3, 40, 3, 2, 5},
                                                                {6, 80, 3, 2, 5},
                                                                {6, 96, 2, 1},
                                                                {6, 192, 4, 2, 5},
                                                                {6, 320, 1, 1}},
                                                               relu, false),
                                           .style = {.norm = {.momentum = 3e-4}},
                                           .first = relu,
                                           .last = relu},
                                          [](InvertedNet& network) {
                                            torch::nn::init::kaiming_uniform_(network.classify->weight, 0,
                                                                              torch::kFanOut, torch::kSigmoid);
                                            torch::nn::init::zeros_(network.classify->bias);
                                          })));

const Registered efficientnet(of_images(
    entry("efficientnet_b0", Suite::own, "cnn", {32, 64}, 5'288'548, Training::draws),
    making({.blocks = blocks_of({{1, 16, 1, 1},
                                 {6, 24, 2, 2},
                                 {6, 40, 2, 2, 5},
                                 {6, 80, 3, 2},
                                 {6, 112, 3, 1, 5},
                                 {6, 192, 4, 2, 5},
                                 {6, 320, 1, 1}},
                                silu, true),
            .style = {.squeeze_inner = silu, .squeeze_gate = sigmoid, .stochastic_depth = 0.2},
            .first = silu,
            .last = silu},
           [](InvertedNet& network) {
             const double bound = 1 / std::sqrt(static_cast<double>(network.classify->options.out_features()));
             torch::nn::init::uniform_(network.classify->weight, -bound, bound);
             torch::nn::init::zeros_(network.classify->bias);
           })));

}  // namespace
}  // namespace pace::benches::zoo
