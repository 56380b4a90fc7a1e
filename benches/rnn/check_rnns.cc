// Runners against nn::LSTM: bazel run //benches/rnn:check_rnns -- --rnns jit jit_premul --device cpu
#include <iostream>

#include "benches/rnn/check_rnns.hpp"
#include "benches/rnn/device_choice.hpp"
#include "benches/rnn/runners.hpp"

int main(int argc, char** argv) {
  return pace::rnn::check_rnns(argc, argv, pace::rnn::runners(), pace::rnn::choose_device, std::cout, std::cerr);
}
