// Operators on recorded inputs, by every back end side by side: a test under `bazel test`, a program under `bazel run`.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <c10/core/InferenceMode.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/catch_translate_exception.hpp>

#include "benches/operators/backends/valid_inputs.hpp"
#include "benches/operators/backward.hpp"
#include "benches/operators/cases.hpp"
#include "benches/operators/command_line.hpp"
#include "benches/operators/compared_outputs.hpp"
#include "benches/operators/compat/execution_times.hpp"
#include "benches/operators/compat/run.hpp"
#include "benches/operators/compat_timer.hpp"
#include "benches/operators/configuration.hpp"
#include "benches/operators/declared_inputs.hpp"
#include "benches/operators/meaning.hpp"
#include "benches/operators/replay.hpp"
#include "benches/operators/resolve.hpp"
#include "benches/operators/selection.hpp"
#include "benches/operators/suite_report.hpp"
#include "benches/operators/under_callgrind.hpp"
#include "pace/base/utf8.hpp"
#include "pace/catch2.hpp"
#include "pace/os/bazel.hpp"
#include "pace/report/text.hpp"
#include "pace/runner/cases.hpp"
#include "pace/runner/current_directory.hpp"
#include "pace/runner/session.hpp"

namespace {

namespace operators = pace::benches::operators;
namespace fs = std::filesystem;

operators::CommandLine line;
operators::Resolved resolved;
/// Why this process does not run under Callgrind although that was asked for; empty otherwise.
std::string why_not_callgrind;

bool has(const operators::Category& category, const std::string& op) {
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
    if (!operators::result_is_uninitialised(selected.op->name) && !shows_nothing(result)) {
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
  for (const char* const option :
       {"--accuracy-checking", "--no-slower-than", "--peak-memory-at-most", "--instructions-at-most"}) {
    if (!line.given.has(option)) continue;
    if (option == std::string_view("--accuracy-checking") && !line.replay.accuracy_only) continue;
    options += (options.empty() ? "" : " and ") + std::string(option);
  }
  return options;
}

pace::corpus::Corpus inputs() {
  if (!resolved.declared) return operators::load(line.replay, /*compat=*/line.generation().has_value());
  const auto tags = line.tag.empty() ? std::vector<std::string>() : operators::split_list(line.tag, "--tag");
  return operators::declared_inputs(line.replay.device, line.dtype, tags);
}

/// How often operator_benchmark calls a test.
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

/// The work to do, made of inputs and files that the options name. Making it finds errors in them.
struct Work {
  /// Throws InputError for inputs that cannot be read or leave nothing to measure, and for files that cannot be
  /// written.
  Work(std::ostream& out, std::ostream& errors) : corpus(inputs()), registry(operators::registry_of(line)) {
    if (line.profile) resolved.require_folder(fs::path(line.output_dir) / "log");
    // Parts that are left out of a suite fail the run in the end, but stop nothing.
    for (const auto& reject : corpus.rejects())
      errors << "left out: " << pace::report::printable_lines(reject.message) << '\n' << std::flush;
    if (const auto generation = line.generation()) {
      const auto options = operators::compat_options_of(line, resolved.suite_name);
      timer = std::make_unique<operators::CompatTimer>(options.device);
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
      timer = std::make_unique<operators::CompatTimer>(line.replay.device);
      execution_times = std::make_unique<operators::compat::ExecutionTimes>(
          line.replay, registry, timer->get(), iterations(), line.for_observer, out, errors);
      return;
    }
    std::size_t samples = 0;
    for (const auto& selected : selection)
      for (const auto& sample : selected.samples) samples += operators::gradient_cases(sample, line.replay.pass).size();
    report = std::make_unique<operators::SuiteReport>(operators::split_list(line.replay.backends, "--backends"),
                                                      resolved.table_path, samples, resolved.every_line, out);
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  pace::corpus::Corpus corpus;
  operators::BackendRegistry registry;
  /// With --compat.
  std::unique_ptr<operators::CompatTimer> timer;
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
  for (const auto& each : operators::gradient_cases(selected.samples[offset], line.replay.pass))
    names.push_back(operators::case_name(selected, offset, each.suffix));
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
    return std::ranges::none_of(resolved.categories,
                                [&](const auto& category) { return has(category, each.op->name); });
  });
  replay.run(others, checked);
  for (const auto& category : resolved.categories) {
    std::vector<operators::Selected> members;
    std::ranges::copy_if(selection, std::back_inserter(members),
                         [&](const auto& each) { return has(category, each.op->name); });
    INFO("category " << category.name);
    replay.run(members, checked);
  }
  fail_for_problems_of_dry_run(replay);
  // In a dry run, and where --case names none of these, there is nothing to sum up.
  if (!report.empty()) report.finish(resolved.suite_name + ", " + line.replay.dtype, replay.making_inputs());
  if (const auto options = asked_of_outputs(); !options.empty())
    if (const auto problem = checked.compared().problem(); !problem.empty()) FAIL_CHECK(options << ": " << problem);
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

/// Replaces this process by the same program under Callgrind, if the options ask for that and can be read. The session
/// finds errors in them, and does so sooner without Callgrind.
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

}  // namespace

int main(int argc, char** argv) {
  enter_callgrind_if_asked(argc, argv);
  pace::runner::SessionConfig config;
  config.options.budget = std::chrono::milliseconds(300);
  // The table is the purpose; that no back end is far too slow is decided long before.
  config.options.stop = pace::StopPolicy::budget;
  config.own_options = operators::operator_options(line, operators::registry_of(line).names());
  config.after_parse = [](pace::runner::SessionOptions& session) {
    operators::resolve_options(line, resolved, session, why_not_callgrind);
  };
  config.configuration = [] { return operators::configuration_of(line); };
  config.prepare = [](std::ostream& out, std::ostream& errors) { work = std::make_unique<Work>(out, errors); };
  config.complaint = complaint;
  config.list = list_cases;
  config.progress_parts = "samples";
  // Its files would have only a part of a suite.
  config.not_repeated = {"--output-dir", "--profile"};
  config.isolated = true;
  return pace::runner::main(argc, argv, config);
}
