// Compiles the packages that the default set needs: the packages of its first run, or all others. The build runs it, so
// that the bench itself compiles nothing.
#include <exception>
#include <iostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <c10/core/InferenceMode.h>

#include "benches/operators/backends/package_store.hpp"
#include "benches/operators/default_set.hpp"
#include "benches/operators/make_call.hpp"
#include "benches/operators/selection.hpp"
#include "pace/result/options.hpp"
#include "pace/runner/threads.hpp"

namespace {

namespace operators = pace::benches::operators;

constexpr const char *first_run = "first", *more = "more";

using Calls = std::vector<pace::benches::operators::OperatorCall>;

Calls calls_of(const std::string& corpus_directory, const std::string& set_file,
               const std::vector<std::string>& categories) {
  operators::ReplayOptions options;
  options.suite_dir = corpus_directory;
  pace::benches::operators::choose_default_set(options, set_file, categories);
  const auto corpus = pace::benches::operators::load(options);
  const auto generate = operators::generate_options(options, pace::Options().seed);
  Calls calls;
  for (const auto& selected : operators::select(corpus, options, [](const std::string&) {}))
    for (const auto& sample : selected.samples)
      calls.push_back(operators::make_announced_call(selected.op->name, sample, generate, 1, options.channels_last));
  return calls;
}

void compile(const std::string& part, const std::string& corpus_directory, const std::string& set_file,
             const std::string& out) {
  const c10::InferenceMode inference;
  pace::runner::use_threads(pace::default_threads);
  Calls calls = calls_of(corpus_directory, set_file, {});
  if (part == more) {
    std::set<std::string> first;
    for (const auto& call : calls) first.insert(call.signature());
    calls = calls_of(corpus_directory, set_file, {pace::benches::operators::all_categories});
    std::erase_if(calls, [&](const auto& call) { return first.contains(call.signature()); });
  }
  std::vector<const pace::benches::operators::OperatorCall*> pointers;
  for (const auto& call : calls) pointers.push_back(&call);
  pace::benches::operators::PackageStore().export_and_compile(pointers, out);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5 || (argv[1] != std::string_view(first_run) && argv[1] != std::string_view(more))) {
    std::cerr << "usage: compile_packages first|more CORPUS_DIRECTORY SET_FILE OUTPUT_DIRECTORY\n";
    return 2;
  }
  try {
    compile(argv[1], argv[2], argv[3], argv[4]);
  } catch (const std::exception& error) {
    std::cerr << "compile_packages: " << error.what() << '\n';
    return 1;
  }
}
