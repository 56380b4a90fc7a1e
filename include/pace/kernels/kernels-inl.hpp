// Definitions of kernels.hpp.
#pragma once

#include "pace/kernels/kernels.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <c10/core/DeviceType.h>

#include "pace/base/error.hpp"
#include "pace/check/clone_input.hpp"
#include "pace/check/restore.hpp"
#include "pace/kernels/attempt.hpp"
#include "pace/kernels/call_kernels.hpp"
#include "pace/kernels/capture_kernels.hpp"
#include "pace/kernels/written_storages.hpp"

namespace pace::kernel {

PACE_INLINE KernelReport list_kernels(const KernelsOptions& options, std::string name,
                                      const std::function<void()>& call, const std::vector<at::Tensor>& tensors) {
  const bool on_cuda = options.on ? *options.on == c10::DeviceType::CUDA
                                  : std::ranges::any_of(tensors, [](const auto& tensor) { return tensor.is_cuda(); });
#ifndef PACE_CUDA
  if (on_cuda) throw Unsupported(name + ": this program was built without CUDA: build it with --config=cuda");
#endif
  std::vector<at::Tensor> copies;
  for (const auto& tensor : tensors) copies.push_back(check::clone_input(tensor));
  const auto restore_operands = [&] {
    for (std::size_t i = 0; i < tensors.size(); ++i) check::restore_tensor(copies[i], tensors[i]);
  };
  WrittenStorages held;
  const auto restore = [&] {
    restore_operands();
    held.restore();
  };
  try {
#ifdef PACE_CUDA
    if (on_cuda) {
      auto report = detail::capture_kernels(options, std::move(name), call, restore_operands, tensors);
      restore_operands();
      return report;
    }
#endif
    held.observe(call);
    // Restoring unchanged memory would only put other data into the caches.
    bool changes = held.size() > 0;
    for (std::size_t i = 0; i < tensors.size(); ++i) changes = changes || !detail::same_values(tensors[i], copies[i]);
    auto report =
        detail::call_kernels(options, std::move(name), call, changes ? std::function<void()>(restore) : [] {});
    restore();
    return report;
  } catch (const DeviceLost&) {
    throw;
  } catch (...) {
    // The first failure counts, whatever it has done to the operands.
    static_cast<void>(failure_of(restore));
    throw;
  }
}

}  // namespace pace::kernel
