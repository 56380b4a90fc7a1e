// Kernels that tests read the images of.
#include "kernels.cuh"

// Mangled.
__global__ void add(const float* x, const float* y, float* sum, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) sum[i] = x[i] + y[i];
}

extern "C" __global__ void axpy(const float* x, const float* y, float* out, int n, float alpha) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = alpha * x[i] + y[i];
}

// A structure, and parameters of several sizes.
extern "C" __global__ void mixed(Structure structure, double a, char b, short c, float* out) {
  out[0] = static_cast<float>(a) + static_cast<float>(b + c) + static_cast<float>(structure.bytes[3]);
}

extern "C" __global__ void without_parameters() {}

template <class T>
__global__ void scale(T* x, long long n, T factor) {
  const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  if (i < n) x[i] *= factor;
}
template __global__ void scale<float>(float*, long long, float);
