// pace::kernels: every kernel of a call, each with its time: alone on a GPU, in its place on the CPU.
//
//   const auto report = pace::kernels("my_block", [&](at::Tensor& x) { return block->forward(x); }, x);
//   for (const auto& kernel : report.kernels) std::cout << kernel.name << ' ' << kernel.time()->count() << " ns\n";
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <c10/core/DeviceType.h>

#include "pace/check/clone_input.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/check/restore.hpp"
#include "pace/core/error.hpp"
#include "pace/kernels/call_kernels.hpp"
#include "pace/kernels/capture_kernels.hpp"
#include "pace/kernels/options.hpp"
#include "pace/kernels/report.hpp"

namespace pace {

/// Every kernel of one call of `call(operands...)`. With an operand on CUDA the call is captured, and each of its kernels
/// replayed alone; else it runs on the CPU several times, and its kernels are timed in their place. Tensors among the
/// operands get their values back. Throws Unsupported if the call cannot be captured, has no kernel, or there is no GPU.
template <class F, class... Operands>
[[nodiscard]] kernel::KernelReport kernels(const KernelsOptions& options, std::string name, F&& call,
                                           Operands&... operands) {
  std::vector<at::Tensor> tensors, copies;
  [[maybe_unused]] const auto collect = [&](const auto& operand) {
    for (const auto& tensor : check::tensors_of(to_ivalue(operand))) tensors.push_back(tensor);
  };
  (collect(operands), ...);
  const bool on_cuda = options.on ? *options.on == c10::DeviceType::CUDA
                                  : std::ranges::any_of(tensors, [](const auto& tensor) { return tensor.is_cuda(); });
#ifndef PACE_CUDA
  if (on_cuda) throw Unsupported(name + ": this program was built without CUDA: build it with --config=cuda");
#endif
  for (const auto& tensor : tensors) copies.push_back(check::clone_input(tensor));
  const auto restore = [&] {
    for (std::size_t i = 0; i < tensors.size(); ++i) check::restore_tensor(copies[i], tensors[i]);
  };
  const auto run = [&] { static_cast<void>(call(operands...)); };
#ifdef PACE_CUDA
  if (on_cuda) {
    auto report = kernel::detail::capture_kernels(options, std::move(name), run, restore);
    restore();
    return report;
  }
#endif
  // Restoring what was not changed would only put other things into the caches.
  run();
  bool changes = false;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    changes = changes || !kernel::detail::same_values(tensors[i], copies[i]);
  auto report = kernel::detail::call_kernels(
      options, std::move(name), run, changes ? std::function<void()>(restore) : [] {});
  restore();
  return report;
}

template <class F, class... Operands>
[[nodiscard]] kernel::KernelReport kernels(std::string name, F&& call, Operands&... operands) {
  return kernels(KernelsOptions{}, std::move(name), std::forward<F>(call), operands...);
}

}  // namespace pace
