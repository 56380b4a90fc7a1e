#pragma once

#include <ATen/core/Tensor.h>

/// GELU of each element, by its tanh approximation, an operator a step.
at::Tensor gelu_by_steps(const at::Tensor& x);

/// The same in one operator.
at::Tensor gelu_at_once(const at::Tensor& x);
