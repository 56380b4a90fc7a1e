// Files that Python wrote (TorchScript, torch.export, AOTInductor), functions of Python files, kernels and operators by
// name, compared on inputs from a file: checked against each other, timed side by side, judged.
#include <algorithm>
#include <cstddef>
#include <exception>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <c10/core/Device.h>
#include <c10/core/InferenceMode.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/catch_translate_exception.hpp>

#include "benches/files/aot/device.hpp"
#include "benches/files/command_line.hpp"
#include "benches/files/compare_files.hpp"
#include "benches/files/library.hpp"
#include "benches/files/loaders/cases.hpp"
#include "benches/files/loaders/input_text.hpp"
#include "benches/files/loaders/operator_by_name.hpp"
#include "benches/files/loaders/python.hpp"
#include "benches/files/sides.hpp"
#include "pace/base/utf8.hpp"
#include "pace/catch2.hpp"
#include "pace/os/bazel.hpp"
#include "pace/report/text.hpp"
#include "pace/runner/current_directory.hpp"
#include "pace/runner/session.hpp"

namespace {

namespace files = pace::benches::files;
namespace loaders = pace::benches::loaders;

files::CommandLine line;
/// Whether libraries are loaded: a list and a dry run call nothing. A dry run reads the inputs.
bool runs = false, is_dry_run = false;

struct Work {
  std::vector<files::Side> sides;
  std::optional<c10::Device> device;
  std::vector<loaders::Case> cases;
  std::vector<std::string> named;  ///< by --case; empty: all are measured
};
Work work;

/// Whether --case leaves the case out.
bool is_left_out(const loaders::Case& one) {
  return !work.named.empty() && std::ranges::none_of(work.named, [&](const std::string& name) {
    return pace::valid_utf8(name) == pace::valid_utf8(one.name);
  });
}

/// The problems that a dry run finds, each once.
class Problems {
 public:
  /// Whether `check` found none.
  template <class Check>
  bool look(const Check& check) {
    try {
      check();
      return true;
    } catch (const std::exception& error) {
      auto problem = pace::report::printable_lines(loaders::reason_of(error));
      if (std::ranges::find(all_, problem) == all_.end()) all_.push_back(std::move(problem));
      return false;
    }
  }
  [[nodiscard]] const std::vector<std::string>& all() const { return all_; }

