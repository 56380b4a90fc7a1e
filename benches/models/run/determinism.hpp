// Determinism: settings of LibTorch under which equal runs give equal bits, as far as it can.
#pragma once

#include <cstdlib>

#include <ATen/Context.h>

#include "benches/models/run/context_flags.hpp"

namespace pace::benches::models {

/// torchbench's set-up for accuracy runs, until the scope ends: deterministic algorithms, cuDNN's and oneDNN's
/// deterministic kernels, no search for the fastest. No TF32, and no sums in half precision inside attention. cuBLAS
/// gets the workspace that makes it deterministic, if it has none.
class Deterministic {
 public:
  /// `warn_only`: operators that have no deterministic kernel run all the same.
  explicit Deterministic(bool warn_only) {
    auto& context = at::globalContext();
    context.setDeterministicAlgorithms(true, warn_only);
    context.setDeterministicCuDNN(true);
    context.setBenchmarkCuDNN(false);
    context.setDeterministicMkldnn(true);
    context.setAllowTF32CuDNN(false);
    context.setAllowTF32CuBLAS(false);
    context.setAllowFP16BF16ReductionMathSDP(false);
    if (std::getenv(workspace) == nullptr) {
      ::setenv(workspace, ":4096:8", 0);
      sets_workspace_ = true;
    }
  }
  Deterministic(const Deterministic&) = delete;
  Deterministic& operator=(const Deterministic&) = delete;
  ~Deterministic() {
    if (sets_workspace_) ::unsetenv(workspace);
  }

 private:
  static constexpr const char* workspace = "CUBLAS_WORKSPACE_CONFIG";
  ContextFlagsKept kept_;
  bool sets_workspace_ = false;
};

}  // namespace pace::benches::models
