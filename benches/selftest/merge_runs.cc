// bazel run //benches/selftest:merge_runs -- [--no-slower-than FACTOR | --speedup-at-least FACTOR] RESULTS.json...
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "benches/selftest/merge_runs.hpp"
#include "pace/report/program_output.hpp"

namespace {

constexpr const char* usage =
    R"(merge_runs [--no-slower-than FACTOR | --speedup-at-least FACTOR] RESULTS.json...

Each file is what one process wrote with --json, or left as results.json in its undeclared outputs (--runs_per_test).
Judges every candidate's speed-up over the baseline of its own run; the process is what is drawn at random, so it is the
unit. Without an option: --no-slower-than 1.02. Exit code: 0 if every gate is open, 1 if one is closed, 2 on bad input.
)";

double factor_of(const std::string& text) {
  char* end = nullptr;
  const double factor = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') throw pace::Error("'" + text + "' does not do; expected a factor such as 1.02");
  return factor;
}

int run(const std::vector<std::string>& words) {
  pace::Expectation expectation = pace::NoSlowerThan(1.02);
  std::vector<std::string> files;
  // `bazel run` starts programs elsewhere than where the person stands.
  const char* const stood_in = std::getenv("BUILD_WORKING_DIRECTORY");
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--help") return std::cout << usage, 0;
    if (word == "--no-slower-than" || word == "--speedup-at-least") {
      if (++i == words.size()) throw pace::Error(word + ": expected a factor after it");
      const double factor = factor_of(words[i]);
      if (word == "--no-slower-than") expectation = pace::NoSlowerThan(factor);
      else expectation = pace::SpeedupAtLeast(factor);
    } else if (word.starts_with("--")) {
      throw pace::Error("unknown option " + word + "; see --help");
    } else {
      files.push_back(stood_in == nullptr || word.starts_with('/') ? word : stood_in + ('/' + word));
    }
  }
  if (files.empty()) throw pace::Error("expected files of results; see --help");
  return pace::selftest::merge_runs(files, expectation, std::cout);
}

}  // namespace

int main(int argc, char** argv) {
  const pace::report::ProgramOutput output;
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << "merge_runs: " << error.what() << '\n';
    return 2;
  }
}
