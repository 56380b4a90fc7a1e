// The command line of the models' bench, as resolved.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "benches/models/driver/driver.hpp"
#include "benches/models/driver/json_record.hpp"
#include "benches/models/driver/result_files.hpp"
#include "benches/models/driver/selection.hpp"
#include "benches/models/model_file.hpp"
#include "benches/models/settings.hpp"
#include "pace/args/command_line.hpp"
#include "pace/result/options.hpp"

namespace pace::benches::models {

struct CommandLine {
  Settings settings;
  Selection selection;
  OutputOptions output;
  Packages packages = Packages::kept;
  /// None: a GPU if there is one, else the CPU.
  std::vector<std::string> devices;
  /// Models by name, or as files; empty: all that are selected.
  std::vector<std::string> models;
  /// For the files among them: one for all, or one each.
  std::vector<std::string> inputs;
  std::vector<std::string> libraries;
  bool trust = false;
  /// The files among `models`, once they are known from names.
  std::vector<ModelFile> files;
  /// The model to run in this process; empty: all that are selected, each in one of its own.
  std::string only;
  /// In the process of one model: the file for its rows.
  std::string rows_to;
  /// In the process of one model: its part of the run. `3/12/45.2/1` is the third of twelve models, begun after 45.2 s,
  /// and one other ran in that time. Empty: there is one model alone.
  std::string part;
  /// The devices of a process of one model, some of those that the user named; empty: all of them.
  std::vector<std::string> rows_of;
  /// Whether the user, or the default, names several devices; rows_of may be one of them.
  bool several_devices = false;
  /// How comparisons measure, in performance runs.
  Options measuring;
  /// The YAML file; empty: the program's own.
  std::string config_file;
  std::string batch_size_file, device_index, fuser = "default";
  /// The file of comparisons, and the page; empty: none.
  std::string json, html;
  /// The folder of --profiler-trace-name; empty: traces, where the results are.
  std::string trace_name;
  /// Seconds; GB, 0 for no limit, none for all that is free.
  double timeout = 2000;
  std::optional<double> memory_limit;
  bool help = false, list = false, progress = false, resume = false, retain = false, gate = false, ci = false,
       dashboard = false, quiet = false, verbose = false, print_memory = false, print_compilation_time = false,
       print_rows = false, compile_only = false, allow_undecided = false, allow_unmeasured = false, dry_run = false,
       no_progress = false;
  /// With compile_only: whether an option asks for the file of compile times.
  bool compilation_metrics = false;
  /// Where packages go if they are all that is made; empty: to where they are kept.
  std::string compile_to;
  /// All options but those for the place and the form of the results. Two runs must have them in common for one to go
  /// on from the other.
  Configuration configuration;
  /// All options, as they were given.
  args::Arguments given;
};

}  // namespace pace::benches::models
