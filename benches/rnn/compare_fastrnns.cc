// Compares two runs: bazel run //benches/rnn:compare_fastrnns -- base.json diff.json --format md|csv|table|json
#include <iostream>

#include "benches/rnn/compare_fastrnns.hpp"
#include "pace/os/bazel.hpp"
#include "pace/report/program_output.hpp"

int main(int argc, char** argv) {
  pace::report::ProgramOutput output;
  return output.exit_code(pace::benches::rnn::compare_fastrnns(argc, argv, std::cout, std::cerr, pace::user_path),
                          "compare_fastrnns");
}
