// Halves of steps for 0.1 s each: bazel run //benches/rnn:test_bench -- --rnns aten jit --cnns none > run.json
#include <iostream>

#include "benches/rnn/device_choice.hpp"
#include "benches/rnn/fuser.hpp"
#include "benches/rnn/runners.hpp"
#include "benches/rnn/step_timer.hpp"
#include "benches/rnn/test_bench_program.hpp"
#include "pace/report/program_output.hpp"

int main(int argc, char** argv) {
  pace::report::ProgramOutput output;
  using namespace pace::benches::rnn;
  const int code = test_bench(
      argc, argv, runners(), choose_device, [](const auto& fuser, const auto& executor) { set_fuser(fuser, executor); },
      [](const c10::Device& device, const auto& use) { with_step_timer(device, use); }, std::cout, std::cerr);
  return output.exit_code(code, "test_bench");
}
