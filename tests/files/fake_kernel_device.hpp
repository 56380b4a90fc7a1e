// A GPU that keeps books: the loads and launches, with kernels that a test writes as functions of the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "benches/files/kernels/kernel_device.hpp"
#include "pace/base/error.hpp"

namespace pace::testing {

namespace loaders = benches::loaders;

/// Tests set these, and look at them.
struct FakeGpu {
  int compute_capability = 90;
  std::int64_t most_shared_bytes = 232448, static_shared_bytes = 0, most_threads = 1024;
  /// The driver's answers about an image that does not hold them.
  std::map<std::string, std::vector<std::size_t>> kernels = {};
  std::function<void(const loaders::KernelLaunch&, void**)> run = [](const loaders::KernelLaunch&, void**) {};

  std::vector<std::string> loaded = {};  ///< paths
  std::string image = {}, symbol = {};   ///< the latest load
  std::uint32_t asked_shared = 0;        ///< for the kernel that was bound last
  std::vector<loaders::KernelLaunch> launches = {};
  int asked_driver = 0;  ///< how often the driver was asked for names or parameters
};

/// The argument at a position, of this type.
template <class T>
[[nodiscard]] T argument(void** arguments, std::size_t position) {
  T value{};
  std::memcpy(&value, arguments[position], sizeof(T));
  return value;
}

namespace detail {

class FakeKernel final : public loaders::LaunchableKernel {
 public:
  FakeKernel(FakeGpu& gpu, std::string symbol) : gpu_(gpu), symbol_(std::move(symbol)) {}
  [[nodiscard]] std::vector<std::size_t> parameters() const override {
    ++gpu_.asked_driver;
    return gpu_.kernels.at(symbol_);
  }
  [[nodiscard]] std::int64_t static_shared_bytes() const override { return gpu_.static_shared_bytes; }
  [[nodiscard]] std::int64_t most_threads() const override { return gpu_.most_threads; }
  void allow_shared_bytes(std::uint32_t bytes) override {
    gpu_.asked_shared = bytes;
    if (gpu_.static_shared_bytes + bytes > gpu_.most_shared_bytes) throw Unsupported("the driver refuses this");
  }
  void launch(const loaders::KernelLaunch& launch, void** arguments) override {
    constexpr std::int64_t without_asking = 48 * 1024;
    if (gpu_.static_shared_bytes + launch.shared_bytes > without_asking && gpu_.asked_shared < launch.shared_bytes)
      throw Unsupported("the launch needs more shared memory than was asked for");
    gpu_.launches.push_back(launch);
    gpu_.run(launch, arguments);
  }

 private:
  FakeGpu& gpu_;
  std::string symbol_;
};

class FakeKernels final : public loaders::LoadedKernels {
 public:
  explicit FakeKernels(FakeGpu& gpu) : gpu_(gpu) {}
  [[nodiscard]] std::vector<std::string> names() const override {
    ++gpu_.asked_driver;
    std::vector<std::string> all;
    for (const auto& [name, parameters] : gpu_.kernels) all.push_back(name);
    return all;
  }
  [[nodiscard]] std::unique_ptr<loaders::LaunchableKernel> get(const std::string& symbol) const override {
    gpu_.symbol = symbol;
    return std::make_unique<FakeKernel>(gpu_, symbol);
  }

 private:
  FakeGpu& gpu_;
};

class FakeKernelDevice final : public loaders::KernelDevice {
 public:
  explicit FakeKernelDevice(FakeGpu& gpu) : gpu_(gpu) {}
  [[nodiscard]] std::string name() const override { return "fake GPU"; }
  [[nodiscard]] int compute_capability() const override { return gpu_.compute_capability; }
  [[nodiscard]] std::int64_t most_shared_bytes() const override { return gpu_.most_shared_bytes; }
  [[nodiscard]] std::unique_ptr<loaders::LoadedKernels> load(const std::string& image,
                                                             const std::string& path) const override {
    gpu_.loaded.push_back(path);
    gpu_.image = image;
    return std::make_unique<FakeKernels>(gpu_);
  }

 private:
  FakeGpu& gpu_;
};

}  // namespace detail

/// `gpu` must outlive the opened device.
[[nodiscard]] inline loaders::OpenKernelDevice open_fake(FakeGpu& gpu) {
  return [&gpu](c10::Device) -> std::unique_ptr<loaders::KernelDevice> {
    return std::make_unique<detail::FakeKernelDevice>(gpu);
  };
}

}  // namespace pace::testing
