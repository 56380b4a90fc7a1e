// DLRM (Naumov et al., 2019) in torchbench's sizes: the probability of a click, from numbers and from lists.
#include <cmath>

#include <ATen/ops/bmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/embedding_bag.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tril_indices.h>
#include <torch/nn/init.h>
#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/linear.h>

#include "benches/models/zoo/entry.hpp"

namespace pace::benches::zoo {
namespace {

struct Sizes {
  std::int64_t tables, rows, features;
  /// From the first width to the last; the first of `top` follows from the others.
  std::vector<std::int64_t> bottom, top;
  /// How many rows of each table are summed.
  std::int64_t looked_up;
};

/// Linear layers with a relu behind each but the last.
struct Perceptron : torch::nn::Module {
  explicit Perceptron(const std::vector<std::int64_t>& widths) {
    register_module("layers", layers);
    for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
      const std::int64_t in = widths[i], out = widths[i + 1];
      torch::nn::Linear layer(in, out);
      torch::nn::init::normal_(layer->weight, 0, std::sqrt(2. / static_cast<double>(in + out)));
      torch::nn::init::normal_(layer->bias, 0, std::sqrt(1. / static_cast<double>(out)));
      layers->push_back(layer);
    }
  }

  [[nodiscard]] at::Tensor forward(at::Tensor x) {
    for (std::size_t i = 0; i < layers->size(); ++i) {
      x = layers[i]->as<torch::nn::Linear>()->forward(x);
      if (i + 1 < layers->size()) x = at::relu(x);
    }
    return x;
  }

  torch::nn::ModuleList layers;
};

[[nodiscard]] std::vector<std::int64_t> top_of(const Sizes& sizes) {
  std::vector<std::int64_t> widths = sizes.top;
  widths.insert(widths.begin(), sizes.features + sizes.tables * (sizes.tables + 1) / 2);
  return widths;
}

/// Numbers [batch, bottom's first width] and rows of the tables [batch, tables, looked_up] to [batch, 1]. Gradients of
/// the tables are dense, unlike torchbench's: compilers know no others. The last activation is the paper's sigmoid;
/// with torchbench's relu a network may begin, and so stay, at zero. Tables are parameters, not embedding modules:
/// those would draw their weights twice, and these are half a thousand million.
struct Dlrm : torch::nn::Module {
  explicit Dlrm(const Sizes& sizes) {
    const double bound = std::sqrt(1. / static_cast<double>(sizes.rows));
    for (std::int64_t i = 0; i < sizes.tables; ++i)
      tables.push_back(register_parameter("table" + std::to_string(i),
                                          at::empty({sizes.rows, sizes.features}).uniform_(-bound, bound)));
    bottom = register_module("bottom", std::make_shared<Perceptron>(sizes.bottom));
    top = register_module("top", std::make_shared<Perceptron>(top_of(sizes)));
  }

  [[nodiscard]] at::Tensor forward(const at::Tensor& numbers, const at::Tensor& rows) {
    std::vector<at::Tensor> features{at::relu(bottom->forward(numbers))};
    // Where each list begins; from a tensor, not from sizes: those would be constants of a trace.
    const at::Tensor one = at::ones_like(rows.select(2, 0).select(1, 0), {}, at::MemoryFormat::Contiguous);
    const at::Tensor begins = (at::cumsum(one, 0) - 1) * rows.size(2);
    for (std::size_t i = 0; i < tables.size(); ++i) {
      const at::Tensor lists = rows.select(1, static_cast<std::int64_t>(i)).flatten();
      features.push_back(std::get<0>(at::embedding_bag(tables[i], lists, begins)));
    }
    const at::Tensor all = at::stack(features, 1);
    const at::Tensor products = at::bmm(all, all.transpose(1, 2));
    // Each pair once, below the diagonal.
    const auto sides = static_cast<std::int64_t>(features.size());
    const at::Tensor pairs = at::tril_indices(sides, sides, -1, rows.options());
    const at::Tensor pair = products.flatten(1).index_select(1, pairs[0] * sides + pairs[1]);
    return at::sigmoid(top->forward(at::cat({features[0], pair}, 1)));
  }

  std::vector<at::Tensor> tables;
  std::shared_ptr<Perceptron> bottom, top;
};

const Registered dlrm([] {
  ModelEntry known = entry("dlrm", Suite::torchbench, "recommendation", {1024, 2048}, 514'499'137);
  known.make = [](const ModelRequest& request) {
    const Sizes sizes = request.size == ModelSize::small
                            ? Sizes{4, 500, 16, {32, 32, 16}, {32, 16, 1}, 10}
                            : Sizes{8, 1'000'000, 64, {512, 512, 64}, {1024, 1024, 1024, 1}, 100};
    auto network = std::make_shared<Dlrm>(sizes);
    const at::Tensor numbers = at::rand({request.batch_size, sizes.bottom.front()});
    const at::Tensor rows = at::randint(sizes.rows, {request.batch_size, sizes.tables, sizes.looked_up}, at::kLong);
    return benches::models::make_model(std::move(network), numbers, rows);
  };
  return known;
}());

}  // namespace
}  // namespace pace::benches::zoo
