// RangeCounters: counters of a GPU's hardware over some calls, by CUPTI's range profiler.
#pragma once

// CUDA 12.6 and later have it. In some toolkits the headers are in extras/CUPTI/include.
#if __has_include(<cupti_range_profiler.h>) && __has_include(<cupti_profiler_host.h>)
#define PACE_HAS_RANGE_PROFILER 1
#endif

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#ifdef PACE_HAS_RANGE_PROFILER
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <dlfcn.h>
#endif

#include "pace/base/error.hpp"
#include "pace/base/function_ref.hpp"
#include "pace/gpu/cuda/error.hpp"
#include "pace/timing/subject.hpp"

namespace pace::cuda {

#ifdef PACE_HAS_RANGE_PROFILER

namespace detail {

/// What may help where CUPTI refuses.
[[nodiscard]] inline std::string remedy_of(CUptiResult status) {
  switch (status) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return "; expected permission to read the GPU's counters, such as root's or CAP_SYS_ADMIN, or the driver's "
             "module option NVreg_RestrictProfilingToAdminUsers=0";
    case CUPTI_ERROR_HARDWARE_BUSY:
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
    case CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED:
      return "; expected no other profiler of this GPU, such as ncu, nsys or DCGM";
    default:
      return "";
  }
}

/// The functions of CUPTI.
class Cupti {
 public:
  /// Loads the library of the toolkit's version that pace was compiled with, such as `libcupti.so.13`. It is the one
  /// that LibTorch has loaded for its profiler, if both are of one version. Throws Unsupported if there is none.
  Cupti() {
    const std::string name = "libcupti.so." + std::to_string(CUDA_VERSION / 1000);
    library_ = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library_ != nullptr) return;
    const char* const reason = ::dlerror();
    throw Unsupported("CUPTI cannot be loaded: " + std::string(reason != nullptr ? reason : name) +
                      "; expected that library of the CUDA toolkit, such as by LD_LIBRARY_PATH");
  }
  Cupti(const Cupti&) = delete;
  Cupti& operator=(const Cupti&) = delete;

  /// Calls the function of that name with `parameters`, whose size is set. Throws Unsupported if it fails, or a library
  /// older than CUDA 12.6 lacks it.
  template <class Parameters>
  void call(const char* name, std::size_t size, Parameters& parameters) const {
    parameters.structSize = size;
    auto* const function = reinterpret_cast<CUptiResult (*)(Parameters*)>(::dlsym(library_, name));
    if (function == nullptr)
      throw Unsupported(std::string("this CUPTI has no ") + name + "; expected that of CUDA 12.6 or later");
    if (const CUptiResult status = function(&parameters); status != CUPTI_SUCCESS)
      throw Unsupported(std::string(name) + ": " + text_of(status) + remedy_of(status));
  }

 private:
  [[nodiscard]] std::string text_of(CUptiResult status) const {
    auto* const function =
        reinterpret_cast<CUptiResult (*)(CUptiResult, const char**)>(::dlsym(library_, "cuptiGetResultString"));
    const char* text = nullptr;
    if (function != nullptr && function(status, &text) == CUPTI_SUCCESS && text != nullptr) return text;
    return "status " + std::to_string(static_cast<int>(status));
  }

  /// Never closed: LibTorch's profiler uses it, too.
  void* library_ = nullptr;
};

// Calls a function of CUPTI with its parameters, which carry their size.
#define PACE_CUPTI(cupti, name, Parameters, parameters) (cupti).call(#name, Parameters##_STRUCT_SIZE, parameters)

/// What CUPTI made, and gets back.
struct CuptiObjects {
  explicit CuptiObjects(const Cupti& of) : cupti(of) {}
  CuptiObjects(const CuptiObjects&) = delete;
  CuptiObjects& operator=(const CuptiObjects&) = delete;
  ~CuptiObjects() {
    if (profiler != nullptr) {
      CUpti_RangeProfiler_Disable_Params disable{};
      disable.pRangeProfilerObject = profiler;
      attempt([&] { PACE_CUPTI(cupti, cuptiRangeProfilerDisable, CUpti_RangeProfiler_Disable_Params, disable); });
    }
    if (host != nullptr) {
      CUpti_Profiler_Host_Deinitialize_Params end{};
      end.pHostObject = host;
      attempt([&] { PACE_CUPTI(cupti, cuptiProfilerHostDeinitialize, CUpti_Profiler_Host_Deinitialize_Params, end); });
    }
  }

  /// For what the next use of CUPTI reports if it fails.
  static void attempt(FunctionRef<void()> call) noexcept {
    try {
      call();
    } catch (const Unsupported&) {
    }
  }

  const Cupti& cupti;
  CUpti_Profiler_Host_Object* host = nullptr;
  CUpti_RangeProfiler_Object* profiler = nullptr;
};

}  // namespace detail

