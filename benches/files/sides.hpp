// Sides: what is compared, as the options name it, and how each is loaded.
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

#include "benches/aot/inductor_configs.hpp"
#include "benches/files/cases.hpp"
#include "benches/files/command_line.hpp"
#include "benches/files/loaders/content.hpp"
#include "benches/files/loaders/exported.hpp"
#include "benches/files/loaders/exported_packages.hpp"
#include "benches/files/loaders/loader.hpp"
#include "benches/files/loaders/loaders.hpp"
#include "benches/files/loaders/operator_by_name.hpp"
#include "benches/files/loaders/torchscript.hpp"
#include "pace/core/bazel.hpp"
#include "pace/core/error.hpp"

namespace pace::benches::files {

/// One implementation: a file or an operator, and how it runs.
struct Side {
  std::string name;     ///< in tables and files
  std::string spelled;  ///< as the option names it
  std::string path;     ///< of the file; empty: `spelled` names an operator
  /// Configuration of Inductor with which an exported program is compiled; none: the file runs as it is.
  std::optional<aot::InductorOptions> compiled = {};
};

namespace detail {

[[nodiscard]] inline bool is_operator(std::string_view spelled) { return spelled.starts_with(operator_prefix); }

[[nodiscard]] inline Side side_of(const std::string& spelled) {
  if (is_operator(spelled)) return {.name = spelled, .spelled = spelled, .path = ""};
  return {.name = "", .spelled = spelled, .path = user_path(spelled)};
}

/// Gives sides names that differ: that of the file, or what the option names where other files have that name; and a
/// number, where one file is given again.
inline void name_sides(std::vector<Side>& sides) {
  std::map<std::string, std::set<std::string>> paths;
  const auto short_name = [](const Side& side) { return std::filesystem::path(side.path).filename().string(); };
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

/// Whether the side is an archive that may hold models by several names; also for one that cannot be read, which its row
/// will say.
[[nodiscard]] inline bool may_hold_several(const Side& side) {
  if (side.path.empty()) return false;
  try {
    const Content content(side.path);
    return content.is_archive() && dynamic_cast<const TorchScriptLoader*>(&loader_of(content)) == nullptr;
  } catch (const Error&) {
    return true;
  }
}

[[nodiscard]] inline aot::InductorConfig inductor_config(const std::string& name) {
  // In the package of an exported program parameters are constants.
  if (name == "freezing") return {"freezing", {{"freezing", "true"}}, "{'freezing': True}", {}};
  auto config = aot::find_inductor_config(name);
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
    const Content content(baseline.path);
    exported = dynamic_cast<const ExportedLoader*>(&loader_of(content)) != nullptr;
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
      sides.push_back({.name = name, .spelled = line.baseline, .path = baseline.path, .compiled = std::move(compiled)});
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
  if (!line.model.empty() && std::ranges::none_of(sides, detail::may_hold_several))
    throw InputError({}, "--model is for archives of torch.export and of AOTInductor, and no side is one");
  detail::name_sides(sides);
  return sides;
}

namespace detail {

/// The code in the file, in words; empty: there is none, or the file is of no known kind, which its row will say. A part
/// that cannot be read counts as code: it may be no part of what is loaded.
[[nodiscard]] inline std::string code_in(const std::string& path) {
  std::optional<Content> content;
  const Loader* loader = nullptr;
  try {
    content.emplace(path);
    loader = &loader_of(*content);
  } catch (const Error&) {
    return {};
  }
  try {
    return loader->code_in(*content);
  } catch (const Error& error) {
    return "a part that cannot be read, and may be code: " + first_line(error);
  }
}

}  // namespace detail

/// Throws InputError, which lists the files that hold code, unless the options trust them. A candidate that cannot be
/// read is left to its row.
inline void require_trust(const CommandLine& line, const std::vector<Side>& sides) {
  if (line.trust) return;
  std::vector<std::string> found;
  const auto add = [&](const std::string& path, const std::string& what) {
    std::string text = path + " holds " + what;
    if (std::ranges::find(found, text) == found.end()) found.push_back(std::move(text));
  };
  for (const auto& library : line.libraries) add(library, "compiled code (a shared library)");
  for (const auto& side : sides) {
    if (side.path.empty()) continue;
    if (side.compiled) add(side.path, "values that Python unpickles to compile it, which may run any code");
    if (const auto code = detail::code_in(side.path); !code.empty()) add(side.path, code);
  }
  const std::string inputs = user_path(line.inputs);
  const auto look_into = [&](const std::string& path) {
    try {
      if (is_module_of_tensors(Content(path))) add(path, "TorchScript, as torch::save of C++ writes tensors");
    } catch (const Error&) {
    }
  };
  if (std::filesystem::is_directory(inputs)) {
    for (const auto& entry : std::filesystem::directory_iterator(inputs))
      if (detail::is_input(entry)) look_into(entry.path().string());
  } else if (!line.inputs.starts_with('(')) {
    look_into(inputs);
  }
  if (found.empty()) return;
  std::string all;
  for (const auto& each : found) all += "\n  " + each;
  throw InputError({}, "code of files would run with your rights, and --trust was not given:" + all +
                           "\nExpected --trust, once you know where these files come from");
}

/// The files that a file of a side names; none of one that cannot be read, which its row will say.
[[nodiscard]] inline std::vector<std::string> also_read(const std::string& path) {
  try {
    const Content content(path);
    return loader_of(content).also_reads(content);
  } catch (const Error&) {
    return {};
  }
}

/// Sides that are loaded when they are first needed, once for all cases on a device.
class LoadedSides {
 public:
  LoadedSides(std::vector<Side> sides, std::string model, std::vector<std::string> libraries)
      : sides_(std::move(sides)), model_(std::move(model)), libraries_(std::move(libraries)) {}

  [[nodiscard]] const std::vector<Side>& all() const { return sides_; }

  /// Throws InputError or Unsupported; where loading has failed, the same again.
  [[nodiscard]] Loaded& get(std::size_t side, c10::Device device) {
    auto& entry = loaded_[{side, device.str()}];
    if (!entry.problem.empty()) throw Unsupported(entry.problem);
    if (!entry.loaded) {
      try {
        entry.loaded = load(sides_[side], device);
      } catch (const std::exception& error) {
        entry.problem = dynamic_cast<const Error*>(&error) != nullptr ? error.what() : first_line(error);
        throw;
      }
    }
    return *entry.loaded;
  }

 private:
  struct Entry {
    std::unique_ptr<Loaded> loaded;
    std::string problem;
  };

  [[nodiscard]] std::unique_ptr<Loaded> load(const Side& side, c10::Device device) const {
    if (side.path.empty())
      return std::make_unique<LoadedOperator>(std::string_view(side.spelled).substr(operator_prefix.size()));
    const Content content(side.path);
    content.require_intact();
    const LoadOptions options{.device = device, .model = model_};
    if (!side.compiled) return loader_of(content).load(content, options);
    ExportedPackages packages(*side.compiled, libraries_);
    return load_compiled(content, options, packages);
  }

  std::vector<Side> sides_;
  std::string model_;
  std::vector<std::string> libraries_;
  /// By side and device: the inputs of some cases may be on a GPU.
  std::map<std::pair<std::size_t, std::string>, Entry> loaded_;
};

}  // namespace pace::benches::files
