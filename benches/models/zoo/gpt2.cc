// GPT-2 small (Radford et al., 2019), as transformers has it.
#include <cmath>

#include <ATen/ops/linear.h>
#include <torch/nn/modules/container/modulelist.h>

#include "benches/models/zoo/entry.hpp"
#include "benches/models/zoo/transformer.hpp"

namespace pace::benches::zoo {
namespace {

constexpr double dropped = 0.1, eps = 1e-5;

struct DecoderLayer : torch::nn::Module {
  DecoderLayer(std::int64_t features, std::int64_t heads)
      : heads(heads),
        norm1(register_module("norm1", layer_norm(features, eps))),
        project(register_module("project", torch::nn::Linear(features, 3 * features))),
        merge(register_module("merge", torch::nn::Linear(features, features))),
        norm2(register_module("norm2", layer_norm(features, eps))),
        feed(register_module("feed", std::make_shared<FeedForward>(features, 4 * features))) {
    feed->approximate = "tanh";
  }

  [[nodiscard]] at::Tensor forward(const at::Tensor& x) {
    const std::vector<at::Tensor> parts = project->forward(norm1->forward(x)).chunk(3, -1);
    const AttentionOptions options{.heads = heads, .dropout = is_training() ? dropped : 0, .causal = true};
    const at::Tensor attended = merge->forward(attend(parts[0], parts[1], parts[2], options));
    const at::Tensor between = x + at::dropout(attended, dropped, is_training());
    return between + at::dropout(feed->forward(norm2->forward(between)), dropped, is_training());
  }

  std::int64_t heads;
  torch::nn::LayerNorm norm1;
  torch::nn::Linear project, merge;
  torch::nn::LayerNorm norm2;
  std::shared_ptr<FeedForward> feed;
};

/// Tokens and labels of [batch, length]; the scores of a token predict the next one. The scores are products with the
/// tokens' embeddings.
struct Gpt2 : torch::nn::Module {
  Gpt2(std::int64_t vocabulary, std::int64_t length, std::int64_t depth, std::int64_t features, std::int64_t heads)
      : words(register_module("words", torch::nn::Embedding(vocabulary, features))),
        places(register_module("places", torch::nn::Embedding(length, features))) {
    register_module("layers", layers);
    for (std::int64_t i = 0; i < depth; ++i) layers->push_back(std::make_shared<DecoderLayer>(features, heads));
    norm = register_module("norm", layer_norm(features, eps));
    normal_weights(*this, 0.02);
    // So that the sum over all layers does not grow with their number.
    for (const auto& layer : *layers)
      for (const torch::nn::Linear& last : {layer->as<DecoderLayer>()->merge, layer->as<DecoderLayer>()->feed->narrow})
        torch::nn::init::normal_(last->weight, 0, 0.02 / std::sqrt(2. * static_cast<double>(depth)));
  }

  [[nodiscard]] std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& tokens, const at::Tensor& labels) {
    at::Tensor x = words->forward(tokens) + places->forward(positions(tokens));
    x = at::dropout(x, dropped, is_training());
    for (const auto& layer : *layers) x = layer->as<DecoderLayer>()->forward(x);
    const at::Tensor scores = at::linear(norm->forward(x), words->weight);
    const std::int64_t followed = tokens.size(1) - 1;
    return {std::get<0>(with_loss(scores.narrow(1, 0, followed), labels.narrow(1, 1, followed))), scores};
  }

  torch::nn::Embedding words, places;
  torch::nn::ModuleList layers;
  torch::nn::LayerNorm norm = nullptr;
};

// torchbench trains on texts of 512.
const Registered gpt2(of_texts(entry("hf_GPT2", Suite::torchbench, "transformer", {4, 4}, 124'439'808, Training::draws),
                               [](bool small, const TextSizes& text) {
                                 return small ? std::make_shared<Gpt2>(text.vocabulary, text.length, 2, 32, 2)
                                              : std::make_shared<Gpt2>(text.vocabulary, 1024, 12, 768, 12);
                               },
                               {50257, 512}, {200, 32}));

}  // namespace
}  // namespace pace::benches::zoo
