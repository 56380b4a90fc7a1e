// The back ends that others are compared with or captured of, and those that source files register.
#pragma once

#include <memory>
#include <utility>

#include "benches/files/aot/inductor_configs.hpp"
#include "benches/operators/backends/aot_inductor.hpp"
#include "benches/operators/backends/backend.hpp"
#include "benches/operators/backends/cuda_graph.hpp"
#include "benches/operators/backends/eager.hpp"
#include "benches/operators/backends/package_store.hpp"
#include "benches/operators/backends/refusing.hpp"
#include "benches/operators/backends/registered.hpp"
#include "benches/operators/backends/torchscript.hpp"

namespace pace::benches::operators {

inline BackendRegistry BackendRegistry::with_defaults(const BackendOptions& options) {
  BackendRegistry registry;
  Backend& eager = registry.add(std::make_unique<EagerBackend>());
  Backend& torchscript = registry.add(std::make_unique<TorchScriptBackend>());
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
  add_registered(registry, options);
  return registry;
}

}  // namespace pace::benches::operators
