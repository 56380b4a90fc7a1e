// DispatcherSettings: LibTorch's kernels for the operators that pace draws, writes and copies values with.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/DispatchKey.h>

#include <array>
#include <cstddef>
#include <functional>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace pace::detail {

/// A kernel that a call registers would run whenever pace prepares the next one.
struct DispatcherSettings {
  struct Operator {
    const char *name, *overload;
  };
  /// Few, since each takes some 13 us. Writing, cloning and converting use the first; drawing, the products and
  /// selections.
  static constexpr Operator operators[] = {{"aten::copy_", ""},
                                           {"aten::clone", ""},
                                           {"aten::empty", "memory_format"},
                                           {"aten::_local_scalar_dense", ""},
                                           {"aten::mul_", "Tensor"},
                                           {"aten::mul", "Tensor"},
                                           {"aten::index_select", ""},
                                           {"aten::fill_", "Scalar"}};

  /// Hashes of registrations, as by registrations_of().
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

  /// A hash of an operator's dump without kernels of devices that no comparison runs on, which an implementation may
  /// load.
  [[nodiscard]] static std::size_t hash_of(const std::string& dump) {
    std::string relevant;
    std::istringstream lines(dump);
    for (std::string line; std::getline(lines, line);)
      if (may_run(line.substr(0, line.find_first_of(": [(")))) relevant += line + '\n';
    return std::hash<std::string>()(relevant);
  }

  /// Whether a dump's line beginning with this word concerns calls: not one of a device other than CPU and CUDA. Keys
  /// without a device, as of autograd, run for all.
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

}  // namespace pace::detail
