// Must be reported: the outputs are right, and the first weight's gradient is twice too large.
#include <algorithm>

#include <ATen/ATen.h>

#include "benches/rnn/runners.hpp"

namespace {

using namespace pace::benches::rnn;

ModelDef make(const Sizes& sizes) {
  const auto& all = runners();
  ModelDef model = std::ranges::find(all, "py", &Runner::name)->make(sizes);
  model.step.backward = [inner = model.step.backward, first = model.step.parameters[0]](const c10::IValue& prepared) {
    inner(prepared);
    first.grad().mul_(2);
  };
  return model;
}

const Registered wrong({.name = "wrong_gradient", .compared_with = "lstm", .max_layers = 1, .make = make});

}  // namespace
