// Errors of CUDA, by what can be done about them.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "pace/core/error.hpp"

namespace pace::cuda {

inline constexpr const char* cannot_be_captured =
    "a call that waits for the device, copies to the host, or leaves work on another stream cannot be captured";

/// Throws what `code` means, unless it is success. `what` is what was being done: "recording an event".
/// DeviceMissing: no device, or no driver for this toolkit. Unsupported: not enough memory; code for another architecture;
/// not allowed while a stream is captured. DeviceLost: an illegal address, an assertion, a fault of the hardware, after
/// which only another process can go on. Error: anything else.
inline void check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  // What is not fatal stays the last error of this thread, and the next check would find it.
  static_cast<void>(cudaGetLastError());
  const std::string text = std::string(what) + ": " + cudaGetErrorString(code) + " (" + cudaGetErrorName(code) + ")";
  switch (code) {
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorInitializationError:
    case cudaErrorStubLibrary:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorDevicesUnavailable:
    case cudaErrorInvalidDevice:
      throw DeviceMissing(text + "; expected a CUDA GPU and a driver for it");
    case cudaErrorMemoryAllocation:
      throw Unsupported(text + "; expected the operands to fit into the device's memory");
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidPtx:
    case cudaErrorUnsupportedPtxVersion:
      throw Unsupported(text +
                        "; the code was built for another architecture: expected `arch` of pace_cuda_library to be "
                        "this device's");
    case cudaErrorStreamCaptureUnsupported:
    case cudaErrorStreamCaptureInvalidated:
    case cudaErrorStreamCaptureUnjoined:
    case cudaErrorStreamCaptureIsolation:
    case cudaErrorStreamCaptureImplicit:
    case cudaErrorStreamCaptureUnmatched:
    case cudaErrorStreamCaptureMerge:
      throw Unsupported(text + "; " + cannot_be_captured);
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorIllegalInstruction:
    case cudaErrorHardwareStackError:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
      throw DeviceLost(text + "; a kernel did something illegal, and the device is lost to this process");
    default:
      throw Error(text);
  }
}

/// The same, but for what some devices, and GPUs that are lent in parts, do not have: their answer is that the value, or
/// the operation, is none of theirs. False then.
inline bool check_if_supported(cudaError_t code, const char* what) {
  if (code != cudaErrorInvalidValue && code != cudaErrorNotSupported && code != cudaErrorUnsupportedLimit &&
      code != cudaErrorNotPermitted) {
    check(code, what);
    return true;
  }
  static_cast<void>(cudaGetLastError());
  return false;
}

}  // namespace pace::cuda
