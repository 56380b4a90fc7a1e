// The back ends that come with pace.
#pragma once

#include <memory>

#include "pace/subject/aot_inductor.hpp"
#include "pace/subject/backend.hpp"
#include "pace/subject/cuda_graph.hpp"
#include "pace/subject/eager.hpp"
#include "pace/subject/package_store.hpp"
#include "pace/subject/torchscript.hpp"

namespace pace::subject {

struct BackendOptions {
  PackageOptions packages{};
};

inline BackendRegistry BackendRegistry::with_defaults(const BackendOptions& options) {
  BackendRegistry registry;
  Backend& eager = registry.add(std::make_unique<EagerBackend>());
  Backend& torchscript = registry.add(std::make_unique<TorchScriptBackend>());
  Backend& aot_inductor = registry.add(std::make_unique<AotInductorBackend>(options.packages));
  registry.add(std::make_unique<CudaGraphBackend>("cuda_graph", eager));
  registry.add(std::make_unique<CudaGraphBackend>("torchscript_cuda_graph", torchscript));
  registry.add(std::make_unique<CudaGraphBackend>("aot_inductor_cuda_graph", aot_inductor));
  return registry;
}

}  // namespace pace::subject
