// Compiles the packages that the default set needs: what the build runs, so that the bench itself compiles nothing.
#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <vector>

#include <c10/core/InferenceMode.h>

#include "benches/operators/default_set.hpp"
#include "pace/core/options.hpp"
#include "pace/families/operators/replay.hpp"
#include "pace/families/operators/selection.hpp"
#include "pace/harness/threads.hpp"
#include "pace/subject/package_store.hpp"

namespace {

namespace operators = pace::families::operators;

void compile(const std::string& corpus_directory, const std::string& set_file, const std::string& out) {
  const c10::InferenceMode inference;
  pace::harness::use_threads(pace::harness::default_threads);
  operators::ReplayOptions options;
  options.suite_dir = corpus_directory;
  pace::benches::operators::choose_default_set(options, set_file);
  const auto corpus = pace::benches::operators::load(options);
  const auto generate = operators::generate_options(options, pace::Options().seed);
  std::vector<pace::subject::OperatorCall> calls;
  for (const auto& selected : operators::select(corpus, options, [](const std::string&) {}))
    for (const auto& sample : selected.samples)
      calls.push_back(operators::make_announced_call(selected.op->name, sample, generate, 1, options.channels_last));
  std::vector<const pace::subject::OperatorCall*> pointers;
  for (const auto& call : calls) pointers.push_back(&call);
  pace::subject::PackageStore().export_and_compile(pointers, out);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: compile_packages CORPUS_DIRECTORY SET_FILE OUTPUT_DIRECTORY\n";
    return 2;
  }
  try {
    compile(argv[1], argv[2], argv[3]);
  } catch (const std::exception& error) {
    std::cerr << "compile_packages: " << error.what() << '\n';
    return 1;
  }
}
