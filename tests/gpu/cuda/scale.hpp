// A kernel of our own, for tests: y = factor * x, and others that do things they should not.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

namespace pace::testing {

void scale(const float* x, float* y, float factor, std::int64_t n, cudaStream_t stream);
/// The same in clusters of `blocks` blocks each, for a GPU of compute capability 9.0 or later. `blocks` must divide the
/// number of blocks, one for 256 elements. Throws std::runtime_error if the launch fails.
void scale_in_clusters(const float* x, float* y, float factor, std::int64_t n, unsigned blocks, cudaStream_t stream);
/// The same in clusters of two blocks; the kernel is compiled for them. Throws std::runtime_error if the launch fails.
void scale_in_compiled_clusters(const float* x, float* y, float factor, std::int64_t n, cudaStream_t stream);
/// The same as a cooperative launch. Throws std::runtime_error if the launch fails.
void scale_cooperatively(const float* x, float* y, float factor, std::int64_t n, cudaStream_t stream);
/// The same with an attribute of the launch. Throws std::runtime_error if the launch fails.
void scale_with(const float* x, float* y, float factor, std::int64_t n, const cudaLaunchAttribute& attribute,
                cudaStream_t stream);
/// y = x but for rounding, by an even number of steps of v = 2 - v, one after another.
void flip(const float* x, float* y, int steps, std::int64_t n, cudaStream_t stream);
/// The same, but where `x` has the element of `known_x`, the element of `known_y` is copied.
void flip_unknown(const float* x, float* y, int steps, const float* known_x, const float* known_y, std::int64_t n,
                  cudaStream_t stream);
/// Keeps one multiprocessor busy for that long and sets `*semaphore` to 0, or does nothing if that is 0 already.
void spin_if_set(int* semaphore, std::int64_t microseconds, cudaStream_t stream);
/// Doubles `*x`, and counts in pinned host memory its launches and those that do not find `expected` there.
void double_and_count(float* x, float expected, int* launches_and_others, cudaStream_t stream);
/// Keeps one multiprocessor busy for that long.
void spin(std::int64_t microseconds, cudaStream_t stream);
/// Writes where nothing is.
void write_nowhere(cudaStream_t stream);
/// Ends when `*flag`, in pinned host memory, is not 0.
void wait_for_flag(const volatile int* flag, cudaStream_t stream);

}  // namespace pace::testing
