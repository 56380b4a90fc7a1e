// pace::kernels: every kernel of anything that can be captured, each timed alone.
//
//   const auto report = pace::kernels("my_block", [&](at::Tensor& x) { return block->forward(x); }, x);
//   for (const auto& kernel : report.kernels) std::cout << kernel.name << ' ' << kernel.hot->count() << " ns\n";
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "pace/check/clone_input.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/check/restore.hpp"
#include "pace/core/error.hpp"
#include "pace/kernel/capture_kernels.hpp"
#include "pace/kernel/options.hpp"
#include "pace/kernel/report.hpp"

namespace pace {


/// Captures one call of `call(operands...)` and replays each of its kernels alone. Tensors among the operands get their
/// values back. Throws Refused if the call cannot be captured, has no kernel, or there is no GPU.
template <class F, class... Operands>
[[nodiscard]] kernel::KernelReport kernels(const KernelsOptions& options, std::string name, F&& call,
                                            Operands&... operands) {
#ifdef PACE_CUDA
  std::vector<at::Tensor> tensors, copies;
  const auto collect = [&](const auto& operand) {
    for (const auto& tensor : check::tensors_of(to_ivalue(operand))) {
      tensors.push_back(tensor);
      copies.push_back(check::clone_input(tensor));
    }
  };
  (collect(operands), ...);
  const auto restore = [&] {
    for (std::size_t i = 0; i < tensors.size(); ++i) check::restore_tensor(copies[i], tensors[i]);
  };
  auto report = kernel::detail::capture_kernels(options, std::move(name), [&] { static_cast<void>(call(operands...)); },
                                                 restore);
  restore();
  return report;
#else
  static_cast<void>(options);
  static_cast<void>(call);
  (static_cast<void>(operands), ...);
  throw Refused(name + ": this program was built without CUDA: build it with --config=cuda");
#endif
}

template <class F, class... Operands>
[[nodiscard]] kernel::KernelReport kernels(std::string name, F&& call, Operands&... operands) {
  return kernels(KernelsOptions{}, std::move(name), std::forward<F>(call), operands...);
}

}  // namespace pace
