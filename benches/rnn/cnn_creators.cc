#include <memory>
#include <utility>
#include <vector>

#include <torch/csrc/jit/frontend/tracer.h>

#include "benches/models/zoo/resnet.hpp"
#include "benches/rnn/creators.hpp"
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

}  // namespace

ModelDef imagenet_cnn(Architecture architecture, const Sizes& sizes, bool trace, const Images& images) {
  if (images.batch < 1 || images.side < 1)
    throw InputError({}, "images: expected a batch and a side of at least 1, found " + std::to_string(images.batch) +
                             " and " + std::to_string(images.side));
  const SeededScope scope(sizes.seed);
  ModelDef model;
  model.inputs = {at::randn({images.batch, 3, images.side, images.side}, at::kFloat).to(sizes.device)};
  const std::shared_ptr<ResNet> net = architecture == Architecture::resnet18 ? zoo::resnet18() : zoo::resnet50();
  net->to(sizes.device);
  model.step.parameters = net->parameters();
  model.buffers = net->buffers();
  if (trace) {
    model.step.forward = [script = traced(net, model.inputs[0])](Stack& inputs) { return script({inputs[0]}); };
  } else {
    model.step.forward = [net](Stack& inputs) { return net->forward(inputs[0].toTensor()); };
  }
  add_backward(model.step, sizes.seed, [](const c10::IValue& output) { return output.toTensor(); });
  return model;
}

}  // namespace pace::benches::rnn
