// All of //benches/rnn:test_bench but main: every runner's halves for 0.1 s each, as pytest-benchmark's JSON.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <c10/util/Exception.h>

#include "benches/rnn/choose_runners.hpp"
#include "benches/rnn/command_line.hpp"
#include "benches/rnn/runners.hpp"
#include "benches/rnn/test_bench.hpp"
#include "pace/base/error.hpp"
#include "pace/base/format.hpp"
#include "pace/report/text.hpp"

namespace pace::benches::rnn {

struct TestBenchLine {
  std::int64_t seq_length = 100, num_layers = 1, input_size = 512, hidden_size = 512, mini_batch = 64;
  std::optional<std::string> device;
  /// None: the bench's own, as far as the device has them.
  std::optional<std::vector<std::string>> rnns, cnns;
  std::string fuser = "old", executor = "legacy";
  bool help = false;
};

/// The tool's options; `line` must outlive them.
[[nodiscard]] inline args::Groups test_bench_options(TestBenchLine& line) {
  return {detail::size_options(line),
          {"What runs",
           {args::Option("--rnns", "runners of recurrent networks",
                         detail::runner_names(line.rnns, "a,b|none", "the bench's"))
                .as_list(),
            args::Option("--cnns", "runners of convolutional networks",
                         detail::runner_names(line.cnns, "a,b|none", "the bench's"))
                .as_list(),
            {"--fuser", "TorchScript's fuser", args::one_of(line.fuser, {"te", "old", "none", "default"})},
            {"--executor", "TorchScript's executor",
             args::one_of(line.executor, {"profiling", "simple", "legacy", "default"})}}}};
}

/// Throws InputError.
[[nodiscard]] inline TestBenchLine parse_test_bench_line(int argc, char** argv, std::ostream& err) {
  TestBenchLine line;
  const auto options = test_bench_options(line);
  line.help = args::parse(options, {argv + std::min(argc, 1), argv + argc}, {.camel_case = true}).help;
  if (line.help)
    err << "bazel run //benches/rnn:test_bench -- OPTIONS: halves of steps for 0.1 s each\n" << args::help(options);
  for (auto* const list : {&line.rnns, &line.cnns})
    if (*list && **list == std::vector<std::string>{"none"}) list->emplace();
  return line;
}

/// JSON goes to `out`, all else to `err`. `to_device` makes a device of the name after --device. `set_fuser` takes a
/// fuser and an executor. `with_timer` calls its second argument with the StepTimer of a device. Returns the exit code:
/// 0, or 1 with a message for each runner that failed.
template <class ToDevice, class SetFuser, class WithTimer>
[[nodiscard]] int test_bench(int argc, char** argv, const std::vector<Runner>& all, ToDevice&& to_device,
                             SetFuser&& set_fuser, WithTimer&& with_timer, std::ostream& out, std::ostream& err) {
  const auto complain = [&err](const std::string& message) {
    err << "test_bench: " << report::printable_lines(message) << std::endl;
    return 1;
  };
  TestBenchLine line;
  Sizes sizes;
  std::vector<const Runner*> selected;
  try {
    line = parse_test_bench_line(argc, argv, err);
    if (line.help) return 0;
    sizes = {line.seq_length,  line.num_layers, line.input_size,
             line.hidden_size, line.mini_batch, to_device(line.device)};
    const auto add = [&](const auto& list, const std::vector<std::string>& defaults, const std::string& option) {
      const auto chosen = choose_runners(all, list.value_or(defaults), list.has_value(), sizes.device, option, err);
      selected.insert(selected.end(), chosen.begin(), chosen.end());
    };
    add(line.rnns, default_rnns, "--rnns");
    add(line.cnns, default_cnns, "--cnns");
    if (selected.empty()) throw InputError({}, "there is nothing to run; expected runners in --rnns, --cnns or both");
    set_fuser(line.fuser, line.executor);
  } catch (const Error& error) {
    return complain(error.what());
  }
  int code = 0;
  const TestBenchOptions options;
  std::vector<TestBenchResult> results;
  const auto run = [&](const Runner& runner) {
    with_timer(sizes.device, [&](auto& timer) {
      const auto add = [&](bool backward, const RoundStats& stats) {
        const std::string median = format_time(std::chrono::duration<double>(stats.median));
        err << (backward ? "test_backward[" : "test_forward[") << runner.name << "]: " << median << ", " << stats.rounds
            << " rounds" << std::endl;
        results.push_back({runner.name, backward, stats});
      };
      ModelDef model = runner.make(sizes);
      add(false, test_forward(timer, model, options));
      if (const auto stats = test_backward(timer, runner.name, model, options)) add(true, *stats);
    });
  };
  for (const Runner* const runner : selected) {
    try {
      run(*runner);
    } catch (const c10::Error& error) {
      code = complain(runner->name + ": " + error.what_without_backtrace());
    } catch (const std::exception& error) {
      code = complain(runner->name + ": " + error.what());
    }
  }
  print_pytest_json(results, {{"executor", line.executor}, {"fuser", line.fuser}}, options, out);
  out << std::flush;
  return out ? code : complain("cannot write the results: the output is closed or full");
}

}  // namespace pace::benches::rnn
