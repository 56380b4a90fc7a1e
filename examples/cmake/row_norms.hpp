// The code under test: the Euclidean norm of each row, by one operator and step by step.
#pragma once

#include <ATen/core/Tensor.h>

at::Tensor row_norms(const at::Tensor& x);
at::Tensor row_norms_by_steps(const at::Tensor& x);
