// RangeCounters: counters of a GPU's hardware during some calls, by CUPTI's range profiler.
#pragma once

#if __has_include(<cupti_range_profiler.h>) && __has_include(<cupti_profiler_host.h>)
#define PACE_HAS_RANGE_PROFILER 1
#endif

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#ifdef PACE_HAS_RANGE_PROFILER
#include <cuda.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <dlfcn.h>
#endif

#include "pace/base/error.hpp"
#include "pace/base/function_ref.hpp"

namespace pace::cuda {

#ifdef PACE_HAS_RANGE_PROFILER

namespace detail {

/// The functions of CUPTI, from the library that LibTorch has loaded.
class Cupti {
 public:
  /// Throws Unsupported if there is no such library, or it is older than CUDA 12.6.
  Cupti() : library_(::dlopen("libcupti.so.13", RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) throw Unsupported(std::string("CUPTI cannot be loaded: ") + ::dlerror());
  }
  Cupti(const Cupti&) = delete;
  Cupti& operator=(const Cupti&) = delete;

  /// Calls the function of that name with `parameters`, whose size is set. Throws Unsupported if it fails.
  template <class Parameters>
  void call(const char* name, std::size_t size, Parameters& parameters) const {
    parameters.structSize = size;
    auto* const function = reinterpret_cast<CUptiResult (*)(Parameters*)>(::dlsym(library_, name));
    if (function == nullptr) throw Unsupported(std::string("this CUPTI has no ") + name);
    if (const CUptiResult status = function(&parameters); status != CUPTI_SUCCESS)
      throw Unsupported(
          std::string(name) + ": " + text_of(status) +
          (status == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES
               ? "; expected permission to read the GPU's counters, such as that of root, or the driver's "
                 "module option NVreg_RestrictProfilingToAdminUsers=0"
               : ""));
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
  void* library_;
};

}  // namespace detail

// Calls a function of CUPTI with its parameters, which carry their size.
#define PACE_CUPTI(name, Parameters, parameters) cupti_.call(#name, Parameters##_STRUCT_SIZE, parameters)

/// Reads metrics of CUPTI over ranges of work on one GPU, in one pass. While it lives, no other profiler can use the
/// GPU's counters, and kernels may run slower.
class RangeCounters {
 public:
  /// `metrics`: CUPTI's names, such as `dram__bytes.sum`. The GPU's context must be current. Throws Unsupported if the
  /// GPU has no such metric, they need more than one pass, or the user may not read counters.
  RangeCounters(int device, const std::vector<std::string>& metrics) {
    for (const auto& each : metrics) metrics_.push_back(each.c_str());
    CUpti_Profiler_Initialize_Params initialize{};
    PACE_CUPTI(cuptiProfilerInitialize, CUpti_Profiler_Initialize_Params, initialize);
    CUpti_Device_GetChipName_Params chip{};
    chip.deviceIndex = static_cast<std::size_t>(device);
    PACE_CUPTI(cuptiDeviceGetChipName, CUpti_Device_GetChipName_Params, chip);
    describe(chip.pChipName);
    enable();
  }
  RangeCounters(const RangeCounters&) = delete;
  RangeCounters& operator=(const RangeCounters&) = delete;
  ~RangeCounters() {
    try {
      if (profiler_ != nullptr) {
        CUpti_RangeProfiler_Disable_Params disable{};
        disable.pRangeProfilerObject = profiler_;
        PACE_CUPTI(cuptiRangeProfilerDisable, CUpti_RangeProfiler_Disable_Params, disable);
      }
      if (host_ != nullptr) {
        CUpti_Profiler_Host_Deinitialize_Params deinitialize{};
        deinitialize.pHostObject = host_;
        PACE_CUPTI(cuptiProfilerHostDeinitialize, CUpti_Profiler_Host_Deinitialize_Params, deinitialize);
      }
    } catch (const std::exception&) {
      // The process ends soon, or another profiler says why it cannot start.
    }
  }

  /// Returns the metrics' values over `work`, in their order. Throws Unsupported if CUPTI lost them, and what `work`
  /// throws.
  [[nodiscard]] std::vector<double> over(FunctionRef<void()> work) {
    prepare_image();
    CUpti_RangeProfiler_Start_Params start{};
    start.pRangeProfilerObject = profiler_;
    PACE_CUPTI(cuptiRangeProfilerStart, CUpti_RangeProfiler_Start_Params, start);
    CUpti_RangeProfiler_PushRange_Params push{};
    push.pRangeProfilerObject = profiler_;
    push.pRangeName = "calls";
    CUpti_RangeProfiler_PopRange_Params pop{};
    pop.pRangeProfilerObject = profiler_;
    CUpti_RangeProfiler_Stop_Params stop{};
    stop.pRangeProfilerObject = profiler_;
    PACE_CUPTI(cuptiRangeProfilerPushRange, CUpti_RangeProfiler_PushRange_Params, push);
    try {
      work();
    } catch (...) {
      cupti_.call("cuptiRangeProfilerPopRange", CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE, pop);
      cupti_.call("cuptiRangeProfilerStop", CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE, stop);
      throw;
    }
    PACE_CUPTI(cuptiRangeProfilerPopRange, CUpti_RangeProfiler_PopRange_Params, pop);
    PACE_CUPTI(cuptiRangeProfilerStop, CUpti_RangeProfiler_Stop_Params, stop);
    CUpti_RangeProfiler_DecodeData_Params decode{};
    decode.pRangeProfilerObject = profiler_;
    PACE_CUPTI(cuptiRangeProfilerDecodeData, CUpti_RangeProfiler_DecodeData_Params, decode);
    if (decode.numOfRangeDropped > 0) throw Unsupported("CUPTI lost the counters of these calls");
    std::vector<double> values(metrics_.size());
    CUpti_Profiler_Host_EvaluateToGpuValues_Params evaluate{};
    evaluate.pHostObject = host_;
    evaluate.pCounterDataImage = image_.data();
    evaluate.counterDataImageSize = image_.size();
    evaluate.ppMetricNames = metrics_.data();
    evaluate.numMetrics = metrics_.size();
    evaluate.pMetricValues = values.data();
    PACE_CUPTI(cuptiProfilerHostEvaluateToGpuValues, CUpti_Profiler_Host_EvaluateToGpuValues_Params, evaluate);
    return values;
  }

