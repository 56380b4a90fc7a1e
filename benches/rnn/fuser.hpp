// Which fuser and which executor TorchScript uses: fastrnns' --fuser and --executor.
#pragma once

#include <string>

#include "benches/files/aot/fuser.hpp"
#include "benches/files/aot/libtorch_parts.hpp"
#include "pace/base/error.hpp"

#if PACE_HAS_FUSERS
#include <torch/csrc/jit/codegen/fuser/interface.h>
#include <torch/csrc/jit/passes/tensorexpr_fuser.h>
#include <torch/csrc/jit/python/update_graph_executor_opt.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/tensorexpr/kernel.h>
#endif

namespace pace::benches::rnn {

/// Settings of kernels that NNC generates for pointwise operations on a GPU; 0: LibTorch's own choice.
struct PointwiseKernels {
  int loop_level = 0, block_count = 0, block_size = 0;
};

#if PACE_HAS_FUSERS
namespace detail {

inline void set_executor(bool profiling, bool optimize) {
  torch::jit::getExecutorMode() = profiling;
  torch::jit::setGraphExecutorOptimize(optimize);  // of this thread
}

}  // namespace detail
#endif

/// `fuser`: te (NNC, on GPUs only), old (the first fuser, on GPUs), none, or default, which changes nothing. `executor`
/// then overrides: profiling, legacy, simple (no optimisation), or default. For everything that TorchScript runs for
/// the first time from now on; the optimisation is switched for the calling thread. Throws InputError with the list,
/// and Unsupported for another one than the default where LibTorch's headers of fusers are missing.
inline void set_fuser(const std::string& fuser, const std::string& executor = "default") {
  if (fuser != "te" && fuser != "old" && fuser != "none" && fuser != "default")
    throw InputError({}, "--fuser: expected te, old, none or default, found '" + fuser + "'");
  if (executor != "profiling" && executor != "simple" && executor != "legacy" && executor != "default")
    throw InputError({}, "--executor: expected profiling, simple, legacy or default, found '" + executor + "'");
#if PACE_HAS_FUSERS
  if (fuser == "te") {
    detail::set_executor(true, true);
    benches::aot::use_fuser(benches::aot::Fuser::nnc);
    torch::jit::overrideCanFuseOnCPU(false);
  } else if (fuser == "old") {
    detail::set_executor(false, false);
    torch::jit::overrideCanFuseOnGPU(true);
    torch::jit::setTensorExprFuserEnabled(false);
  } else if (fuser == "none") {
    detail::set_executor(false, false);
    benches::aot::use_fuser(benches::aot::Fuser::none);
  }
  if (executor == "profiling") detail::set_executor(true, true);
  if (executor == "simple") torch::jit::setGraphExecutorOptimize(false);
  if (executor == "legacy") detail::set_executor(false, true);
#else
  if (fuser != "default" || executor != "default") throw Unsupported(benches::aot::no_fusers);
#endif
}

/// Throws Unsupported for another choice than LibTorch's own where its headers of fusers are missing.
inline void set_pointwise_kernels(const PointwiseKernels& kernels) {
#if PACE_HAS_FUSERS
  namespace te = torch::jit::tensorexpr;
  if (kernels.loop_level != 0) te::getTECudaPointwiseLoopLevels() = kernels.loop_level;
  if (kernels.block_count != 0) te::getTECudaPointwiseBlockCount() = kernels.block_count;
  if (kernels.block_size != 0) te::getTECudaPointwiseBlockSize() = kernels.block_size;
#else
  if (kernels.loop_level != 0 || kernels.block_count != 0 || kernels.block_size != 0)
    throw Unsupported(benches::aot::no_fusers);
#endif
}

#if PACE_HAS_FUSERS
/// Everything that the two functions above set, as it is now.
struct FuserState {
  bool profiling_executor = torch::jit::getExecutorMode(), optimize = torch::jit::getGraphExecutorOptimize();
  /// False, too, where this process has no back end for the device, even if it was asked for.
  bool on_cpu = torch::jit::canFuseOnCPU(), on_gpu = torch::jit::canFuseOnGPU();
  bool tensor_expressions = torch::jit::tensorExprFuserEnabled();
  int loop_level = torch::jit::tensorexpr::getTECudaPointwiseLoopLevels(),
      block_count = torch::jit::tensorexpr::getTECudaPointwiseBlockCount(),
      block_size = torch::jit::tensorexpr::getTECudaPointwiseBlockSize();

  friend bool operator==(const FuserState&, const FuserState&) = default;
};

/// Puts the state back that it found.
class FuserGuard {
 public:
  FuserGuard() = default;
  FuserGuard(const FuserGuard&) = delete;
  FuserGuard& operator=(const FuserGuard&) = delete;
  ~FuserGuard() {
    detail::set_executor(before_.profiling_executor, before_.optimize);
    torch::jit::overrideCanFuseOnCPU(before_.on_cpu);
    torch::jit::overrideCanFuseOnGPU(before_.on_gpu);
    torch::jit::setTensorExprFuserEnabled(before_.tensor_expressions);
    torch::jit::tensorexpr::getTECudaPointwiseLoopLevels() = before_.loop_level;
    torch::jit::tensorexpr::getTECudaPointwiseBlockCount() = before_.block_count;
    torch::jit::tensorexpr::getTECudaPointwiseBlockSize() = before_.block_size;
  }

 private:
  const FuserState before_;
};
#else
/// Nothing was changed.
struct FuserGuard {
  FuserGuard() = default;
  FuserGuard(const FuserGuard&) = delete;
  FuserGuard& operator=(const FuserGuard&) = delete;
  ~FuserGuard() = default;
};
#endif

}  // namespace pace::benches::rnn
