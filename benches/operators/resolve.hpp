// Resolves the options of the operator bench together: which inputs, which back ends, which timer, which files.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "benches/files/aot/device.hpp"
#include "benches/files/aot/fuser.hpp"
#include "benches/files/aot/inductor_configs.hpp"
#include "benches/operators/backends/default_backends.hpp"
#include "benches/operators/backends/registered.hpp"
#include "benches/operators/cases.hpp"
#include "benches/operators/command_line.hpp"
#include "benches/operators/compat/options.hpp"
#include "benches/operators/default_set.hpp"
#include "benches/operators/foreign_timer.hpp"
#include "benches/operators/meaning.hpp"
#include "benches/operators/options.hpp"
#include "benches/operators/replay.hpp"
#include "benches/operators/under_callgrind.hpp"
#include "pace/base/error.hpp"
#include "pace/os/bazel.hpp"
#include "pace/os/new_folders.hpp"
#include "pace/run/run_context.hpp"
#include "pace/runner/process_files.hpp"
#include "pace/runner/session_options.hpp"
#include "pace/timing/instruction_counter.hpp"

namespace pace::benches::operators {

/// Facts that follow from the options and are not in CommandLine.
struct Resolved {
  /// The source of the replayed inputs: pace's own; those that the program's source files declare.
  bool shipped = false, declared = false;
  /// The categories of the shipped set, if that is replayed.
  std::vector<Category> categories;
  /// The suite's name in file names and in the summary.
  std::string suite_name;
  /// The file of the table of operators; empty: none is kept.
  std::string table_path;
  /// Whether operators of one sample get a line of their own beside the table of results.
  bool every_line = false;
  /// Folders that were made. Those that are empty when the program ends are removed.
  std::deque<NewFolders> new_folders;

  /// Makes the folder, if need be. Throws InputError if it cannot be made or written to.
  void require_folder(const std::filesystem::path& folder) {
    new_folders.emplace_back(folder);
    if (::access(folder.empty() ? "." : folder.c_str(), W_OK) != 0)
      throw InputError({folder.string()}, "--output-dir: expected a folder that can be written to");
  }
};

/// The back ends that the options choose from.
[[nodiscard]] inline BackendRegistry registry_of(const CommandLine& line) {
  BackendOptions options;
  for (const auto& directory : line.replay.packages) options.packages.directories.emplace_back(directory);
  options.inductor_configs = line.inductor_configs;
  return BackendRegistry::with_defaults(options);
}

/// The options of operatorbench's own loop.
[[nodiscard]] inline compat::CompatOptions compat_options_of(const CommandLine& line, const std::string& suite_name) {
  compat::CompatOptions options;
  options.suite = suite_name;
  // Any but empty: the suite has a name of the originals' only where it was named.
  options.inp_file = line.suite ? line.replay.inp_file : suite_name;
  options.op = line.op;
  options.dtype = line.dtype;
  options.max_samples = line.replay.max_samples;
  options.start_idx = line.replay.start_idx;
  options.repeats = line.replay.repeats.value_or(3);
  options.accuracy_checking = line.replay.accuracy_only;
  options.measure_nvfuser = line.measure_nvfuser;
  options.inductor_configs = line.inductor_configs;
  options.device = line.replay.device;
  options.channels_last = line.replay.channels_last;
  options.profile = line.profile;
  options.seed = run_context().options.seed;
  options.output_directory = line.output_dir;
  return options;
}

namespace detail {

/// On the shipped inputs compiled code is far from that slow, unless it is faulty. Operators that took a third of it on
/// any machine tried are only reported.
inline constexpr double shipped_guard = 10;

/// Resolves the options step by step; each step may read the settings of the steps before it.
class Resolver {
 public:
  Resolver(CommandLine& line, Resolved& resolved, runner::SessionOptions& session)
      : line_(line), replay_(line.replay), resolved_(resolved), session_(session) {}

  void choose_pass() {
    if (line_.backward || line_.forward_backward) replay_.pass = line_.backward ? Pass::backward : Pass::both;
  }

  /// Which inputs, and their names.
  void choose_inputs() {
    replay_.inp_file = user_path(replay_.inp_file);
    replay_.suite_dir = user_path(replay_.suite_dir);
    if (line_.suite && replay_.inp_file.empty()) {
      replay_.suite_dir = find_suite(*line_.suite).string();
      resolved_.suite_name = *line_.suite;
      return;
    }
    const bool none_named = replay_.inp_file.empty() && replay_.suite_dir.empty();
    resolved_.declared = none_named && line_.category.empty() && !declared_cases().empty();
    if (resolved_.declared) {
      replay_.dtype = "recorded";
      resolved_.suite_name = "declared";
      return;
    }
    resolved_.shipped = none_named;
    if (resolved_.shipped) take_shipped_inputs();
    const std::filesystem::path path(replay_.inp_file.empty() ? replay_.suite_dir : replay_.inp_file);
    resolved_.suite_name = line_.suite.value_or((path.has_filename() ? path : path.parent_path()).stem().string());
  }

