// Models of planned runners: plain, compiled, or captured.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "benches/files/aot/definition_store.hpp"
#include "benches/files/aot/traced_model.hpp"
#include "benches/rnn/model_def.hpp"
#include "benches/rnn/plan.hpp"
#include "benches/rnn/runners.hpp"
#include "pace/base/error.hpp"
#include "pace/training/graphed_step.hpp"

namespace pace::benches::rnn {

/// The sources that compiled runners are compiled from, all of them in one process, and the place of their packages.
class ModelMaker {
 public:
  /// `inference`: the forwards alone, without gradients.
  ModelMaker(Sizes sizes, bool inference, benches::aot::PackageOptions packages)
      : sizes_(std::move(sizes)), inference_(inference), store_(std::move(packages)) {}

  /// Traces and compiles the models that will be asked for. One that cannot be compiled says so when it is.
  void prepare(const std::vector<Planned>& all) {
    std::vector<benches::aot::PackageRequest> requests;
    for (const Planned& planned : all) {
      if (!planned.compiled || compiled_.contains(planned.runner->name)) continue;
      auto& entry = compiled_[planned.runner->name];
      try {
        entry.model = std::make_unique<aot::TracedModel>(
            planned.runner->name, plain(*planned.runner),
            gradient_of(sizes_.seed ? OutputGradient(*sizes_.seed) : OutputGradient()));
        requests.push_back(entry.model->request());
      } catch (const Unsupported& refusal) {
        entry.refusal = refusal.what();
      }
    }
    if (!requests.empty()) store_.prepare_all(requests);
  }

  /// Throws Unsupported with the reason if there is none.
  [[nodiscard]] ModelDef make(const Planned& planned) {
    ModelDef model = planned.compiled ? compiled(planned) : plain(*planned.runner);
    if (planned.graphed) model.step = graphed_step(sizes_.device, std::move(model.step));
    return model;
  }

  /// The plain model with all that it computes with in float64, for operands of that type.
  [[nodiscard]] ModelDef make_in_float64(const Runner& runner) const {
    ModelDef model = plain(runner);
    const auto convert = [](const std::vector<at::Tensor>& tensors) {
      // Inside the tensors, which modules hold, too.
      for (at::Tensor tensor : tensors)
        if (tensor.is_floating_point()) tensor.set_data(tensor.to(at::kDouble));
    };
    convert(model.step.parameters);
    convert(model.buffers);
    return model;
  }

 private:
  struct Entry {
    std::unique_ptr<aot::TracedModel> model;
    std::string refusal;
  };

  [[nodiscard]] ModelDef plain(const Runner& runner) const {
    ModelDef model = runner.make(sizes_);
    if (inference_) {
      model.step.backward = {};
      model.step.backward_setup = {};
      model.step.gradients = [] { return std::vector<at::Tensor>(); };
    }
    return model;
  }

  [[nodiscard]] ModelDef compiled(const Planned& planned) {
    prepare({planned});
    const Entry& entry = compiled_.at(planned.runner->name);
    if (!entry.model) throw Unsupported(entry.refusal);
    return entry.model->open_package(store_, /*with_copies=*/true).model;
  }

  Sizes sizes_;
  bool inference_;
  benches::aot::DefinitionStore store_;
  std::map<std::string, Entry> compiled_;
};

}  // namespace pace::benches::rnn
