#include "tests/gpu/cuda/scale.hpp"

#include <stdexcept>

namespace pace::testing {
namespace {

__global__ void scale_kernel(const float* x, float* y, float factor, std::int64_t n) {
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = factor * x[i];
}

// Code for an older GPU has no clusters.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define PACE_IN_PAIRS __cluster_dims__(2, 1, 1)
#else
#define PACE_IN_PAIRS
#endif

__global__ void PACE_IN_PAIRS scale_in_pairs_kernel(const float* x, float* y, float factor, std::int64_t n) {
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = factor * x[i];
}

__global__ void flip_kernel(const float* x, float* y, int steps, const float* known_x, const float* known_y,
                            std::int64_t n) {
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  float value = x[i];
  if (known_x != nullptr && value == known_x[i])
    value = known_y[i];
  else
    for (int step = 0; step < steps; ++step) value = 2 - value;
  y[i] = value;
}

__global__ void spin_kernel(std::int64_t nanoseconds) {
  std::uint64_t start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (now - start < static_cast<std::uint64_t>(nanoseconds));
}

// A kernel that uses up its semaphore: it ends at once if the semaphore is 0.
__global__ void spin_if_set_kernel(int* semaphore, std::int64_t nanoseconds) {
  if (*semaphore == 0) return;
  std::uint64_t start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (now - start < static_cast<std::uint64_t>(nanoseconds));
  *semaphore = 0;
}

__global__ void double_and_count_kernel(float* x, float expected, int* launches_and_others) {
  if (threadIdx.x == 0) {
    launches_and_others[0] += 1;
    if (*x != expected) launches_and_others[1] += 1;
    *x *= 2;
  }
}

__global__ void write_nowhere_kernel(int* nowhere) { *nowhere = 1; }

__global__ void wait_kernel(const volatile int* flag) {
  while (*flag == 0) {
  }
}

void launch_scale(const float* x, float* y, float factor, std::int64_t n, cudaLaunchAttribute attribute,
                  cudaStream_t stream) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>((n + 255) / 256));
  config.blockDim = dim3(256);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  const cudaError_t error = cudaLaunchKernelEx(&config, scale_kernel, x, y, factor, n);
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

}  // namespace

void flip_unknown(const float* x, float* y, int steps, const float* known_x, const float* known_y, std::int64_t n,
                  cudaStream_t stream) {
  flip_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(x, y, steps, known_x, known_y, n);
}

void flip(const float* x, float* y, int steps, std::int64_t n, cudaStream_t stream) {
  flip_unknown(x, y, steps, nullptr, nullptr, n, stream);
}

void scale(const float* x, float* y, float factor, std::int64_t n, cudaStream_t stream) {
  scale_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(x, y, factor, n);
}
void scale_in_clusters(const float* x, float* y, float factor, std::int64_t n, unsigned blocks, cudaStream_t stream) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = blocks;
  attribute.val.clusterDim.y = 1;
  attribute.val.clusterDim.z = 1;
  launch_scale(x, y, factor, n, attribute, stream);
}
void scale_in_compiled_clusters(const float* x, float* y, float factor, std::int64_t n, cudaStream_t stream) {
  scale_in_pairs_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(x, y, factor, n);
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}
void scale_cooperatively(const float* x, float* y, float factor, std::int64_t n, cudaStream_t stream) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  launch_scale(x, y, factor, n, attribute, stream);
}
void scale_with(const float* x, float* y, float factor, std::int64_t n, const cudaLaunchAttribute& attribute,
                cudaStream_t stream) {
  launch_scale(x, y, factor, n, attribute, stream);
}
void spin_if_set(int* semaphore, std::int64_t microseconds, cudaStream_t stream) {
  spin_if_set_kernel<<<1, 1, 0, stream>>>(semaphore, 1000 * microseconds);
}
void double_and_count(float* x, float expected, int* launches_and_others, cudaStream_t stream) {
  double_and_count_kernel<<<1, 32, 0, stream>>>(x, expected, launches_and_others);
}
void spin(std::int64_t microseconds, cudaStream_t stream) { spin_kernel<<<1, 1, 0, stream>>>(1000 * microseconds); }
void write_nowhere(cudaStream_t stream) { write_nowhere_kernel<<<1, 1, 0, stream>>>(reinterpret_cast<int*>(64)); }
void wait_for_flag(const volatile int* flag, cudaStream_t stream) { wait_kernel<<<1, 1, 0, stream>>>(flag); }

}  // namespace pace::testing
