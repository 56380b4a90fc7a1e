// Runners against nn::LSTM: bazel run //benches/rnn:check_rnns -- --rnns jit jit_premul --device cpu
#include <iostream>

#include "benches/rnn/check_rnns.hpp"
#include "benches/rnn/device_choice.hpp"
#include "benches/rnn/runners.hpp"
#include "pace/report/program_output.hpp"

int main(int argc, char** argv) {
  pace::report::ProgramOutput output;
  return output.exit_code(pace::benches::rnn::check_rnns(argc, argv, pace::benches::rnn::runners(),
                                                         pace::benches::rnn::choose_device, std::cout, std::cerr),
                          "check_rnns");
}
