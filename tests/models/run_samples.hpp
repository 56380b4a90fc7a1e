// Small models for tests of how models are run, and a place for their packages.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <ATen/core/Dict.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/rnn.h>

#include <ATen/ops/dropout.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/zeros_like.h>

#include "benches/models/model.hpp"
#include "pace/os/folders.hpp"

namespace pace::test {

namespace models = pace::benches::models;

/// A cache of packages of the test's own.
struct PackageCache {
  std::filesystem::path path = pace::detail::make_folder_in(std::filesystem::temp_directory_path());
  std::set<std::string> known = {};
  PackageCache() { ::setenv("PACE_PACKAGE_CACHE", path.c_str(), 1); }
  PackageCache(const PackageCache&) = delete;
  PackageCache& operator=(const PackageCache&) = delete;
  ~PackageCache() {
    ::unsetenv("PACE_PACKAGE_CACHE");
    pace::detail::remove_tree(path);
  }
  /// The packages that are there since the last call.
  std::vector<std::filesystem::path> news() {
    std::vector<std::filesystem::path> found;
    for (const auto& each : std::filesystem::directory_iterator(path))
      if (each.path().extension() == ".pt2" && known.insert(each.path().string()).second) found.push_back(each.path());
    return found;
  }
};

/// A convolution, batch norm, dropout and a linear layer: it has buffers and draws random numbers when it trains.
struct SmallNet : torch::nn::Module {
  explicit SmallNet(double drop) : dropout(drop) {
    register_module("conv", conv);
    register_module("norm", norm);
    register_module("dropout", dropout);
    register_module("head", head);
  }
  at::Tensor forward(const at::Tensor& x) {
    const auto y = at::relu(norm->forward(conv->forward(x)));
    return head->forward(dropout->forward(y.mean({2, 3})));
  }
  torch::nn::Conv2d conv{torch::nn::Conv2dOptions(3, 8, 3).padding(1)};
  torch::nn::BatchNorm2d norm{8};
  torch::nn::Dropout dropout;
  torch::nn::Linear head{8, 4};
};

inline models::ModelEntry small_net(double dropout = 0.5, std::string name = "small_net") {
  return {.name = std::move(name),
          .suite = models::Suite::torchbench,
          .family = "cnn",
          .training_batch = 4,
          .inference_batch = 2,
          .make = [dropout](const models::ModelRequest& request) {
            return models::make_model(std::make_shared<SmallNet>(dropout), at::randn({request.batch_size, 3, 8, 8}));
          }};
}

/// Two linear layers, with an input of integers beside the one that is multiplied, a buffer of integers, and a loss.
struct Mlp : torch::nn::Module {
  Mlp() {
    register_module("first", first);
    register_module("second", second);
    steps = register_buffer("steps", at::randint(0, 9, {3}, at::kLong));
  }
  std::pair<at::Tensor, at::Tensor> forward(const at::Tensor& x, const at::Tensor& index) {
    const auto hidden = at::relu(first->forward(x));
    return {second->forward(hidden).index_select(0, index), hidden};
  }
  torch::nn::Linear first{6, 16}, second{16, 3};
  at::Tensor steps;
};

inline models::ModelEntry mlp(std::string name = "mlp") {
  return {.name = std::move(name),
          .suite = models::Suite::huggingface,
          .family = "mlp",
          .training_batch = 4,
          .inference_batch = 4,
          .make = [](const models::ModelRequest& request) {
            auto model = models::make_model(std::make_shared<Mlp>(), at::randn({request.batch_size, 6}),
                                            at::randint(0, request.batch_size, {request.batch_size}, at::kLong));
            model.loss = [](const c10::IValue& output) {
              return output.toTupleRef().elements()[0].toTensor().square().mean();
            };
            return model;
          }};
}

/// A linear layer of inputs of every structure: a tensor, a list of a mask and a tensor, a tuple, and a dict.
struct Structured : torch::nn::Module {
  using Pair = std::tuple<at::Tensor, at::Tensor>;
  using Named = c10::Dict<std::string, at::Tensor>;
  Structured() { register_module("linear", linear); }
  Named forward(const at::Tensor& x, const std::vector<at::Tensor>& list, const Pair& pair, const Named& named) {
    const at::Tensor y = linear->forward(x + list.at(0) * list.at(1)) * std::get<0>(pair) + std::get<1>(pair);
    Named answer;
    answer.insert("scores", y * named.at("scale"));
    answer.insert("hidden", y + named.at("shift"));
    return answer;
  }
  torch::nn::Linear linear{6, 6};
};

inline models::ModelEntry structured(std::string name = "structured") {
  return {.name = std::move(name),
          .suite = models::Suite::huggingface,
          .family = "mlp",
          .training_batch = 4,
          .inference_batch = 4,
          .make = [](const models::ModelRequest& request) {
            const auto draw = [&] { return at::randn({request.batch_size, 6}); };
            Structured::Named named;
            named.insert("scale", draw());
            named.insert("shift", at::randn({6}));
            return models::make_model(std::make_shared<Structured>(), draw(), std::vector<at::Tensor>{draw(), draw()},
                                      Structured::Pair{draw(), draw()}, named);
          }};
}

/// Three weights; `forward` computes with an input [batch, 3] and with them.
struct Weights : torch::nn::Module {
  Weights() { weight = register_parameter("weight", at::full({3}, 2.0)); }
  at::Tensor weight;
};

template <class Forward>
models::ModelEntry of_weights(Forward forward) {
  return {.name = "weights",
          .suite = models::Suite::torchbench,
          .family = "other",
          .training_batch = 4,
          .inference_batch = 4,
          .make = [forward](const models::ModelRequest& request) {
            const auto module = std::make_shared<Weights>();
            models::Model model{.module = module, .inputs = {at::randn({request.batch_size, 3})}, .forward = {}};
            model.forward = [module, forward](const torch::jit::Stack& inputs) -> c10::IValue {
              return forward(inputs[0].toTensor(), module->weight);
            };
            return model;
          }};
}

/// Two LSTM layers with dropout between them and after them, on inputs whose batch comes first.
struct Reader : torch::nn::Module {
  Reader() {
    register_module("lstm", lstm);
    register_module("head", head);
  }
  at::Tensor forward(const at::Tensor& x) {
    const at::Tensor state = at::zeros_like(x.select(1, 0)).unsqueeze(0).repeat({2, 1, 1});
    const at::Tensor read = std::get<0>(lstm->forward(x, std::make_tuple(state, state)));
    return head->forward(at::dropout(read, 0.5, is_training()));
  }
  torch::nn::LSTM lstm{torch::nn::LSTMOptions(8, 8).num_layers(2).dropout(0.5).batch_first(true)};
  torch::nn::Linear head{8, 3};
};

inline models::ModelEntry reader() {
  return {.name = "reader",
          .suite = models::Suite::huggingface,
          .family = "rnn",
          .training_batch = 4,
          .inference_batch = 4,
          .make = [](const models::ModelRequest& request) {
            return models::make_model(std::make_shared<Reader>(), at::randn({request.batch_size, 5, 8}));
          }};
}

}  // namespace pace::test
