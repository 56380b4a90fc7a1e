// Operators on recorded inputs, by every back end side by side: a test under `bazel test`, a program under `bazel run`.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <locale>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <unistd.h>

#include <c10/core/InferenceMode.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/catch_translate_exception.hpp>

#include "benches/files/aot/device.hpp"
#include "benches/operators/backends/default_backends.hpp"
#include "benches/operators/backends/valid_inputs.hpp"
#include "benches/operators/backward.hpp"
#include "benches/operators/cases.hpp"
#include "benches/operators/command_line.hpp"
#include "benches/operators/compared_outputs.hpp"
#include "benches/operators/compat/execution_times.hpp"
#include "benches/operators/compat/run.hpp"
#include "benches/operators/compat_timer.hpp"
#include "benches/operators/declared_inputs.hpp"
#include "benches/operators/default_set.hpp"
#include "benches/operators/foreign_timer.hpp"
#include "benches/operators/replay.hpp"
#include "benches/operators/selection.hpp"
#include "benches/operators/suite_report.hpp"
#include "benches/operators/under_callgrind.hpp"
#include "pace/base/digest.hpp"
#include "pace/base/utf8.hpp"
#include "pace/catch2.hpp"
#include "pace/os/bazel.hpp"
#include "pace/os/new_folders.hpp"
#include "pace/os/read_file.hpp"
#include "pace/report/text.hpp"
#include "pace/runner/cases.hpp"
#include "pace/runner/current_directory.hpp"
#include "pace/runner/process_files.hpp"
#include "pace/runner/session.hpp"

namespace {

namespace operators = pace::benches::operators;
namespace fs = std::filesystem;

pace::benches::operators::CommandLine line;
/// Whose inputs are replayed: pace's own; those that the program's source files declare.
bool shipped = false, declared = false;
/// The categories of the shipped set, if that is replayed.
std::vector<pace::benches::operators::Category> categories;
/// What the suite is called in names of files and in the summary.
std::string suite_name;
/// Why this process does not run under Callgrind although that was asked for; empty otherwise.
std::string why_not_callgrind;
/// The file of the table of operators; empty: none is kept.
std::string table_path;
/// Whether operators of one sample have a line beside that of the table of results.
bool every_line = false;

/// On the shipped inputs compiled code is far from that slow, unless something is wrong with it: what came to a third
/// of it on any machine that was tried is only reported.
constexpr double shipped_guard = 10;

pace::benches::operators::BackendRegistry backends() {
  pace::benches::operators::BackendOptions options;
  for (const auto& directory : line.replay.packages) options.packages.directories.emplace_back(directory);
  options.inductor_configs = line.inductor_configs;
  return pace::benches::operators::BackendRegistry::with_defaults(options);
}

bool has(const pace::benches::operators::Category& category, const std::string& op) {
  return std::ranges::find(category.operators, op) != category.operators.end();
}

/// Checks each result as it comes, and hands it on.
class Checked final : public operators::ReplayListener {
 public:
  explicit Checked(operators::SuiteReport& report) : report_(report) {}
  void begin(const operators::Selected& selected) override { report_.begin(selected); }
  void result(const operators::Selected& selected, std::size_t offset, const pace::Result& result) override {
    report_.result(selected, offset, result);
    compared_.add(result);
    if (!pace::benches::operators::result_is_uninitialised(selected.op->name) && !shows_nothing(result)) {
      CHECK_THAT(result, pace::AsExpected());
      return;
    }
    // There is nothing to be right or wrong about, and only then is that no reason to fail.
    pace::Result timed = result;
    for (auto& each : timed.implementations) each.checked = true;
    CHECK_THAT(timed, pace::AsExpected());
  }
  void end(const operators::Selected& selected, pace::Nanoseconds elapsed) override { report_.end(selected, elapsed); }

  [[nodiscard]] const operators::ComparedOutputs& compared() const { return compared_; }

 private:
  /// Whether outputs have no elements, or are NaN throughout, as of a root of the only number that was drawn.
  [[nodiscard]] static bool shows_nothing(const pace::Result& result) {
    return std::ranges::any_of(result.implementations, [](const pace::ImplementationResult& row) {
      return row.is_baseline && row.uncompared && *row.uncompared != pace::Uncompared::varies;
    });
  }

