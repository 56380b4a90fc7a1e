// Sides: the compared files and operators, as the options name them, and how each is loaded.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <c10/core/Device.h>

#include "benches/files/aot/definition_store.hpp"
#include "benches/files/aot/inductor_configs.hpp"
#include "benches/files/command_line.hpp"
#include "benches/files/file_digest.hpp"
#include "benches/files/loaders/cases.hpp"
#include "benches/files/loaders/content.hpp"
#include "benches/files/loaders/exported.hpp"
#include "benches/files/loaders/exported_packages.hpp"
#include "benches/files/loaders/loader.hpp"
#include "benches/files/loaders/loaders.hpp"
#include "benches/files/loaders/operator_by_name.hpp"
#include "benches/files/loaders/python.hpp"
#include "benches/files/loaders/trust.hpp"
#include "benches/files/loaders/whole_weights.hpp"
#include "benches/files/named_file.hpp"
#include "pace/base/error.hpp"
#include "pace/os/bazel.hpp"

namespace pace::benches::files {

/// One implementation: a file or an operator, and how it runs.
struct Side {
  std::string name;     ///< in tables and files
  std::string spelled;  ///< as the option names it
  std::string path;     ///< of the file; empty: `spelled` names an operator
  /// The program in an archive of several; empty: the only one, or the one that is called `model`.
  std::string model = {};
  /// Inductor's configuration for compiling an exported program; none: the file runs as it is.
  std::optional<aot::InductorOptions> compiled = {};
};

/// Whether a side is a function of a Python file.
[[nodiscard]] inline bool is_python(const Side& side) { return loaders::is_python_path(side.path); }

/// Whether a run needs Python for its sides or inputs.
[[nodiscard]] inline bool uses_python(const CommandLine& line, const std::vector<Side>& sides) {
  return std::ranges::any_of(sides, is_python) ||
         std::ranges::any_of(loaders::files_of_inputs(line.inputs), loaders::is_python_path);
}

namespace detail {

[[nodiscard]] inline bool is_operator(std::string_view spelled) {
  return spelled.starts_with(loaders::operator_prefix);
}

[[nodiscard]] inline Side side_of(const std::string& spelled) {
  if (is_operator(spelled)) return {.name = spelled, .spelled = spelled, .path = ""};
  auto file = named_file(spelled);
  if (spelled.find("::") != std::string::npos && !std::filesystem::exists(file.path))
    throw InputError({spelled}, "no such file; expected op:" + spelled + " where this is an operator");
  if (loaders::is_python_path(file.path)) loaders::require_python_name(file.path, file.model);
  return {.name = "", .spelled = spelled, .path = std::move(file.path), .model = std::move(file.model)};
}

/// Gives sides different names. A side is named after its file, or by the option's text if other files have that name.
/// A file that is given again gets a number.
inline void name_sides(std::vector<Side>& sides) {
  std::map<std::string, std::set<std::string>> paths;
  const auto short_name = [](const Side& side) {
    return std::filesystem::path(side.path).filename().string() + (side.model.empty() ? "" : ':' + side.model);
  };
  for (const auto& side : sides)
    if (side.name.empty()) paths[short_name(side)].insert(side.path);
  std::set<std::string> used;
  for (auto& side : sides) {
    if (side.name.empty()) side.name = paths[short_name(side)].size() == 1 ? short_name(side) : side.spelled;
    const std::string name = side.name;
    for (std::size_t number = 2; !used.insert(side.name).second; ++number)
      side.name = name + " (" + std::to_string(number) + ')';
  }
}

[[nodiscard]] inline aot::InductorConfig inductor_config(const std::string& name) {
  // In the package of an exported program parameters are constants.
  if (name == "freezing") return {"freezing", {{"freezing", "true"}}, "{'freezing': True}", {}};
  const auto config = [&] {
    try {
      return aot::find_inductor_config(name);
    } catch (const InputError& error) {
      throw InputError({}, std::string(error.what()) + "; a file of torch.export may have 'freezing' as well");
    }
  }();
  if (!config.missing.empty()) throw InputError({}, "--inductor-config '" + name + "': " + config.missing);
  return config;
}

}  // namespace detail

/// The sides that the options name, the baseline first. Throws InputError for a baseline that is of no known kind, and
/// for options that have no effect on it.
[[nodiscard]] inline std::vector<Side> sides_of(const CommandLine& line) {
  const Side baseline = detail::side_of(line.baseline);
  const bool asks_for_backends = !line.backends.empty() || !line.inductor_configs.empty();
  bool exported = false;
  if (!baseline.path.empty()) {
    const loaders::Content content(baseline.path);
    exported = dynamic_cast<const loaders::ExportedLoader*>(&loaders::loader_of(content)) != nullptr;
  }
  if (asks_for_backends && !exported)
    throw InputError({}, "--backend and --inductor-config are for files of torch.export, and --baseline " +
                             line.baseline + " is none");
  if (!exported && line.candidates.empty())
    throw InputError({},
                     "there is nothing to compare with: expected --candidate FILE; a file of torch.export alone is "
                     "compared on several back ends");
  std::vector<Side> sides;
  if (exported && (asks_for_backends || line.candidates.empty())) {
    std::vector<std::string> backends = line.backends;
    if (backends.empty()) backends = {"nativert", "aot_inductor"};
    const auto add = [&](const std::string& name, std::optional<aot::InductorOptions> compiled) {
      if (std::ranges::find(sides, name, &Side::name) != sides.end())
        throw InputError({}, "--backend and --inductor-config: '" + name + "' is named twice; expected each once");
      sides.push_back({.name = name,
                       .spelled = line.baseline,
                       .path = baseline.path,
                       .model = baseline.model,
                       .compiled = std::move(compiled)});
    };
    for (const auto& name : backends)
      add(name, name == "nativert" ? std::nullopt : std::optional(aot::InductorOptions()));
    for (const auto& name : line.inductor_configs) add(aot::backend_of(name), detail::inductor_config(name).options);
  } else {
    sides.push_back(baseline);
  }
  for (const auto& candidate : line.candidates) sides.push_back(detail::side_of(candidate));
  if (sides.size() < 2)
    throw InputError({}, "there is nothing to compare with: --backend names one back end, and there is no --candidate");
  detail::name_sides(sides);
  return sides;
}

/// Throws InputError, which lists the files that hold code, unless the options trust them. A candidate that cannot be
/// read is left to its row.
inline void require_trust(const CommandLine& line, const std::vector<Side>& sides) {
  if (line.trust) return;
  loaders::CodeInFiles code;
  for (const auto& library : line.libraries) code.add_library(library);
  for (const auto& side : sides) {
    if (side.path.empty()) continue;
    if (side.compiled) code.add_compiled(side.path);
    code.look_into(side.path);
  }
  code.look_into_inputs(user_path(line.inputs));
  code.require_none();
}

/// Throws InputError or Unsupported where loading the side would throw, as far as we can tell without running code of
/// its file. `device`: where the inputs are. `has_libraries`: whether no operator is missing that --library would
/// register.
inline void require_loadable(const Side& side, c10::Device device, bool has_libraries) {
  if (side.path.empty()) {
    if (has_libraries)
      (void)loaders::LoadedOperator(std::string_view(side.spelled).substr(loaders::operator_prefix.size()));
    return;
  }
  const loaders::Content content(side.path);
  const auto& loader = loaders::loader_of(content);
  loaders::require_whole(content);
  // Python compiles an exported program, with operators of its own.
  loader.require_loadable(content,
                          {.device = device, .model = side.model, .has_libraries = has_libraries && !side.compiled});
}

/// The check of inputs by the side's file or the operator's schema, without running any code; empty: they say nothing.
/// Throws as require_loadable() does.
[[nodiscard]] inline loaders::InputCheck input_check_of(const Side& side, bool has_libraries) {
  if (!side.path.empty()) {
    const loaders::Content content(side.path);
    return loaders::loader_of(content).input_check(content, {.model = side.model});
  }
  if (!has_libraries) return {};
  const auto loaded =
      std::make_shared<loaders::LoadedOperator>(std::string_view(side.spelled).substr(loaders::operator_prefix.size()));
  return [loaded](const loaders::CallInputs& inputs, const loaders::TensorPlaces&) { (void)loaded->bind(inputs); };
}

/// The files that a file of a side names; none of one that cannot be read, which its row will say.
[[nodiscard]] inline std::vector<std::string> also_read(const std::string& path) {
  try {
    const loaders::Content content(path);
    return loaders::loader_of(content).also_reads(content);
  } catch (const Error&) {
    return {};
  }
}

/// The paths of all files that a run reads.
[[nodiscard]] inline std::vector<std::string> files_read(const CommandLine& line, const std::vector<Side>& sides) {
  std::vector<std::string> paths = line.libraries;
  for (const auto& side : sides)
    if (!side.path.empty()) {
      paths.push_back(side.path);
      for (auto& other : also_read(side.path)) paths.push_back(std::move(other));
    }
  for (auto& path : loaders::files_of_inputs(line.inputs)) paths.push_back(std::move(path));
  return paths;
}

/// The hashes of these files, by their paths; "none" for one that cannot be read, which its row will say.
[[nodiscard]] inline std::map<std::string, std::string> digests_of(const std::vector<std::string>& paths) {
  std::map<std::string, std::string> digests;
  for (const auto& path : paths) {
    if (digests.contains(path)) continue;
    try {
      digests[path] = digest_of_file(path);
    } catch (const InputError&) {
      digests[path] = "none";
    }
  }
  return digests;
}

/// Sides that are loaded when they are first needed, once for all cases on a device.
class LoadedSides {
 public:
  LoadedSides(std::vector<Side> sides, std::vector<std::string> libraries)
      : sides_(std::move(sides)), libraries_(std::move(libraries)) {}

