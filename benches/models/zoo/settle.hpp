// Batch norms that a network can be used with in eval mode, though it has not been trained.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <torch/nn/modules/batchnorm.h>

namespace pace::benches::zoo {

/// Sets the running averages of batch norms by a batch of images, as if the network had been trained. With its initial
/// averages, values may end as next to nothing after dozens of layers in eval mode. Drops no block meanwhile, as in
/// eval mode. One dropped block would leave averages too small, and the error grows from layer to layer, to scores of
/// thousands in EfficientNet. A network without any is left alone, and `images()` not called.
template <class Network, class Images>
void settle(Network& network, Images images) {
  const at::NoGradGuard no_gradients;
  std::vector<std::pair<torch::nn::BatchNorm2dImpl*, std::optional<double>>> norms;
  for (const auto& module : network.modules(false))
    if (auto* norm = module->template as<torch::nn::BatchNorm2d>()) norms.emplace_back(norm, norm->options.momentum());
  if (norms.empty()) return;
  network.eval();
  for (const auto& [norm, momentum] : norms) {
    norm->options.momentum(1);
    norm->train();
  }
  (void)network.forward(images());
  network.train();
  for (const auto& [norm, momentum] : norms) {
    norm->options.momentum(momentum);
    norm->num_batches_tracked.zero_();
  }
}

}  // namespace pace::benches::zoo
