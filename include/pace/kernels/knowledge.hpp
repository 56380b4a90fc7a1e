// Knowledge: what the maker of a kernel knows of it, and the driver does not.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pace/kernels/kernel.hpp"

namespace pace::kernel {

/// A kernel's binary, to be launched in its place with its arguments.
struct Build {
  /// What it sets, for people, and as Triton prints it.
  std::string text, printed;
  /// A cubin, and the kernel's name in it.
  std::filesystem::path file;
  std::string symbol;
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  /// Threads of each block; and dynamic shared memory in bytes.
  std::uint32_t threads = 1, shared_bytes = 0;
  /// This is the one that ran.
  bool chosen = false;
};

struct Knowledge {
  std::optional<Category> category;
  /// That it must read and write at least.
  std::optional<double> bytes;
  /// All that its tuner chose among.
  std::vector<Build> builds = {};
};

/// Is asked about each kernel, by its symbol and launch; nothing: not one of its own.
using Provider = std::function<std::optional<Knowledge>(const Kernel&)>;

/// The first provider that knows a kernel is believed. Names that Inductor gives tell the category otherwise. Returns the
/// builds that it knows.
inline std::vector<Build> apply_knowledge(const std::vector<Provider>& providers, Kernel& kernel) {
  kernel.category = category_of_name(kernel.symbol);
  for (const Provider& provider : providers) {
    auto known = provider(kernel);
    if (!known) continue;
    if (known->category) kernel.category = *known->category;
    kernel.bytes = known->bytes;
    return std::move(known->builds);
  }
  return {};
}

}  // namespace pace::kernel
