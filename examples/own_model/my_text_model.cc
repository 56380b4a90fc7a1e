// A model of one's own, of texts: one layer of attention, made of the parts of pace's zoo.
#include <memory>

#include <torch/torch.h>

#include "benches/models/zoo/entry.hpp"
#include "benches/models/zoo/transformer.hpp"

namespace {

namespace zoo = pace::benches::zoo;

/// Tokens and labels of [batch, length] to the loss and the scores of each token.
struct MyReader : torch::nn::Module {
  MyReader(std::int64_t vocabulary, std::int64_t features)
      : words(register_module("words", torch::nn::Embedding(vocabulary, features))),
        norm(register_module("norm", zoo::layer_norm(features, 1e-5))),
        feed(register_module("feed", std::make_shared<zoo::FeedForward>(features, 4 * features))),
        score(register_module("score", torch::nn::Linear(features, vocabulary))) {}

  std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& tokens, const at::Tensor& labels) {
    const at::Tensor x = norm->forward(words->forward(tokens));
    return zoo::with_loss(score->forward(x + feed->forward(zoo::attend(x, x, x, {.heads = 2, .causal = true}))),
                          labels);
  }

  torch::nn::Embedding words;
  torch::nn::LayerNorm norm;
  std::shared_ptr<zoo::FeedForward> feed;
  torch::nn::Linear score;
};

const zoo::Registered mine(zoo::of_texts(zoo::entry("my_reader", zoo::Suite::own, "transformer", {8, 8}, std::nullopt),
                                         [](bool small, const zoo::TextSizes& text) {
                                           return std::make_shared<MyReader>(text.vocabulary, small ? 16 : 256);
                                         },
                                         {.vocabulary = 8000, .length = 128}, {.vocabulary = 100, .length = 12}));

}  // namespace