  /// The inputs to measure, with their form and place.
  void choose_samples() {
    // choose_default_set() takes fewer than the original does.
    if (line_.generation()) replay_.max_samples = ReplayOptions().max_samples;
    replay_.max_samples = line_.max_samples.value_or(replay_.max_samples);
    if (line_.op && !line_.generation()) replay_.op = *line_.op;
    if (line_.dtype) replay_.dtype = *line_.dtype;
    replay_.device = line_.device.value_or(line_.generation() ? "cuda" : "cpu");
    if (!line_.category.empty() && (!resolved_.shipped || line_.op))
      throw InputError({},
                       "--category chooses from the shipped inputs; it does not go with --inp-file, --suite-dir, "
                       "--suite or --op");
    if (!line_.tag.empty() && !resolved_.declared)
      throw InputError({},
                       "--tag chooses from the cases that the program's source files declare, and these inputs are "
                       "recorded; expected no --tag");
  }

  void choose_backends() {
    // Compiled packages have no backward pass, and operator_benchmark has its own mode Eager.
    if (replay_.pass != Pass::forward) replay_.backends = "eager,torchscript";
    if (line_.execution_times()) replay_.backends = "eager";
    if (line_.backends) replay_.backends = *line_.backends;
    const std::string fused = replay_.device == "cpu" ? "torchscript" : "torchscript_cuda_graph";
    const auto named = split_list(replay_.backends, "--backends");
    if (line_.measure_nvfuser && std::ranges::find(named, fused) == named.end()) replay_.backends += ',' + fused;
    for (const auto& config : line_.inductor_configs) replay_.backends += ',' + aot::backend_of(config);
    for (const char* const limit : {"--no-slower-than", "--peak-memory-at-most"})
      if (line_.given.has(limit)) require_candidate(limit);
    // The guard of the shipped inputs is for candidates.
    if (!has_candidate()) replay_.no_slower_than.reset();
  }

  /// The timer that replaces pace's own clock. Throws InputError for options that cannot be counted or timed,
  /// Unsupported where there is no counter. `why_not_callgrind`: why this process does not run under Callgrind although
  /// the user asked for it.
  void choose_timer(const std::string& why_not_callgrind) {
    if (line_.counter) choose_counter(why_not_callgrind);
    if (line_.timer.empty()) return;
    require_foreign_timer(line_.timer, replay_.device);
    using timers::LastCall;
    if (!session_.measures) return;
    replay_.clock = foreign_timer(line_.timer, replay_.device, LastCall::timed);
    replay_.clock_of_writers = foreign_timer(line_.timer, replay_.device, LastCall::anew);
  }

  /// Standard output is the original's alone; results go to the files that were asked for.
  void follow_original() {
    if (!line_.compat) return;
    if (const auto generation = line_.generation())
      (void)compat::validate(compat_options_of(line_, resolved_.suite_name), *generation);
    session_.no_table = true;
    if (!line_.given.has("--threads")) session_.threads = 0;
  }

  /// Throws InputError for limits that only the back ends and the devices themselves know, before anything is compiled
  /// or measured.
  void require_runnable() const {
    (void)parse_dtype(replay_.dtype);
    if (aot::parse_device(replay_.device).is_cpu())
      runner::refuse_options_for_gpu(session_, "operators run there; expected --device cuda beside it");
    auto registry = registry_of(line_);
    (void)Replay(replay_, registry);
    const auto named = split_list(replay_.backends, "--backends");
    if (line_.given.has("--fuser") && !line_.generation() &&
        std::ranges::none_of(named, [&](const auto& name) { return registry.find(name).uses_fuser(); }))
      throw InputError({},
                       "--fuser has no meaning with --backends " + replay_.backends + ": none of them is TorchScript");
  }

  /// The files of a whole suite: all operators of a user's inputs take a while, and so need the table and --resume.
  void choose_files() {
    const bool whole_suite = !line_.compat && !line_.counter && replay_.op == "all" && session_.cases.empty() &&
                             !session_.list && (!resolved_.shipped || !undeclared_outputs().empty());
    if (line_.given.has("--output-dir") && !whole_suite && !line_.compat && !line_.profile)
      throw InputError(
          {},
          "--output-dir has no meaning here, since nothing is written there; expected all operators of inputs that "
          "--suite, --suite-dir or --inp-file names and no --count-instructions, or --profile, or --compat");
    if (!whole_suite) return;
    resolved_.require_folder(line_.output_dir);
    namespace fs = std::filesystem;
    const fs::path file = "operatorbench_" + resolved_.suite_name + '_' + replay_.dtype;
    const std::string stem = (fs::path(line_.output_dir) / file).lexically_normal().string();
    session_.more_files = {stem + ".csv"};
    resolved_.table_path = runner::own_path(session_.more_files.front());
    if (session_.json.empty()) session_.json = fs::absolute(stem + ".json").string();
  }

