// The program of google_benchmark.hpp: each back end of each case under google/benchmark, then by pace.
#include <chrono>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>
#include <c10/core/InferenceMode.h>

#include "benches/files/aot/device.hpp"
#include "benches/operators/backends/default_backends.hpp"
#include "benches/operators/cases.hpp"
#include "benches/operators/declared_inputs.hpp"
#include "benches/operators/default_set.hpp"
#include "benches/operators/google_benchmark.hpp"
#include "benches/operators/options.hpp"
#include "benches/operators/replay.hpp"
#include "benches/operators/selection.hpp"
#include "pace/args/command_line.hpp"
#include "pace/base/error.hpp"
#include "pace/os/bazel.hpp"
#include "pace/run/run_context.hpp"

namespace {

namespace operators = pace::benches::operators;

/// `dtype`: the type that was asked for.
pace::corpus::Corpus inputs(operators::ReplayOptions& options, const std::optional<std::string>& dtype) {
  options.inp_file = pace::user_path(options.inp_file);
  options.suite_dir = pace::user_path(options.suite_dir);
  if (options.inp_file.empty() && options.suite_dir.empty()) {
    if (!operators::detail::declared_cases().empty()) {
      options.dtype = "recorded";
      return operators::declared_inputs(options.device, dtype);
    }
    options.suite_dir = pace::shipped_file(operators::shipped_corpus);
  }
  return operators::load(options);
}

/// The requests of the command line.
struct Asked {
  operators::ReplayOptions replay = of_program();
  /// The type that was given.
  std::optional<std::string> dtype;
  int threads = 1;
  double budget = 0.3;
  /// google/benchmark's own options.
  std::vector<std::string> rest;

 private:
  static operators::ReplayOptions of_program() {
    operators::ReplayOptions options;
    options.max_samples = 2;
    options.backends = "eager,torchscript";
    return options;
  }
};

Asked parse(const std::vector<std::string>& words) {
  Asked asked;
  auto& options = asked.replay;
  const pace::args::Groups groups{
      {"Operators",
       {{"--inp-file", "recorded inputs of one model", pace::args::file(options.inp_file)},
        {"--suite-dir", "recorded inputs of a suite, *.txt", pace::args::folder(options.suite_dir)},
        {"--op", "names such as aten.add.Tensor, or all",
         pace::args::text(options.op, "a,b|all", "names of operators")},
        {"--dtype", "float32, float16, bfloat16, float64 or recorded",
         pace::args::text(asked.dtype, "type", "a floating-point type")},
        {"--device", "where they run", pace::args::text(options.device, "cpu|cuda[:NUMBER]", "cpu or cuda")},
        {"--max-samples", "samples of each at most", pace::args::whole_from(options.max_samples, 1)},
        {"--channels-last", "four-dimensional inputs in channels-last memory format",
         pace::args::flag(options.channels_last)},
        {"--backends", "names of back ends", pace::args::text(options.backends, "a,b", "names of back ends")},
        {"--budget", "seconds of pace's rounds for each case", pace::args::factor(asked.budget)},
        {"--threads", "threads of one operator", pace::args::whole(asked.threads, 1, 1024)}}}};
  asked.rest = pace::args::parse(groups, words, {.keeps_rest = true, .has_help = false}).rest;
  return asked;
}

/// Hands google/benchmark its options, --help among them. Returns whether it knows them all.
bool initialise(const char* program, std::vector<std::string> words) {
  words.insert(words.begin(), program);
  // It keeps the pointer to the first of them.
  static std::vector<std::string> kept;
  kept = std::move(words);
  std::vector<char*> pointers;
  for (auto& word : kept) pointers.push_back(word.data());
  int count = static_cast<int>(pointers.size());
  pointers.push_back(nullptr);
  benchmark::Initialize(&count, pointers.data(), [] {
    std::cout << "google_benchmark [--inp-file FILE] [--suite-dir FOLDER] [--op a,b|all] [--dtype TYPE]\n"
                 "                 [--device DEVICE] [--max-samples NUMBER] [--channels-last] [--backends a,b]\n"
                 "                 [--budget SECONDS] [--threads NUMBER] [--benchmark_...]\n";
  });
  return !benchmark::ReportUnrecognizedArguments(count, pointers.data());
}

int measure(int argc, char** argv) {
  Asked asked = parse({argv + 1, argv + argc});
  if (!initialise(argv[0], asked.rest)) return 1;
  at::set_num_threads(asked.threads);
  auto& options = asked.replay;

  auto& context = pace::run_context().options;
  context.budget = std::chrono::duration<double>(asked.budget);
  context.stop = pace::StopPolicy::budget;
  options.dtype = asked.dtype.value_or(options.dtype);
  const auto corpus = inputs(options, asked.dtype);
  auto registry = operators::BackendRegistry::with_defaults({});
  operators::Replay replay(options, registry);
  const auto selection =
      operators::select(corpus, options, [](const std::string& text) { std::cerr << text << std::endl; });
  operators::register_benchmarks(selection, options, registry, context.seed);
  operators::CollectingReporter reporter;
  if (benchmark::RunSpecifiedBenchmarks(&reporter) == 0) {
    std::cerr << "no benchmark was run; expected some that --benchmark_filter chooses\n";
    return 1;
  }
  benchmark::Shutdown();
  const auto times = reporter.times();
  if (times.empty()) return corpus.rejects().empty() ? 0 : 1;  // --benchmark_list_tests printed their names

  std::cout << '\n';
  operators::SideBySide side_by_side(times, std::cout);
  side_by_side.head();
  const c10::InferenceMode inference;
  replay.run(operators::benchmarked(selection, operators::split_list(options.backends, "--backends"), times),
             side_by_side);
  return corpus.rejects().empty() && side_by_side.is_complete() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return measure(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "google_benchmark: " << error.what() << '\n';
    return 1;
  }
}
