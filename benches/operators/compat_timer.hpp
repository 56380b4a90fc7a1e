// The timers of the compatible flows on this machine.
#pragma once

#include <memory>
#include <string>

#include "benches/files/aot/device.hpp"
#include "benches/operators/compat/timer.hpp"
#ifdef PACE_CUDA
#include "pace/gpu/cuda/device.hpp"
#endif

namespace pace::benches::operators {

class CompatTimer {
 public:
  /// Throws InputError if the device is not there.
  explicit CompatTimer(const std::string& device) {
    const at::Device where = benches::aot::parse_device(device);
#ifdef PACE_CUDA
    if (where.is_cuda()) {
      gpu_ = std::make_unique<cuda::CudaDevice>(where.index());
      timer_ = std::make_unique<benches::operators::compat::DeviceTimer<cuda::CudaDevice>>(*gpu_);
      return;
    }
#endif
    (void)where;
    timer_ = std::make_unique<benches::operators::compat::HostTimer<>>();
  }
  [[nodiscard]] benches::operators::compat::Timer& get() { return *timer_; }

 private:
#ifdef PACE_CUDA
  std::unique_ptr<cuda::CudaDevice> gpu_;
#endif
  std::unique_ptr<benches::operators::compat::Timer> timer_;
};

}  // namespace pace::benches::operators
