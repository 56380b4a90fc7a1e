#include "benches/cuda/work.hpp"

namespace work {
namespace {

__global__ void kernel(const float* x, float* y, std::int64_t n, int trips, float one, float zero) {
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  float value = x[i];
  for (int trip = 0; trip < trips; ++trip) value = fmaf(value, one, zero);
  y[i] = value;
}

}  // namespace

void copy_with_work(const float* x, float* y, std::int64_t n, int trips, cudaStream_t stream) {
  kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(x, y, n, trips, 1, 0);
}

}  // namespace work
