// Many definitions compiled at once: before they are opened one by one, or into a directory that is a build output.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "benches/files/aot/definition.hpp"
#include "benches/files/aot/definition_store.hpp"
#include "benches/files/aot/traced.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::aot {

/// The definitions to compile. Holds none of their tensors.
class DefinitionSet {
 public:
  /// One that cannot be traced is left out: tracing it to open its package throws an error that says why.
  void add(const Definition& definition, std::span<const PackageKind> kinds) {
    try {
      wanted_.push_back({trace(definition), {kinds.begin(), kinds.end()}});
    } catch (const Unsupported&) {
    }
  }

  /// Valid until the next `add`.
  [[nodiscard]] std::vector<PackageRequest> requests() const {
    std::vector<PackageRequest> requests;
    for (const Wanted& wanted : wanted_)
      for (const PackageKind kind : wanted.kinds) requests.push_back({&wanted.traced, kind});
    return requests;
  }

 private:
  struct Wanted {
    Traced traced;
    std::vector<PackageKind> kinds;
  };
  std::vector<Wanted> wanted_;
};

/// Compiles the packages that the store lacks, in one process. Reports nothing: a package that failed says so when it
/// is opened.
inline void prepare_all(DefinitionStore& store, std::span<const Definition> definitions,
                        std::span<const PackageKind> kinds) {
  DefinitionSet set;
  for (const Definition& definition : definitions) set.add(definition, kinds);
  const auto requests = set.requests();
  store.prepare_all(requests);
}

/// Compiles all into `directory`, one of `PackageOptions::directories` from then on, for a program that runs on as many
/// threads as this one now (`at::get_num_threads`; of no matter for a GPU). Throws `Unsupported` when there is no
/// Python to compile with.
inline void compile_definitions(std::span<const Definition> definitions, std::span<const PackageKind> kinds,
                                const std::filesystem::path& directory,
                                const DefinitionStore& store = DefinitionStore()) {
  DefinitionSet set;
  for (const Definition& definition : definitions) set.add(definition, kinds);
  const auto requests = set.requests();
  store.export_and_compile(requests, directory);
}

}  // namespace pace::benches::aot
