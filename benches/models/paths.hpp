// Finds the names of a command line on this machine: paths, models, files, back ends and devices.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "benches/files/named_file.hpp"
#include "benches/models/command_line.hpp"
#include "benches/models/dependencies.hpp"
#include "benches/models/driver/known_model.hpp"
#include "pace/base/error.hpp"
#include "pace/base/format.hpp"
#include "pace/os/bazel.hpp"
#include "pace/report/text.hpp"

namespace pace::benches::models::detail {

/// Makes paths that are relative to the shell's folder absolute.
inline void resolve_paths(CommandLine& line, const Dependencies& dependencies) {
  auto& output = line.output;
  auto& settings = line.settings;
  const auto read = [&](std::string& path) { path = path.empty() ? path : dependencies.user_path(path); };
  const auto written = [&](std::string& path) { path = path.empty() ? path : dependencies.output_path(path); };
  if (output.file.empty())
    output.directory = dependencies.output_path(output.directory.empty() ? "." : output.directory);
  for (auto* path : {&output.file, &settings.profiler_trace, &settings.memory_snapshot, &settings.log_operator_inputs,
                     &settings.save_outputs_to, &line.compile_to, &line.json, &line.html})
    written(*path);
  for (auto* path : {&output.baseline, &line.config_file, &line.batch_size_file, &settings.compare_outputs_with})
    read(*path);
  for (auto& path : settings.packages) read(path);
  if (line.config_file.empty()) line.config_file = dependencies.config_file;
  if (line.devices.empty()) line.devices = dependencies.default_devices();
  line.several_devices = line.devices.size() > 1;
  if (!line.rows_of.empty()) line.devices = line.rows_of;
}

[[nodiscard]] inline bool any_gpu(const std::vector<std::string>& devices) {
  return std::ranges::any_of(devices, [](const auto& device) { return device.starts_with("cuda"); });
}

/// Whether a word of --model is the name of a file, be it there or not.
[[nodiscard]] inline bool names_file(const std::string& word, const files::NamedFile& file) {
  std::error_code ignored;
  return std::filesystem::exists(file.path, ignored) || word.ends_with(".pt") || word.ends_with(".pt2") ||
         word.find(".pt:") != std::string::npos || word.find(".pt2:") != std::string::npos;
}

/// Takes the words of --model apart: names of models, which are chosen, and files, each with its inputs. Throws
/// InputError for a word that is neither, and for inputs that are not there.
inline void resolve_models(CommandLine& line, const std::vector<KnownModel>& models) {
  auto& exactly = line.selection.exactly;
  const auto known = names_of(models);
  for (const auto& word : line.models) {
    std::string name = word;
    if (!known.contains(word)) {
      files::NamedFile file = files::named_file(word);
      if (!names_file(word, file))
        throw InputError(
            {}, "--model: no model is called '" + word + "', and there is no such file; there are " + listed(known));
      // It stands in rows, tables and messages, and names of files may have any characters.
      name = report::printable(std::filesystem::path(file.path).filename().string() +
                               (file.model.empty() ? "" : ':' + file.model));
      line.files.push_back({.name = name, .path = std::move(file.path), .program = std::move(file.model)});
    }
    if (!exactly.insert(name).second || (name != word && known.contains(name)))
      throw InputError({}, "--model: two models are called '" + name + "'; expected another name for one of them");
  }
  if (!exactly.empty() && !line.only.empty() && !exactly.contains(line.only))
    throw InputError({}, "--only: '" + line.only + "' is none of --model; expected one of " + listed(exactly));
  const auto count = [](std::size_t number) { return std::to_string(number); };
  if (line.files.empty()) {
    for (const auto& [option, given] : {std::pair{"--inputs", !line.inputs.empty()}, std::pair{"--trust", line.trust},
                                        std::pair{"--library", !line.libraries.empty()}})
      if (given) throw InputError({}, std::string(option) + " has no meaning here; expected --model FILE");
    return;
  }
  if (line.inputs.empty())
    throw InputError({}, "--inputs is missing, for " + line.files.front().name +
                             ": tensors that torch.save wrote, or text such as \"(T([8, 128], f32),)\"");
  if (line.inputs.size() != 1 && line.inputs.size() != line.files.size())
    throw InputError({}, "--inputs: found " + count(line.inputs.size()) + " for " + count(line.files.size()) +
                             " files of --model; expected one for all, or one each in the same order");
  for (std::size_t i = 0; i < line.files.size(); ++i) {
    const auto& inputs = line.inputs[line.inputs.size() == 1 ? 0 : i];
    auto& of_file = line.files[i].inputs;
    of_file = inputs.starts_with('(') ? inputs : user_path(inputs);
    std::error_code ignored;
    if (!of_file.starts_with('(') && std::filesystem::is_directory(of_file, ignored))
      throw InputError({of_file}, "--inputs: expected a file or text with one set of inputs, found a folder");
  }
  for (auto& library : line.libraries) library = user_path(library);
}

/// `dependencies` with the files of the command line among their models.
[[nodiscard]] inline Dependencies with_files(CommandLine& line, Dependencies dependencies) {
  resolve_models(line, dependencies.models);
  if (line.files.empty()) return dependencies;
  if (!dependencies.add_files) throw InputError({}, "--model: this program runs no files");
  for (auto& model : dependencies.add_files(line.files, line)) dependencies.models.push_back(std::move(model));
  return dependencies;
}

/// Throws InputError for a folder of the command line that is none, or that is not there.
inline void require_folders(const CommandLine& line) {
  namespace fs = std::filesystem;
  const auto& settings = line.settings;
  std::error_code ignored;
  for (const auto& path : settings.packages)
    if (!fs::is_directory(path, ignored))
      throw InputError({path}, fs::exists(path, ignored) ? "--packages: is no folder; expected one of packages"
                                                         : "--packages: there is no such folder");
  if (const auto& path = settings.compare_outputs_with; !path.empty() && !fs::is_directory(path, ignored))
    throw InputError({path},
                     "--compare-model-outputs-with: expected a folder of outputs that an earlier run has saved");
  for (const auto& [option, path] :
       {std::pair{"--save-model-outputs-to", settings.save_outputs_to}, std::pair{"--compile-to", line.compile_to},
        std::pair{"--export-profiler-trace", settings.profiler_trace},
        std::pair{"--snapshot-memory", settings.memory_snapshot},
        std::pair{"--log-operator-inputs", settings.log_operator_inputs},
        std::pair{"--output-directory", line.output.directory}})
    if (!path.empty() && fs::exists(path, ignored) && !fs::is_directory(path, ignored))
      throw InputError({path}, std::string(option) + ": is no folder; expected one, or a name for a new one");
}

/// Finds errors in back ends, paths and devices before a model is run. Throws InputError.
inline void require_usable(const CommandLine& line, const std::vector<std::string>& backends) {
  const auto& settings = line.settings;
  for (const auto& name : settings.backends)
    if (std::ranges::find(backends, name) == backends.end())
      throw InputError({},
                       "--backend: no back end is called '" + name + "'; expected one of " + joined(backends, ", "));
  require_folders(line);
  if (any_gpu(line.devices)) return;
  for (const auto& option : {"--optimizer-code", "--compile-optimizer"})
    if (line.configuration.contains(option) && !settings.optimizer_on_cpu)
      throw InputError({}, std::string(option) + ": expected --optimizer-on-cpu or --device cuda, found " +
                               joined(line.devices, ", ") + ", where training steps have no optimiser");
  for (const auto& [option, given] : {std::pair{"--snapshot-memory", !settings.memory_snapshot.empty()},
                                      std::pair{"--device-index", !line.device_index.empty()}})
    if (given)
      throw InputError({}, std::string(option) + ": expected --device cuda, found " + joined(line.devices, ", "));
}

}  // namespace pace::benches::models::detail
