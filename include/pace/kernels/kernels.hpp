// pace::kernels: every kernel of a call with its time, alone on a GPU and in its place on the CPU.
//
//   const auto report = pace::kernels("my_block", [&](at::Tensor& x) { return block->forward(x); }, x);
//   for (const auto& kernel : report.kernels) std::cout << kernel.name << ' ' << kernel.time()->count() << " ns\n";
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "pace/base/config.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/kernels/options.hpp"
#include "pace/kernels/report.hpp"

namespace pace {
namespace kernel {

/// Implements pace::kernels() without the types of the operands. `call()` runs the call; `tensors` are the tensors
/// among its operands.
[[nodiscard]] KernelReport list_kernels(const KernelsOptions& options, std::string name,
                                        const std::function<void()>& call, const std::vector<at::Tensor>& tensors);

}  // namespace kernel

/// Returns every kernel of one call of `call(operands...)`; `name` names the call in the report.
///
/// With an operand on CUDA (or KernelsOptions::on), the call is captured, and each of its kernels is replayed alone.
/// Otherwise the call runs on the CPU several times, and its kernels are timed in their place. The values of tensors
/// among the operands are restored. Throws Unsupported if the call cannot be captured or has no kernel, and
/// DeviceMissing if there is no GPU.
template <class F, class... Operands>
[[nodiscard]] kernel::KernelReport kernels(const KernelsOptions& options, std::string name, F&& call,
                                           Operands&... operands) {
  std::vector<at::Tensor> tensors;
  [[maybe_unused]] const auto collect = [&](const auto& operand) {
    for (const auto& tensor : check::tensors_of(to_ivalue(operand))) tensors.push_back(tensor);
  };
  (collect(operands), ...);
  return kernel::list_kernels(options, std::move(name), [&] { static_cast<void>(call(operands...)); }, tensors);
}

/// As above, with default options.
template <class F, class... Operands>
[[nodiscard]] kernel::KernelReport kernels(std::string name, F&& call, Operands&... operands) {
  return kernels(KernelsOptions{}, std::move(name), std::forward<F>(call), operands...);
}

}  // namespace pace

#ifdef PACE_HEADER_ONLY
#include "pace/kernels/kernels-inl.hpp"
#endif
