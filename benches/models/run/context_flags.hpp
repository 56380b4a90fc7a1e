// Flags of LibTorch's context that choose kernels, put back when a scope ends.
#pragma once

#include <ATen/Context.h>

namespace pace::benches::models {

/// Code that sets some of these flags makes one of these before, and keeps it.
class ContextFlagsKept {
 public:
  ContextFlagsKept() = default;
  ContextFlagsKept(const ContextFlagsKept&) = delete;
  ContextFlagsKept& operator=(const ContextFlagsKept&) = delete;
  ~ContextFlagsKept() {
    auto& context = at::globalContext();
    context.setDeterministicAlgorithms(algorithms_, warned_);
    context.setDeterministicCuDNN(cudnn_);
    context.setBenchmarkCuDNN(benchmark_);
    context.setDeterministicMkldnn(mkldnn_);
    context.setAllowTF32CuDNN(cudnn_tf32_);
    context.setAllowTF32CuBLAS(cublas_tf32_);
    context.setAllowFP16BF16ReductionMathSDP(attention_);
  }

 private:
  bool algorithms_ = at::globalContext().deterministicAlgorithms();
  bool warned_ = at::globalContext().deterministicAlgorithmsWarnOnly();
  bool cudnn_ = at::globalContext().deterministicCuDNN(), benchmark_ = at::globalContext().benchmarkCuDNN();
  bool mkldnn_ = at::globalContext().deterministicMkldnn();
  bool cudnn_tf32_ = at::globalContext().allowTF32CuDNN(), cublas_tf32_ = at::globalContext().allowTF32CuBLAS();
  bool attention_ = at::globalContext().allowFP16BF16ReductionMathSDP();
};

/// Flags of convolutions as they are by default, until the scope ends. Traces hold them, and packages are found by
/// their trace, though compiled code takes none of them from there: so runs that set them differently share their
/// packages.
class DefaultFlags {
 public:
  DefaultFlags() {
    auto& context = at::globalContext();
    context.setBenchmarkCuDNN(false);
    context.setDeterministicCuDNN(false);
    context.setDeterministicAlgorithms(false, false);
    context.setAllowTF32CuDNN(true);
  }

 private:
  ContextFlagsKept kept_;
};

}  // namespace pace::benches::models
