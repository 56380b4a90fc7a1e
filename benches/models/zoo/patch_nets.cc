// Networks that see an image as patches of 16 by 16: ViT-B/16 (Dosovitskiy et al., ICLR 2021) and MLP-Mixer-B/16
// (Tolstikhin et al., NeurIPS 2021), as timm has them.
#include <ATen/ops/cat.h>
#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/conv.h>

#include "benches/models/zoo/entry.hpp"
#include "benches/models/zoo/transformer.hpp"

namespace pace::benches::zoo {
namespace {

constexpr double eps = 1e-6;
constexpr std::int64_t patch = 16;

struct Sizes {
  std::int64_t image, features, layers, heads, classes;
};
constexpr Sizes base{224, 768, 12, 12, 1000}, tiny{64, 32, 2, 2, 10};

[[nodiscard]] std::int64_t patches(const Sizes& sizes) { return (sizes.image / patch) * (sizes.image / patch); }

[[nodiscard]] torch::nn::Conv2d patch_embedding(const Sizes& sizes) {
  return torch::nn::Conv2d(torch::nn::Conv2dOptions(3, sizes.features, patch).stride(patch));
}

/// [batch, features, rows, columns] to [batch, patches, features].
[[nodiscard]] at::Tensor tokens_of(const at::Tensor& embedded) { return embedded.flatten(2).transpose(1, 2); }

struct VitBlock : torch::nn::Module {
  explicit VitBlock(const Sizes& sizes)
      : heads(sizes.heads),
        norm1(register_module("norm1", layer_norm(sizes.features, eps))),
        project(register_module("project", torch::nn::Linear(sizes.features, 3 * sizes.features))),
        merge(register_module("merge", torch::nn::Linear(sizes.features, sizes.features))),
        norm2(register_module("norm2", layer_norm(sizes.features, eps))),
        feed(register_module("feed", std::make_shared<FeedForward>(sizes.features, 4 * sizes.features))) {}

  [[nodiscard]] at::Tensor forward(const at::Tensor& x) {
    const std::vector<at::Tensor> parts = project->forward(norm1->forward(x)).chunk(3, -1);
    const at::Tensor between = x + merge->forward(attend(parts[0], parts[1], parts[2], {.heads = heads}));
    return between + feed->forward(norm2->forward(between));
  }

  std::int64_t heads;
  torch::nn::LayerNorm norm1;
  torch::nn::Linear project, merge;
  torch::nn::LayerNorm norm2;
  std::shared_ptr<FeedForward> feed;
};

struct Vit : torch::nn::Module {
  explicit Vit(const Sizes& sizes)
      : whole(register_parameter("whole", 1e-6 * at::randn({1, 1, sizes.features}))),
        places(register_parameter("places", 0.02 * at::randn({1, patches(sizes) + 1, sizes.features}))),
        embed(register_module("embed", patch_embedding(sizes))) {
    register_module("blocks", blocks);
    for (std::int64_t i = 0; i < sizes.layers; ++i) blocks->push_back(std::make_shared<VitBlock>(sizes));
    norm = register_module("norm", layer_norm(sizes.features, eps));
    classify = register_module("classify", torch::nn::Linear(sizes.features, sizes.classes));
    normal_weights(*this, 0.02);
  }

  [[nodiscard]] at::Tensor forward(const at::Tensor& images) {
    const at::Tensor tokens = tokens_of(embed->forward(images));
    // The token of the whole image is the same in each; as a tensor says, for a trace keeps numbers as they are.
    at::Tensor x = at::cat({whole.expand_as(tokens.narrow(1, 0, 1)), tokens}, 1) + places;
    for (const auto& block : *blocks) x = block->as<VitBlock>()->forward(x);
    return classify->forward(norm->forward(x).select(1, 0));
  }

  at::Tensor whole, places;
  torch::nn::Conv2d embed;
  torch::nn::ModuleList blocks;
  torch::nn::LayerNorm norm = nullptr;
  torch::nn::Linear classify = nullptr;
};

/// Mixes patches, then channels.
struct MixerBlock : torch::nn::Module {
  explicit MixerBlock(const Sizes& sizes)
      : norm1(register_module("norm1", layer_norm(sizes.features, eps))),
        by_patch(register_module("by_patch", std::make_shared<FeedForward>(patches(sizes), sizes.features / 2))),
        norm2(register_module("norm2", layer_norm(sizes.features, eps))),
        by_channel(register_module("by_channel", std::make_shared<FeedForward>(sizes.features, 4 * sizes.features))) {}

  [[nodiscard]] at::Tensor forward(const at::Tensor& x) {
    const at::Tensor between = x + by_patch->forward(norm1->forward(x).transpose(1, 2)).transpose(1, 2);
    return between + by_channel->forward(norm2->forward(between));
  }

  torch::nn::LayerNorm norm1;
  std::shared_ptr<FeedForward> by_patch;
  torch::nn::LayerNorm norm2;
  std::shared_ptr<FeedForward> by_channel;
};

struct Mixer : torch::nn::Module {
  explicit Mixer(const Sizes& sizes) : embed(register_module("embed", patch_embedding(sizes))) {
    register_module("blocks", blocks);
    for (std::int64_t i = 0; i < sizes.layers; ++i) blocks->push_back(std::make_shared<MixerBlock>(sizes));
    norm = register_module("norm", layer_norm(sizes.features, eps));
    classify = register_module("classify", torch::nn::Linear(sizes.features, sizes.classes));
    // The original's classifier begins at zero, which would leave every other gradient zero.
    for (const auto& module : modules(false)) {
      auto* linear = module->as<torch::nn::Linear>();
      if (linear == nullptr) continue;
      torch::nn::init::xavier_uniform_(linear->weight);
      torch::nn::init::normal_(linear->bias, 0, 1e-6);
    }
  }

  [[nodiscard]] at::Tensor forward(const at::Tensor& images) {
    at::Tensor x = tokens_of(embed->forward(images));
    for (const auto& block : *blocks) x = block->as<MixerBlock>()->forward(x);
    return classify->forward(norm->forward(x).mean(1));
  }

  torch::nn::Conv2d embed;
  torch::nn::ModuleList blocks;
  torch::nn::LayerNorm norm = nullptr;
  torch::nn::Linear classify = nullptr;
};

const Registered vit(of_images(entry("vit_base_patch16_224", Suite::timm, "transformer", {64, 64}, 86'567'656),
                               [](bool small) { return std::make_shared<Vit>(small ? tiny : base); }));

const Registered mixer(of_images(entry("mixer_b16_224", Suite::timm, "mlp", {128, 128}, 59'880'472),
                                 [](bool small) { return std::make_shared<Mixer>(small ? tiny : base); }));

}  // namespace
}  // namespace pace::benches::zoo