  /// Throws InputError for a file of results that is one of the recorded inputs.
  void refuse_to_overwrite_inputs() const {
    std::vector<std::string> read{replay_.inp_file};
    std::error_code ignored;  // a folder that cannot be read is refused where it is read
    if (!replay_.suite_dir.empty())
      for (const auto& entry : std::filesystem::directory_iterator(replay_.suite_dir, ignored))
        read.push_back(entry.path().string());
    runner::refuse_to_overwrite(session_, read);
  }

 private:
  /// The folder of a suite that was named.
  [[nodiscard]] std::filesystem::path find_suite(const std::string& name) const {
    namespace fs = std::filesystem;
    const std::string folder = (name == "huggingface" ? "hf" : name) + "_train";
    std::vector<fs::path> places;
    if (!replay_.suite_dir.empty()) places.emplace_back(replay_.suite_dir);
    if (const auto root = environment_variable("PACE_OPERATOR_INPUTS"); !root.empty()) places.emplace_back(root);
    places.emplace_back(user_path("operator_inp_logs"));
    places.emplace_back(user_path("."));
    std::string looked;
    for (const auto& place : places) {
      if (fs::is_directory(place / folder)) return place / folder;
      if (place.filename() == folder && fs::is_directory(place)) return place;
      looked += (looked.empty() ? "" : ", ") + place.string();
    }
    throw InputError({}, "--suite " + name + ": expected a folder " + folder + " in one of: " + looked +
                             "; name it by --suite-dir, or its parent by PACE_OPERATOR_INPUTS");
  }

  void take_shipped_inputs() {
    std::vector<std::string> wanted;
    if (!line_.category.empty()) wanted = split_list(line_.category, "--category");
    if (!line_.op) resolved_.categories = choose_default_set(replay_, shipped_file(shipped_set), wanted);
    replay_.suite_dir = shipped_file(shipped_corpus);
    replay_.packages = {shipped_file("benches/operators/packages"), shipped_file("benches/operators/more_packages")};
    // So few rounds as accuracy checking makes resolve no speed.
    if (replay_.no_slower_than)
      replay_.reported.clear();
    else if (!replay_.accuracy_only)
      replay_.no_slower_than = shipped_guard;
  }

  [[nodiscard]] bool has_candidate() const { return split_list(replay_.backends, "--backends").size() > 1; }

  /// Throws InputError for a limit on candidates where the baseline is alone.
  void require_candidate(const std::string& limit) const {
    if (!has_candidate())
      throw InputError({}, limit + " has nothing to judge: --backends names the baseline alone ('" + replay_.backends +
                               "'); expected a candidate beside it, such as " + replay_.backends + ",torchscript");
  }

  void choose_counter(const std::string& why_not_callgrind) {
    if (!aot::parse_device(replay_.device).is_cpu())
      throw InputError({}, "--count-instructions has no meaning with --device " + replay_.device +
                               ": instructions of the CPU are counted; expected --device cpu");
    if (session_.threads != 1)
      throw InputError({}, "--count-instructions does not go with --threads " + std::to_string(session_.threads) +
                               ", since threads that wait execute instructions, too; expected --threads 1");
    if (replay_.instructions_at_most) require_candidate("--instructions-at-most");
    replay_.no_slower_than.reset();
    if (!session_.measures) return;
    if (*line_.counter == Counter::perf) {
      replay_.counter = std::make_shared<timing::PerfCounter>();
      return;
    }
    if (!why_not_callgrind.empty()) throw Unsupported(why_not_callgrind);
    replay_.counter = std::make_shared<timing::CallgrindCounter>(environment_variable(callgrind_files_variable));
  }

  CommandLine& line_;
  ReplayOptions& replay_;
  Resolved& resolved_;
  runner::SessionOptions& session_;
};

}  // namespace detail

/// Sets `line` and `session` by all options together. Throws InputError for options that do not go together and for
/// files that are not there. `why_not_callgrind`: empty unless Callgrind was asked for and could not be started.
inline void resolve_options(CommandLine& line, Resolved& resolved, runner::SessionOptions& session,
                            const std::string& why_not_callgrind) {
  line.given = session.given;
  require_meaning(line);
  for (const char* option : {"--case", "--list", "--dry-run"})
    if (line.compat && line.given.has(option))
      throw InputError({}, std::string(option) +
                               " does not go with --compat, whose loop is PyTorch's own and chooses on its way what it "
                               "runs; expected --op, --start-idx and --max-samples");
  resolved.every_line = session.verbose || session.no_table;
  line.output_dir = output_path(line.output_dir.empty() ? "." : line.output_dir);
  if (line.profile) line.replay.traces = line.output_dir;
  aot::use_fuser(line.fuser);
  detail::Resolver resolver(line, resolved, session);
  resolver.choose_pass();
  resolver.choose_inputs();
  resolver.choose_samples();
  resolver.choose_backends();
  resolver.choose_timer(why_not_callgrind);
  resolver.follow_original();
  resolver.require_runnable();
  resolver.choose_files();
  resolver.refuse_to_overwrite_inputs();
}

}  // namespace pace::benches::operators