 private:
  /// What the chip must be set to for the metrics.
  void describe(const char* chip) {
    CUpti_Profiler_GetCounterAvailability_Params available{};
    PACE_CUPTI(cuptiProfilerGetCounterAvailability, CUpti_Profiler_GetCounterAvailability_Params, available);
    std::vector<std::uint8_t> counters(available.counterAvailabilityImageSize);
    available.pCounterAvailabilityImage = counters.data();
    PACE_CUPTI(cuptiProfilerGetCounterAvailability, CUpti_Profiler_GetCounterAvailability_Params, available);
    CUpti_Profiler_Host_Initialize_Params host{};
    host.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    host.pChipName = chip;
    host.pCounterAvailabilityImage = counters.data();
    PACE_CUPTI(cuptiProfilerHostInitialize, CUpti_Profiler_Host_Initialize_Params, host);
    host_ = host.pHostObject;
    CUpti_Profiler_Host_ConfigAddMetrics_Params add{};
    add.pHostObject = host_;
    add.ppMetricNames = metrics_.data();
    add.numMetrics = metrics_.size();
    PACE_CUPTI(cuptiProfilerHostConfigAddMetrics, CUpti_Profiler_Host_ConfigAddMetrics_Params, add);
    CUpti_Profiler_Host_GetConfigImageSize_Params size{};
    size.pHostObject = host_;
    PACE_CUPTI(cuptiProfilerHostGetConfigImageSize, CUpti_Profiler_Host_GetConfigImageSize_Params, size);
    configuration_.resize(size.configImageSize);
    CUpti_Profiler_Host_GetConfigImage_Params image{};
    image.pHostObject = host_;
    image.configImageSize = configuration_.size();
    image.pConfigImage = configuration_.data();
    PACE_CUPTI(cuptiProfilerHostGetConfigImage, CUpti_Profiler_Host_GetConfigImage_Params, image);
    CUpti_Profiler_Host_GetNumOfPasses_Params passes{};
    passes.configImageSize = configuration_.size();
    passes.pConfigImage = configuration_.data();
    PACE_CUPTI(cuptiProfilerHostGetNumOfPasses, CUpti_Profiler_Host_GetNumOfPasses_Params, passes);
    if (passes.numOfPasses != 1)
      throw Unsupported("these counters need " + std::to_string(passes.numOfPasses) +
                        " passes over the calls; expected counters that fit into one");
  }

  void enable() {
    CUpti_RangeProfiler_Enable_Params enable{};
    PACE_CUPTI(cuptiRangeProfilerEnable, CUpti_RangeProfiler_Enable_Params, enable);
    profiler_ = enable.pRangeProfilerObject;
    CUpti_RangeProfiler_GetCounterDataSize_Params size{};
    size.pRangeProfilerObject = profiler_;
    size.pMetricNames = metrics_.data();
    size.numMetrics = metrics_.size();
    size.maxNumOfRanges = 1;
    size.maxNumRangeTreeNodes = 1;
    PACE_CUPTI(cuptiRangeProfilerGetCounterDataSize, CUpti_RangeProfiler_GetCounterDataSize_Params, size);
    image_.resize(size.counterDataSize);
  }

  /// For one range of work.
  void prepare_image() {
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params initialize{};
    initialize.pRangeProfilerObject = profiler_;
    initialize.counterDataSize = image_.size();
    initialize.pCounterData = image_.data();
    PACE_CUPTI(cuptiRangeProfilerCounterDataImageInitialize, CUpti_RangeProfiler_CounterDataImage_Initialize_Params,
               initialize);
    CUpti_RangeProfiler_SetConfig_Params configure{};
    configure.pRangeProfilerObject = profiler_;
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
    PACE_CUPTI(cuptiRangeProfilerSetConfig, CUpti_RangeProfiler_SetConfig_Params, configure);
  }

  detail::Cupti cupti_;
  std::vector<const char*> metrics_;
  CUpti_Profiler_Host_Object* host_ = nullptr;
  CUpti_RangeProfiler_Object* profiler_ = nullptr;
  std::vector<std::uint8_t> configuration_, image_;
};

#undef PACE_CUPTI

#endif

}  // namespace pace::cuda
