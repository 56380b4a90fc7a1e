// Building blocks of transformers: attention by heads, a feed-forward pair, the loss of a language model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <torch/nn/init.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

namespace pace::benches::zoo {

struct AttentionOptions {
  std::int64_t heads;
  /// Share of the weights that is dropped.
  double dropout = 0;
  bool causal = false;
  /// Added to the products; [1 or batch, heads, queries, keys]. Undefined: nothing is.
  at::Tensor bias = {};
  /// Factor of the products; none: 1 over the root of a head's width.
  std::optional<double> scale = {};
};

/// [batch, length, heads * width] to [batch, heads, length, width].
[[nodiscard]] inline at::Tensor split_heads(const at::Tensor& x, std::int64_t heads) {
  return x.unflatten(-1, {heads, -1}).transpose(1, 2);
}

/// Attention of queries [batch, queries, features] to keys and values [batch, keys, features]; formed as queries.
[[nodiscard]] inline at::Tensor attend(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                                       const AttentionOptions& options) {
  std::optional<at::Tensor> bias;
  if (options.bias.defined()) bias = options.bias;
  return at::scaled_dot_product_attention(split_heads(query, options.heads), split_heads(key, options.heads),
                                          split_heads(value, options.heads), bias, options.dropout, options.causal,
                                          options.scale)
      .transpose(1, 2)
      .flatten(2);
}

[[nodiscard]] inline torch::nn::LayerNorm layer_norm(std::int64_t features, double eps) {
  return torch::nn::LayerNorm(torch::nn::LayerNormOptions({features}).eps(eps));
}

/// A wide layer, its activation by erf, and back.
struct FeedForward : torch::nn::Module {
  FeedForward(std::int64_t features, std::int64_t wide)
      : widen(register_module("widen", torch::nn::Linear(features, wide))),
        narrow(register_module("narrow", torch::nn::Linear(wide, features))) {}

  [[nodiscard]] at::Tensor forward(const at::Tensor& x) {
    return narrow->forward(at::gelu(widen->forward(x), approximate));
  }

  /// `none` is by erf, `tanh` is GPT-2's.
  std::string approximate = "none";
  torch::nn::Linear widen, narrow;
};

/// [1, length]: 0, 1, ... for the tokens of a text; the same for every text.
[[nodiscard]] inline at::Tensor positions(const at::Tensor& tokens) {
  return at::arange(tokens.size(1), tokens.options()).unsqueeze(0);
}

/// The mean over all tokens, and the scores [batch, length, vocabulary] themselves.
[[nodiscard]] inline std::tuple<at::Tensor, at::Tensor> with_loss(const at::Tensor& scores, const at::Tensor& labels) {
  return {at::cross_entropy_loss(scores.flatten(0, 1), labels.flatten()), scores};
}

/// Linear layers and embeddings normal, without bias.
inline void normal_weights(torch::nn::Module& network, double deviation) {
  for (const auto& module : network.modules(false)) {
    if (auto* linear = module->as<torch::nn::Linear>()) {
      torch::nn::init::normal_(linear->weight, 0, deviation);
      if (linear->bias.defined()) torch::nn::init::zeros_(linear->bias);
    } else if (auto* embedding = module->as<torch::nn::Embedding>()) {
      torch::nn::init::normal_(embedding->weight, 0, deviation);
    }
  }
}

}  // namespace pace::benches::zoo