  operators::SuiteReport& report_;
  operators::ComparedOutputs compared_;
};

/// The options given that ask something of outputs, or of times that only right outputs give a meaning.
std::string asked_of_outputs() {
  std::string options;
  for (const char* const option : {"--accuracy-checking", "--no-slower-than", "--instructions-at-most"}) {
    if (!line.given.has(option)) continue;
    if (option == std::string_view("--accuracy-checking") && !line.replay.accuracy_only) continue;
    options += (options.empty() ? "" : " and ") + std::string(option);
  }
  return options;
}

pace::corpus::Corpus inputs() {
  if (!declared) return pace::benches::operators::load(line.replay, /*compat=*/line.generation().has_value());
  const auto tags = line.tag.empty() ? std::vector<std::string>() : operators::split_list(line.tag, "--tag");
  return operators::declared_inputs(line.replay.device, line.dtype, tags);
}

/// How often operator_benchmark calls what it times.
operators::compat::Iterations iterations() {
  operators::compat::Iterations number;
  if (line.given.has("--budget")) number.enough = pace::run_context().options.budget;
  number.fixed = line.iterations.has_value();
  number.first = line.iterations.value_or(number.first);
  number.warm_up = line.warm_up_iterations;
  number.runs = line.runs;
  number.least = line.least_time;
  return number;
}

operators::compat::CompatOptions compat_options();

/// What of them is empty when the program ends is removed.
std::deque<pace::NewFolders> new_folders;

/// Makes the folder, if need be. Throws InputError if it cannot be made or written to.
void require_folder(const fs::path& folder) {
  new_folders.emplace_back(folder);
  if (::access(folder.empty() ? "." : folder.c_str(), W_OK) != 0)
    throw pace::InputError({folder.string()}, "--output-dir: expected a folder that can be written to");
}

/// What will be done, made of inputs and files that the options name. Making it finds what is wrong with them.
struct Work {
  /// Throws InputError for inputs that cannot be read or leave nothing to measure, and for files that cannot be
  /// written.
  Work(std::ostream& out, std::ostream& errors) : corpus(inputs()), registry(backends()) {
    if (line.profile) require_folder(fs::path(line.output_dir) / "log");
    // What was left out of a suite fails the run in the end, and stops nothing.
    for (const auto& reject : corpus.rejects())
      errors << "left out: " << pace::report::printable_lines(reject.message) << '\n' << std::flush;
    if (const auto generation = line.generation()) {
      const auto options = compat_options();
      timer = std::make_unique<pace::benches::operators::CompatTimer>(options.device);
      flow =
          std::make_unique<operators::compat::Flow>(*generation, corpus, options, registry, timer->get(), out, errors);
      if (!flow->has_samples())
        throw pace::InputError({line.replay.inp_file.empty() ? line.replay.suite_dir : line.replay.inp_file},
                               "nothing would be measured: --op " + line.op.value_or("all") + ", --start-idx " +
                                   std::to_string(options.start_idx) + ", --max-samples " +
                                   std::to_string(options.max_samples) +
                                   " and the original's rules leave no sample of " +
                                   std::to_string(corpus.operators().size()) + " recorded operators");
      return;
    }
    selection = operators::select(corpus, line.replay, [&](const std::string& text) { errors << text << std::endl; });
    if (line.execution_times()) {
      timer = std::make_unique<pace::benches::operators::CompatTimer>(line.replay.device);
      execution_times = std::make_unique<operators::compat::ExecutionTimes>(
          line.replay, registry, timer->get(), iterations(), line.for_observer, out, errors);
      return;
    }
    std::size_t samples = 0;
    for (const auto& selected : selection)
      for (const auto& sample : selected.samples)
        samples += line.replay.pass == operators::Pass::forward ? 1 : operators::gradient_cases(sample).size();
    report = std::make_unique<operators::SuiteReport>(operators::split_list(line.replay.backends, "--backends"),
                                                      table_path, samples, every_line, out);
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  pace::corpus::Corpus corpus;
  pace::benches::operators::BackendRegistry registry;
  /// With --compat.
  std::unique_ptr<pace::benches::operators::CompatTimer> timer;
  std::unique_ptr<operators::compat::Flow> flow;
  std::unique_ptr<operators::compat::ExecutionTimes> execution_times;
  /// Without it, or with --compat operator_benchmark; they refer to the corpus.
  std::vector<operators::Selected> selection;
  std::unique_ptr<operators::SuiteReport> report;
};
std::unique_ptr<Work> work;

std::string complaint() {
  const std::size_t left_out = work ? work->corpus.rejects().size() : 0;
  if (left_out == 0) return "";
  return std::to_string(left_out) +
         " of the lines and files of the inputs could not be read and were left out; see above";
}

/// Names of the cases of a sample: several where a backward pass has choices of gradients.
std::vector<std::string> case_names(const operators::Selected& selected, std::size_t offset) {
  std::vector<std::string> names;
  auto gradients = std::vector<operators::GradientCase>{{}};
  if (line.replay.pass != operators::Pass::forward) gradients = operators::gradient_cases(selected.samples[offset]);
  for (const auto& each : gradients) names.push_back(operators::case_name(selected, offset, each.suffix));
  return names;
}

/// In a dry run: fails for each case that the run would refuse, as far as that shows without a measurement.
void fail_for_problems_of_dry_run(const operators::Replay& replay) {
  const auto* const chosen = dynamic_cast<const pace::runner::ChosenCases*>(pace::run_context().cases);
  if (chosen == nullptr) return;
  std::set<std::string> listed;
  for (const auto& each : chosen->planned())
    if (!each.is_kept) listed.insert(each.plan.name);
  for (const auto& selected : work->selection)
    for (std::size_t offset = 0; offset < selected.samples.size(); ++offset) {
      if (std::ranges::none_of(case_names(selected, offset),
                               [&](const std::string& name) { return listed.contains(pace::valid_utf8(name)); }))
        continue;
      if (const auto problem = replay.problem(selected, offset); !problem.empty())
        FAIL_CHECK(pace::report::printable_lines(problem));
    }
}

void replay() {
  const auto& selection = work->selection;
  auto& report = *work->report;
  operators::Replay replay(line.replay, work->registry);
  Checked checked(report);
  // One section for each category, so that Catch2 names the one that failed.
  std::vector<operators::Selected> others;
  std::ranges::copy_if(selection, std::back_inserter(others), [](const auto& each) {
    return std::ranges::none_of(categories, [&](const auto& category) { return has(category, each.op->name); });
  });
  replay.run(others, checked);
  for (const auto& category : categories) {
    std::vector<operators::Selected> members;
    std::ranges::copy_if(selection, std::back_inserter(members),
                         [&](const auto& each) { return has(category, each.op->name); });
    INFO("category " << category.name);
    replay.run(members, checked);
  }
  fail_for_problems_of_dry_run(replay);
  // In a dry run, and where --case names none of these, there is nothing to sum up.
  if (!report.empty()) report.finish(suite_name + ", " + line.replay.dtype, replay.making_inputs());
  if (const auto options = asked_of_outputs(); !options.empty())
    if (const auto problem = checked.compared().problem(); !problem.empty()) FAIL_CHECK(options << ": " << problem);
}

operators::compat::CompatOptions compat_options() {
  operators::compat::CompatOptions options;
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
  options.seed = pace::run_context().options.seed;
  options.output_directory = line.output_dir;
  return options;
}

/// The names of all cases, one a line.
void list_cases(std::ostream& out) {
  for (const auto& selected : work->selection)
    for (std::size_t offset = 0; offset < selected.samples.size(); ++offset)
      for (const auto& name : case_names(selected, offset))
        out << pace::report::printable(pace::valid_utf8(name)) << '\n';
}

void replay_as_upstream() {
  const auto summary = work->flow->run();
  if (summary.errors > 0) FAIL_CHECK(summary.errors << " samples could not be run; see their lines");
  if (summary.mismatches > 0) FAIL_CHECK(summary.mismatches << " results differed from eager's; see their lines");
}

void print_execution_times() {
  const auto summary = work->execution_times->run(work->selection);
  if (summary.errors > 0) FAIL_CHECK(summary.errors << " tests could not be run; see their lines");
}

TEST_CASE("operators compute the same on every back end, and fast enough", "[operators]") {
  if (line.execution_times()) return print_execution_times();
  if (line.compat) return replay_as_upstream();
  // Recorded calls were seen below autograd; see OperatorCall.
  const c10::InferenceMode inference(line.replay.pass == operators::Pass::forward);
  replay();
}

// Names of files and operators are part of many messages.
CATCH_TRANSLATE_EXCEPTION(const pace::Error& error) { return pace::report::printable_lines(error.what()); }

/// The folder of a suite that was named.
fs::path find_suite(const std::string& name) {
  std::string folder = name + "_train";
  if (name == "huggingface")
    folder = "hf_train";
  else if (name != "timm" && name != "torchbench")
    throw pace::InputError({}, "--suite: expected timm, huggingface or torchbench, found '" + name + "'");
  std::vector<fs::path> places;
  if (!line.replay.suite_dir.empty()) places.emplace_back(line.replay.suite_dir);
  if (const auto root = pace::environment_variable("PACE_OPERATOR_INPUTS"); !root.empty()) places.emplace_back(root);
  places.emplace_back(pace::user_path("operator_inp_logs"));
  places.emplace_back(pace::user_path("."));
  std::string looked;
  for (const auto& place : places) {
    if (fs::is_directory(place / folder)) return place / folder;
    if (place.filename() == folder && fs::is_directory(place)) return place;
    looked += (looked.empty() ? "" : ", ") + place.string();
  }
  throw pace::InputError({}, "--suite " + name + ": expected a folder " + folder + " in one of: " + looked +
                                 "; name it by --suite-dir, or its parent by PACE_OPERATOR_INPUTS");
}

/// Which inputs, and what they are called.
void resolve_inputs() {
  auto& options = line.replay;
  options.inp_file = pace::user_path(options.inp_file);
  options.suite_dir = pace::user_path(options.suite_dir);
  if (line.suite && options.inp_file.empty()) {
    options.suite_dir = find_suite(*line.suite).string();
    suite_name = *line.suite;
    return;
  }
  const bool none_named = options.inp_file.empty() && options.suite_dir.empty();
  declared = none_named && line.category.empty() && !operators::detail::declared_cases().empty();
  if (declared) {
    options.dtype = "recorded";
    suite_name = "declared";
    return;
  }
  shipped = none_named;
  if (shipped) {
    std::vector<std::string> wanted;
    if (!line.category.empty()) wanted = operators::split_list(line.category, "--category");
    if (!line.op)
      categories = pace::benches::operators::choose_default_set(
          options, pace::shipped_file(pace::benches::operators::shipped_set), wanted);
    options.suite_dir = pace::shipped_file(pace::benches::operators::shipped_corpus);
    options.packages = {pace::shipped_file("benches/operators/packages"),
                        pace::shipped_file("benches/operators/more_packages")};
    // So few rounds as accuracy checking makes resolve no speed.
    if (options.no_slower_than)
      options.reported.clear();
    else if (!options.accuracy_only)
      options.no_slower_than = shipped_guard;
  }
  const fs::path path(options.inp_file.empty() ? options.suite_dir : options.inp_file);
  suite_name = line.suite.value_or((path.has_filename() ? path : path.parent_path()).stem().string());
}

void resolve_backends() {
  auto& options = line.replay;
  // Compiled packages have no backward pass, and operator_benchmark has its own mode Eager.
  if (options.pass != operators::Pass::forward) options.backends = "eager,torchscript";
  if (line.execution_times()) options.backends = "eager";
  if (line.backends) options.backends = *line.backends;
  const std::string fused = options.device == "cpu" ? "torchscript" : "torchscript_cuda_graph";
  const auto named = operators::split_list(options.backends, "--backends");
  if (line.measure_nvfuser && std::ranges::find(named, fused) == named.end()) options.backends += ',' + fused;
  for (const auto& config : line.inductor_configs) options.backends += ',' + pace::benches::aot::backend_of(config);
}

/// Standard output is the original's alone; results go to the files that were asked for.
void resolve_compat(pace::runner::SessionOptions& session) {
  if (const auto generation = line.generation()) (void)operators::compat::validate(compat_options(), *generation);
  session.no_table = true;
  if (!line.given.has("--threads")) session.threads = 0;
}

/// Makes the counter of instructions. Throws InputError for what cannot be counted, Unsupported where there is none.
void resolve_counter(const pace::runner::SessionOptions& session) {
  auto& options = line.replay;
  if (!pace::benches::aot::parse_device(options.device).is_cpu())
    throw pace::InputError({}, "--count-instructions has no meaning with --device " + options.device +
                                   ": instructions of the CPU are counted; expected --device cpu");
  if (session.threads != 1)
    throw pace::InputError({}, "--count-instructions does not go with --threads " + std::to_string(session.threads) +
                                   ", since threads that wait execute instructions, too; expected --threads 1");
  if (options.instructions_at_most && operators::split_list(options.backends, "--backends").size() < 2)
    throw pace::InputError({}, "--instructions-at-most has nothing to judge: --backends names the baseline alone ('" +
                                   options.backends + "'); expected a candidate beside it, such as " +
                                   options.backends + ",torchscript");
  options.no_slower_than.reset();
  if (!session.measures) return;
  if (*line.counter == operators::Counter::perf) {
    options.counter = std::make_shared<pace::timing::PerfCounter>();
    return;
  }
  if (!why_not_callgrind.empty()) throw pace::Unsupported(why_not_callgrind);
  options.counter =
      std::make_shared<pace::timing::CallgrindCounter>(pace::environment_variable(operators::callgrind_files_variable));
}

/// Replaces this process by the same program under Callgrind, if the options ask for that and can be read. What is
/// wrong with them is found by the session, and sooner without Callgrind.
void enter_callgrind_if_asked(int argc, char** argv) {
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  try {
    operators::CommandLine asked;
    pace::runner::SessionOptions session;
    auto groups = operators::operator_options(asked, {});
    for (auto& group : pace::runner::pace_options(session)) groups.push_back(std::move(group));
    asked.given = pace::args::parse(groups, words, {.keeps_rest = true, .has_help = false});
    if (asked.counter != operators::Counter::callgrind) return;
    operators::require_meaning(asked);
  } catch (const pace::Error&) {
    return;
  }
  try {
    operators::enter_callgrind(words);
  } catch (const pace::Error& error) {
    why_not_callgrind = error.what();
  }
}

void resolve_options(pace::runner::SessionOptions& session) {
  auto& options = line.replay;
  line.given = session.given;
  pace::benches::operators::require_meaning(line);
  every_line = session.verbose || session.no_table;
  for (const char* option : {"--case", "--list", "--dry-run"})
    if (line.compat && line.given.has(option))
      throw pace::InputError({}, std::string(option) +
                                     " does not go with --compat, whose loop is PyTorch's own and chooses on its way "
                                     "what it runs; expected --op, --start-idx and --max-samples");
  if (line.backward || line.forward_backward)
    options.pass = line.backward ? operators::Pass::backward : operators::Pass::both;
  resolve_inputs();
  // choose_default_set() takes fewer than the original does.
  if (line.generation()) options.max_samples = operators::ReplayOptions().max_samples;
  options.max_samples = line.max_samples.value_or(options.max_samples);
  if (line.op && !line.generation()) options.op = *line.op;
  if (line.dtype) options.dtype = *line.dtype;
  options.device = line.device.value_or(line.generation() ? "cuda" : "cpu");
  line.output_dir = pace::output_path(line.output_dir.empty() ? "." : line.output_dir);
  if (!line.category.empty() && (!shipped || line.op))
    throw pace::InputError({},
                           "--category chooses from the shipped inputs; it does not go with --inp-file, --suite-dir, "
                           "--suite or --op");
  if (!line.tag.empty() && !declared)
    throw pace::InputError({},
                           "--tag chooses from the cases that the program's source files declare, and these inputs are "
                           "recorded; expected no --tag");
  pace::benches::aot::use_fuser(line.fuser);
  resolve_backends();
  if (line.given.has("--no-slower-than") && operators::split_list(options.backends, "--backends").size() < 2)
    throw pace::InputError({}, "--no-slower-than has nothing to judge: --backends names the baseline alone ('" +
                                   options.backends + "'); expected a candidate beside it, such as " +
                                   options.backends + ",torchscript");
  if (line.profile) options.traces = line.output_dir;
  if (line.counter) resolve_counter(session);
  if (!line.timer.empty()) {
    operators::require_foreign_timer(line.timer, options.device);
    using pace::benches::timers::LastCall;
    if (session.measures) {
      options.clock = operators::foreign_timer(line.timer, options.device, LastCall::timed);
      options.clock_of_writers = operators::foreign_timer(line.timer, options.device, LastCall::anew);
    }
  }
  // Before anything is compiled or measured.
  if (line.compat) resolve_compat(session);
  (void)operators::parse_dtype(options.dtype);
  if (pace::benches::aot::parse_device(options.device).is_cpu())
    pace::runner::refuse_options_for_gpu(session, "operators run there; expected --device cuda beside it");
  auto registry = backends();
  (void)operators::Replay(options, registry);
  const auto named = operators::split_list(options.backends, "--backends");
  if (line.given.has("--fuser") && !line.generation() &&
      std::ranges::none_of(named, [&](const auto& name) { return registry.find(name).uses_fuser(); }))
    throw pace::InputError(
        {}, "--fuser has no meaning with --backends " + options.backends + ": none of them is TorchScript");
  // All of a user's suite: that takes a while, and is what the table and --resume are for.
  const bool whole_suite = !line.compat && !line.counter && options.op == "all" && session.cases.empty() &&
                           !session.list && (!shipped || !pace::undeclared_outputs().empty());
  if (line.given.has("--output-dir") && !whole_suite && !line.compat && !line.profile)
    throw pace::InputError(
        {},
        "--output-dir has no meaning here, since nothing is written there; expected all operators of "
        "inputs that --suite, --suite-dir or --inp-file names and no --count-instructions, or --profile, or --compat");
  if (!whole_suite) return;
  require_folder(line.output_dir);
  const std::string stem =
      (fs::path(line.output_dir) / ("operatorbench_" + suite_name + '_' + options.dtype)).lexically_normal().string();
  session.more_files = {stem + ".csv"};
  table_path = pace::runner::own_path(session.more_files.front());
  if (session.json.empty()) session.json = fs::absolute(stem + ".json").string();
}

/// The hash of the recorded inputs; empty of those that cannot be read, which Work finds.
std::string digest_of_inputs(const operators::ReplayOptions& options) {
  std::vector<fs::path> files;
  std::error_code problem;
  if (!options.inp_file.empty()) files = {options.inp_file};
  if (!options.suite_dir.empty())
    for (fs::directory_iterator entry(options.suite_dir, problem); !problem && entry != fs::directory_iterator();
         entry.increment(problem))
      if (std::error_code of_file; entry->path().extension() == ".txt" && entry->is_regular_file(of_file))
        files.push_back(entry->path());
  std::ranges::sort(files);
  pace::Digest digest;
  for (const auto& file : files) {
    try {
      digest.add(file.filename().string() + '\n' + pace::read_file(file.string(), "recorded inputs"));
    } catch (const pace::InputError&) {
      return "";
    }
  }
  return digest.text();
}

pace::report::Configuration configuration() {
  const auto& options = line.replay;
  pace::report::Configuration all;
  all["inputs"] = options.inp_file.empty() ? options.suite_dir : options.inp_file;
  // Names stay the same when what they name has changed.
  all["content of inputs"] = digest_of_inputs(options);
  all["--compat"] = !line.compat                                             ? ""
                    : *line.compat == operators::Original::operatorbench_old ? "old"
                    : *line.compat == operators::Original::operatorbench_new ? "new"
                                                                             : "operator_benchmark";
  all["--op"] = line.generation() ? line.op.value_or("all") : options.op;
  all["--measure-nvfuser"] = line.measure_nvfuser ? "yes" : "no";
  all["--skip-rules"] = options.skip_rules == operators::SkipRules::none ? "none" : "upstream";
  all["--tag"] = line.tag;
  all["--operator-range"] = options.letters;
  all["--iterations"] = line.iterations ? std::to_string(*line.iterations) : "";
  all["--warmup-iterations"] = std::to_string(line.warm_up_iterations);
  all["--num-runs"] = std::to_string(line.runs);
  all["--min-time-per-test"] = std::to_string(line.least_time.count());
  all["--dtype"] = options.dtype;
  all["--device"] = options.device;
  all["--max-samples"] = std::to_string(options.max_samples);
  all["--start-idx"] = std::to_string(options.start_idx);
  all["--backends"] = options.backends;
  all["--timer"] = line.timer;
  all["pass"] = operators::to_string(options.pass);
  all["--channels-last"] = options.channels_last ? "yes" : "no";
  all["--accuracy-checking"] = options.accuracy_only ? "yes" : "no";
  all["--repeats"] = options.repeats ? std::to_string(*options.repeats) : "";
  all["--count-instructions"] = !line.counter                                    ? ""
                                : *line.counter == operators::Counter::callgrind ? "callgrind"
                                                                                 : "perf";
  all["--fuser"] = pace::benches::aot::to_string(line.fuser);
  std::ostringstream limit;
  limit.imbue(std::locale::classic());
  if (options.no_slower_than) limit << *options.no_slower_than;
  all["--no-slower-than"] = limit.str();
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  enter_callgrind_if_asked(argc, argv);
  pace::runner::SessionConfig config;
  config.options.budget = std::chrono::milliseconds(300);
  // The table is the purpose; that no back end is far too slow is decided long before.
  config.options.stop = pace::StopPolicy::budget;
  config.own_options = pace::benches::operators::operator_options(line, backends().names());
  config.after_parse = resolve_options;
  config.configuration = configuration;
  config.prepare = [](std::ostream& out, std::ostream& errors) { work = std::make_unique<Work>(out, errors); };
  config.complaint = complaint;
  config.list = list_cases;
  config.progress_parts = "samples";
  // What it would write is a part of a suite.
  config.not_repeated = {"--output-dir", "--profile"};
  config.isolated = true;
  return pace::runner::main(argc, argv, config);
}
