// A recording by LibTorch's profiler, saved as a trace for Chrome's or TensorBoard's viewer.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <system_error>

#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/record_function.h>
#include <c10/util/Exception.h>

#include "benches/files/aot/gzip.hpp"
#include "benches/files/aot/libtorch_parts.hpp"
#include "pace/base/error.hpp"
#include "pace/os/folders.hpp"

#if PACE_HAS_PROFILER
#include <torch/csrc/autograd/profiler_kineto.h>
#endif

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

#if PACE_HAS_PROFILER

/// Records this thread's operators, and the GPU's work if there is one.
class ProfilerTrace {
 public:
  /// Starts. There is one recording at a time. Throws Unsupported if there is one, or LibTorch was built without
  /// Kineto. `with_shapes`: of each operator's operands.
  explicit ProfilerTrace(bool with_shapes = false) {
    namespace profiler = torch::autograd::profiler;
    // It would take a second recording without a word, and lose the first.
    if (torch::profiler::impl::profilerEnabled())
      throw Unsupported("LibTorch's profiler is recording already; expected one trace at a time");
    std::set<Activity> activities{Activity::CPU};
    if (at::detail::getCUDAHooks().hasCUDA()) activities.insert(Activity::CUDA);
    const torch::profiler::impl::ProfilerConfig config(torch::profiler::impl::ProfilerState::KINETO, with_shapes);
    try {
      profiler::prepareProfiler(config, activities);
      profiler::enableProfiler(config, activities);
    } catch (const c10::Error& error) {
      throw Unsupported(std::string("LibTorch's profiler does not start: ") + error.what_without_backtrace());
    }
    recording_ = true;
  }
  ProfilerTrace(const ProfilerTrace&) = delete;
  ProfilerTrace& operator=(const ProfilerTrace&) = delete;
  /// Loses a recording that was not saved.
  ~ProfilerTrace() {
    if (!recording_) return;
    try {
      static_cast<void>(torch::autograd::profiler::disableProfiler());
    } catch (...) {
    }
  }

  /// Ends the recording and writes it, once, into a folder that exists. Compresses it if the name ends with `.gz`.
  /// Returns the recording. A file or a link of that name is replaced at once, when all is written. Throws Error naming
  /// the file if it cannot be written.
  std::unique_ptr<torch::autograd::profiler::ProfilerResult> save(const std::filesystem::path& path) {
    if (!recording_) throw Error("the trace " + path.string() + " was saved already; expected one save()");
    wait_for_gpus();  // work that is still queued there belongs to it
    recording_ = false;
    auto result = torch::autograd::profiler::disableProfiler();
    std::error_code missing;
    const auto there = std::filesystem::symlink_status(path, missing);
    if (exists(there) && !is_regular_file(there) && !is_symlink(there)) refuse(path, "the name of a regular file");
    // The profiler first writes beside its file name, into any file there: a pipe, or the target of a link.
    const OwnFolder own(path);
    std::filesystem::path written = own.path / "trace";
    result->save(written.string());
    // It logs failures instead of reporting them.
    if (std::filesystem::file_size(written, missing) == 0 || missing) refuse(path, "a folder with room for it");
    if (path.extension() == ".gz") {
      compress_file(written, own.path / "compressed");
      written = own.path / "compressed";
    }
    if (std::rename(written.c_str(), path.c_str()) != 0) refuse(path, "a folder with room for it");
    return result;
  }

 private:
  using Activity = torch::profiler::impl::ActivityType;

  [[noreturn]] static void refuse(const std::filesystem::path& path, const std::string& expected) {
    throw Error("the trace '" + path.string() + "' cannot be written; expected " + expected);
  }

  /// A folder beside `file`, which goes with this object.
  struct OwnFolder {
    explicit OwnFolder(const std::filesystem::path& file) : path(file) {
      std::string name = file.string() + ".XXXXXX";
      if (::mkdtemp(name.data()) == nullptr) refuse(file, "a folder with room for it");
      path = name;
    }
    OwnFolder(const OwnFolder&) = delete;
    OwnFolder& operator=(const OwnFolder&) = delete;
    ~OwnFolder() { pace::detail::remove_tree(path); }

    std::filesystem::path path;
  };

  static void wait_for_gpus() {
    const auto& cuda = at::detail::getCUDAHooks();
    if (!cuda.hasCUDA()) return;
    for (c10::DeviceIndex device = 0; device < cuda.deviceCount(); ++device)
      if (cuda.hasPrimaryContext(device)) cuda.deviceSynchronize(device);
  }

  bool recording_ = false;
};

#else

/// Nothing can be recorded: LibTorch was installed without its profiler's headers.
class ProfilerTrace {
 public:
  /// Throws Unsupported.
  explicit ProfilerTrace(bool /*with_shapes*/ = false) {
    throw Unsupported(
        "this LibTorch was installed without the headers of its profiler (torch/csrc/autograd/profiler_kineto.h)");
  }
  void save(const std::filesystem::path& /*path*/) {}
};

#endif  // PACE_HAS_PROFILER

}  // namespace pace::benches::aot
