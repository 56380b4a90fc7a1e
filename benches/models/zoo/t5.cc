// T5-small (Raffel et al., JMLR 2020), as transformers has it: encoder and decoder, positions as a bias of attention.
#include <cmath>
#include <limits>

#include <ATen/TensorOperators.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/log.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/where.h>
#include <torch/nn/modules/container/modulelist.h>

#include "benches/models/zoo/entry.hpp"
#include "benches/models/zoo/transformer.hpp"

namespace pace::benches::zoo {
namespace {

struct Sizes {
  std::int64_t features, head_width, heads, wide, layers;
};

constexpr double dropped = 0.1;

torch::nn::Linear linear(std::int64_t in, std::int64_t out, double deviation) {
  torch::nn::Linear layer(torch::nn::LinearOptions(in, out).bias(false));
  torch::nn::init::normal_(layer->weight, 0, deviation);
  return layer;
}

double one_over_root(std::int64_t features) { return 1 / std::sqrt(static_cast<double>(features)); }

/// Divides by the root of the mean square; a weight, no bias.
struct ScaleNorm : torch::nn::Module {
  explicit ScaleNorm(std::int64_t features) : weight(register_parameter("weight", at::ones({features}))) {}
  [[nodiscard]] at::Tensor forward(const at::Tensor& x) {
    return weight * (x * at::rsqrt(at::mean(x.pow(2), {-1}, true) + 1e-6));
  }
  at::Tensor weight;
};

torch::nn::Linear of_features(const Sizes& sizes) {
  return linear(sizes.features, sizes.head_width * sizes.heads, one_over_root(sizes.features));
}

/// Products are not scaled: the weights of the queries are.
struct Attention : torch::nn::Module {
  explicit Attention(const Sizes& sizes)
      : heads(sizes.heads),
        query(register_module("query", linear(sizes.features, sizes.head_width * sizes.heads,
                                              one_over_root(sizes.features * sizes.head_width)))),
        key(register_module("key", of_features(sizes))),
        value(register_module("value", of_features(sizes))),
        merge(register_module("merge", linear(sizes.head_width * sizes.heads, sizes.features,
                                              one_over_root(sizes.head_width * sizes.heads)))) {}

  [[nodiscard]] at::Tensor forward(const at::Tensor& from, const at::Tensor& to, const at::Tensor& bias) {
    const AttentionOptions options{.heads = heads, .dropout = is_training() ? dropped : 0, .bias = bias, .scale = 1};
    return merge->forward(attend(query->forward(from), key->forward(to), value->forward(to), options));
  }

  std::int64_t heads;
  torch::nn::Linear query, key, value, merge;
};

/// For each pair of positions in a text a number per head, by how far they are apart: exactly when near, by the
/// logarithm up to 128, alike beyond. A decoder looks back only, and its bias forbids looking ahead.
struct PositionBias : torch::nn::Module {
  PositionBias(std::int64_t features, std::int64_t heads, bool causal) : causal(causal), table(32, heads) {
    register_module("table", table);
    torch::nn::init::normal_(table->weight, 0, one_over_root(features));
  }

  /// [1, heads, length, length].
  [[nodiscard]] at::Tensor forward(const at::Tensor& tokens) {
    const at::Tensor place = positions(tokens);
    const at::Tensor ahead = place - place.transpose(0, 1);
    const std::int64_t buckets = causal ? 32 : 16, exact = buckets / 2;
    const at::Tensor distance = causal ? ahead.neg().clamp_min(0) : ahead.abs();
    const double per_log = static_cast<double>(buckets - exact) / std::log(128. / static_cast<double>(exact));
    // Values for distances below `exact` are not used.
    const at::Tensor grown = at::log(distance.to(at::kFloat) / static_cast<double>(exact)) * per_log;
    const at::Tensor far = (grown.clamp_min(0).to(at::kLong) + exact).clamp_max(buckets - 1);
    at::Tensor bucket = at::where(distance < exact, distance, far);
    if (!causal) bucket = bucket + (ahead > 0).to(at::kLong) * buckets;
    const at::Tensor bias = table->forward(bucket).permute({2, 0, 1}).unsqueeze(0);
    return causal ? bias.masked_fill(ahead > 0, -std::numeric_limits<float>::infinity()) : bias;
  }

