// One thing that is compiled into a package, of any kind, and the script that compiles it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <c10/core/Device.h>
#include <nlohmann/json.hpp>

namespace pace::benches::aot {

struct PackageCase {
  /// The package's name in the store (see package_key.hpp).
  std::string key;
  /// For people: short, and in full.
  std::string name, signature;
  c10::Device device = c10::kCPU;
  /// Writes the TorchScript to the file, and returns the script's other facts of the case, as a JSON object. Throws
  /// `Unsupported` when it cannot be expressed.
  std::function<nlohmann::json(const std::filesystem::path& script)> write;
};

/// A Python program as files: name and text. The last is run, the others are imported by it.
struct CompileScript {
  std::vector<std::pair<std::string, std::string>> files;
  /// The memory of one case, to choose how many are compiled at a time.
  std::int64_t worker_bytes = std::int64_t{3} << 29;  // 1.5 GiB: Inductor 0.6, the C++ compiler 0.5
};

}  // namespace pace::benches::aot
