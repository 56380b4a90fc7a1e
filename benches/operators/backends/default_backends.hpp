// The back ends that come with pace, and those that the program has registered.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "benches/aot/inductor_configs.hpp"
#include "benches/operators/backends/aot_inductor.hpp"
#include "benches/operators/backends/backend.hpp"
#include "benches/operators/backends/cuda_graph.hpp"
#include "benches/operators/backends/eager.hpp"
#include "benches/operators/backends/package_store.hpp"
#include "benches/operators/backends/refusing.hpp"
#include "benches/operators/backends/registered.hpp"
#include "benches/operators/backends/static_runtime.hpp"
#include "benches/operators/backends/torchscript.hpp"

namespace pace::benches::operators {

struct BackendOptions {
  benches::aot::PackageOptions packages{};
  /// Each one a back end `aot_inductor[NAME]` more (see find_inductor_config).
  std::vector<std::string> inductor_configs = {};
};

inline BackendRegistry BackendRegistry::with_defaults(const BackendOptions& options) {
  BackendRegistry registry;
  Backend& eager = registry.add(std::make_unique<EagerBackend>());
  Backend& torchscript = registry.add(std::make_unique<TorchScriptBackend>());
  registry.add(std::make_unique<StaticRuntimeBackend>());
  Backend& aot_inductor = registry.add(std::make_unique<AotInductorBackend>(options.packages));
  for (const auto& name : options.inductor_configs) {
    const benches::aot::InductorConfig config = benches::aot::find_inductor_config(name);
    if (!config.missing.empty()) {
      registry.add(std::make_unique<RefusingBackend>(benches::aot::backend_of(name), config.missing));
      continue;
    }
    benches::aot::PackageOptions packages = options.packages;
    for (const auto& [option, value] : config.options) packages.inductor[option] = value;
    registry.add(std::make_unique<AotInductorBackend>(std::move(packages), benches::aot::backend_of(name)));
  }
  registry.add(std::make_unique<CudaGraphBackend>("cuda_graph", eager));
  registry.add(std::make_unique<CudaGraphBackend>("torchscript_cuda_graph", torchscript));
  registry.add(std::make_unique<CudaGraphBackend>("aot_inductor_cuda_graph", aot_inductor));
  add_registered(registry);
  return registry;
}

}  // namespace pace::benches::operators
