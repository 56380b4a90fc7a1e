// Sums up result files: bazel run //benches/models:summary -- print speedup_aot_inductor.csv
#include <iostream>

#include "benches/models/summary.hpp"
#include "pace/os/bazel.hpp"
#include "pace/report/program_output.hpp"

int main(int argc, char** argv) {
  const pace::report::ProgramOutput output;
  return pace::benches::models::summary(argc, argv, std::cout, std::cerr, pace::user_path);
}
