// Kernels of one's own, as a user has them in .cu files.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

namespace own {

/// y = a * x + y in one pass over n elements.
void axpy(float a, const float* x, float* y, std::int64_t n, cudaStream_t stream);

/// Bytes of scratch memory that sum() needs.
std::size_t sum_scratch(std::int64_t n);
/// *total = sum of x, by CUB.
void sum(const float* x, float* total, std::int64_t n, void* scratch, std::size_t bytes, cudaStream_t stream);

}  // namespace own
