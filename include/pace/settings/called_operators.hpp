// CalledOperators: the operators that the baseline calls, and their kernels.
#pragma once

#include <ATen/record_function.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/operator_name.h>

#include "pace/settings/dispatcher_settings.hpp"

namespace pace::detail {

/// Collects the first few operators called in all threads, except those of DispatcherSettings.
class CalledOperators {
 public:
  CalledOperators() {
    (void)take();
    handle_ = at::addGlobalCallback(at::RecordFunctionCallback(&enter));
  }
  ~CalledOperators() { at::removeCallback(handle_); }
  CalledOperators(const CalledOperators&) = delete;
  CalledOperators& operator=(const CalledOperators&) = delete;

  /// Returns them, each once.
  [[nodiscard]] std::vector<c10::OperatorName> take() {
    const std::lock_guard lock(mutex());
    return std::exchange(names(), {});
  }

 private:
  /// In a call of more operators, one of them hardly matters.
  static constexpr std::size_t most = 16;

  static std::unique_ptr<at::ObserverContext> enter(const at::RecordFunction& called) {
    const auto name = called.operator_name();
    if (!name || is_watched_anyway(*name)) return nullptr;
    const std::lock_guard lock(mutex());
    if (names().size() < most && std::ranges::find(names(), *name) == names().end()) names().push_back(*name);
    return nullptr;
  }
  [[nodiscard]] static bool is_watched_anyway(const c10::OperatorName& name) {
    return std::ranges::any_of(DispatcherSettings::operators, [&](const DispatcherSettings::Operator& each) {
      return name.name == each.name && name.overload_name == each.overload;
    });
  }
  [[nodiscard]] static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }
  [[nodiscard]] static std::vector<c10::OperatorName>& names() {
    static std::vector<c10::OperatorName> all;
    return all;
  }

  at::CallbackHandle handle_ = at::INVALID_CALLBACK_HANDLE;
};

/// The kernels of operators when it is made. A kernel that a candidate registers would run in the baseline's calls.
class OperatorKernels {
 public:
  explicit OperatorKernels(std::vector<c10::OperatorName> names = {}) : names_(std::move(names)) {
    for (const auto& each : names_) registrations_.push_back(DispatcherSettings::registrations_of(each));
  }

  /// Returns the names of operators with changed kernels, and takes these as theirs.
  [[nodiscard]] std::string take_changed() {
    std::string changed;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const std::size_t present = DispatcherSettings::registrations_of(names_[i]);
      if (std::exchange(registrations_[i], present) != present)
        changed += (changed.empty() ? "" : ", ") + names_[i].name;
    }
    return changed;
  }

 private:
  std::vector<c10::OperatorName> names_;
  std::vector<std::size_t> registrations_ = {};
};

}  // namespace pace::detail
