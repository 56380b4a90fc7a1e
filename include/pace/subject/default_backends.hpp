// The back ends that come with pace, and those that the program has registered.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pace/subject/aot_inductor.hpp"
#include "pace/subject/backend.hpp"
#include "pace/subject/cuda_graph.hpp"
#include "pace/subject/eager.hpp"
#include "pace/subject/inductor_configs.hpp"
#include "pace/subject/package_store.hpp"
#include "pace/subject/refusing.hpp"
#include "pace/subject/registered.hpp"
#include "pace/subject/static_runtime.hpp"
#include "pace/subject/torchscript.hpp"

namespace pace::subject {

struct BackendOptions {
  PackageOptions packages{};
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
    const InductorConfig config = find_inductor_config(name);
    if (!config.missing.empty()) {
      registry.add(std::make_unique<RefusingBackend>(backend_of(name), config.missing));
      continue;
    }
    PackageOptions packages = options.packages;
    for (const auto& [option, value] : config.options) packages.inductor[option] = value;
    registry.add(std::make_unique<AotInductorBackend>(std::move(packages), backend_of(name)));
  }
  registry.add(std::make_unique<CudaGraphBackend>("cuda_graph", eager));
  registry.add(std::make_unique<CudaGraphBackend>("torchscript_cuda_graph", torchscript));
  registry.add(std::make_unique<CudaGraphBackend>("aot_inductor_cuda_graph", aot_inductor));
  add_registered(registry);
  return registry;
}

}  // namespace pace::subject
