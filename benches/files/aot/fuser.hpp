// Which fuser TorchScript uses.
#pragma once

#include <string>
#include <string_view>

#include "benches/files/aot/libtorch_parts.hpp"
#include "pace/base/error.hpp"

#if PACE_HAS_FUSERS
#include <torch/csrc/jit/codegen/fuser/interface.h>
#include <torch/csrc/jit/passes/tensorexpr_fuser.h>
#endif

namespace pace::benches::aot {

enum class Fuser {
  standard,  ///< as LibTorch has it: NNC on GPUs, none on the CPU
  none,      ///< no fusion anywhere
  nnc,       ///< NNC (tensor expressions) on the CPU, too, where LibTorch was built with LLVM
};

/// Returns the name that parse_fuser() reads.
[[nodiscard]] inline const char* to_string(Fuser fuser) {
  switch (fuser) {
    case Fuser::standard:
      return "default";
    case Fuser::none:
      return "none";
    case Fuser::nnc:
      return "nnc";
  }
  return "?";
}

/// Throws InputError that lists the fusers.
[[nodiscard]] inline Fuser parse_fuser(std::string_view name) {
  if (name == "default") return Fuser::standard;
  if (name == "none") return Fuser::none;
  if (name == "nnc" || name == "te") return Fuser::nnc;
  const bool gone = name == "nvfuser";
  throw InputError({}, "--fuser: " + std::string(gone ? "this LibTorch has no nvFuser; " : "") +
                           "expected default, none or nnc, found '" + std::string(name) + "'");
}

/// Why no fuser can be chosen where LibTorch's headers of them are missing.
inline constexpr const char* no_fusers =
    "this LibTorch was installed without the headers that switch TorchScript's fusers and executors "
    "(torch/csrc/jit/passes/tensorexpr_fuser.h and others); expected the default";

/// For everything that TorchScript compiles in this process from now on. Throws Unsupported for another one than the
/// standard where LibTorch's headers of fusers are missing.
inline void use_fuser(Fuser fuser) {
  if (fuser == Fuser::standard) return;
#if PACE_HAS_FUSERS
  const bool fuses = fuser == Fuser::nnc;
  torch::jit::setTensorExprFuserEnabled(fuses);
  torch::jit::overrideCanFuseOnCPU(fuses);
  torch::jit::overrideCanFuseOnGPU(fuses);
#else
  throw Unsupported(no_fusers);
#endif
}

}  // namespace pace::benches::aot
