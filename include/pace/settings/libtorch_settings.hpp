// LibTorchSettings: settings of LibTorch that any call can change.
#pragma once

#include <ATen/Context.h>
#include <ATen/record_function.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pace::detail {

struct LibTorchSettings {
  bool deterministic = false, deterministic_warns_only = false, fills_uninitialised = false;
  bool mkldnn = true, deterministic_mkldnn = false, nnpack = true;
  bool flash_attention = true, memory_efficient_attention = true, math_attention = true;
  /// Nothing if it is set for single back ends.
  std::optional<at::Float32MatmulPrecision> precision = {};
  at::QEngine quantised_engine = at::QEngine::NoQEngine;
  /// Observers of operators (RecordFunction), in all threads and in this one.
  bool global_observers = false, thread_observers = false;
  c10::Allocator* allocator = nullptr;
  /// Observers of the thread's allocations, among others (ThreadLocalDebugInfo).
  std::shared_ptr<c10::ThreadLocalDebugInfo> debug_info = {};

  [[nodiscard]] static LibTorchSettings now() {
    const auto& context = at::globalContext();
    return {.deterministic = context.deterministicAlgorithms(),
            .deterministic_warns_only = context.deterministicAlgorithmsWarnOnly(),
            .fills_uninitialised = context.deterministicFillUninitializedMemory(),
            .mkldnn = context.userEnabledMkldnn(),
            .deterministic_mkldnn = context.deterministicMkldnn(),
            .nnpack = context.userEnabledNNPACK(),
            .flash_attention = context.userEnabledFlashSDP(),
            .memory_efficient_attention = context.userEnabledMemEfficientSDP(),
            .math_attention = context.userEnabledMathSDP(),
            .precision = precision_of(context),
            .quantised_engine = context.qEngine(),
            .global_observers = at::hasGlobalCallbacks(),
            .thread_observers = at::hasThreadLocalCallbacks(),
            .allocator = c10::GetCPUAllocator(),
            .debug_info = c10::ThreadLocalDebugInfo::current()};
  }

  /// Appends what differs in `after`, in words.
  void add_changes(const LibTorchSettings& after, std::vector<std::string>& changes) const {
    const auto add = [&](bool differs, const char* what) {
      if (differs) changes.emplace_back(what);
    };
    add(deterministic != after.deterministic || deterministic_warns_only != after.deterministic_warns_only,
        "deterministic algorithms");
    add(fills_uninitialised != after.fills_uninitialised, "filling of memory that is not initialised");
    add(mkldnn != after.mkldnn || deterministic_mkldnn != after.deterministic_mkldnn || nnpack != after.nnpack,
        "the use of oneDNN or NNPACK");
    add(flash_attention != after.flash_attention || memory_efficient_attention != after.memory_efficient_attention ||
            math_attention != after.math_attention,
        "the kinds of attention that are enabled");
    add(precision != after.precision, "the precision of float32 products");
    add(quantised_engine != after.quantised_engine, "the engine of quantised operators");
    add(global_observers != after.global_observers || thread_observers != after.thread_observers,
        "the observers of operators (RecordFunction)");
    add(allocator != after.allocator, "the CPU allocator");
    add(debug_info != after.debug_info, "the observers of this thread's allocations (ThreadLocalDebugInfo)");
  }

  /// Restores what differs. Removes observers if there were none before.
  void restore() const {
    auto& context = at::globalContext();
    const LibTorchSettings present = now();
    if (deterministic != present.deterministic || deterministic_warns_only != present.deterministic_warns_only)
      context.setDeterministicAlgorithms(deterministic, deterministic_warns_only);
    if (fills_uninitialised != present.fills_uninitialised)
      context.setDeterministicFillUninitializedMemory(fills_uninitialised);
    if (mkldnn != present.mkldnn) context.setUserEnabledMkldnn(mkldnn);
    if (deterministic_mkldnn != present.deterministic_mkldnn) context.setDeterministicMkldnn(deterministic_mkldnn);
    if (nnpack != present.nnpack) context.setUserEnabledNNPACK(nnpack);
    if (flash_attention != present.flash_attention) context.setSDPUseFlash(flash_attention);
    if (memory_efficient_attention != present.memory_efficient_attention)
      context.setSDPUseMemEfficient(memory_efficient_attention);
    if (math_attention != present.math_attention) context.setSDPUseMath(math_attention);
    if (precision && precision != present.precision) context.setFloat32MatmulPrecision(name_of(*precision));
    if (quantised_engine != present.quantised_engine) context.setQEngine(quantised_engine);
    if (!global_observers && present.global_observers) at::clearGlobalCallbacks();
    if (!thread_observers && present.thread_observers) at::clearThreadLocalCallbacks();
    constexpr std::uint8_t highest_priority = 255;
    if (allocator != present.allocator) c10::SetCPUAllocator(allocator, highest_priority);
    if (debug_info != present.debug_info) c10::ThreadLocalDebugInfo::_forceCurrentDebugInfo(debug_info);
  }

 private:
  [[nodiscard]] static std::optional<at::Float32MatmulPrecision> precision_of(const at::Context& context) {
    try {
      return context.float32MatmulPrecision();
    } catch (const c10::Error&) {
      return std::nullopt;
    }
  }

  [[nodiscard]] static const char* name_of(at::Float32MatmulPrecision precision) {
    switch (precision) {
      case at::Float32MatmulPrecision::HIGH:
        return "high";
      case at::Float32MatmulPrecision::MEDIUM:
        return "medium";
      case at::Float32MatmulPrecision::HIGHEST:
        break;
    }
    return "highest";
  }
};

}  // namespace pace::detail
