// Residual networks on batches of images, whose size --miniBatch does not change, in training mode; as modules and as
// TorchScript traces.
#include <memory>
#include <utility>

#include <torch/csrc/jit/frontend/tracer.h>

#include "benches/models/zoo/resnet.hpp"
#include "benches/rnn/draw.hpp"
#include "benches/rnn/runners.hpp"
#include "benches/rnn/script.hpp"
#include "benches/rnn/steps.hpp"

namespace pace::benches::rnn {

namespace {

using zoo::ResNet;

/// A trace is as good as a script here: there is no loop, and no branch that depends on data. Parameters and buffers
/// are inputs of the graph, which cannot have constants that require gradients, and must not copy running averages.
Script traced(const std::shared_ptr<ResNet>& net, const c10::IValue& images) {
  Stack state;
  for (const at::Tensor& parameter : net->parameters()) state.emplace_back(parameter);
  for (const at::Tensor& buffer : net->buffers()) state.emplace_back(buffer);
  Stack inputs{images};
  inputs.insert(inputs.end(), state.begin(), state.end());
  const auto run = [&](Stack stack) { return Stack{net->forward(stack.front().toTensor())}; };
  const auto no_name = [](const at::Tensor&) { return std::string(); };
  const auto [tracing, outputs] = torch::jit::tracer::trace(std::move(inputs), run, no_name);
  return Script(tracing->graph, std::move(state));
}

/// Inputs [images]; of `sizes`, only images, device and seed play a part. `trace`: as a TorchScript trace.
ModelDef imagenet_cnn(std::shared_ptr<ResNet> (*make_net)(), const Sizes& sizes, bool trace) {
  if (sizes.images < 1 || sizes.image_side < 1)
    throw InputError({}, "images: expected a batch and a side of at least 1, found " + std::to_string(sizes.images) +
                             " and " + std::to_string(sizes.image_side));
  const SeededScope scope(sizes.seed);
  ModelDef model;
  model.inputs = {at::randn({sizes.images, 3, sizes.image_side, sizes.image_side}, at::kFloat).to(sizes.device)};
  const std::shared_ptr<ResNet> net = make_net();
  net->to(sizes.device);
  model.step.parameters = net->parameters();
  model.buffers = net->buffers();
  if (trace) {
    model.step.forward = [script = traced(net, model.inputs[0])](Stack& inputs) { return script({inputs[0]}); };
  } else {
    model.step.forward = [net](Stack& inputs) { return net->forward(inputs[0].toTensor()); };
  }
  add_backward(model.step, sizes, [](const c10::IValue& output) { return output.toTensor(); });
  return model;
}

Runner resnet(std::string name, std::string kind, std::shared_ptr<ResNet> (*make_net)(), bool trace) {
  return {.name = std::move(name),
          .group = "resnet",
          .compared_with = std::move(kind),
          .form = trace ? Form::scripted : Form::module,
          .leads = !trace,
          .needs_float64_reference = true,
          .make = [=](const Sizes& sizes) { return imagenet_cnn(make_net, sizes, trace); }};
}

const Registered resnet18(resnet("resnet18", "resnet18", [] { return zoo::resnet18(); }, false));
const Registered resnet18_jit(resnet("resnet18_jit", "resnet18", [] { return zoo::resnet18(); }, true));
const Registered resnet50(resnet("resnet50", "resnet50", [] { return zoo::resnet50(); }, false));
const Registered resnet50_jit(resnet("resnet50_jit", "resnet50", [] { return zoo::resnet50(); }, true));

}  // namespace

}  // namespace pace::benches::rnn
