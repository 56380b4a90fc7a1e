// Knowledge: what somebody who made a kernel knows of it, and the driver does not.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "pace/kernel/kernel.hpp"

namespace pace::kernel {

struct Knowledge {
  std::optional<Category> category;
  /// That it must read and write at least.
  std::optional<double> bytes;
};

/// Is asked about each kernel, by its symbol and launch; nothing: not one of its own.
using Provider = std::function<std::optional<Knowledge>(const Kernel&)>;

/// The first provider that knows a kernel is believed. Names that Inductor gives tell the category otherwise.
inline void apply_knowledge(const std::vector<Provider>& providers, Kernel& kernel) {
  kernel.category = category_of_name(kernel.symbol);
  for (const Provider& provider : providers) {
    const auto known = provider(kernel);
    if (!known) continue;
    if (known->category) kernel.category = *known->category;
    kernel.bytes = known->bytes;
    return;
  }
}

}  // namespace pace::kernel
