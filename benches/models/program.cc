// Whole models, as PyTorch's torchbench.py runs them: bazel run //benches/models -- --performance --inference -k resnet
#include <cstddef>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include <ATen/Parallel.h>
#include <ATen/detail/CUDAHooksInterface.h>

#include "benches/files/aot/fuser.hpp"
#include "benches/files/library.hpp"
#include "benches/models/from_files/register_files.hpp"
#include "benches/models/model.hpp"
#include "benches/models/run/compile_packages.hpp"
#include "benches/models/run/run_model.hpp"
#include "benches/models/run_program.hpp"
#include "pace/base/error.hpp"
#include "pace/os/bazel.hpp"
#include "pace/os/pages.hpp"
#include "pace/report/environment.hpp"
#include "pace/report/machine.hpp"
#include "pace/report/program_output.hpp"
#include "pace/run/run_context.hpp"
#include "pace/runner/current_directory.hpp"
#include "pace/runner/this_program.hpp"
#include "pace/runner/torch_environment.hpp"

namespace {

namespace models = pace::benches::models;

[[nodiscard]] const models::ModelEntry& find_entry(const std::string& name) {
  for (const auto& entry : models::registered_models())
    if (entry.name == name) return entry;
  throw pace::InputError({}, "no model is called '" + name + '\'');
}

void prepare(const models::CommandLine& line) {
  for (const auto& library : line.libraries) pace::benches::files::load_library(library);
  pace::run_context().options = line.measuring;
  pace::benches::aot::use_fuser(pace::benches::aot::parse_fuser(line.fuser));
}

std::size_t compile(const std::vector<models::ChosenModel>& chosen, models::Settings settings,
                    const models::Config& config, const std::string& folder,
                    const std::function<void(const models::Row&)>& take, std::ostream& log) {
  if (settings.threads) at::set_num_threads(*settings.threads);
  models::PackageSet packages;
  for (const auto& model : chosen)
    for (const auto& device : model.devices) {
      settings.device = device;
      packages.add(find_entry(model.name), settings, config, log);
    }
  packages.compile(folder, take, log);
  return packages.failed();
}

/// The facts that results depend on beside options: one run must not go on from another where any of them differs.
[[nodiscard]] models::Configuration identity() {
  models::Configuration identity{{"processor", pace::report::machine::cpu("")}};
  pace::runner::describe_torch(identity);
  return identity;
}

[[nodiscard]] std::vector<std::string> default_devices() {
  const auto& cuda = at::detail::getCUDAHooks();
  return {cuda.hasCUDA() && cuda.deviceCount() > 0 ? "cuda" : "cpu"};
}

}  // namespace

int main(int argc, char** argv) {
  const pace::report::ProgramOutput output;
  models::Dependencies dependencies{
      .models = {},
      .run = [](const std::string& model, const models::Settings& settings, const models::Config& config,
                std::ostream& log) { return models::run_model(find_entry(model), settings, config, log); }};
  dependencies.compile = compile;
  dependencies.backends.clear();
  for (const auto& backend : models::model_backends()) dependencies.backends.push_back(backend.name);
  for (const auto& entry : models::registered_models())
    dependencies.models.push_back({entry.name, entry.suite, entry.family, entry.training_batch, entry.inference_batch});
  dependencies.config_file = pace::shipped_file("benches/models/models.yaml");
  dependencies.default_devices = default_devices;
  dependencies.add_files = models::register_files;
  dependencies.prepare = prepare;
  dependencies.identity = identity;
  dependencies.user_path = pace::user_path;
  dependencies.output_path = pace::output_path;
  dependencies.is_test = pace::under_bazel();
  dependencies.pages = pace::Pages::at;
  if (const auto folder = pace::undeclared_outputs(); !folder.empty())
    dependencies.json_of_test = pace::detail::inside(folder, "results.json");
  dependencies.environment = [](const std::vector<std::string>& words) {
    auto environment = pace::report::read_environment(words);
    pace::runner::describe_torch(environment.extra);
    return environment;
  };
  return models::run_program(pace::runner::this_program(), {argv + 1, argv + argc}, dependencies, std::cout, std::cerr);
}
