// The packages of many models, compiled side by side before anybody runs them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <list>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <ATen/Parallel.h>

#include "pace/core/error.hpp"
#include "pace/families/models/config.hpp"
#include "pace/families/models/model.hpp"
#include "pace/families/models/run/backend.hpp"
#include "pace/families/models/run/load.hpp"
#include "pace/families/models/run/outcome.hpp"
#include "pace/families/models/run/plan.hpp"
#include "pace/families/models/settings.hpp"
#include "pace/subject/definition_store.hpp"

namespace pace::families::models {

/// What `aot_inductor` rows of run_model with the same settings will open.
class PackageSet {
 public:
  /// Makes the model and traces it. What cannot be is told to `log`.
  void add(const ModelEntry& entry, const Settings& settings, const Config& config, std::ostream& log) {
    try {
      const RunPlan plan = plan_run(entry, settings, config);
      auto loaded = load_model(entry, plan.instance);
      if (!loaded.instance) throw Refused(loaded.message);
      auto source = detail::package_source(*loaded.instance, {&settings, make_scaler(plan, settings)});
      const auto kind = source.traced.model->request().kind;
      group_of(source.options).wanted.push_back({source.traced.model->traced(), kind});
    } catch (const InputError&) {
      throw;
    } catch (...) {
      fail(log, entry.name, current_failed().message);
    }
  }

  /// Into `directory`, one of `--packages` from then on; empty: to where they are looked for in any case. What cannot be
  /// compiled is told to `log`. Throws Refused where there is nothing to compile with.
  void compile(const std::filesystem::path& directory, std::ostream& log) {
    for (Group& group : groups_) {
      if (!directory.empty()) group.options.directories = {directory};
      subject::DefinitionStore store(group.options);
      std::vector<subject::PackageRequest> requests;
      for (const auto& [traced, kind] : group.wanted) requests.push_back({&traced, kind});
      if (directory.empty()) store.prepare_all(requests);
      else store.export_and_compile(requests, directory);
      for (const auto& [traced, kind] : group.wanted) {
        try {
          (void)store.find(traced, kind);
        } catch (const Refused& refusal) {
          fail(log, traced.name, refusal.what());
        }
      }
    }
  }
  /// Models that were added, and have no package.
  [[nodiscard]] std::size_t failed() const { return failed_; }

 private:
  /// Compiled by one process.
  struct Group {
    subject::PackageOptions options;
    std::vector<std::pair<subject::Traced, subject::PackageKind>> wanted;
  };

  [[nodiscard]] Group& group_of(const subject::PackageOptions& options) {
    for (Group& group : groups_)
      if (group.options.inductor == options.inductor) return group;
    return groups_.emplace_back(Group{options, {}});
  }

  void fail(std::ostream& log, const std::string& name, const std::string& why) {
    ++failed_;
    log << name << " is not compiled: " << why << '\n';
  }

  std::list<Group> groups_;
  std::size_t failed_ = 0;
};

}  // namespace pace::families::models
