// Errors of CUDA as exceptions of pace.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "pace/base/error.hpp"

namespace pace::cuda {

/// The reasons why a call cannot be captured, for messages.
inline constexpr const char* cannot_be_captured =
    "a call that waits for the device, copies to the host, or leaves work on another stream cannot be captured";

/// What messages say where loses_device() is true.
inline constexpr const char* device_is_lost =
    "a kernel did something illegal or ran for too long, or the hardware failed, and the device is lost to this "
    "process";

/// Whether no call on the device succeeds in this process after `code`. The driver's codes have the same numbers.
[[nodiscard]] constexpr bool loses_device(cudaError_t code) {
  switch (code) {
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
      return true;
    default:
      return false;
  }
}

/// Throws the exception for `code`, unless it is success. `what` names the operation, such as `recording an event`.
///
///  - DeviceMissing: there is no device, or no driver for this toolkit.
///  - Unsupported: memory does not suffice; the code is for another architecture; a capture forbids the operation.
///  - DeviceLost: an illegal address, an assertion, or a fault of the hardware. Only another process can use the device
///    after it.
///  - Error: any other error.
inline void check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  // Clears the last error of this thread, which the next check would otherwise find.
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
                        "; the code was built for another architecture: expected this device's among those of "
                        "--@pace//:cuda_arch, or of `arch` of its pace_cuda_library");
    case cudaErrorStreamCaptureUnsupported:
    case cudaErrorStreamCaptureInvalidated:
    case cudaErrorStreamCaptureUnjoined:
    case cudaErrorStreamCaptureIsolation:
    case cudaErrorStreamCaptureImplicit:
    case cudaErrorStreamCaptureUnmatched:
    case cudaErrorStreamCaptureMerge:
      throw Unsupported(text + "; " + cannot_be_captured);
    default:
      if (loses_device(code)) throw DeviceLost(text + "; " + device_is_lost);
      throw Error(text);
  }
}

/// As check(), for operations that some devices and virtual GPUs lack. Returns false if `code` says that the value or
/// the operation is not supported.
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
