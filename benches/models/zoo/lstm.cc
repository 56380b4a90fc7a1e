// A language model of two LSTM layers (Zaremba et al., 2014), in the sizes of PyTorch's word_language_model example
// with the words of WikiText-2. Batch first, as this program recognises a batch by its first size.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros_like.h>
#include <torch/nn/modules/rnn.h>

#include "benches/models/zoo/entry.hpp"
#include "benches/models/zoo/transformer.hpp"

namespace pace::benches::zoo {
namespace {

constexpr double dropped = 0.2;
constexpr std::int64_t depth = 2;

/// Tokens and labels of [batch, length].
struct LstmLanguageModel : torch::nn::Module {
  LstmLanguageModel(std::int64_t vocabulary, std::int64_t features)
      : words(register_module("words", torch::nn::Embedding(vocabulary, features))),
        lstm(register_module(
            "lstm",
            torch::nn::LSTM(
                torch::nn::LSTMOptions(features, features).num_layers(depth).dropout(dropped).batch_first(true)))),
        score(register_module("score", torch::nn::Linear(features, vocabulary))) {
    torch::nn::init::uniform_(words->weight, -0.1, 0.1);
    torch::nn::init::uniform_(score->weight, -0.1, 0.1);
    torch::nn::init::zeros_(score->bias);
  }

  [[nodiscard]] std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& tokens, const at::Tensor& labels) {
    const at::Tensor embedded = at::dropout(words->forward(tokens), dropped, is_training());
    // From a tensor, not from sizes: those would be constants of a trace. A state is as wide as a word.
    const at::Tensor state =
        at::zeros_like(embedded.select(1, 0), {}, at::MemoryFormat::Contiguous).unsqueeze(0).repeat({depth, 1, 1});
    // cuDNN has no backward of a layer in eval mode. The only effect of that mode here is that nothing is dropped.
    lstm->train(is_training() || (embedded.is_cuda() && at::GradMode::is_enabled()));
    lstm->options.dropout(is_training() ? dropped : 0);
    const at::Tensor read = std::get<0>(lstm->forward(embedded, std::make_tuple(state, state)));
    return with_loss(score->forward(at::dropout(read, dropped, is_training())), labels);
  }

  torch::nn::Embedding words;
  torch::nn::LSTM lstm;
  torch::nn::Linear score;
};

const Registered lstm(of_texts(entry("word_language_model", Suite::own, "rnn", {20, 20}, 13'987'678, Training::draws),
                               [](bool small, const TextSizes& text) {
                                 return std::make_shared<LstmLanguageModel>(text.vocabulary, small ? 32 : 200);
                               },
                               {33278, 35}, {200, 12}));

}  // namespace
}  // namespace pace::benches::zoo
