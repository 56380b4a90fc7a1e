// CapturedGraph: LibTorch's CUDA graph with its memory, and the cleaning up that LibTorch leaves undone on failure.
#pragma once

#include <ATen/core/CachingHostAllocator.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/cuda/CUDAGraph.h>
#include <ATen/ops/empty.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pace/gpu/cuda/error.hpp"
#include "pace/gpu/cuda/unused_memory.hpp"

namespace pace::cuda {

/// Memory of captured calls. It stays as long as this, or a graph that was captured in it.
class CapturePool {
 public:
  explicit CapturePool(c10::DeviceIndex device) : device_(device) {
    // LibTorch refuses a pool that graphs have used and none uses any more: one more user, from here to the end.
    c10::cuda::CUDACachingAllocator::beginAllocateToPool(device_, id_, [](cudaStream_t) { return false; });
    c10::cuda::CUDACachingAllocator::endAllocateToPool(device_, id_);
    at::getHostAllocator(at::kCUDA)->begin_allocate_to_pool(id_, [](c10::Stream) { return false; });
    at::getHostAllocator(at::kCUDA)->end_allocate_to_pool(id_);
  }
  CapturePool(const CapturePool&) = delete;
  /// What no tensor lies in any more goes back to the driver.
  ~CapturePool() {
    try {
      c10::cuda::CUDACachingAllocator::releasePool(device_, id_);
      at::getHostAllocator(at::kCUDA)->release_pool(id_);
    } catch (...) {  // of a device that is lost
    }
    give_back_unused_memory(id_);
  }

  [[nodiscard]] c10::DeviceIndex device() const { return device_; }
  [[nodiscard]] at::cuda::MempoolId_t id() const { return id_; }
  /// Captures that have begun in it and graphs that they made.
  [[nodiscard]] int users() const { return c10::cuda::CUDACachingAllocator::getPoolUseCount(device_, id_); }

 private:
  const c10::DeviceIndex device_;
  const at::cuda::MempoolId_t id_ = at::cuda::graph_pool_handle();
};

/// Memory that is allocated in the capture comes from its pool, and random numbers advance with every launch, as LibTorch
/// does it.
class CapturedGraph {
 public:
  explicit CapturedGraph(std::shared_ptr<CapturePool> pool)
      : device_(pool->device()), pool_(std::move(pool)), graph_(/*keep_graph=*/true) {}
  CapturedGraph(const CapturedGraph&) = delete;
  ~CapturedGraph() { abandon(); }

  /// Captures the current stream, which must not be the default one. Throws Unsupported if that is impossible.
  void begin() {
    stream_ = c10::cuda::getCurrentCUDAStream(device_);
    {
      // For the generator's seed and offset, which LibTorch allocates in the middle of registering the graph: if memory
      // ran out there, the graph's destructor would end the program.
      const auto options = at::TensorOptions().device(at::kCUDA, device_).dtype(at::kLong);
      const at::Tensor seed = at::empty({1}, options), offset = at::empty({1}, options);
    }
    // Whatever fails in between is undone as well.
    users_before_ = pool_->users();
    capturing_ = true;
    // Only of this thread: what others do meanwhile, such as a profiler's, must not spoil the capture.
    graph_.capture_begin(pool_->id(), cudaStreamCaptureModeThreadLocal);
  }

  /// On the same current stream. Throws what CUDA says of a capture that failed; then abandon() is due.
  void end() {
    cudaStreamCaptureStatus status{};
    check(cudaStreamIsCapturing(c10::cuda::getCurrentCUDAStream(device_), &status), "looking at the capture");
    if (status == cudaStreamCaptureStatusInvalidated) check(cudaErrorStreamCaptureInvalidated, "capturing a graph");
    try {
      graph_.capture_end();
    } catch (const c10::Error& error) {
      throw Unsupported(std::string("capturing a graph: ") + error.what_without_backtrace() + "; " +
                        cannot_be_captured);
    }
    capturing_ = false;
    graph_.instantiate();
    count_ = count_nodes(raw());
  }

