// Tolerance runs: how far a back end's numbers are from eager's on a CPU.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "pace/base/error.hpp"
#include "pace/check/ivalue.hpp"

namespace pace::benches::models {

struct RelativeErrors {
  double max = 0, mean = 0, std = 0;
  std::int64_t elements = 0;
};

/// torchbench's check_tolerance: |ref - res| / (1 + |ref|) of all elements of all floating tensors together, in float64
/// on the CPU; std with Bessel's correction, as torch.std. Throws Error where the outputs have other structures.
[[nodiscard]] inline RelativeErrors relative_errors(const c10::IValue& ref, const c10::IValue& res) {
  const auto refs = check::tensors_of(ref), ress = check::tensors_of(res);
  if (refs.size() != ress.size())
    throw Error("tolerance: expected " + std::to_string(refs.size()) + " tensors, found " +
                std::to_string(ress.size()));
  RelativeErrors errors;
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < refs.size(); ++i) {
    if (refs[i].sizes() != ress[i].sizes()) throw Error("tolerance: outputs have other sizes");
    if (!at::isFloatingType(refs[i].scalar_type()) || refs[i].numel() == 0) continue;
    const auto wide = [](const at::Tensor& tensor) { return tensor.detach().cpu().to(at::kDouble); };
    const at::Tensor reference = wide(refs[i]);
    const at::Tensor error = (reference - wide(ress[i])).abs() / (reference.abs() + 1);
    errors.max = std::max(errors.max, error.max().item<double>());
    errors.elements += error.numel();
    sum += error.sum().item<double>();
    squares += error.square().sum().item<double>();
  }
  if (errors.elements == 0) return errors;
  const auto count = static_cast<double>(errors.elements);
  errors.mean = sum / count;
  const double deviations = squares - count * errors.mean * errors.mean;
  if (errors.elements > 1) errors.std = std::sqrt(std::max(0.0, deviations / (count - 1)));
  return errors;
}

}  // namespace pace::benches::models
