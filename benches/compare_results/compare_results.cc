// Compares files of results: bazel run //benches/compare_results -- OLD.json NEW.json
#include <unistd.h>

#include <iostream>
#include <string>
#include <vector>

#include "benches/compare_results/compare_program.hpp"
#include "pace/core/bazel.hpp"
#include "pace/core/terminal.hpp"
#include "pace/report/program_output.hpp"

int main(int argc, char** argv) {
  pace::report::ProgramOutput output;
  const int code = pace::benches::compare_results::compare_program({argv + 1, argv + argc}, std::cout, std::cerr,
                                                                   pace::wants_colour(STDOUT_FILENO), pace::user_path);
  return output.exit_code(code, "compare_results", pace::benches::compare_results::not_compared);
}
