// The models that we ship operator inputs of: small enough that an operator takes tens of microseconds to a few
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
      register_module("classify", torch::nn::Linear(channels*(side / 4) * (side / 4), classes));
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

/// A U-shaped network that classifies every pixel: 8 images of 3x64x64 into 8 classes. Convolutions of many kinds, and
/// ways to a smaller image and back.
struct ImageSegmentationImpl : torch::nn::Module {
  static constexpr int batch = 8, channels = 16, side = 64, classes = 8;

  torch::Tensor forward(const torch::Tensor& x) {
    const auto full = torch::hardswish(enter(x));
    auto half = torch::max_pool2d(full, /*kernel_size=*/3, /*stride=*/2, /*padding=*/1);
    half = torch::silu(norm(depthwise(torch::reflection_pad2d(half, {1, 1, 1, 1}))));
    half = torch::leaky_relu(widen(half));
    const auto scene = torch::adaptive_avg_pool2d(half, {4, 4});
    half = half * torch::sigmoid(torch::upsample_bilinear2d(scene, {side / 2, side / 2}, /*align_corners=*/false));
    half = torch::cat({torch::clamp(half, -6, 6), patches(full)}, 1);
    return classify(torch::cat({full, torch::elu(enlarge(half)), torch::upsample_nearest2d(scene, {side, side})}, 1));
  }
  /// A strided convolution by hand: patches as columns, one matrix product.
  torch::Tensor patches(const torch::Tensor& x) {
    const auto columns = torch::im2col(x, {2, 2}, /*dilation=*/{1, 1}, /*padding=*/{0, 0}, /*stride=*/{2, 2});
    return torch::softplus(torch::matmul(patch, columns)).view({batch, channels, side / 2, side / 2});
  }
  torch::Tensor loss() {
    const auto labels = torch::randint(classes, {batch, side, side});
    const auto scores = forward(torch::randn({batch, 3, side, side}));
    const auto shares = torch::softmax(scores, 1).mean(at::IntArrayRef{2, 3});
    return torch::cross_entropy_loss(scores, labels) + torch::smooth_l1_loss(shares, torch::rand({batch, classes})) +
           torch::binary_cross_entropy_with_logits(scores.amax({2, 3}), torch::rand({batch, classes}));
  }

  static torch::nn::Conv2dOptions options(int from, int to, int kernel) { return {from, to, kernel}; }
  torch::nn::Conv2d enter = register_module("enter", torch::nn::Conv2d(options(3, channels, 3).padding(1)));
  torch::nn::Conv2d depthwise =
      register_module("depthwise", torch::nn::Conv2d(options(channels, channels, 3).groups(channels).bias(false)));
  torch::nn::Conv2d widen = register_module("widen", torch::nn::Conv2d(options(channels, 2 * channels, 1)));
  torch::nn::ConvTranspose2d enlarge = register_module(
      "enlarge", torch::nn::ConvTranspose2d(torch::nn::ConvTranspose2dOptions(3 * channels, channels, 2).stride(2)));
  torch::nn::Conv2d classify =
      register_module("classify", torch::nn::Conv2d(options(4 * channels, classes, 3).padding(2).dilation(2)));
  torch::nn::GroupNorm norm = register_module("norm", torch::nn::GroupNorm(/*num_groups=*/4, channels));
  torch::Tensor patch = register_parameter("patch", torch::randn({channels, 4 * channels}));
};

/// Reads words, and classifies sentences: 16 of 64 words out of 4000, padded at their ends. Tables, gathers and
/// scatters, and attention as LibTorch has it built in.
struct SentenceClassifierImpl : torch::nn::Module {
  static constexpr int batch = 16, words = 64, width = 64, heads = 4, known = 4000, classes = 500, marked = 128;

  torch::Tensor forward(const torch::Tensor& sentences, const torch::Tensor& lengths) {
    const auto place = torch::arange(words);
    auto x = table(sentences) + places.index_select(0, place);
    const auto padding = place.ge(lengths.unsqueeze(1));
    const auto parts = project(x).view({batch, words, 3, heads, width / heads}).permute({2, 0, 3, 1, 4}).unbind(0);
    const auto near = torch::scaled_dot_product_attention(parts[0], parts[1], parts[2], {}, 0.0, /*is_causal=*/true);
    // A learnt bias, which the fused kernel does not take.
    const auto far = torch::scaled_dot_product_attention(parts[0], parts[1], parts[2], distance.triu());
    x = (near + far).transpose(1, 2).reshape({batch, words, width});
    // A sentence is its last word, its strongest features, and the words that its learnt question picks.
    const auto last = x.gather(1, (lengths - 1).view({batch, 1, 1}).expand({batch, 1, width})).squeeze(1);
    const auto strongest = std::get<0>(x.masked_fill(padding.unsqueeze(-1), -10.0).max(1));
    const auto picks = torch::softmax(torch::mv(x.view({-1, width}), question).view({batch, words}), -1);
    const auto picked = torch::baddbmm(last.unsqueeze(1), picks.unsqueeze(1), x).squeeze(1);
    const auto strong = std::get<0>(torch::topk(strongest.mul(picked), width / 2));
    const auto marks = x.index({torch::randint(batch, {marked}), torch::randint(words, {marked})}).sum(0);
    return head(torch::cat({torch::where(strongest.gt(0), strongest, last), strong.cumsum(1), picked + marks}, 1));
  }
  torch::Tensor loss() {
    const auto lengths = torch::randint(1, words + 1, {batch});
    const auto labels = torch::randint(classes, {batch});
    const auto scores = forward(torch::randint(known, {batch, words}), lengths);
    const auto smooth = torch::full({batch, classes}, 0.1 / classes).scatter(1, labels.unsqueeze(1), 0.9);
    const auto chances = torch::log_softmax(scores, 1);
    return torch::nll_loss(chances, labels) - (smooth * chances).sum(1).mean() +
           0.01 * torch::logsumexp(scores, 1).square().mean() + 0.01 * head->weight.norm();
  }

  torch::nn::Embedding table = register_module("table", torch::nn::Embedding(known, width));
  torch::nn::Linear project = register_module("project", torch::nn::Linear(width, 3 * width));
  torch::nn::Linear head = register_module("head", torch::nn::Linear(width * 5 / 2, classes));
  torch::Tensor places = register_parameter("places", torch::randn({words, width}));
  torch::Tensor distance = register_parameter("distance", torch::randn({heads, words, words}));
  torch::Tensor question = register_parameter("question", torch::randn({width}));
};

TORCH_MODULE(ResidualBlock);
TORCH_MODULE(TransformerBlock);
TORCH_MODULE(Lstm);
TORCH_MODULE(ImageSegmentation);
TORCH_MODULE(SentenceClassifier);

}  // namespace corpus_models
