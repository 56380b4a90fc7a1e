// Training steps of RNNs and CNNs, all runners side by side: a test under `bazel test`, a program under `bazel run`.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <catch2/catch_test_macros.hpp>

#include "benches/rnn/command_line.hpp"
#include "benches/rnn/device_choice.hpp"
#include "benches/rnn/fuser.hpp"
#include "benches/rnn/make_models.hpp"
#include "benches/rnn/measuring.hpp"
#include "benches/rnn/plan.hpp"
#include "benches/rnn/step_timer.hpp"
#include "benches/rnn/table.hpp"
#include "benches/rnn/train_bench.hpp"
#include "pace/catch2.hpp"
#include "pace/compare.hpp"
#include "pace/os/bazel.hpp"
#include "pace/os/new_folders.hpp"
#include "pace/record.hpp"
#include "pace/report/text.hpp"
#include "pace/run/planned_case.hpp"
#include "pace/run/progress.hpp"
#include "pace/runner/current_directory.hpp"
#include "pace/runner/session.hpp"
#include "pace/training.hpp"

namespace {

using pace::benches::rnn::BenchResult;
using pace::benches::rnn::Family;
using pace::benches::rnn::Group;
using pace::benches::rnn::GroupResults;
using pace::benches::rnn::JsonFormat;
using pace::benches::rnn::ModelDef;
using pace::benches::rnn::Planned;
using pace::benches::rnn::Sizes;

pace::benches::rnn::CommandLine line;
/// The options of the command line.
pace::args::Arguments given;
Sizes sizes;
std::vector<Group> groups;

bool quiet() { return line.print_json != JsonFormat::none; }

/// How far a runner's answers and gradients may be from the baseline's. Runners sum over a sequence and a batch in
/// different orders. float32 keeps seven digits, and a recurrence of a hundred steps loses some of them. On a GPU, the
/// limits are fastrnns' own. Two cases check each tensor as a whole. TF32 keeps three digits, and sums of thousands of
/// terms leave less in some elements. Behind layer norms, gradients of a long sequence are thousands of times their
/// inputs'.
pace::check::CheckOptions check_options(const pace::benches::rnn::Runner& baseline) {
  pace::check::CheckOptions options;
  const bool on_gpu = sizes.device.is_cuda();
  if (on_gpu && (at::globalContext().allowTF32CuDNN() || baseline.magnifies_rounding)) {
    options.method = pace::check::CheckOptions::Method::cosine;
    options.cosine_threshold = 0.9999;
    return options;
  }
  options.rtol = on_gpu ? 1e-3 : 1e-4;
  options.atol = on_gpu ? 1e-3 : 1e-5;
  return options;
}

/// Sets the precision of all products from now on.
void set_tf32() {
  if (line.tf32 == "default") return;
  at::globalContext().setAllowTF32CuDNN(line.tf32 == "on");
  at::globalContext().setAllowTF32CuBLAS(line.tf32 == "on");
}

/// One step of a runner, written as inputs of operators; nothing is timed meanwhile.
void record(const Planned& planned) {
  if (line.log_operator_inputs.empty() || planned.graphed || planned.compiled) return;
  pace::report_step({.what = "recording operators of " + planned.name});
  ModelDef model = planned.runner->make(sizes);
  if (line.inference) model.step.backward = {};
  const at::AutoGradMode with_gradients(!line.inference);
  pace::inputs::Recorder recorder;
  const c10::IValue output = model.step.forward(model.inputs);
  if (model.step.backward) model.step.backward(model.step.backward_setup(output));
  const bool training = static_cast<bool>(model.step.backward);
  const std::string directory = pace::output_path(line.log_operator_inputs);
  const bool written = recorder.write_as({.directory = directory, .model = planned.name, .training = training});
  for (const auto& [op, reason] : recorder.skipped())
    std::cerr << planned.name << ": " << op << " is not recorded: " << reason << '\n';
  std::cerr << (written ? "recorded " : "left alone, since it exists: ") << directory << '/'
            << pace::inputs::log_file_name(planned.name, training) << '\n';
}

std::vector<float> milliseconds(const pace::ImplementationResult& row) {
  std::vector<float> times;
  for (const auto sample : row.samples) times.push_back(static_cast<float>(sample.count() * 1e-6));
  return times;
}

pace::benches::rnn::ModelMaker model_maker() {
  auto packages = pace::benches::aot::definition_package_options();
  for (const auto& directory : line.packages) packages.directories.emplace_back(pace::user_path(directory));
  return {sizes, line.inference, std::move(packages)};
}

/// Throws Error in LibTorch's own words without its stack.
ModelDef make_baseline(const Planned& planned, pace::benches::rnn::ModelMaker& maker) {
  try {
    return maker.make(planned);
  } catch (const c10::Error&) {
    throw pace::Error(planned.name + " cannot be made: " + pace::detail::current_message());
  }
}

/// `use` with the step as --optimizer and --set-to-none have it.
template <class Use>
void with_update(pace::benches::rnn::Step step, const Use& use) {
  using Options = pace::OptimizerOptions;
  step.set_to_none = line.set_to_none;
  if (line.optimizer == "none") return use(std::move(step));
  use(pace::with_optimizer(
      std::move(step),
      Options{.algorithm = line.optimizer == "adam" ? Options::Algorithm::adam : Options::Algorithm::sgd,
              .code = line.optimizer_code == "fused"     ? Options::Code::fused
                      : line.optimizer_code == "foreach" ? Options::Code::foreach
                                                         : Options::Code::single}));
}

/// Interleaved, checked against the baseline, and judged; the runners that were measured, as fastrnns prints them.
std::vector<BenchResult> compare(const Family& family, pace::benches::rnn::ModelMaker& maker) {
  record(family.baseline);
  for (const Planned& candidate : family.candidates) record(candidate);
  const ModelDef baseline = make_baseline(family.baseline, maker);
  auto comparison = pace::compare(family.kind, baseline.inputs);
  auto options = pace::benches::rnn::measuring_of(line, given, pace::run_context().options, family.candidates.size());
  // Copies of all operands for each runner would be graphs of all steps for each runner as well.
  if (sizes.device.is_cuda()) options.operands = pace::OperandPolicy::shared;
  auto check = check_options(*family.baseline.runner);
  // How far eager's gradients are from float64's bounds how far others may be.
  const bool by_reference =
      sizes.device.is_cuda() && family.baseline.runner->needs_float64_reference && !family.baseline.compiled;
  if (by_reference) {
    check.method = pace::check::CheckOptions::Method::float64_reference;
    // The most that PyTorch's own rule allows: few switches make few errors, and those large.
    check.error_factor = 10;
  }
  comparison.options(options).check(check);
  with_update(baseline.step, [&](auto step) { comparison.baseline(family.baseline.name, std::move(step)); });
  if (by_reference)
    with_update(maker.make_in_float64(*family.baseline.runner).step,
                [&](auto step) { comparison.float64_reference(std::move(step)); });
  for (const Planned& candidate : family.candidates) {
    try {
      with_update(maker.make(candidate).step,
                  [&](auto step) { comparison.candidate(candidate.name, std::move(step)); });
    } catch (const pace::Unsupported& refusal) {
      comparison.refused({.name = candidate.name, .reason = refusal.what()});
    } catch (...) {
      comparison.refused(
          {.name = candidate.name, .reason = pace::detail::current_message(), .outcome = pace::Outcome::threw});
    }
  }
  if (sizes.device.is_cuda() && at::globalContext().allowTF32CuDNN() != at::globalContext().allowTF32CuBLAS())
    comparison.note(
        "cuDNN multiplies in TF32, LibTorch's own products are float32; --tf32 on or off treats them alike.");
  if (line.no_slower_than) comparison.expect(pace::NoSlowerThan(*line.no_slower_than));
  if (line.peak_memory_at_most) comparison.expect(pace::PeakMemoryAtMost(*line.peak_memory_at_most));
  const auto result = comparison.run();
  CHECK_THAT(result, pace::AsExpected());

  std::vector<BenchResult> measured;
  for (const auto& row : result.implementations)
    if (row.outcome == pace::Outcome::measured)
      measured.push_back(pace::benches::rnn::make_bench_result(row.name,
                                                               milliseconds(result.in_phase("forward")[row.name]),
                                                               milliseconds(result.in_phase("backward")[row.name])));
  return measured;
}

/// The facts of a comparison before its models are made.
pace::PlannedCase planned_case(const Family& family) {
  pace::PlannedCase planned{.name = family.kind, .implementations = {family.baseline.name}};
  for (const Planned& candidate : family.candidates) planned.implementations.push_back(candidate.name);
  const auto options =
      pace::benches::rnn::measuring_of(line, given, pace::run_context().options, family.candidates.size());
  // Steps that --nloops counts take as long as they take.
  const bool has_budget = !line.nloops || given.has("--budget");
  if (has_budget)
    planned.budget = options.budget + static_cast<double>(planned.implementations.size()) * options.warm_up;
  planned.audit = options.audit;
  if (line.no_slower_than) planned.expectations.push_back(pace::NoSlowerThan(*line.no_slower_than).describe());
  if (line.peak_memory_at_most)
    planned.expectations.push_back(pace::PeakMemoryAtMost(*line.peak_memory_at_most).describe());
  return planned;
}

/// The names of all comparisons, one a line.
void list_cases(std::ostream& out) {
  for (const auto& group : groups)
    for (const auto& family : pace::benches::rnn::plan_families(group.runners, line.baseline, sizes))
      out << pace::report::printable(family.kind) << '\n';
}

/// One group's table, once all its runners are through.
GroupResults measure(const Group& group) {
  GroupResults results{.group = group.key};
  auto maker = model_maker();
  auto families = pace::benches::rnn::plan_families(group.runners, line.baseline, sizes);
  if (auto* const cases = pace::run_context().cases) {
    std::erase_if(families, [&](const Family& family) { return !cases->passes_over(planned_case(family)).empty(); });
    if (families.empty()) return results;
  }
  std::vector<Planned> all;
  for (const auto& family : families) {
    all.push_back(family.baseline);
    all.insert(all.end(), family.candidates.begin(), family.candidates.end());
  }
  maker.prepare(all);
  for (const auto& family : families) {
    try {
      for (auto& each : compare(family, maker)) results.models.push_back(std::move(each));
    } catch (const pace::DeviceLost&) {
      throw;
    } catch (const std::exception&) {
      // The other families' times are not lost for it.
      FAIL_CHECK(pace::detail::current_message());
    }
  }
  if (quiet()) return results;
  std::cerr << "Benchmarking " << group.title << "s...\n" << pace::benches::rnn::table_header(line.sep) << '\n';
  for (const auto& each : results.models) std::cerr << pace::benches::rnn::table_line(each, line.sep) << '\n';
  std::cerr << std::endl;
  return results;
}

/// As fastrnns does it: one runner after another.
GroupResults loop(const Group& group) {
  pace::benches::rnn::GroupOptions options;
  options.nloops = line.nloops_of_loop();
  options.warmup = line.warmup_of_loop();
  options.compat = true;
  options.inference = line.inference;
  options.separator = line.sep;
  options.print_json = quiet();
  auto maker = model_maker();
  std::vector<pace::benches::rnn::Entry> entries;
  for (const auto& name : group.runners) {
    const Planned planned = pace::benches::rnn::find_planned(name);
    entries.push_back({.name = name,
                       .make =
                           [&maker, planned] {
                             record(planned);
                             return maker.make(planned);
                           },
                       .zeroed_once = planned.runner->zeroed_once_in_original});
  }
  return pace::benches::rnn::with_step_timer(
      pace::benches::rnn::timed_device(*line.device, sizes.device), [&](auto& timer) {
        return pace::benches::rnn::bench_group(timer, group.title, group.key, entries, options, std::cerr).results;
      });
}

TEST_CASE("runners compute the same, forward and backward, and fast enough", "[rnn]") {
  const pace::benches::rnn::FuserGuard guard;
  set_tf32();
  pace::benches::rnn::set_fuser(line.fuser, line.executor.value_or("default"));
  pace::benches::rnn::set_pointwise_kernels({static_cast<int>(line.cuda_pointwise_loop_level.value_or(0)),
                                             static_cast<int>(line.cuda_pointwise_block_count.value_or(0)),
                                             static_cast<int>(line.cuda_pointwise_block_size.value_or(0))});
  if (!quiet()) std::cerr << pace::benches::rnn::namespace_text(line) << '\n';
  if (const auto warning = pace::benches::rnn::variable_length_warning(line); !quiet() && !warning.empty())
    std::cerr << warning << '\n';
  std::vector<GroupResults> results;
  for (const auto& group : groups) {
    INFO(group.title << "s");
    results.push_back(line.compat ? loop(group) : measure(group));
  }
  // fastrnns ends well without a runner that it could measure; pace takes a run without an assertion for a failure.
  if (line.compat) SUCCEED("fastrnns' loop ended");
  pace::benches::rnn::print_json(line.print_json, results, std::cout);
  std::cout << std::flush;
}

/// Throws InputError for folders that cannot be used, before anything runs.
void check_folders() {
  namespace fs = std::filesystem;
  for (const auto& directory : line.packages)
    if (!fs::is_directory(pace::user_path(directory)))
      throw pace::InputError({}, "--packages: there is no folder '" + directory + '\'');
  if (line.log_operator_inputs.empty()) return;
  const fs::path folder = pace::output_path(line.log_operator_inputs);
  const auto refuse = [&](const std::string& why) {
    throw pace::InputError(
        {}, "--log-operator-inputs: cannot write to the folder '" + line.log_operator_inputs + "': " + why);
  };
  static std::optional<pace::NewFolders> folders;
  try {
    folders.emplace(folder);
  } catch (const pace::InputError& error) {
    refuse(error.what());
  }
  if (::access(folder.c_str(), W_OK) != 0) refuse(std::strerror(errno));
}

/// Finds the requested runs that are possible, before anything runs.
void resolve_options(pace::runner::SessionOptions& session) {
  given = session.given;
  if (line.compat) pace::benches::rnn::refuse_with_compat(given);
  pace::benches::rnn::refuse_other_json(line);
  sizes.device = line.compat ? pace::benches::rnn::device_of_original(line.device)
                             : pace::benches::rnn::choose_device(line.device);
  line.device = line.device.value_or(sizes.device.is_cuda() ? "cuda" : "cpu");
  sizes.sequence = line.seq_length;
  sizes.layers = line.num_layers;
  sizes.input = line.input_size;
  sizes.hidden = line.hidden_size;
  sizes.batch = line.mini_batch;
  sizes.images = line.images;
  sizes.image_side = line.image_side;
  sizes.original = line.compat;
  if (line.tf32 == "on" && !sizes.device.is_cuda())
    throw pace::Unsupported("--tf32 on: products on the CPU have no TF32; expected --device cuda");
  if (session.measuring.isolate == pace::Isolate::sides)
    throw pace::InputError({}, "--isolate sides: the phases of a step are timed inside of it; expected no --isolate");
  if (given.has("--operands") && sizes.device.is_cuda())
    throw pace::InputError(
        {}, "--operands has no effect on a GPU, where all runners share one set of operands; expected --device cpu");
  check_folders();
  // Equal for all, or their answers could not be compared. fastrnns draws anew for each.
  if (!line.compat) sizes.seed = pace::run_context().options.seed;
  groups = pace::benches::rnn::groups_of(line);
  for (auto& group : groups) {
    std::vector<std::string> able;
    for (const auto& name : group.runners) {
      const Planned planned = pace::benches::rnn::find_planned(name);
      // As in fastrnns, a runner that cannot be made says so when it is.
      const bool checked_later = line.compat && !planned.graphed && !planned.compiled;
      try {
        if (!checked_later) pace::benches::rnn::check(planned, sizes);
        able.push_back(name);
      } catch (const pace::Unsupported& refusal) {
        // In the default list, runners that this machine lacks are left out.
        if (group.by_name) throw;
        if (!quiet()) std::cerr << "left out: " << refusal.what() << '\n';
      }
    }
    group.runners = std::move(able);
  }
  if (line.baseline) {
    pace::benches::rnn::check(pace::benches::rnn::find_planned(*line.baseline), sizes);
    std::vector<std::string> all;
    for (const auto& group : groups) all.insert(all.end(), group.runners.begin(), group.runners.end());
    pace::benches::rnn::check_baseline(*line.baseline, all, sizes);
  }
  for (const char* const limit : {"--no-slower-than", "--peak-memory-at-most"})
    if (given.has(limit)) pace::benches::rnn::require_candidates(groups, line.baseline, sizes, limit);
  pace::benches::rnn::refuse_without_effect(line, given, groups,
                                            pace::benches::rnn::effects_of(groups, line.baseline, sizes.device));
  if (!sizes.device.is_cuda())
    pace::runner::refuse_options_for_gpu(session, "runners are on one; expected --device cuda beside it");
  if (quiet() && session.processes > 1)
    throw pace::InputError({},
                           "--print-json does not go with --processes, since the JSON is about one process; expected "
                           "--json FILE, which is written for each process");
  if (quiet()) session.no_table = true;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<char*> words(argv, argv + argc);
  // With --print-json the standard output holds JSON alone: Catch2's own words go to stderr.
  std::vector<std::string> more;
  for (const std::string_view word : words)
    if (word.starts_with("--print-json") || word.starts_with("--print_json") || word.starts_with("--printJson"))
      more = {"--out", "%stderr"};
  for (auto& word : more) words.push_back(word.data());
  words.push_back(nullptr);
  pace::runner::SessionConfig config;
  config.options.budget = std::chrono::seconds(10);
  config.options.hard_limit = std::chrono::minutes(2);
  config.options.warm_up = std::chrono::seconds(1);
  // The table is the purpose.
  config.options.stop = pace::StopPolicy::budget;
  config.own_options = pace::benches::rnn::rnn_options(line, pace::benches::rnn::names_of_runners());
  config.camel_case = true;
  config.after_parse = resolve_options;
  config.list = list_cases;
  config.not_repeated = {"--print-json", "--log-operator-inputs"};
  return pace::runner::main(static_cast<int>(words.size()) - 1, words.data(), config);
}
