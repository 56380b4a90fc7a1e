// Knowledge: facts about a kernel that its compiler knows and the driver does not.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pace/kernels/category_patterns.hpp"
#include "pace/kernels/kernel.hpp"

namespace pace::kernel {

/// A binary of a kernel in one configuration, which can be launched in its place with its arguments.
struct Build {
  std::string text;                            ///< its parameters, in short
  std::string printed;                         ///< its parameters, as Triton prints them
  std::filesystem::path file;                  ///< path of a cubin
  std::string symbol;                          ///< name of the kernel in the cubin
  std::array<std::uint32_t, 3> grid{1, 1, 1};  ///< blocks in x, y and z
  std::uint32_t threads = 1;                   ///< threads of a block
  std::uint32_t shared_bytes = 0;              ///< dynamic shared memory of a block
  bool chosen = false;                         ///< the tuner chose it, so that it is the kernel of the call
};

/// Facts about a kernel.
struct Knowledge {
  std::optional<Category> category;  ///< absent: unknown
  std::optional<double> bytes;       ///< least number of bytes that it must read and write; absent: unknown
  std::vector<Build> builds = {};    ///< the configurations among which its tuner chose
};

/// A function that returns facts about a kernel, which it recognises by its symbol and its launch; nothing for a kernel
/// that it does not know.
using Provider = std::function<std::optional<Knowledge>(const Kernel&)>;

/// Sets the category and the bytes of `kernel` by the first provider that knows it, and returns that provider's builds.
/// Without such a provider, the category follows from the name, by find_category_of_name().
inline std::vector<Build> apply_knowledge(const std::vector<Provider>& providers, Kernel& kernel) {
  kernel.category = find_category_of_name(kernel.symbol);
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