/// Reads metrics of CUPTI over calls on one GPU. While it lives, no other profiler can use the GPU's counters, and
/// kernels may run slower. Making one takes 85 ms on an H200, and the first of a process 720 ms.
class RangeCounters {
 public:
  /// `metrics`: CUPTI's names, such as `dram__bytes.sum`. The GPU's context must be current. Throws Unsupported if the
  /// GPU has no such metric, or the user may not read counters.
  RangeCounters(int device, std::vector<std::string> metrics) : names_(std::move(metrics)), objects_(cupti_) {
    for (const auto& each : names_) metrics_.push_back(each.c_str());
    CUpti_Profiler_Initialize_Params initialize{};
    PACE_CUPTI(cupti_, cuptiProfilerInitialize, CUpti_Profiler_Initialize_Params, initialize);
    CUpti_Device_GetChipName_Params chip{};
    chip.deviceIndex = static_cast<std::size_t>(device);
    PACE_CUPTI(cupti_, cuptiDeviceGetChipName, CUpti_Device_GetChipName_Params, chip);
    describe(chip.pChipName);
    enable();
  }
  RangeCounters(const RangeCounters&) = delete;
  RangeCounters& operator=(const RangeCounters&) = delete;

  /// The metrics.
  [[nodiscard]] const std::vector<std::string>& metrics() const { return names_; }
  /// How often over() makes the calls.
  [[nodiscard]] std::size_t passes() const { return passes_; }

  /// Returns the metrics' values, in their order, over `calls` calls of `subject`, which it prepares. The calls are
  /// made in as many passes as the metrics need, and each pass waits for the GPU. Throws Unsupported if CUPTI lost the
  /// values, what the subject throws, and as check() does; it cannot be used again after that.
  [[nodiscard]] std::vector<double> over(timing::Subject& subject, std::int64_t calls) {
    prepare_image();
    std::size_t pass = 0;
    for (bool all_submitted = false; !all_submitted;) {
      // Some more, in case that CUPTI measures something for itself.
      if (pass++ > 2 * passes_) throw Unsupported("CUPTI does not end its passes over the calls");
      subject.prepare(0);
      check(cudaDeviceSynchronize(), "waiting for the device");
      all_submitted = collect_pass(subject, calls);
      subject.finish();
    }
    return evaluate();
  }

 private:
  /// Makes the calls in one pass. Returns whether it was the last one.
  [[nodiscard]] bool collect_pass(timing::Subject& subject, std::int64_t calls) {
    CUpti_RangeProfiler_Start_Params start{};
    start.pRangeProfilerObject = objects_.profiler;
    PACE_CUPTI(cupti_, cuptiRangeProfilerStart, CUpti_RangeProfiler_Start_Params, start);
    CUpti_RangeProfiler_PushRange_Params push{};
    push.pRangeProfilerObject = objects_.profiler;
    push.pRangeName = "calls";
    CUpti_RangeProfiler_PopRange_Params pop{};
    pop.pRangeProfilerObject = objects_.profiler;
    CUpti_RangeProfiler_Stop_Params stop{};
    stop.pRangeProfilerObject = objects_.profiler;
    const auto pop_range = [&] {
      PACE_CUPTI(cupti_, cuptiRangeProfilerPopRange, CUpti_RangeProfiler_PopRange_Params, pop);
    };
    const auto stop_pass = [&] { PACE_CUPTI(cupti_, cuptiRangeProfilerStop, CUpti_RangeProfiler_Stop_Params, stop); };
    PACE_CUPTI(cupti_, cuptiRangeProfilerPushRange, CUpti_RangeProfiler_PushRange_Params, push);
    try {
      subject.run(0, calls);
      check(cudaDeviceSynchronize(), "waiting for the device");
    } catch (...) {
      detail::CuptiObjects::attempt(pop_range);
      detail::CuptiObjects::attempt(stop_pass);
      throw;
    }
    pop_range();
    stop_pass();
    return stop.isAllPassSubmitted != 0;
  }

  [[nodiscard]] std::vector<double> evaluate() {
    CUpti_RangeProfiler_DecodeData_Params decode{};
    decode.pRangeProfilerObject = objects_.profiler;
    PACE_CUPTI(cupti_, cuptiRangeProfilerDecodeData, CUpti_RangeProfiler_DecodeData_Params, decode);
    if (decode.numOfRangeDropped > 0) throw Unsupported("CUPTI lost the counters of these calls");
    std::vector<double> values(metrics_.size());
    CUpti_Profiler_Host_EvaluateToGpuValues_Params evaluate{};
    evaluate.pHostObject = objects_.host;
    evaluate.pCounterDataImage = image_.data();
    evaluate.counterDataImageSize = image_.size();
    evaluate.ppMetricNames = metrics_.data();
    evaluate.numMetrics = metrics_.size();
    evaluate.pMetricValues = values.data();
    PACE_CUPTI(cupti_, cuptiProfilerHostEvaluateToGpuValues, CUpti_Profiler_Host_EvaluateToGpuValues_Params, evaluate);
    return values;
  }

