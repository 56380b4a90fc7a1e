#include "my_layer_norm.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/rsqrt.h>

at::Tensor my_layer_norm(const at::Tensor& x) { return at::layer_norm(x, {x.size(-1)}); }

at::Tensor layer_norm_by_steps(const at::Tensor& x) {
  const at::Tensor centred = x - at::mean(x, {-1}, /*keepdim=*/true);
  return centred * at::rsqrt(at::mean(centred * centred, {-1}, /*keepdim=*/true) + 1e-5);
}
