// The program merge_runs: judges the gates of several runs together. Its options and files are:
//
//   bazel run //benches/selftest:merge_runs --
//     [--no-slower-than FACTOR | --speedup-at-least FACTOR] [--allow-undecided] RESULTS.json...
#include <iostream>

#include "benches/selftest/merge_runs.hpp"
#include "pace/os/bazel.hpp"
#include "pace/report/program_output.hpp"
#include "pace/report/text.hpp"

int main(int argc, char** argv) {
  pace::report::ProgramOutput output;
  try {
    const int code = pace::benches::selftest::merge_runs_program({argv + 1, argv + argc}, pace::user_path, std::cout);
    return output.exit_code(code, "merge_runs", 2);
  } catch (const std::exception& error) {
    std::cerr << "merge_runs: " << pace::report::printable_lines(error.what()) << '\n';
    return 2;
  }
}
