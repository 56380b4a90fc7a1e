#include "benches/cuda/own_kernels.hpp"

#include <cub/device/device_reduce.cuh>

namespace own {
namespace {

__global__ void axpy_kernel(float a, const float4* x, float4* y, std::int64_t quads) {
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (i >= quads) return;
  const float4 from = x[i];
  float4 to = y[i];
  to.x += a * from.x;
  to.y += a * from.y;
  to.z += a * from.z;
  to.w += a * from.w;
  y[i] = to;
}

}  // namespace

void axpy(float a, const float* x, float* y, std::int64_t n, cudaStream_t stream) {
  const std::int64_t quads = n / 4;
  axpy_kernel<<<static_cast<unsigned>((quads + 255) / 256), 256, 0, stream>>>(a, reinterpret_cast<const float4*>(x),
                                                                              reinterpret_cast<float4*>(y), quads);
}

std::size_t sum_scratch(std::int64_t n) {
  std::size_t bytes = 0;
  cub::DeviceReduce::Sum(nullptr, bytes, static_cast<const float*>(nullptr), static_cast<float*>(nullptr), n);
  return bytes;
}

void sum(const float* x, float* total, std::int64_t n, void* scratch, std::size_t bytes, cudaStream_t stream) {
  cub::DeviceReduce::Sum(scratch, bytes, x, total, n, stream);
}

}  // namespace own
