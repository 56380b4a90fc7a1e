// Determinism: settings of LibTorch under which equal runs give equal bits, as far as it can.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

#include <ATen/Context.h>

namespace pace::families::models {

/// torchbench's set-up for accuracy runs, until the scope ends: deterministic algorithms, cuDNN's and oneDNN's
/// deterministic kernels, no search for the fastest, no TF32, no sums in half precision inside attention; and cuBLAS gets
/// the workspace that makes it deterministic, if nobody gave it one.
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
    if (const char* given = std::getenv(workspace)) workspace_ = given;
    else ::setenv(workspace, ":4096:8", 0);
  }
  Deterministic(const Deterministic&) = delete;
  Deterministic& operator=(const Deterministic&) = delete;
  ~Deterministic() {
    auto& context = at::globalContext();
    context.setDeterministicAlgorithms(algorithms_, warned_);
    context.setDeterministicCuDNN(cudnn_);
    context.setBenchmarkCuDNN(benchmark_);
    context.setDeterministicMkldnn(mkldnn_);
    context.setAllowTF32CuDNN(cudnn_tf32_);
    context.setAllowTF32CuBLAS(cublas_tf32_);
    context.setAllowFP16BF16ReductionMathSDP(attention_);
    if (!workspace_) ::unsetenv(workspace);
  }

 private:
  static constexpr const char* workspace = "CUBLAS_WORKSPACE_CONFIG";
  bool algorithms_ = at::globalContext().deterministicAlgorithms();
  bool warned_ = at::globalContext().deterministicAlgorithmsWarnOnly();
  bool cudnn_ = at::globalContext().deterministicCuDNN(), benchmark_ = at::globalContext().benchmarkCuDNN();
  bool mkldnn_ = at::globalContext().deterministicMkldnn();
  bool cudnn_tf32_ = at::globalContext().allowTF32CuDNN(), cublas_tf32_ = at::globalContext().allowTF32CuBLAS();
  bool attention_ = at::globalContext().allowFP16BF16ReductionMathSDP();
  std::optional<std::string> workspace_;
};

}  // namespace pace::families::models
