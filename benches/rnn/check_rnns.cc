// Runners against nn::LSTM: bazel run //benches/rnn:check_rnns -- --rnns jit jit_premul --device cpu
#include <iostream>
#include <optional>
#include <string>

#include "benches/rnn/check_rnns.hpp"
#include "benches/rnn/runners.hpp"
#include "pace/subject/device.hpp"

int main(int argc, char** argv) {
  const auto to_device = [](const std::optional<std::string>& asked) {
    if (asked) return pace::subject::parse_device(*asked);
#ifdef PACE_CUDA
    if (pace::cuda::device_count() > 0) return pace::subject::parse_device("cuda");
#endif
    return pace::subject::parse_device("cpu");
  };
  return pace::rnn::check_rnns(argc, argv, pace::rnn::runners(), to_device, std::cout, std::cerr);
}
