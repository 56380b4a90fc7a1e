// DispatcherSettings: the kernels that LibTorch's dispatcher has for the operators by which pace draws, writes and
// copies values, and for those that the baseline calls. A kernel that is registered in a call would run whenever pace
// prepares the next one, or in the calls of the baseline.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/record_function.h>
#include <c10/core/DispatchKey.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace pace::detail {

struct DispatcherSettings {
  struct Operator {
    const char *name, *overload;
  };
  /// Few, since each takes some 13 us. What LibTorch writes, clones or converts goes through the first one; what it
  /// draws, through the products and selections.
  static constexpr Operator operators[] = {{"aten::copy_", ""},
                                           {"aten::clone", ""},
                                           {"aten::empty", "memory_format"},
                                           {"aten::_local_scalar_dense", ""},
                                           {"aten::mul_", "Tensor"},
                                           {"aten::mul", "Tensor"},
                                           {"aten::index_select", ""},
                                           {"aten::fill_", "Scalar"}};

  /// For each operator a hash of its registrations; 0: LibTorch has no such operator.
  std::array<std::size_t, std::size(operators)> registrations{};

  [[nodiscard]] static DispatcherSettings now() {
    DispatcherSettings found;
    for (std::size_t i = 0; i < std::size(operators); ++i)
      found.registrations[i] = registrations_of({operators[i].name, operators[i].overload});
    return found;
  }

  /// A hash of the registrations of an operator; 0: LibTorch has no such operator.
  [[nodiscard]] static std::size_t registrations_of(const c10::OperatorName& name) {
    const auto handle = c10::Dispatcher::singleton().findSchema(name);
    return handle ? hash_of(handle->dumpState()) : 0;
  }

  /// A hash of the lines of a dump of an operator's registrations but for kernels of devices that no call of a
  /// comparison runs on: an implementation may load a library that registers some.
  [[nodiscard]] static std::size_t hash_of(const std::string& dump) {
    std::string relevant;
    std::istringstream lines(dump);
    for (std::string line; std::getline(lines, line);)
      if (may_run(line.substr(0, line.find_first_of(": [(")))) relevant += line + '\n';
    return std::hash<std::string>()(relevant);
  }

  /// Whether a line that begins with this word is about another dispatch key than one of a device that is neither a CPU
  /// nor a GPU of CUDA. Those of autograd and others that belong to no device run for all devices.
  [[nodiscard]] static bool may_run(const std::string& key) {
    using Component = c10::BackendComponent;
    static const std::set<std::string> of_other_devices = [] {
      std::set<std::string> names;
      for (auto i = static_cast<int>(Component::InvalidBit) + 1; i <= static_cast<int>(Component::EndOfBackendKeys);
           ++i) {
        const auto component = static_cast<Component>(i);
        if (component == Component::CPUBit || component == Component::CUDABit) continue;
        for (const auto functionality :
             {c10::DispatchKey::Dense, c10::DispatchKey::Quantized, c10::DispatchKey::Sparse,
              c10::DispatchKey::SparseCsr, c10::DispatchKey::NestedTensor, c10::DispatchKey::AutogradFunctionality})
          names.insert(c10::toString(c10::toRuntimePerBackendFunctionalityKey(functionality, component)));
      }
      return names;
    }();
    return !of_other_devices.contains(key);
  }

  /// Appends what differs in `after`, in words. It cannot be restored.
  void add_changes(const DispatcherSettings& after, std::vector<std::string>& changes) const {
    for (std::size_t i = 0; i < std::size(operators); ++i)
      if (registrations[i] != after.registrations[i])
        changes.push_back(std::string("the kernels of ") + operators[i].name + " (torch::Library)");
  }
};

/// The operators that are called while it exists, in all threads, but those of DispatcherSettings: the first few.
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
  /// A call of more operators is hardly slowed by one of them.
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

/// The kernels of operators that are known when it is made.
class OperatorKernels {
 public:
  explicit OperatorKernels(std::vector<c10::OperatorName> names = {}) : names_(std::move(names)) {
    for (const auto& each : names_) registrations_.push_back(DispatcherSettings::registrations_of(each));
  }

  /// Returns the names of those whose kernels are others now, and takes these for theirs.
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
