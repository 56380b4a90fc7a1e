// Traces of operators by LibTorch's profiler, one file for each.
#pragma once

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <ATen/core/Tensor.h>

#include "benches/files/aot/profiler_trace.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::operators {

using benches::aot::TraceRange;

/// Records this thread's operators, and the GPU's work if there is one. Writes a trace of an operator for Chrome's or
/// TensorBoard's viewer, named and compressed as PyTorch's own handler does:
/// `DIRECTORY/log/operator_OPERATOR/HOST_PROCESS.MILLISECONDS.pt.trace.json.gz`.
class OperatorTrace {
 public:
  /// Starts. There is one recording at a time. Throws Unsupported if there is one, or LibTorch was built without
  /// Kineto; InputError if the folder cannot be made.
  OperatorTrace(const std::filesystem::path& directory, const std::string& op)
      : folder_(directory / "log" / ("operator_" + op)) {
    std::error_code problem;
    std::filesystem::create_directories(folder_, problem);
    if (problem) throw InputError({folder_.string()}, "the folder for traces cannot be made: " + problem.message());
  }

  /// Ends the recording and writes it; once. Throws Error naming the file if it cannot be written.
  std::filesystem::path save() {
    const auto path = folder_ / file_name();
    trace_.save(path);
    return path;
  }

 private:
  [[nodiscard]] static std::string file_name() {
    std::array<char, 256> host{};
    if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::string(host.data()) + '_' + std::to_string(::getpid()) + '.' +
           std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(now).count()) + ".pt.trace.json.gz";
  }

  benches::aot::ProfilerTrace trace_;
  std::filesystem::path folder_;
};

/// Runs every model `repeats` times on the tensors of sample `iteration`, repeats outside and models inside. Each run
/// is in its ranges `iter_I`, `rep_R` and `model_M` of the trace. This pass is for the trace alone, and it changes the
/// tensors that a model writes to. `models` hold pointers to objects with a run(tensors).
template <class Models>
void run_for_trace(std::size_t iteration, const Models& models, const std::vector<at::Tensor>& tensors,
                   std::size_t repeats = 1) {
  const TraceRange iter("iter", iteration);
  for (std::size_t repeat = 0; repeat < repeats; ++repeat) {
    const TraceRange rep("rep", repeat);
    std::size_t number = 0;
    for (const auto& model : models) {
      const TraceRange range("model", number++);
      static_cast<void>(model->run(tensors));
    }
  }
}

}  // namespace pace::benches::operators
