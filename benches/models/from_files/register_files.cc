#include "benches/models/from_files/register_files.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <c10/core/Device.h>

#include "benches/files/files.hpp"
#include "benches/files/library.hpp"
#include "benches/models/backend_names.hpp"
#include "benches/models/command_line.hpp"
#include "benches/models/driver/known_model.hpp"
#include "benches/models/driver/names.hpp"
#include "benches/models/from_files/file_model.hpp"
#include "benches/models/model.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::models {

namespace detail {
namespace {

/// Throws InputError for an option of the run that has no effect on the file, or that it does not allow.
class FileOptions {
 public:
  FileOptions(const FileModel& model, const CommandLine& line)
      : model_(model), line_(line), settings_(line.settings), name_(model.file().name) {}

  void require_meaning() const {
    if (settings_.small) refuse("--small", "has one size", "no --small");
    if (model_.kind() != FileKind::script) require_constants();
    if (model_.kind() == FileKind::compiled) require_compiled();
    if (model_.kind() == FileKind::exported) require_exported();
    require_batches();
  }

 private:
  [[noreturn]] void refuse(const std::string& option, const std::string& what, const std::string& expected) const {
    throw InputError({}, option + ": " + name_ + ' ' + what + "; expected " + expected);
  }

  /// Throws for options that have no effect on programs with constant weights.
  void require_constants() const {
    const std::string holds = "holds its weights as constants, ";
    if (settings_.training)
      refuse("--training", holds + "which cannot be trained", "--inference, or the module in TorchScript");
    for (const auto& [option, precision] :
         {std::pair{"--float32", Precision::float32}, std::pair{"--float16", Precision::float16},
          std::pair{"--bfloat16", Precision::bfloat16}, std::pair{"--amp", Precision::amp}})
      if (settings_.precision == precision)
        refuse(option, holds + "in the types that it was exported with", "a file that was exported in this precision");
    if (settings_.channels_last)
      refuse("--channels-last", holds + "in the memory format that it was exported with",
             "a file that was exported with that");
  }

  void require_compiled() const {
    const std::string compiled = "is compiled already";
    if (settings_.freezing) refuse("--freezing", compiled, "its exported program as --model");
    for (const auto& [option, given] :
         {std::pair{"--inductor-config", !settings_.inductor_config.empty()},
          std::pair{"--packages", !settings_.packages.empty()}, std::pair{"--compile-only", line_.compile_only}})
      if (given) refuse(option, compiled, "its exported program as --model");
    if (settings_.mode == Mode::operator_inputs)
      refuse("--log-operator-inputs", "is compiled code, which calls few operators", "another file of the module");
    if (settings_.mode == Mode::find_batch_size) return;
    for (const auto& backend : settings_.backends)
      if (backend != "eager")
        refuse("--backend " + backend, "is compiled code, from which no other back end can be derived",
               "--backend eager, which runs it as it is, or its exported program as --model");
  }

  void require_exported() const {
    const bool eager_alone = runs_eager_alone(settings_.mode);
    for (const auto& backend : settings_.backends)
      if (!eager_alone && any_has({backend}, &BackendTraits::has_script))
        refuse("--backend " + backend, "is run by NativeRT, and no TorchScript can be traced of that",
               "--backend aot_inductor or nativert, or the module in TorchScript");
    if (line_.compile_only && !any_has(settings_.backends, &BackendTraits::has_package))
      refuse("--compile-only", "is what NativeRT opens, and nothing of it is compiled", "--backend aot_inductor");
    for (const auto& device : line_.devices)
      if (c10::Device(device).type() != *model_.device())
        refuse("--device " + device,
               "was exported for " + c10::DeviceTypeName(*model_.device(), /*lower_case=*/true) + ", and runs there",
               "--device " + c10::DeviceTypeName(*model_.device(), /*lower_case=*/true));
  }

  void require_batches() const {
    if (settings_.batch_size)
      require_batch("--batch-size " + std::to_string(*settings_.batch_size), *settings_.batch_size);
    const std::int64_t own = settings_.batch_size.value_or(model_.inputs().size());
    const std::int64_t step = model_.batches().step;
    if (settings_.dynamic_batch && !(own > step && takes_batch(own - step)))
      require_batch("--dynamic-batch-only", own + step);
    if (settings_.mode == Mode::find_batch_size) require_batch("--find-batch-sizes", own + step);
    if (settings_.mode == Mode::batch_invariance && own > 1) require_batch("--batch-invariant", own / 2);
  }
  [[nodiscard]] bool takes_batch(std::int64_t size) const {
    try {
      model_.require_batch(size);
      return true;
    } catch (const InputError&) {
      return false;
    }
  }
  void require_batch(const std::string& option, std::int64_t size) const {
    try {
      model_.require_batch(size);
    } catch (const InputError& error) {
      const std::string expected =
          model_.batch_expression().empty() ? "none, or a file with a dynamic batch (tools/export.py --dynamic-batch)"
          : model_.has_unknown_batches()
              ? "none, or a file whose batch is a symbol"
              : "a batch of " + model_.batches().to_string() + ", the sizes that " + model_.batch_expression() + " has";
      throw InputError({}, option + ": " + error.what() + "; expected " + expected);
    }
  }

  const FileModel& model_;
  const CommandLine& line_;
  const Settings& settings_;
  const std::string& name_;
};

/// Throws InputError, which lists the files that hold code, unless the command line trusts them. A list runs none of
/// it. A dry run fails for the same reasons as the run.
void require_trust(const std::vector<ModelFile>& files, const CommandLine& line) {
  if (line.trust) return;
  loaders::CodeInFiles code;
  const bool compiles =
      !runs_eager_alone(line.settings.mode) && any_has(line.settings.backends, &BackendTraits::has_package);
  if (!line.list)
    for (const auto& library : line.libraries) code.add_library(library);
  for (const auto& file : files) {
    if (!line.list && compiles && !loaders::exported_models(loaders::Content(file.path)).empty())
      code.add_compiled(file.path);
    if (!line.list) code.look_into(file.path);
    code.look_into_inputs(file.inputs);
  }
  code.require_none();
}

/// Throws InputError or Unsupported for the errors that a run would find when it loads the libraries and files. Finds
/// only those that show without running their code.
void require_loadable(const std::vector<ModelFile>& files, const CommandLine& line) {
  for (const auto& library : line.libraries) files::require_library(library);
  for (const auto& file : files) {
    const loaders::Content content(file.path);
    loaders::require_whole(content);
    for (const auto& device : line.devices)
      loaders::loader_of(content).require_loadable(
          content, {.device = c10::Device(device), .model = file.program, .has_libraries = line.libraries.empty()});
  }
}

}  // namespace
}  // namespace detail

std::vector<KnownModel> register_files(const std::vector<ModelFile>& files, const CommandLine& line) {
  // A file of no known kind is named before all else.
  for (const auto& file : files) (void)loaders::loader_of(loaders::Content(file.path));
  detail::require_trust(files, line);
  std::vector<KnownModel> known;
  for (const auto& file : files) {
    const auto model = std::make_shared<FileModel>(file, line.settings.seed, line.libraries);
    if (!line.list) detail::FileOptions(*model, line).require_meaning();
    const auto& entry = registered_models().emplace_back(model->entry());
    known.push_back({entry.name, entry.suite, entry.family, entry.training_batch, entry.inference_batch});
  }
  // In a run this is a row of the file.
  if (line.dry_run) detail::require_loadable(files, line);
  return known;
}

}  // namespace pace::benches::models
