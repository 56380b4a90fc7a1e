// Checks result files: bazel run //benches/models:check -- accuracy --actual A.csv --expected E.csv
#include <iostream>

#include "benches/models/check.hpp"
#include "pace/os/bazel.hpp"
#include "pace/report/program_output.hpp"

int main(int argc, char** argv) {
  const pace::report::ProgramOutput output;
  return pace::benches::models::check(argc, argv, std::cout, std::cerr, pace::user_path);
}
