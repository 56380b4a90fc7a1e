// Must be reported: every call gives other outputs, although the model is not in training mode.
#include <memory>

#include <torch/torch.h>

#include "benches/models/model.hpp"

namespace {

using namespace pace::benches::models;

struct Unsteady : torch::nn::Module {
  Unsteady() : linear(register_module("linear", torch::nn::Linear(4, 4))) {}

  at::Tensor forward(const at::Tensor& x) { return linear->forward(x) + static_cast<double>(++calls); }

  torch::nn::Linear linear;
  /// All instances share it, since each run makes one.
  static inline int calls = 0;
};

const Registered unsteady({.name = "unsteady", .family = "mlp", .make = [](const ModelRequest& request) {
                             return make_model(std::make_shared<Unsteady>(), torch::randn({request.batch_size, 4}));
                           }});

}  // namespace
