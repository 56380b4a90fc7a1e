// Traces of operators by LibTorch's profiler, one file for each.
#pragma once

#include <torch/csrc/autograd/profiler_kineto.h>

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/record_function.h>
#include <c10/util/Exception.h>

#include "pace/core/error.hpp"

namespace pace::families::operators {

/// A range of that name in the trace that is being recorded, from here to the end of the scope; nothing where none is.
class TraceRange {
 public:
  explicit TraceRange(const std::string& name) {
    if (range_.isActive()) range_.before(name);
  }
  TraceRange(const std::string& kind, std::size_t number) : TraceRange(kind + '_' + std::to_string(number)) {}

 private:
  at::RecordFunction range_{at::RecordScope::USER_SCOPE};
};

/// Records what this thread runs, and what the GPU does where there is one, into a trace of an operator for Chrome's
/// or TensorBoard's viewer: `DIRECTORY/log/operator_OPERATOR/HOST_PROCESS.MILLISECONDS.pt.trace.json`. PyTorch's own
/// handler compresses its traces; LibTorch writes plain text, whatever the file is called, and viewers take both.
class OperatorTrace {
 public:
  /// Starts. There is one recording at a time. Throws Refused if there is one, or LibTorch was built without Kineto;
  /// InputError if the folder cannot be made.
  OperatorTrace(const std::filesystem::path& directory, const std::string& op)
      : folder_(directory / "log" / ("operator_" + op)) {
    namespace profiler = torch::autograd::profiler;
    // It would take a second recording without a word, and lose the first.
    if (torch::profiler::impl::profilerEnabled())
      throw Refused("LibTorch's profiler is recording already; expected one trace at a time");
    std::error_code problem;
    std::filesystem::create_directories(folder_, problem);
    if (problem) throw InputError({folder_.string()}, "the folder for traces cannot be made: " + problem.message());
    std::set<Activity> activities{Activity::CPU};
    if (at::detail::getCUDAHooks().hasCUDA()) activities.insert(Activity::CUDA);
    const torch::profiler::impl::ProfilerConfig config(torch::profiler::impl::ProfilerState::KINETO);
    try {
      profiler::prepareProfiler(config, activities);
      profiler::enableProfiler(config, activities);
    } catch (const c10::Error& error) {
      throw Refused(std::string("LibTorch's profiler does not start: ") + error.what_without_backtrace());
    }
    recording_ = true;
  }
  OperatorTrace(const OperatorTrace&) = delete;
  OperatorTrace& operator=(const OperatorTrace&) = delete;
  /// What was not saved is lost.
  ~OperatorTrace() {
    if (!recording_) return;
    try {
      static_cast<void>(torch::autograd::profiler::disableProfiler());
    } catch (...) {
    }
  }

  /// Ends the recording and writes it; once. Throws Error naming the file if it cannot be written.
  std::filesystem::path save() {
    if (!recording_) throw Error("the trace in " + folder_.string() + " was saved already; expected one save()");
    wait_for_gpus();  // what is still queued there belongs to it
    recording_ = false;
    const auto result = torch::autograd::profiler::disableProfiler();
    const auto path = folder_ / file_name();
    result->save(path.string());
    // The profiler logs what goes wrong instead of reporting it.
    std::error_code missing;
    if (std::filesystem::file_size(path, missing) == 0 || missing)
      throw Error("the trace '" + path.string() + "' cannot be written; expected a folder with room for it");
    return path;
  }

 private:
  using Activity = torch::profiler::impl::ActivityType;

  static void wait_for_gpus() {
    const auto& cuda = at::detail::getCUDAHooks();
    if (!cuda.hasCUDA()) return;
    for (c10::DeviceIndex device = 0; device < cuda.deviceCount(); ++device)
      if (cuda.hasPrimaryContext(device)) cuda.deviceSynchronize(device);
  }

  [[nodiscard]] static std::string file_name() {
    std::array<char, 256> host{};
    if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::string(host.data()) + '_' + std::to_string(::getpid()) + '.' +
           std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(now).count()) + ".pt.trace.json";
  }

  std::filesystem::path folder_;
  bool recording_ = false;
};

/// Runs every model `repeats` times on the tensors of sample `iteration`, repeats outside and models inside, each run
/// in its ranges `iter_I`, `rep_R` and `model_M` of the trace: a pass for the trace alone, after which the tensors that
/// a model writes to have changed. `models` hold pointers to what has a run(tensors).
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

}  // namespace pace::families::operators
