#include "tests/gpu/cuda/other_architecture.hpp"

namespace pace::testing {

namespace {

__global__ void nothing() {}

}  // namespace

cudaError_t launch_for_another_architecture(cudaStream_t stream) {
  nothing<<<1, 1, 0, stream>>>();
  return cudaGetLastError();
}

}  // namespace pace::testing
