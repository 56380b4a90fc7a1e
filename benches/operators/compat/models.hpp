// A compatible flow's models, and the columns that they get.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "benches/files/aot/inductor_configs.hpp"
#include "benches/operators/backends/backend.hpp"
#include "benches/operators/compat/options.hpp"

namespace pace::benches::operators::compat {

/// One way to run the operator. The first is eager, the reference for all others.
struct Model {
  benches::operators::Backend* backend = nullptr;
  /// In output: `inductor`, the name of a configuration, `nvfuser`; eager's is never asked for.
  std::string name;
  /// The Inductor configuration as Python prints it; empty where Inductor does not compile.
  std::string config;
};

/// The models of a generation on a device. Throws InputError if a back end is not registered. `err` is told of the
/// stand-in for nvFuser.
[[nodiscard]] inline std::vector<Model> models(const CompatOptions& options, Generation generation,
                                               const benches::operators::BackendRegistry& registry, std::ostream& err) {
  const bool gpu = on_gpu(options), graphs = gpu && generation == Generation::old;
  std::vector<Model> models;
  models.push_back({&registry.find(graphs ? "cuda_graph" : "eager"), "eager", ""});
  models.push_back({&registry.find(graphs ? "aot_inductor_cuda_graph" : "aot_inductor"), "inductor", "{}"});
  for (const auto& name : options.inductor_configs)
    models.push_back(
        {&registry.find(benches::aot::backend_of(name)), name, benches::aot::find_inductor_config(name).text});
  if (options.measure_nvfuser) {
    auto& fuser = registry.find(gpu ? "torchscript_cuda_graph" : "torchscript");
    models.push_back({&fuser, "nvfuser", ""});
    err << "--measure-nvfuser: this LibTorch has no nvFuser; " << fuser.name() << " is measured in its place"
        << std::endl;
  }
  return models;
}

/// Names of all models but the first.
[[nodiscard]] inline std::vector<std::string> column_names(const std::vector<Model>& models) {
  std::vector<std::string> names;
  for (std::size_t i = 1; i < models.size(); ++i) names.push_back(models[i].name);
  return names;
}

}  // namespace pace::benches::operators::compat
