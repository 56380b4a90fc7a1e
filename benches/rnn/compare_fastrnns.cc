// Compares two runs: bazel run //benches/rnn:compare_fastrnns -- base.json diff.json --format md|csv|table|json
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

#include "benches/rnn/compare_fastrnns.hpp"
#include "pace/report/program_output.hpp"

int main(int argc, char** argv) {
  const pace::report::ProgramOutput output;
  // `bazel run` starts programs elsewhere than where the person stands.
  return pace::rnn::compare_fastrnns(argc, argv, std::cout, std::cerr, [](const std::string& path) {
    const char* const stood_in = std::getenv("BUILD_WORKING_DIRECTORY");
    return stood_in == nullptr ? path : (std::filesystem::path(stood_in) / path).string();
  });
}
