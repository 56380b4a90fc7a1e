// A kernel without code for the GPU that it runs on.
#pragma once

#include <cuda_runtime_api.h>

namespace pace::testing {

/// Returns the launch's error.
cudaError_t launch_for_another_architecture(cudaStream_t stream);

}  // namespace pace::testing
