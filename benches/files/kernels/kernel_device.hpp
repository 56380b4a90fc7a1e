// The seam between kernels of files and their device: a GPU, or a test's fake.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <c10/core/Device.h>

#include "pace/base/error.hpp"

#ifdef PACE_CUDA
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include "pace/gpu/cuda/error.hpp"
#include "pace/gpu/cuda/facts.hpp"
#include "pace/gpu/cuda/kernel_module.hpp"
#include "pace/gpu/cuda/launch_kernel.hpp"
#endif

namespace pace::benches::loaders {

struct KernelLaunch {
  std::array<std::uint32_t, 3> grid{1, 1, 1};   ///< blocks in x, y and z
  std::array<std::uint32_t, 3> block{1, 1, 1};  ///< threads of a block
  /// Blocks of a cluster; all 1: none, or those that the kernel was compiled for.
  std::array<std::uint32_t, 3> cluster{1, 1, 1};
  std::uint32_t shared_bytes = 0;  ///< dynamic shared memory of a block
  bool cooperative = false;        ///< all blocks run at a time
};

/// A kernel that was loaded.
class LaunchableKernel {
 public:
  LaunchableKernel() = default;
  LaunchableKernel(const LaunchableKernel&) = delete;
  LaunchableKernel& operator=(const LaunchableKernel&) = delete;
  virtual ~LaunchableKernel() = default;
  /// Sizes of its parameters.
  [[nodiscard]] virtual std::vector<std::size_t> parameters() const = 0;
  [[nodiscard]] virtual std::int64_t static_shared_bytes() const = 0;
  [[nodiscard]] virtual std::int64_t most_threads() const = 0;
  /// Asks for the dynamic shared memory of later launches. Throws Unsupported.
  virtual void allow_shared_bytes(std::uint32_t bytes) = 0;
  /// Queues it on the current stream; `arguments` points to the address of each argument.
  virtual void launch(const KernelLaunch& launch, void** arguments) = 0;
};

/// An image that was loaded.
class LoadedKernels {
 public:
  LoadedKernels() = default;
  LoadedKernels(const LoadedKernels&) = delete;
  LoadedKernels& operator=(const LoadedKernels&) = delete;
  virtual ~LoadedKernels() = default;
  [[nodiscard]] virtual std::vector<std::string> names() const = 0;
  /// The result refers to this object. Throws Unsupported.
  [[nodiscard]] virtual std::unique_ptr<LaunchableKernel> get(const std::string& symbol) const = 0;
};

class KernelDevice {
 public:
  KernelDevice() = default;
  KernelDevice(const KernelDevice&) = delete;
  KernelDevice& operator=(const KernelDevice&) = delete;
  virtual ~KernelDevice() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  /// Such as 90 for compute capability 9.0.
  [[nodiscard]] virtual int compute_capability() const = 0;
  /// Shared memory that a block may have, static and dynamic.
  [[nodiscard]] virtual std::int64_t most_shared_bytes() const = 0;
  /// Throws Unsupported with the driver's message.
  [[nodiscard]] virtual std::unique_ptr<LoadedKernels> load(const std::string& image,
                                                            const std::string& path) const = 0;
};

/// Makes the device that kernels run on, from the device of the inputs. Throws Unsupported where there is none.
using OpenKernelDevice = std::function<std::unique_ptr<KernelDevice>(c10::Device)>;

#ifdef PACE_CUDA

namespace detail {

class CudaKernel final : public LaunchableKernel {
 public:
  CudaKernel(const cuda::KernelModule& module, std::string symbol, c10::DeviceIndex device)
      : module_(module), symbol_(std::move(symbol)), device_(device), function_(module_.function(symbol_, 0)) {}
  [[nodiscard]] std::vector<std::size_t> parameters() const override { return cuda::parameter_bytes(function_); }
  [[nodiscard]] std::int64_t static_shared_bytes() const override {
    return cuda::function_attribute(function_, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  }
  [[nodiscard]] std::int64_t most_threads() const override {
    return cuda::function_attribute(function_, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  }
  void allow_shared_bytes(std::uint32_t bytes) override {
    const c10::cuda::CUDAGuard guard(device_);
    function_ = module_.function(symbol_, static_cast<int>(bytes));
  }
  void launch(const KernelLaunch& launch, void** arguments) override {
    const c10::cuda::CUDAGuard guard(device_);
    std::vector<CUlaunchAttribute> attributes;
    if (launch.cluster != std::array<std::uint32_t, 3>{1, 1, 1}) {
      auto& cluster = attributes.emplace_back();
      cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
      cluster.value.clusterDim = {launch.cluster[0], launch.cluster[1], launch.cluster[2]};
    }
    if (launch.cooperative) {
      auto& cooperative = attributes.emplace_back();
      cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
      cooperative.value.cooperative = 1;
    }
    cuda::launch_kernel(function_, {launch.grid, launch.block, launch.shared_bytes},
                        c10::cuda::getCurrentCUDAStream(device_).stream(), arguments, nullptr, std::move(attributes),
                        "launching the kernel");
  }

 private:
  const cuda::KernelModule& module_;
  std::string symbol_;
  c10::DeviceIndex device_;
  CUfunction function_;
};

class CudaKernels final : public LoadedKernels {
 public:
  CudaKernels(const std::string& path, const std::string& image, c10::DeviceIndex device)
      : module_(std::in_place, path, image), device_(device) {}
  CudaKernels(const CudaKernels&) = delete;
  CudaKernels& operator=(const CudaKernels&) = delete;
  ~CudaKernels() override {
    // The driver unloads from the current context.
    try {
      const c10::cuda::CUDAGuard guard(device_);
      module_.reset();
    } catch (...) {  // the device is lost, and its memory with it
    }
  }
  [[nodiscard]] std::vector<std::string> names() const override {
    const c10::cuda::CUDAGuard guard(device_);
    return module_->kernels();
  }
  [[nodiscard]] std::unique_ptr<LaunchableKernel> get(const std::string& symbol) const override {
    const c10::cuda::CUDAGuard guard(device_);
    return std::make_unique<CudaKernel>(*module_, symbol, device_);
  }

 private:
  std::optional<cuda::KernelModule> module_;
  c10::DeviceIndex device_;
};

class CudaKernelDevice final : public KernelDevice {
 public:
  explicit CudaKernelDevice(c10::Device device) : index_(device.has_index() ? device.index() : c10::DeviceIndex{0}) {
    cuda::check(cudaGetDeviceProperties(&properties_, index_), "asking for the device's properties");
  }
  [[nodiscard]] std::string name() const override { return cuda::device_name(index_); }
  [[nodiscard]] int compute_capability() const override { return 10 * properties_.major + properties_.minor; }
  [[nodiscard]] std::int64_t most_shared_bytes() const override {
    return static_cast<std::int64_t>(properties_.sharedMemPerBlockOptin);
  }
  [[nodiscard]] std::unique_ptr<LoadedKernels> load(const std::string& image, const std::string& path) const override {
    const c10::cuda::CUDAGuard guard(index_);
    // The driver loads into the current context, which the runtime makes at its first use.
    cuda::check(cudaFree(nullptr), "using the device");
    return std::make_unique<CudaKernels>(path, image, index_);
  }

 private:
  c10::DeviceIndex index_;
  cudaDeviceProp properties_{};
};

}  // namespace detail

#endif  // PACE_CUDA

/// The GPU of this machine that the inputs are on. Throws Unsupported where they are on the CPU, or where this program
/// was built without CUDA.
[[nodiscard]] inline std::unique_ptr<KernelDevice> open_kernel_device(c10::Device device) {
#ifdef PACE_CUDA
  if (!device.is_cuda())
    throw Unsupported("a kernel runs on a GPU, and the inputs are on " + device.str() + "; expected --device cuda");
  return std::make_unique<detail::CudaKernelDevice>(device);
#else
  throw Unsupported("a kernel runs on a GPU (the inputs are on " + device.str() +
                    "), and this program was built without CUDA: build it with --config=cuda");
#endif
}

}  // namespace pace::benches::loaders