  /// What the chip must be set to for the metrics.
  void describe(const char* chip) {
    CUpti_Profiler_GetCounterAvailability_Params available{};
    PACE_CUPTI(cupti_, cuptiProfilerGetCounterAvailability, CUpti_Profiler_GetCounterAvailability_Params, available);
    std::vector<std::uint8_t> counters(available.counterAvailabilityImageSize);
    available.pCounterAvailabilityImage = counters.data();
    PACE_CUPTI(cupti_, cuptiProfilerGetCounterAvailability, CUpti_Profiler_GetCounterAvailability_Params, available);
    CUpti_Profiler_Host_Initialize_Params host{};
    host.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    host.pChipName = chip;
    host.pCounterAvailabilityImage = counters.data();
    PACE_CUPTI(cupti_, cuptiProfilerHostInitialize, CUpti_Profiler_Host_Initialize_Params, host);
    objects_.host = host.pHostObject;
    CUpti_Profiler_Host_ConfigAddMetrics_Params add{};
    add.pHostObject = objects_.host;
    add.ppMetricNames = metrics_.data();
    add.numMetrics = metrics_.size();
    PACE_CUPTI(cupti_, cuptiProfilerHostConfigAddMetrics, CUpti_Profiler_Host_ConfigAddMetrics_Params, add);
    CUpti_Profiler_Host_GetConfigImageSize_Params size{};
    size.pHostObject = objects_.host;
    PACE_CUPTI(cupti_, cuptiProfilerHostGetConfigImageSize, CUpti_Profiler_Host_GetConfigImageSize_Params, size);
    configuration_.resize(size.configImageSize);
    CUpti_Profiler_Host_GetConfigImage_Params image{};
    image.pHostObject = objects_.host;
    image.configImageSize = configuration_.size();
    image.pConfigImage = configuration_.data();
    PACE_CUPTI(cupti_, cuptiProfilerHostGetConfigImage, CUpti_Profiler_Host_GetConfigImage_Params, image);
    CUpti_Profiler_Host_GetNumOfPasses_Params passes{};
    passes.configImageSize = configuration_.size();
    passes.pConfigImage = configuration_.data();
    PACE_CUPTI(cupti_, cuptiProfilerHostGetNumOfPasses, CUpti_Profiler_Host_GetNumOfPasses_Params, passes);
    passes_ = passes.numOfPasses;
  }

  void enable() {
    CUpti_RangeProfiler_Enable_Params enable{};
    PACE_CUPTI(cupti_, cuptiRangeProfilerEnable, CUpti_RangeProfiler_Enable_Params, enable);
    objects_.profiler = enable.pRangeProfilerObject;
    CUpti_RangeProfiler_GetCounterDataSize_Params size{};
    size.pRangeProfilerObject = objects_.profiler;
    size.pMetricNames = metrics_.data();
    size.numMetrics = metrics_.size();
    size.maxNumOfRanges = 1;
    size.maxNumRangeTreeNodes = 1;
    PACE_CUPTI(cupti_, cuptiRangeProfilerGetCounterDataSize, CUpti_RangeProfiler_GetCounterDataSize_Params, size);
    image_.resize(size.counterDataSize);
  }

  /// For one range of work.
  void prepare_image() {
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params initialize{};
    initialize.pRangeProfilerObject = objects_.profiler;
    initialize.counterDataSize = image_.size();
    initialize.pCounterData = image_.data();
    PACE_CUPTI(cupti_, cuptiRangeProfilerCounterDataImageInitialize,
               CUpti_RangeProfiler_CounterDataImage_Initialize_Params, initialize);
    CUpti_RangeProfiler_SetConfig_Params configure{};
    configure.pRangeProfilerObject = objects_.profiler;
    configure.configSize = configuration_.size();
    configure.pConfig = configuration_.data();
    configure.counterDataImageSize = image_.size();
    configure.pCounterDataImage = image_.data();
    configure.range = CUPTI_UserRange;
    configure.replayMode = CUPTI_UserReplay;
    configure.maxRangesPerPass = 1;
    configure.numNestingLevels = 1;
    configure.minNestingLevel = 1;
    configure.targetNestingLevel = 1;
    PACE_CUPTI(cupti_, cuptiRangeProfilerSetConfig, CUpti_RangeProfiler_SetConfig_Params, configure);
  }

  detail::Cupti cupti_;
  std::vector<std::string> names_;
  std::vector<const char*> metrics_;
  detail::CuptiObjects objects_;
  std::size_t passes_ = 1;
  std::vector<std::uint8_t> configuration_, image_;
};

#undef PACE_CUPTI

#endif

}  // namespace pace::cuda