  [[nodiscard]] const std::vector<Side>& all() const { return sides_; }

  /// Throws InputError or Unsupported; where loading has failed, the same again.
  [[nodiscard]] loaders::Loaded& get(std::size_t side, c10::Device device) {
    auto& entry = loaded_[{side, device.str()}];
    if (!entry.problem.empty()) throw Unsupported(entry.problem);
    if (!entry.loaded) {
      try {
        entry.loaded = load(sides_[side], device);
      } catch (const std::exception& error) {
        entry.problem = loaders::reason_of(error);
        throw;
      }
    }
    return *entry.loaded;
  }

 private:
  struct Entry {
    std::unique_ptr<loaders::Loaded> loaded;
    std::string problem;
  };

  [[nodiscard]] std::unique_ptr<loaders::Loaded> load(const Side& side, c10::Device device) const {
    if (side.path.empty())
      return std::make_unique<loaders::LoadedOperator>(
          std::string_view(side.spelled).substr(loaders::operator_prefix.size()));
    const loaders::Content content(side.path);
    loaders::require_whole(content);
    const loaders::LoadOptions options{.device = device, .model = side.model};
    if (!side.compiled) return loaders::loader_of(content).load(content, options);
    auto compiling = aot::definition_package_options();
    compiling.inductor = *side.compiled;
    loaders::ExportedPackages packages(std::move(compiling), libraries_);
    return loaders::load_compiled(content, options, packages);
  }

  std::vector<Side> sides_;
  std::vector<std::string> libraries_;
  /// By side and device: the inputs of some cases may be on a GPU.
  std::map<std::pair<std::size_t, std::string>, Entry> loaded_;
};

}  // namespace pace::benches::files
