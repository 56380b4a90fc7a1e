// A kernel of our own, for tests: y = factor * x, and others that do what they should not.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

namespace pace::testing {

void scale(const float* x, float* y, float factor, std::int64_t n, cudaStream_t stream);
/// Keeps one multiprocessor busy for that long.
void spin(std::int64_t microseconds, cudaStream_t stream);
/// Writes where nothing is.
void write_nowhere(cudaStream_t stream);
/// Ends when `*flag`, in pinned host memory, is not 0.
void wait_for_flag(const volatile int* flag, cudaStream_t stream);

}  // namespace pace::testing
