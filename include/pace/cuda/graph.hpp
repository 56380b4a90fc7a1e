// CapturedGraph: LibTorch's CUDA graph with its memory, and the cleaning up that LibTorch leaves undone on failure.
#pragma once

#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "pace/cuda/error.hpp"

namespace pace::cuda {

/// Memory that is allocated in the capture comes from a pool of the graph's own, and random numbers advance with every
/// launch, as LibTorch does it.
class CapturedGraph {
 public:
  explicit CapturedGraph(c10::DeviceIndex device) : device_(device), graph_(/*keep_graph=*/true) {}
  CapturedGraph(const CapturedGraph&) = delete;
  ~CapturedGraph() { abandon(); }

  /// Captures the current stream, which must not be the default one. Throws Refused if that is impossible.
  void begin() {
    // Of this thread alone: what others do meanwhile, such as a profiler's, must not spoil the capture.
    graph_.capture_begin(pool_, cudaStreamCaptureModeThreadLocal);
    capturing_ = true;
  }

  /// On the same current stream. Throws what CUDA says of a capture that failed; then abandon() is due.
  void end() {
    cudaStreamCaptureStatus status{};
    check(cudaStreamIsCapturing(c10::cuda::getCurrentCUDAStream(device_), &status), "looking at the capture");
    if (status == cudaStreamCaptureStatusInvalidated) check(cudaErrorStreamCaptureInvalidated, "capturing a graph");
    try {
      graph_.capture_end();
    } catch (const c10::Error& error) {
      throw Refused(std::string("capturing a graph: ") + error.what_without_backtrace() + "; " + cannot_be_captured);
    }
    capturing_ = false;
    graph_.instantiate();
    kernels_ = count_kernels();
  }

  /// Undoes begin(): the stream, the allocator and the generator of random numbers are as before.
  void abandon() noexcept {
    if (!capturing_) return;
    capturing_ = false;
    try {
      graph_.capture_end();
    } catch (...) {
      // What capture_end() does after the step that failed.
      quietly([&] { c10::cuda::CUDACachingAllocator::endAllocateToPool(device_, pool_); });
      quietly([&] { c10::cuda::CUDACachingAllocator::releasePool(device_, pool_); });
      // The generator still believes in the capture, and would refuse to give numbers; a copy of it does not.
      quietly([&] {
        at::Generator generator = at::cuda::detail::getDefaultCUDAGenerator(device_);
        const std::lock_guard lock(generator.mutex());
        at::check_generator<at::CUDAGeneratorImpl>(generator)->graphsafe_set_state(
            generator.clone().getIntrusivePtr());
      });
    }
    static_cast<void>(cudaGetLastError());
  }

  /// Queues a launch on the current stream.
  void launch() { graph_.replay(); }

  [[nodiscard]] std::size_t kernels() const { return kernels_; }
  [[nodiscard]] std::size_t nodes() {
    std::size_t count = 0;
    check(cudaGraphGetNodes(raw(), nullptr, &count), "counting a graph's nodes");
    return count;
  }
  [[nodiscard]] cudaGraph_t raw() { return graph_.raw_cuda_graph(); }

 private:
  template <class Step>
  static void quietly(Step&& step) noexcept {
    try {
      step();
    } catch (...) {
    }
  }

  [[nodiscard]] std::size_t count_kernels() {
    std::size_t count = nodes();
    std::vector<cudaGraphNode_t> nodes(count);
    check(cudaGraphGetNodes(raw(), nodes.data(), &count), "listing a graph's nodes");
    std::size_t kernels = 0;
    for (const auto node : nodes) {
      cudaGraphNodeType type{};
      check(cudaGraphNodeGetType(node, &type), "looking at a graph's node");
      kernels += type == cudaGraphNodeTypeKernel;
    }
    return kernels;
  }

  c10::DeviceIndex device_;
  at::cuda::MempoolId_t pool_ = at::cuda::graph_pool_handle();
  at::cuda::CUDAGraph graph_;
  bool capturing_ = false;
  std::size_t kernels_ = 0;
};

}  // namespace pace::cuda
