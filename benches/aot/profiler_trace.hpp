// A recording by LibTorch's profiler, saved as a trace for Chrome's or TensorBoard's viewer.
#pragma once

#include <torch/csrc/autograd/profiler_kineto.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <system_error>

#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/record_function.h>
#include <c10/util/Exception.h>

#include "pace/core/error.hpp"

namespace pace::benches::aot {

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

/// Records what this thread runs, and what the GPU does where there is one. PyTorch's own handler compresses its traces;
/// LibTorch writes plain text, whatever the file is called, and viewers take both.
class ProfilerTrace {
 public:
  /// Starts. There is one recording at a time. Throws Refused if there is one, or LibTorch was built without Kineto.
  /// `with_shapes`: of each operator's operands.
  explicit ProfilerTrace(bool with_shapes = false) {
    namespace profiler = torch::autograd::profiler;
    // It would take a second recording without a word, and lose the first.
    if (torch::profiler::impl::profilerEnabled())
      throw Refused("LibTorch's profiler is recording already; expected one trace at a time");
    std::set<Activity> activities{Activity::CPU};
    if (at::detail::getCUDAHooks().hasCUDA()) activities.insert(Activity::CUDA);
    const torch::profiler::impl::ProfilerConfig config(torch::profiler::impl::ProfilerState::KINETO, with_shapes);
    try {
      profiler::prepareProfiler(config, activities);
      profiler::enableProfiler(config, activities);
    } catch (const c10::Error& error) {
      throw Refused(std::string("LibTorch's profiler does not start: ") + error.what_without_backtrace());
    }
    recording_ = true;
  }
  ProfilerTrace(const ProfilerTrace&) = delete;
  ProfilerTrace& operator=(const ProfilerTrace&) = delete;
  /// What was not saved is lost.
  ~ProfilerTrace() {
    if (!recording_) return;
    try {
      static_cast<void>(torch::autograd::profiler::disableProfiler());
    } catch (...) {
    }
  }

  /// Ends the recording and writes it, into a folder that exists; once. What was recorded is the result. Throws Error
  /// naming the file if it cannot be written.
  std::unique_ptr<torch::autograd::profiler::ProfilerResult> save(const std::filesystem::path& path) {
    if (!recording_) throw Error("the trace " + path.string() + " was saved already; expected one save()");
    wait_for_gpus();  // what is still queued there belongs to it
    recording_ = false;
    auto result = torch::autograd::profiler::disableProfiler();
    result->save(path.string());
    // The profiler logs what goes wrong instead of reporting it.
    std::error_code missing;
    if (std::filesystem::file_size(path, missing) == 0 || missing)
      throw Error("the trace '" + path.string() + "' cannot be written; expected a folder with room for it");
    return result;
  }

 private:
  using Activity = torch::profiler::impl::ActivityType;

  static void wait_for_gpus() {
    const auto& cuda = at::detail::getCUDAHooks();
    if (!cuda.hasCUDA()) return;
    for (c10::DeviceIndex device = 0; device < cuda.deviceCount(); ++device)
      if (cuda.hasPrimaryContext(device)) cuda.deviceSynchronize(device);
  }

  bool recording_ = false;
};

}  // namespace pace::benches::aot
