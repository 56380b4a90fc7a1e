// The parts that a program of models brings with it, and its exit codes.
#pragma once

#include <cstddef>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "benches/models/backend_names.hpp"
#include "benches/models/command_line.hpp"
#include "benches/models/driver/child.hpp"
#include "benches/models/driver/json_record.hpp"
#include "benches/models/driver/known_model.hpp"
#include "benches/models/driver/run_here.hpp"
#include "benches/models/row.hpp"
#include "pace/os/pages.hpp"
#include "pace/report/environment.hpp"

namespace pace::benches::models {

/// Facts of a program that this file does not know.
struct Dependencies {
  std::vector<KnownModel> models;
  RunModel run;
  /// Names of all back ends.
  std::vector<std::string> backends = names_of_backends();
  /// The YAML file where no option names one; empty: none.
  std::string config_file = {};
  /// Devices where no option names one.
  std::function<std::vector<std::string>()> default_devices = [] { return std::vector<std::string>{"cpu"}; };
  /// Adds the files of a command line to the models that `run` takes, and returns their facts; empty: files are
  /// refused. Throws InputError for files, inputs and options that do not go together.
  std::function<std::vector<KnownModel>(const std::vector<ModelFile>& files, const CommandLine&)> add_files = {};
  /// Called in the process that runs a model, before it does.
  std::function<void(const CommandLine&)> prepare = [](const CommandLine&) {};
  /// Compiles packages of these models on their devices, into a folder or, if it is empty, to where they are kept.
  /// Gives `take` a row with each compile time, and returns how many failed to compile.
  using Compile = std::function<std::size_t(const std::vector<ChosenModel>& models, const Settings&, const Config&,
                                            const std::string& folder, const std::function<void(const Row&)>& take,
                                            std::ostream& log)>;
  Compile compile = {};
  /// Facts beside options that must be equal for one run to continue another: LibTorch, processor, GPUs. Asked for once
  /// options that choose GPUs have been heeded.
  std::function<Configuration()> identity = [] { return Configuration{}; };
  /// Where a path leads that was typed: of a file that is read, and of one that is written.
  std::function<std::string(const std::string&)> user_path = [](const std::string& path) { return path; },
                                                 output_path = user_path;
  /// Limits of the models' processes; the command line goes over all but their clock.
  ChildLimits limits = {};
  /// Machine and program, for the file of comparisons, of a command line.
  std::function<report::Environment(const std::vector<std::string>& words)> environment = [](const auto& words) {
    return report::read_environment(words);
  };
  /// Returns the pages of a run with this path for `--html`, which may be empty.
  std::function<Pages(const std::string& html)> pages = [](const std::string& html) { return Pages(html, "", ""); };
  /// The file of comparisons where no option names one; empty: there is none.
  std::string json_of_test = {};
  /// Under `bazel test` every row is a gate.
  bool is_test = false;
};

/// In addition to run/exit_code.hpp: 1 is of bad input and of rows that got lost, 128 and more of a signal.
inline constexpr int exit_bad_input = 1, exit_signal = 128;

}  // namespace pace::benches::models
