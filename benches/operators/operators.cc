// Operators on recorded inputs, every back end side by side: a test under `bazel test`, a program under `bazel run`.
#include <cstdio>
#include <iostream>
#include <optional>
#include <string>

#include <c10/core/InferenceMode.h>
#include <catch2/catch_test_macros.hpp>

#include "benches/operators/default_set.hpp"
#include "pace/catch2.hpp"
#include "pace/families/operators/replay.hpp"
#include "pace/families/operators/selection.hpp"
#include "pace/gate/as_expected.hpp"
#include "pace/harness/session.hpp"
#include "pace/subject/default_backends.hpp"
#include "pace/subject/device.hpp"

namespace {

namespace operators = pace::families::operators;

operators::ReplayOptions options;
/// Text of the options that need more than storing.
std::string max_samples, start_idx, no_slower_than, skip_rules;
bool op_was_given = false;

/// On the shipped inputs no compiled code is anywhere near as slow as this, unless something is wrong with it.
constexpr double shipped_guard = 5;

pace::subject::BackendOptions backend_options() {
  pace::subject::BackendOptions backends;
  for (const auto& directory : options.packages) backends.packages.directories.emplace_back(directory);
  return backends;
}

TEST_CASE("operators compute the same on every back end, and fast enough", "[operators]") {
  // Recorded calls were seen below autograd; see OperatorCall.
  const c10::InferenceMode inference;
  const auto corpus = pace::benches::load(options);
  const auto selection = operators::select(corpus, options, [](const std::string& line) { std::cerr << line << '\n'; });
  for (const auto& reject : corpus.rejects()) FAIL_CHECK("left out: " << reject.message);

  auto registry = pace::subject::BackendRegistry::with_defaults(backend_options());
  operators::Replay replay(options, registry);
  replay.prepare(selection);
  replay.run(selection, [](const pace::Result& result) { CHECK_THAT(result, pace::AsExpected()); });
}

Catch::Clara::Parser with_operator_options(Catch::Clara::Parser parser) {
  using Catch::Clara::Opt;
  parser |= Opt(options.inp_file, "file")["--inp-file"]("operators: recorded inputs of one model");
  parser |= Opt(options.suite_dir, "directory")["--suite-dir"]("operators: recorded inputs of a suite, *.txt");
  parser |= Opt([](const std::string& names) {
    options.op = names;
    op_was_given = true;
    return Catch::Clara::ParserResult::ok(Catch::Clara::ParseResultType::Matched);
  }, "a,b|all")["--op"]("operators: names such as aten.add.Tensor, or all");
  parser |= Opt(skip_rules, "none|upstream")["--skip-rules"](
      "operators: upstream leaves out what PyTorch's operatorbench does not run (defaults to none)");
  parser |= Opt(options.dtype, "type")["--dtype"]("operators: float32, float16, bfloat16 or float64");
  parser |= Opt(options.device, "device")["--device"]("operators: cpu, cuda or cuda:NUMBER (defaults to cpu)");
  parser |= Opt(max_samples, "number")["--max-samples"]("operators: samples of each at most (defaults to 15)");
  parser |= Opt(start_idx, "number")["--start-idx"]("operators: the first sample of each (defaults to 0)");
  parser |= Opt(options.backends, "a,b")["--backends"](
      "operators: the baseline, then candidates (defaults to eager,torchscript,aot_inductor)");
  parser |= Opt(no_slower_than, "factor")["--no-slower-than"](
      "operators: fail a candidate that is proven to take more than this times the baseline's time (defaults to 5 on the shipped inputs, to none on yours)");
  return parser;
}

template <class Number>
void read(const char* option, const std::string& text, Number& number) {
  if (!text.empty() && !pace::harness::read_number(text, number))
    throw pace::InputError({}, std::string(option) + ": expected a number, found '" + text + "'");
}

void settle_options(pace::harness::SessionOptions&) {
  const bool shipped = options.inp_file.empty() && options.suite_dir.empty();
  options.inp_file = pace::harness::user_path(options.inp_file);
  options.suite_dir = pace::harness::user_path(options.suite_dir);
  if (shipped) {
    if (!op_was_given) pace::benches::choose_default_set(options, pace::benches::shipped_set);
    options.suite_dir = pace::benches::shipped_corpus;
    options.packages = {"benches/operators/packages"};
    options.no_slower_than = shipped_guard;
  }
  if (!skip_rules.empty()) options.skip_rules = operators::parse_skip_rules(skip_rules);
  read("--max-samples", max_samples, options.max_samples);
  read("--start-idx", start_idx, options.start_idx);
  if (!no_slower_than.empty()) read("--no-slower-than", no_slower_than, options.no_slower_than.emplace());
  // Before anything is compiled or measured.
  (void)operators::parse_dtype(options.dtype);
  (void)pace::subject::parse_device(options.device);
  const auto registry = pace::subject::BackendRegistry::with_defaults({});
  for (const auto& name : operators::split_list(options.backends, "--backends")) (void)registry.find(name);
}

}  // namespace

int main(int argc, char** argv) {
  pace::harness::SessionConfig config;
  config.options.budget = std::chrono::milliseconds(300);
  // The table is what people come for; that no back end is five times too slow is decided long before.
  config.options.stop = pace::StopPolicy::budget;
  config.extend_cli = with_operator_options;
  config.after_parse = settle_options;
  return pace::harness::main(argc, argv, config);
}
