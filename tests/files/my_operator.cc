// Operators of a library: what `--library` loads.
#include <cstdlib>

#include <ATen/core/Tensor.h>
#include <ATen/ops/relu.h>
#include <torch/library.h>

namespace {

at::Tensor fused(const at::Tensor& a, const at::Tensor& b) { return at::relu(a.mul(b)); }

at::Tensor crash(const at::Tensor& /*a*/, const at::Tensor& /*b*/) { std::abort(); }

TORCH_LIBRARY(myops, library) {
  library.def("fused(Tensor a, Tensor b) -> Tensor", &fused);
  library.def("crash(Tensor a, Tensor b) -> Tensor", &crash);
}

}  // namespace
