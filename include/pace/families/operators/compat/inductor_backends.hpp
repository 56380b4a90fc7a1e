// Back ends `aot_inductor[CONFIG]`: AOTInductor with one of the named configurations.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "pace/families/operators/compat/inductor_configs.hpp"
#include "pace/subject/aot_inductor.hpp"
#include "pace/subject/backend.hpp"
#include "pace/subject/package_options.hpp"

namespace pace::families::operators::compat {

/// Adds those of the named configurations that the registry lacks; what each sets comes on top of `packages.inductor`.
/// Throws InputError for an unknown name.
inline void add_inductor_backends(subject::BackendRegistry& registry, const std::vector<std::string>& configs,
                                  const subject::PackageOptions& packages = {}) {
  for (const auto& name : configs) {
    const auto known = registry.names();
    if (std::ranges::find(known, backend_of(name)) != known.end()) continue;
    subject::PackageOptions own = packages;
    for (const auto& [option, value] : find_inductor_config(name).options) own.inductor[option] = value;
    registry.add(std::make_unique<subject::AotInductorBackend>(own, backend_of(name)));
  }
}

}  // namespace pace::families::operators::compat