 private:
  std::vector<std::string> all_;
};

/// Where the inputs of a dry run are, each device once. Those that cannot be read are nowhere.
std::vector<c10::Device> devices_of_inputs() {
  if (work.device) return {*work.device};
  std::vector<c10::Device> devices;
  for (const auto& one : work.cases) {
    // A dry run runs no Python.
    if (is_left_out(one) || !one.python.empty()) continue;
    c10::Device device = c10::kCPU;
    try {
      if (!one.file.empty())
        if (const auto inputs = loaders::make_inputs(one, {}, 0, 1); !inputs.tensors().empty())
          device = inputs.tensors().front().device();
    } catch (const std::exception&) {
      continue;
    }
    if (std::ranges::find(devices, device) == devices.end()) devices.push_back(device);
  }
  // If no inputs can be made, the CPU still shows some problems.
  if (devices.empty()) devices.emplace_back(c10::kCPU);
  return devices;
}

/// Problems of a run that a dry run can find without running code of the files.
std::vector<std::string> problems_of_dry_run() {
  Problems problems;
  const bool has_libraries = line.libraries.empty();
  for (const auto& library : line.libraries) problems.look([&] { files::require_library(library); });
  std::vector<loaders::InputCheck> checks;
  const auto devices = devices_of_inputs();
  for (const auto& side : work.sides)
    problems.look([&] {
      for (const auto& device : devices) files::require_loadable(side, device, has_libraries);
      checks.push_back(files::input_check_of(side, has_libraries));
    });
  for (const auto& one : work.cases) {
    if (is_left_out(one) || !one.python.empty()) continue;
    std::optional<loaders::CallInputs> inputs;
    if (!problems.look([&] { inputs.emplace(loaders::inputs_to_check(one)); })) continue;
    // A dry run needs no GPU, so that the memory of one is not looked at.
    if (const auto device = work.device.value_or(c10::kCPU); one.file.empty() && device.is_cpu())
      problems.look([&] { loaders::require_memory_for(one.text, device, files::sets_of_inputs(work.sides.size())); });
    const auto places = loaders::places_in_run(one, work.device);
    for (const auto& check : checks)
      if (check) problems.look([&] { check(*inputs, places); });
  }
  return problems.all();
}

/// Paths of the command line, once for all.
void resolve_paths() {
  for (auto& library : line.libraries) library = pace::user_path(library);
  if (!line.inputs.starts_with('(')) line.inputs = pace::user_path(line.inputs);
}

void resolve_options(pace::runner::SessionOptions& session) {
  line.given = session.given;
  work.named = session.cases;
  is_dry_run = session.dry_run;
  runs = session.measures && !session.list && !is_dry_run;
  if (!session.measures && !session.list) return;  // Catch2's lists
  files::require_meaning(line);
  resolve_paths();
  if (line.device) work.device = pace::benches::aot::parse_device(*line.device);
  if (work.device && work.device->is_cpu())
    pace::runner::refuse_options_for_gpu(session, "the files run there; expected --device cuda beside it");
  work.sides = files::sides_of(line);
  pace::runner::refuse_to_overwrite(session, files::files_read(line, work.sides));
  if ((runs || is_dry_run) && files::uses_python(line, work.sides)) loaders::require_python();
  // A dry run fails for the same reasons as the run.
  if (runs || is_dry_run) files::require_trust(line, work.sides);
}

void prepare(std::ostream& /*out*/, std::ostream& errors) {
  if (runs)
    for (const auto& library : line.libraries) files::load_library(library);
  loaders::InputOptions options{.inputs = line.inputs, .sweeps = line.sweeps};
  for (const auto& side : work.sides)
    if (side.path.empty())
      options.operator_name =
          loaders::recorded_name(std::string_view(side.spelled).substr(loaders::operator_prefix.size()));
  work.cases = loaders::find_cases(options, [&](const std::string& text) {
    errors << "pace: " << pace::report::printable_lines(text) << '\n' << std::flush;
  });
}

/// A file may change under the same name.
pace::report::Configuration configuration() {
  pace::report::Configuration all;
  if (runs || is_dry_run)
    for (const auto& [path, digest] : files::digests_of(files::files_read(line, work.sides)))
      all["content of " + path] = digest;
  return all;
}

TEST_CASE("files compute the same, and fast enough", "[files]") {
  // As torch.inference_mode() in Python: no layer of autograd is called. Python functions alone run as in Python.
  const c10::InferenceMode inference(!std::ranges::all_of(work.sides, files::is_python));
  files::FileComparison comparison(line, work.sides, work.device);
  if (is_dry_run)
    for (const auto& problem : problems_of_dry_run()) FAIL_CHECK(problem);
  for (const auto& one : work.cases)
    if (const auto result = comparison.run(one)) CHECK_THAT(*result, pace::AsExpected());
}

// Names of files are part of many messages.
CATCH_TRANSLATE_EXCEPTION(const pace::Error& error) { return pace::report::printable_lines(error.what()); }

}  // namespace

int main(int argc, char** argv) {
  pace::runner::SessionConfig config;
  config.own_options = files::file_options(line);
  config.replaced = files::replaced_options;
  config.after_parse = resolve_options;
  config.configuration = configuration;
  config.prepare = prepare;
  config.list = [](std::ostream& out) {
    for (const auto& one : work.cases) out << pace::report::printable(pace::valid_utf8(one.name)) << '\n';
  };
  config.progress_parts = "cases";
  config.isolated = true;
  return pace::runner::main(argc, argv, config);
}
