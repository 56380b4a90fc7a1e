// Batch invariance: whether a sample's answer is the same, bit by bit, in smaller batches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>
#include <c10/util/StringUtil.h>

#include "benches/models/run/input_tensors.hpp"
#include "benches/models/run/outcome.hpp"
#include "pace/check/clone.hpp"
#include "pace/check/ivalue.hpp"

namespace pace::benches::models {

/// The inputs, with each tensor that has `batch` as its first size cut to `size`.
[[nodiscard]] inline torch::jit::Stack first_of_batch(const torch::jit::Stack& inputs, std::int64_t batch,
                                                      std::int64_t size) {
  return map_tensors(inputs, [&](const at::Tensor& tensor) {
    return tensor.dim() > 0 && tensor.size(0) == batch ? tensor.narrow(0, 0, size) : tensor;
  });
}

/// torchbench's check_batch_invariance. Compares the outputs of `forward` for the first half of a batch, a quarter, ...
/// one sample with the whole batch's. Only outputs with the batch size as their first size count. The status is `pass`,
/// `pass_due_to_skip` (a batch of one, or no input with it), `fail_to_run`, `fail_to_run_at_batch_N` or
/// `fail_batch_invariance_at_N`; `message` says why.
[[nodiscard]] inline std::string batch_invariance(const torch::jit::Stack& inputs, std::int64_t batch,
                                                  const std::function<c10::IValue(const torch::jit::Stack&)>& forward,
                                                  std::string& message) {
  const bool has_batch = std::ranges::any_of(
      tensors_of_inputs(inputs), [&](const at::Tensor& tensor) { return tensor.dim() > 0 && tensor.size(0) == batch; });
  if (batch < 2 || !has_batch) {
    message = batch < 2 ? "a batch of one has no smaller one" : "no input has the batch as its first size";
    return "pass_due_to_skip";
  }
  std::vector<at::Tensor> whole;
  try {
    whole = check::tensors_of(check::clone_ivalue(forward(inputs)));
  } catch (...) {
    const Failed failed = current_failed();
    message = failed.message;
    return failed.out_of_memory ? "OOM" : "fail_to_run";
  }
  for (std::int64_t size = batch / 2; size >= 1; size /= 2) {
    std::vector<at::Tensor> part;
    try {
      part = check::tensors_of(forward(first_of_batch(inputs, batch, size)));
    } catch (...) {
      message = current_failed().message;
      return "fail_to_run_at_batch_" + std::to_string(size);
    }
    bool same = part.size() == whole.size();
    for (std::size_t i = 0; same && i < whole.size(); ++i) {
      if (whole[i].dim() == 0 || whole[i].size(0) != batch) continue;
      const at::Tensor expected = whole[i].narrow(0, 0, size);
      same = part[i].sizes() == expected.sizes() && part[i].scalar_type() == expected.scalar_type() &&
             part[i].nan_to_num(0).equal(expected.nan_to_num(0)) && part[i].isnan().equal(expected.isnan());
      if (!same) {
        message = "output " + std::to_string(i) + " of " + std::to_string(size) + " samples differs";
        if (part[i].sizes() == expected.sizes())
          message += " by up to " + c10::str(part[i].to(at::kDouble).sub(expected).abs().max().item<double>());
      }
    }
    if (!same) {
      if (message.empty()) message = "another number of outputs";
      return "fail_batch_invariance_at_" + std::to_string(size);
    }
  }
  return "pass";
}

}  // namespace pace::benches::models
