// DispatcherSettings: the kernels that LibTorch's dispatcher has for the operators by which pace writes and copies values.
// A kernel that is registered in a call would run whenever pace prepares the next one.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <array>
#include <cstddef>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

namespace pace::detail {

struct DispatcherSettings {
  struct Operator {
    const char *name, *overload;
  };
  /// Few, since each takes some 13 us. What LibTorch writes, clones or converts goes through the first one.
  static constexpr Operator operators[] = {
      {"aten::copy_", ""}, {"aten::clone", ""}, {"aten::empty", "memory_format"}, {"aten::_local_scalar_dense", ""}};

  /// For each operator a hash of its registrations; 0: LibTorch has no such operator.
  std::array<std::size_t, std::size(operators)> registrations{};

  [[nodiscard]] static DispatcherSettings now() {
    DispatcherSettings found;
    for (std::size_t i = 0; i < std::size(operators); ++i)
      if (const auto handle = c10::Dispatcher::singleton().findSchema({operators[i].name, operators[i].overload}))
        found.registrations[i] = std::hash<std::string>()(handle->dumpState());
    return found;
  }

  /// Appends what differs in `after`, in words. It cannot be restored.
  void add_changes(const DispatcherSettings& after, std::vector<std::string>& changes) const {
    for (std::size_t i = 0; i < std::size(operators); ++i)
      if (registrations[i] != after.registrations[i])
        changes.push_back(std::string("the kernels of ") + operators[i].name + " (torch::Library)");
  }
};

}  // namespace pace::detail
