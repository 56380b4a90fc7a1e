// ProcessSettings: settings that all implementations in a process share and that none may change.
#pragma once

#include <c10/core/AutogradState.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <sched.h>
#include <sys/resource.h>

#include <cfenv>
#include <cstdint>
#include <string>
#include <vector>

#include "pace/check/text.hpp"
#include "pace/settings/dispatcher_settings.hpp"
#include "pace/settings/kernel_settings.hpp"
#include "pace/settings/libtorch_settings.hpp"

namespace at {
// Declared in <ATen/Parallel.h> and <ATen/Context.h>, which would cost a second each to include.
TORCH_API int get_num_threads();
TORCH_API void set_num_threads(int);
}  // namespace at

namespace pace::detail {

struct ProcessSettings {
  int threads = 0;
  /// The CPU's arithmetic: rounding, flushing of denormals, traps. Without the flags that arithmetic sets.
  std::uint64_t arithmetic = 0;
  int rounding = 0;
  at::ScalarType default_dtype = at::kFloat;
  c10::AutogradState autograd{false, false, false, false};
  /// Autocast, inference mode and other dispatch keys that select the kernel of a call.
  c10::impl::LocalDispatchKeySet dispatch;
  cpu_set_t cpus{};
  int priority = 0;
  KernelSettings kernel = {};
  LibTorchSettings libtorch = {};
  DispatcherSettings dispatcher = {};

  [[nodiscard]] static ProcessSettings now() {
    ProcessSettings found{.dispatch = c10::impl::tls_local_dispatch_key_set()};
    found.threads = at::get_num_threads();
    found.arithmetic = arithmetic_mode();
    found.rounding = std::fegetround();
    found.default_dtype = c10::get_default_dtype_as_scalartype();
    found.autograd = c10::AutogradState::get_tls_state();
    (void)::sched_getaffinity(0, sizeof found.cpus, &found.cpus);
    found.priority = ::getpriority(PRIO_PROCESS, 0);
    found.kernel = KernelSettings::now();
    found.libtorch = LibTorchSettings::now();
    found.dispatcher = DispatcherSettings::now();
    return found;
  }

  /// Differences in words: "the number of threads of an operator (4, was 1)". Empty if there are none.
  [[nodiscard]] std::string changes_to(const ProcessSettings& after) const {
    std::string text;
    const auto changed = [&](bool differs, const std::string& what) {
      if (differs) text += (text.empty() ? "" : ", ") + what;
    };
    const auto numbers = [](auto is, auto was) {
      return " (" + std::to_string(is) + ", was " + std::to_string(was) + ')';
    };
    changed(threads != after.threads, "the number of threads of an operator" + numbers(after.threads, threads));
    changed(rounding != after.rounding, "the rounding mode" + numbers(after.rounding, rounding));
    changed(rounding == after.rounding && arithmetic != after.arithmetic,
            "the CPU's arithmetic (flushing of denormals, traps)");
    changed(default_dtype != after.default_dtype, "the default dtype (" +
                                                      check::detail::dtype_text(after.default_dtype) + ", was " +
                                                      check::detail::dtype_text(default_dtype) + ')');
    changed(autograd.get_grad_mode() != after.autograd.get_grad_mode(), "gradient mode");
    changed(autograd.get_inference_mode() != after.autograd.get_inference_mode(), "inference mode");
    changed(autograd.get_inference_mode() == after.autograd.get_inference_mode() &&
                (dispatch.included_ != after.dispatch.included_ || dispatch.excluded_ != after.dispatch.excluded_),
            "the dispatch of operators (such as autocast)");
    changed(!CPU_EQUAL(&cpus, &after.cpus), "the CPUs that this thread may use");
    changed(priority != after.priority, "the priority of this thread" + numbers(after.priority, priority));
    std::vector<std::string> others;
    kernel.add_changes(after.kernel, others);
    libtorch.add_changes(after.libtorch, others);
    dispatcher.add_changes(after.dispatcher, others);
    for (const auto& each : others) changed(true, each);
    return text;
  }

  /// Restores the settings that can be restored.
  void restore() const {
    const ProcessSettings present = now();
    if (present.threads != threads) at::set_num_threads(threads);
    set_arithmetic_mode(arithmetic);
    std::fesetround(rounding);
    if (present.default_dtype != default_dtype) c10::set_default_dtype(c10::scalarTypeToTypeMeta(default_dtype));
    c10::AutogradState::set_tls_state(autograd);
    c10::impl::_force_tls_local_dispatch_key_set(dispatch);
    if (!CPU_EQUAL(&present.cpus, &cpus)) (void)::sched_setaffinity(0, sizeof cpus, &cpus);
    if (present.priority != priority) (void)::setpriority(PRIO_PROCESS, 0, priority);
    kernel.restore();
    libtorch.restore();
  }

 private:
  /// Bits of x86's MXCSR that arithmetic sets by itself.
  static constexpr std::uint32_t mxcsr_flags = 0x3f;

  [[nodiscard]] static std::uint64_t arithmetic_mode() {
#if defined(__x86_64__)
    return __builtin_ia32_stmxcsr() & ~mxcsr_flags;
#elif defined(__aarch64__) && defined(__GNUC__)
    std::uint64_t control;
    asm volatile("mrs %0, fpcr" : "=r"(control));
    return control;
#else
    return 0;
#endif
  }
  static void set_arithmetic_mode([[maybe_unused]] std::uint64_t mode) {
#if defined(__x86_64__)
    __builtin_ia32_ldmxcsr(static_cast<std::uint32_t>(mode));
#elif defined(__aarch64__) && defined(__GNUC__)
    asm volatile("msr fpcr, %0" : : "r"(mode));
#endif
  }
};

}  // namespace pace::detail
