// What the compile script keeps of a package beside it: the inputs that it was compiled for, and what Inductor knows of
// its kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "pace/core/error.hpp"
#include "pace/subject/tensor_metadata.hpp"

namespace pace::subject {

/// One kernel that Inductor wrote, or one call of an operator that it left to LibTorch.
struct PackageKernel {
  /// As the profiler and the driver tell it: `triton_poi_fused_add_0`, `cpp_fused_add_0`; of a call of LibTorch the
  /// operator, `aten::addmm`.
  std::string name;
  enum class Kind { triton, cpp, external } kind = Kind::triton;
  /// Inductor's word for it: `pointwise`, `persistent_reduction`, ...; empty: it has none.
  std::string category;
  /// Of the source, Inductor's; what a line of wrapper_benchmark shows the beginning of. Empty for a call of LibTorch.
  std::string key;
  /// That one call must read and write at least; none: Inductor does not know.
  std::optional<double> bytes;
  /// Names of its arguments, in order. Those that begin with `in_out_ptr` are read and written.
  std::vector<std::string> arguments;
  /// Calls in one run of the package.
  std::int64_t calls = 1;
};

/// Of KEY.json beside KEY.pt2, or MODEL.json beside MODEL.pt2.
struct PackageFacts {
  std::vector<TensorMetadata> inputs;
  /// In the order of their first calls.
  std::vector<PackageKernel> kernels;
};

}  // namespace pace::subject
