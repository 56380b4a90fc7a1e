// The packages of many models, compiled side by side before anybody runs them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <list>
#include <ostream>
#include <string>
#include <vector>

#include <ATen/Parallel.h>

#include "benches/files/aot/definition_store.hpp"
#include "benches/models/backend_names.hpp"
#include "benches/models/config.hpp"
#include "benches/models/model.hpp"
#include "benches/models/row.hpp"
#include "benches/models/run/backend.hpp"
#include "benches/models/run/compiled_update.hpp"
#include "benches/models/run/load.hpp"
#include "benches/models/run/optimizer.hpp"
#include "benches/models/run/outcome.hpp"
#include "benches/models/run/performance_row.hpp"
#include "benches/models/run/plan.hpp"
#include "benches/models/settings.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::models {

/// The files that rows of run_model with the same settings will open: compiled packages and exported programs.
class PackageSet {
 public:
  /// Makes the model and traces it. `log` is told of a model that cannot be made or traced.
  void add(const ModelEntry& entry, const Settings& settings, const Config& config, std::ostream& log) {
    try {
      const RunPlan plan = plan_run(entry, settings, config);
      auto loaded = load_model(entry, plan.instance);
      if (!loaded.instance) throw Unsupported(loaded.message);
      if (loaded.instance->model.by_backend) {
        // For NativeRT, a program of torch.export needs only its file.
        if (any_has(settings.backends, &BackendTraits::has_package))
          others_.push_back({*loaded.instance, package_options(settings),
                             make_row(entry, settings, plan.instance.batch_size, "aot_inductor")});
        return;
      }
      const MakeOptions options{&settings, make_scaler(plan, settings)};
      // Rows have the name of the first back end that needs the package.
      const auto want = [&](const benches::aot::Traced& traced, const benches::aot::PackageOptions& package,
                            benches::aot::PackageKind kind, bool BackendTraits::* needs) -> Wanted& {
        const auto backend =
            std::ranges::find_if(settings.backends, [&](const std::string& name) { return any_has({name}, needs); });
        return group_of(package).wanted.emplace_back(
            Wanted{traced, kind, make_row(entry, settings, plan.instance.batch_size, *backend)});
      };
      if (any_has(settings.backends, &BackendTraits::has_package)) {
        const auto source = detail::package_source(*loaded.instance, options);
        want(source.traced.model->traced(), source.options, source.traced.model->request().kind,
             &BackendTraits::has_package);
        const auto optimizer = optimizer_options(*loaded.instance, config, settings, rate_of(settings));
        if (settings.compile_optimizer && optimizer && compiles_update(*optimizer)) {
          want(TracedUpdate(*loaded.instance, *optimizer).traced(), package_options(settings),
               benches::aot::PackageKind::inference, &BackendTraits::has_package)
              .is_optimizer = true;
        }
      }
      if (any_has(settings.backends, &BackendTraits::has_program)) {
        const auto source = detail::program_source(*loaded.instance, options);
        want(source.traced.model->traced(), source.options, benches::aot::PackageKind::exported,
             &BackendTraits::has_program);
      }
    } catch (const InputError&) {
      throw;
    } catch (...) {
      fail(log, entry.name, current_failed().message);
    }
  }

  /// Into `directory`, one of `--packages` from then on; empty: to where they are looked for in any case. `log` is told
  /// of packages that cannot be compiled; for each package that was compiled now `take` gets a row with its cost.
  /// Throws Unsupported where there is nothing to compile with.
  void compile(const std::filesystem::path& directory, const std::function<void(const Row&)>& take, std::ostream& log) {
    for (Other& other : others_) compile(other, directory, take, log);
    for (Group& group : groups_) {
      if (!directory.empty()) group.options.directories = {directory};
      benches::aot::DefinitionStore store(group.options);
      std::vector<benches::aot::PackageRequest> requests;
      for (const Wanted& wanted : group.wanted) requests.push_back({&wanted.traced, wanted.kind});
      if (directory.empty())
        store.prepare_all(requests);
      else
        store.export_and_compile(requests, directory);
      for (Wanted& wanted : group.wanted) {
        const auto& [traced, kind, row, is_optimizer] = wanted;
        try {
          (void)store.find(traced, kind);
          const auto times =
              directory.empty() ? store.compile_times(traced, kind) : store.recorded_times(traced, kind, directory);
          if (!times) continue;
          const benches::aot::CompileTimes of_optimizer{.whole = times->whole, .optimizer = times->whole};
          wanted.row.compilation = phases_of(is_optimizer ? of_optimizer : *times);
          take(row);
        } catch (const Unsupported& refusal) {
          fail(log, traced.name, refusal.what());
        }
      }
    }
  }
  /// Models that were added, and have no package.
  [[nodiscard]] std::size_t failed() const { return failed_; }

 private:
  struct Wanted {
    benches::aot::Traced traced;
    benches::aot::PackageKind kind;
    /// Names the model, the device, and the first back end that needs the package.
    Row row;
    bool is_optimizer = false;
  };

  /// Compiled by one process.
  struct Group {
    benches::aot::PackageOptions options;
    std::vector<Wanted> wanted;
  };

  /// A model that cannot be traced. `aot_inductor` is the one back end that compiles it.
  struct Other {
    Instance instance;
    benches::aot::PackageOptions options;
    Row row;
  };

  void compile(Other& other, const std::filesystem::path& directory, const std::function<void(const Row&)>& take,
               std::ostream& log) {
    if (!directory.empty()) {
      std::filesystem::create_directories(directory);
      other.options.cache = std::filesystem::absolute(directory);
    }
    try {
      const auto made = other.instance.model.by_backend("aot_inductor", other.options);
      if (!made.compile_seconds) return;
      other.row.compilation = phases_of({.whole = *made.compile_seconds});
      take(other.row);
    } catch (...) {
      // An error in one file, such as a change since it was added, is no reason to leave out the others.
      fail(log, other.instance.name(), current_failed().message);
    }
  }

  [[nodiscard]] Group& group_of(const benches::aot::PackageOptions& options) {
    for (Group& group : groups_)
      if (group.options.inductor == options.inductor) return group;
    return groups_.emplace_back(Group{options, {}});
  }

  void fail(std::ostream& log, const std::string& name, const std::string& why) {
    ++failed_;
    log << name << " is not compiled: " << why << '\n';
  }

  std::list<Group> groups_;
  std::list<Other> others_;
  std::size_t failed_ = 0;
};

}  // namespace pace::benches::models
