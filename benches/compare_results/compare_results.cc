// Compares files of results: bazel run //benches/compare_results -- OLD.json NEW.json
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "pace/baseline/compare_program.hpp"
#include "pace/report/colour.hpp"
#include "pace/report/program_output.hpp"

int main(int argc, char** argv) {
  const pace::report::ProgramOutput output;
  const auto resolve = [](const std::string& path) {
    // `bazel run` starts programs elsewhere than where the person stands.
    const char* const stood_in = std::getenv("BUILD_WORKING_DIRECTORY");
    return stood_in == nullptr ? path : (std::filesystem::path(stood_in) / path).string();
  };
  return pace::baseline::compare_program(std::vector<std::string>(argv + 1, argv + argc), std::cout, std::cerr,
                                         pace::report::wants_colour(STDOUT_FILENO), resolve);
}