  /// Undoes begin(): the stream, the allocator and the generator of random numbers are as before.
  void abandon() noexcept {
    if (!capturing_) return;
    capturing_ = false;
    // The callable may have left another stream behind.
    const auto current = c10::cuda::getCurrentCUDAStream(device_);
    c10::cuda::setCurrentCUDAStream(*stream_);
    try {
      graph_.capture_end();
    } catch (...) {
      // What capture_end() does after the step that failed, on the device and for pinned memory.
      quietly([&] { c10::cuda::CUDACachingAllocator::endAllocateToPool(device_, pool_->id()); });
      quietly([&] { at::getHostAllocator(at::kCUDA)->end_allocate_to_pool(pool_->id()); });
      quietly([&] {
        if (pool_->users() == users_before_) return;
        c10::cuda::CUDACachingAllocator::releasePool(device_, pool_->id());
        at::getHostAllocator(at::kCUDA)->release_pool(pool_->id());
      });
      // The generator still believes in the capture, and would refuse to give numbers; a copy of it does not.
      quietly([&] {
        at::Generator generator = at::cuda::detail::getDefaultCUDAGenerator(device_);
        const std::lock_guard lock(generator.mutex());
        at::check_generator<at::CUDAGeneratorImpl>(generator)->graphsafe_set_state(generator.clone().getIntrusivePtr());
      });
    }
    c10::cuda::setCurrentCUDAStream(current);
    static_cast<void>(cudaGetLastError());
  }

  /// Queues a launch on the current stream. Where that is captured itself, the graph becomes a part of the new one, and
  /// random numbers do not advance.
  void launch() {
    const auto stream = c10::cuda::getCurrentCUDAStream(device_);
    cudaStreamCaptureStatus status{};
    cudaGraph_t outer = nullptr;
    const cudaGraphNode_t* after = nullptr;
    std::size_t count = 0;
    check(cudaStreamGetCaptureInfo(stream, &status, nullptr, &outer, &after, nullptr, &count), "looking at the stream");
    if (status != cudaStreamCaptureStatusActive) return graph_.replay();
    cudaGraphNode_t node = nullptr;
    check(cudaGraphAddChildGraphNode(&node, outer, after, count, raw()), "adding a graph to a graph");
    check(cudaStreamUpdateCaptureDependencies(stream, &node, nullptr, 1, cudaStreamSetCaptureDependencies),
          "adding a graph to a graph");
  }

  [[nodiscard]] std::size_t kernels() const { return count_.kernels; }
  /// Those of graphs inside it one by one.
  [[nodiscard]] std::size_t nodes() const { return count_.nodes; }
  [[nodiscard]] cudaGraph_t raw() { return graph_.raw_cuda_graph(); }

 private:
  template <class Step>
  static void quietly(Step&& step) noexcept {
    try {
      step();
    } catch (...) {
    }
  }

  struct Count {
    std::size_t nodes = 0, kernels = 0;
  };
  [[nodiscard]] static Count count_nodes(cudaGraph_t graph) {
    std::size_t number = 0;
    check(cudaGraphGetNodes(graph, nullptr, &number), "counting a graph's nodes");
    std::vector<cudaGraphNode_t> nodes(number);
    check(cudaGraphGetNodes(graph, nodes.data(), &number), "listing a graph's nodes");
    Count count;
    for (const auto node : nodes) {
      cudaGraphNodeType type{};
      check(cudaGraphNodeGetType(node, &type), "looking at a graph's node");
      if (type == cudaGraphNodeTypeGraph) {
        cudaGraph_t inner = nullptr;
        check(cudaGraphChildGraphNodeGetGraph(node, &inner), "looking into a graph's node");
        const Count inside = count_nodes(inner);
        count.nodes += inside.nodes;
        count.kernels += inside.kernels;
      } else {
        ++count.nodes;
        count.kernels += type == cudaGraphNodeTypeKernel;
      }
    }
    return count;
  }

  c10::DeviceIndex device_;
  std::shared_ptr<CapturePool> pool_;
  int users_before_ = 0;
  at::cuda::CUDAGraph graph_;
  /// That is captured.
  std::optional<c10::cuda::CUDAStream> stream_;
  bool capturing_ = false;
  Count count_;
};

}  // namespace pace::cuda
