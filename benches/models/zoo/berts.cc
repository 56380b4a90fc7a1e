// Encoders that guess masked tokens: BERT-base (Devlin et al., NAACL 2019) and DistilBERT (Sanh et al., 2019), as
// transformers' ...ForMaskedLM are by default, uncased.
#include <ATen/ops/linear.h>
#include <ATen/ops/zeros_like.h>
#include <torch/nn/modules/container/modulelist.h>

#include "benches/models/zoo/entry.hpp"
#include "benches/models/zoo/transformer.hpp"

namespace pace::benches::zoo {
namespace {

constexpr double dropped = 0.1, eps = 1e-12;

struct Sizes {
  std::int64_t vocabulary, length, layers, features, heads;
};

struct EncoderLayer : torch::nn::Module {
  /// Only BERT drops from the output of attention.
  EncoderLayer(const Sizes& sizes, bool drop_attended)
      : heads(sizes.heads),
        drop_attended(drop_attended),
        query(register_module("query", torch::nn::Linear(sizes.features, sizes.features))),
        key(register_module("key", torch::nn::Linear(sizes.features, sizes.features))),
        value(register_module("value", torch::nn::Linear(sizes.features, sizes.features))),
        merge(register_module("merge", torch::nn::Linear(sizes.features, sizes.features))),
        norm1(register_module("norm1", layer_norm(sizes.features, eps))),
        feed(register_module("feed", std::make_shared<FeedForward>(sizes.features, 4 * sizes.features))),
        norm2(register_module("norm2", layer_norm(sizes.features, eps))) {}

  [[nodiscard]] at::Tensor forward(const at::Tensor& x) {
    const AttentionOptions options{.heads = heads, .dropout = is_training() ? dropped : 0};
    at::Tensor attended = merge->forward(attend(query->forward(x), key->forward(x), value->forward(x), options));
    if (drop_attended) attended = at::dropout(attended, dropped, is_training());
    const at::Tensor between = norm1->forward(attended + x);
    return norm2->forward(at::dropout(feed->forward(between), dropped, is_training()) + between);
  }

  std::int64_t heads;
  bool drop_attended;
  torch::nn::Linear query, key, value, merge;
  torch::nn::LayerNorm norm1;
  std::shared_ptr<FeedForward> feed;
  torch::nn::LayerNorm norm2;
};

/// Tokens and labels of [batch, length]. The scores are products with the tokens' embeddings, plus a bias.
struct MaskedLanguageModel : torch::nn::Module {
  MaskedLanguageModel(const Sizes& sizes, bool bert)
      : words(register_module("words", torch::nn::Embedding(sizes.vocabulary, sizes.features))),
        places(register_module("places", torch::nn::Embedding(sizes.length, sizes.features))) {
    // One for the first and one for the second of two texts; DistilBERT has none.
    if (bert) kinds = register_module("kinds", torch::nn::Embedding(2, sizes.features));
    norm = register_module("norm", layer_norm(sizes.features, eps));
    register_module("layers", layers);
    for (std::int64_t i = 0; i < sizes.layers; ++i) layers->push_back(std::make_shared<EncoderLayer>(sizes, bert));
    transform = register_module("transform", torch::nn::Linear(sizes.features, sizes.features));
    transform_norm = register_module("transform_norm", layer_norm(sizes.features, eps));
    bias = register_parameter("bias", at::zeros({sizes.vocabulary}));
    normal_weights(*this, 0.02);
  }

  [[nodiscard]] std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& tokens, const at::Tensor& labels) {
    at::Tensor x = words->forward(tokens);
    if (kinds) x = x + kinds->forward(at::zeros_like(tokens));
    x = at::dropout(norm->forward(x + places->forward(positions(tokens))), dropped, is_training());
    for (const auto& layer : *layers) x = layer->as<EncoderLayer>()->forward(x);
    x = transform_norm->forward(at::gelu(transform->forward(x)));
    return with_loss(at::linear(x, words->weight, bias), labels);
  }

  torch::nn::Embedding words, places, kinds = nullptr;
  torch::nn::LayerNorm norm = nullptr;
  torch::nn::ModuleList layers;
  torch::nn::Linear transform = nullptr;
  torch::nn::LayerNorm transform_norm = nullptr;
  at::Tensor bias;
};

/// A small one has 2 layers of 2 heads.
auto masked(std::int64_t layers, bool bert) {
  return [=](bool small, const TextSizes& text) {
    // Positions are known up to 512, for a text of any length.
    return std::make_shared<MaskedLanguageModel>(
        small ? Sizes{text.vocabulary, text.length, 2, 32, 2} : Sizes{text.vocabulary, 512, layers, 768, 12}, bert);
  };
}

const Registered bert(of_texts(entry("BertForMaskedLM", Suite::huggingface, "transformer", {16, 16}, 109'514'298,
                                     Training::draws),
                               masked(12, true), {30522, 512}, {200, 32}));

const Registered distilbert(of_texts(entry("DistilBertForMaskedLM", Suite::huggingface, "transformer", {128, 128},
                                           66'985'530, Training::draws),
                                     masked(6, false), {30522, 128}, {200, 32}));

}  // namespace
}  // namespace pace::benches::zoo
