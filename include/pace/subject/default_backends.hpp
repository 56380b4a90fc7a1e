// The back ends that come with pace.
#pragma once

#include <memory>

#include "pace/subject/aot_inductor.hpp"
#include "pace/subject/backend.hpp"
#include "pace/subject/eager.hpp"
#include "pace/subject/package_store.hpp"
#include "pace/subject/torchscript.hpp"

namespace pace::subject {

struct BackendOptions {
  PackageOptions packages{};
};

inline BackendRegistry BackendRegistry::with_defaults(const BackendOptions& options) {
  BackendRegistry registry;
  registry.add(std::make_unique<EagerBackend>());
  registry.add(std::make_unique<TorchScriptBackend>());
  registry.add(std::make_unique<AotInductorBackend>(options.packages));
  return registry;
}

}  // namespace pace::subject
