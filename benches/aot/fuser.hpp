// Which fuser TorchScript uses.
#pragma once

#include <string_view>

#include <torch/csrc/jit/codegen/fuser/interface.h>
#include <torch/csrc/jit/passes/tensorexpr_fuser.h>

#include <string>

#include "pace/core/error.hpp"

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

/// For everything that TorchScript compiles in this process from now on.
inline void use_fuser(Fuser fuser) {
  if (fuser == Fuser::standard) return;
  const bool fuses = fuser == Fuser::nnc;
  torch::jit::setTensorExprFuserEnabled(fuses);
  torch::jit::overrideCanFuseOnCPU(fuses);
  torch::jit::overrideCanFuseOnGPU(fuses);
}

}  // namespace pace::benches::aot
