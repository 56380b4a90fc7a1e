// A model of one's own: a small network of convolutions.
#include <memory>

#include <torch/torch.h>

#include "benches/models/model.hpp"

namespace {

using namespace pace::benches::models;

struct MyNet : torch::nn::Module {
  explicit MyNet(std::int64_t width)
      : convolve(register_module("convolve", torch::nn::Conv2d(torch::nn::Conv2dOptions(3, width, 3).padding(1)))),
        classify(register_module("classify", torch::nn::Linear(width, 10))) {}

  /// Images of [batch, 3, height, width] to scores of [batch, 10].
  at::Tensor forward(const at::Tensor& images) {
    return classify->forward(torch::relu(convolve->forward(images)).mean({2, 3}));
  }

  torch::nn::Conv2d convolve;
  torch::nn::Linear classify;
};

const Registered mine({.name = "my_net",
                       .family = "cnn",
                       .training_batch = 8,
                       .inference_batch = 8,
                       .make = [](const ModelRequest& request) {
                         const bool small = request.size == ModelSize::small;
                         const std::int64_t side = small ? 32 : 224;
                         return make_model(std::make_shared<MyNet>(small ? 8 : 64),
                                           torch::randn({request.batch_size, 3, side, side}));
                       }});

}  // namespace
