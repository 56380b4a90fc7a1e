// Parts of LibTorch that a distribution may have no headers of. Each macro is 1 where they are there, else 0. A file
// includes the headers of a part itself. Without them, it names the missing part.
#pragma once

/// Loading packages that AOTInductor compiled.
#if __has_include(<torch/csrc/inductor/aoti_package/model_package_loader.h>)
#define PACE_HAS_AOT_INDUCTOR 1
#else
#define PACE_HAS_AOT_INDUCTOR 0
#endif

/// Running exported programs operator by operator, from packages.
#if PACE_HAS_AOT_INDUCTOR && __has_include(<torch/nativert/ModelRunnerHandle.h>)
#define PACE_HAS_NATIVERT 1
#else
#define PACE_HAS_NATIVERT 0
#endif

/// Static Runtime.
#if __has_include(<torch/csrc/jit/runtime/static/impl.h>)
#define PACE_HAS_STATIC_RUNTIME 1
#else
#define PACE_HAS_STATIC_RUNTIME 0
#endif

/// The profiler Kineto.
#if __has_include(<torch/csrc/autograd/profiler_kineto.h>)
#define PACE_HAS_PROFILER 1
#else
#define PACE_HAS_PROFILER 0
#endif

/// Switches of TorchScript's fusers and executors.
#if __has_include(<torch/csrc/jit/codegen/fuser/interface.h>) && \
    __has_include(<torch/csrc/jit/passes/tensorexpr_fuser.h>) && \
    __has_include(<torch/csrc/jit/tensorexpr/kernel.h>)
#define PACE_HAS_FUSERS 1
#else
#define PACE_HAS_FUSERS 0
#endif

/// Histories of the memory of a GPU.
#if defined(PACE_CUDA) && __has_include(<torch/csrc/cuda/memory_snapshot.h>)
#define PACE_HAS_MEMORY_SNAPSHOT 1
#else
#define PACE_HAS_MEMORY_SNAPSHOT 0
#endif
