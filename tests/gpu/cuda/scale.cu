#include "tests/gpu/cuda/scale.hpp"

namespace pace::testing {
namespace {

__global__ void scale_kernel(const float* x, float* y, float factor, std::int64_t n) {
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = factor * x[i];
}

__global__ void spin_kernel(std::int64_t nanoseconds) {
  std::uint64_t start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (now - start < static_cast<std::uint64_t>(nanoseconds));
}

__global__ void write_nowhere_kernel(int* nowhere) { *nowhere = 1; }

__global__ void wait_kernel(const volatile int* flag) {
  while (*flag == 0) {
  }
}

}  // namespace

void scale(const float* x, float* y, float factor, std::int64_t n, cudaStream_t stream) {
  scale_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(x, y, factor, n);
}
void spin(std::int64_t microseconds, cudaStream_t stream) { spin_kernel<<<1, 1, 0, stream>>>(1000 * microseconds); }
void write_nowhere(cudaStream_t stream) { write_nowhere_kernel<<<1, 1, 0, stream>>>(reinterpret_cast<int*>(64)); }
void wait_for_flag(const volatile int* flag, cudaStream_t stream) { wait_kernel<<<1, 1, 0, stream>>>(flag); }

}  // namespace pace::testing