  bool causal;
  torch::nn::Embedding table;
};

struct Layer : torch::nn::Module {
  Layer(const Sizes& sizes, bool decodes)
      : itself(register_module("itself", std::make_shared<Attention>(sizes))),
        norm1(register_module("norm1", std::make_shared<ScaleNorm>(sizes.features))) {
    if (decodes) {
      other = register_module("other", std::make_shared<Attention>(sizes));
      norm2 = register_module("norm2", std::make_shared<ScaleNorm>(sizes.features));
    }
    widen = register_module("widen", linear(sizes.features, sizes.wide, one_over_root(sizes.features)));
    narrow = register_module("narrow", linear(sizes.wide, sizes.features, one_over_root(sizes.wide)));
    norm3 = register_module("norm3", std::make_shared<ScaleNorm>(sizes.features));
  }

  /// `encoded` is for a decoder.
  [[nodiscard]] at::Tensor forward(at::Tensor x, const at::Tensor& bias, const at::Tensor& encoded) {
    const at::Tensor own = norm1->forward(x);
    x = x + at::dropout(itself->forward(own, own, bias), dropped, is_training());
    if (other) x = x + at::dropout(other->forward(norm2->forward(x), encoded, {}), dropped, is_training());
    const at::Tensor wide = at::dropout(at::relu(widen->forward(norm3->forward(x))), dropped, is_training());
    return x + at::dropout(narrow->forward(wide), dropped, is_training());
  }

  std::shared_ptr<Attention> itself, other;
  std::shared_ptr<ScaleNorm> norm1, norm2, norm3;
  torch::nn::Linear widen = nullptr, narrow = nullptr;
};

/// The encoder, or with `decodes` the decoder: of embedded tokens.
struct Half : torch::nn::Module {
  Half(const Sizes& sizes, bool decodes)
      : bias(register_module("bias", std::make_shared<PositionBias>(sizes.features, sizes.heads, decodes))) {
    register_module("layers", layers);
    for (std::int64_t i = 0; i < sizes.layers; ++i) layers->push_back(std::make_shared<Layer>(sizes, decodes));
    norm = register_module("norm", std::make_shared<ScaleNorm>(sizes.features));
  }

  [[nodiscard]] at::Tensor forward(const at::Tensor& tokens, const at::Tensor& embedded, const at::Tensor& encoded) {
    const at::Tensor by_position = bias->forward(tokens);
    at::Tensor x = at::dropout(embedded, dropped, is_training());
    for (const auto& layer : *layers) x = layer->as<Layer>()->forward(x, by_position, encoded);
    return at::dropout(norm->forward(x), dropped, is_training());
  }

  std::shared_ptr<PositionBias> bias;
  torch::nn::ModuleList layers;
  std::shared_ptr<ScaleNorm> norm;
};

/// Two texts and labels of [batch, length]: the text to read, the answer so far, and the tokens to write.
struct T5 : torch::nn::Module {
  T5(std::int64_t vocabulary, const Sizes& sizes)
      : words(register_module("words", torch::nn::Embedding(vocabulary, sizes.features))),
        encoder(register_module("encoder", std::make_shared<Half>(sizes, false))),
        decoder(register_module("decoder", std::make_shared<Half>(sizes, true))),
        scale(one_over_root(sizes.features)) {}

  [[nodiscard]] std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& tokens, const at::Tensor& written,
                                                           const at::Tensor& labels) {
    const at::Tensor encoded = encoder->forward(tokens, words->forward(tokens), {});
    const at::Tensor x = decoder->forward(written, words->forward(written), encoded);
    return with_loss(at::linear(x * scale, words->weight), labels);
  }

  torch::nn::Embedding words;
  std::shared_ptr<Half> encoder, decoder;
  double scale;
};

const Registered t5(of_texts<2>(entry("T5Small", Suite::huggingface, "transformer", {4, 4}, 60'506'624,
                                      Training::draws),
                                [](bool small, const TextSizes& text) {
                                  return std::make_shared<T5>(
                                      text.vocabulary, small ? Sizes{32, 16, 2, 64, 2} : Sizes{512, 64, 8, 2048, 6});
                                },
                                {32128, 1024}, {200, 24}));

}  // namespace
}  // namespace pace::benches::zoo
