// CapturedGraph: LibTorch's CUDA graph with its memory, and with the clean-up after failures that LibTorch lacks.
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
#include "pace/gpu/left_set.hpp"

namespace pace::cuda {

/// A pool of device memory for captured calls. The memory lives as long as the pool or a graph that was captured in it.
class CapturePool {
 public:
  /// Makes a pool on the GPU of this number.
  explicit CapturePool(c10::DeviceIndex device) : device_(device) {
    // LibTorch rejects a pool that no graph uses any more. The object therefore counts as a user of the pool.
    c10::cuda::CUDACachingAllocator::beginAllocateToPool(device_, id_, [](cudaStream_t) { return false; });
    c10::cuda::CUDACachingAllocator::endAllocateToPool(device_, id_);
    at::getHostAllocator(at::kCUDA)->begin_allocate_to_pool(id_, [](c10::Stream) { return false; });
    at::getHostAllocator(at::kCUDA)->end_allocate_to_pool(id_);
  }
  CapturePool(const CapturePool&) = delete;
  /// Returns memory that no tensor uses to the driver.
  ~CapturePool() {
    try {
      c10::cuda::CUDACachingAllocator::releasePool(device_, id_);
      at::getHostAllocator(at::kCUDA)->release_pool(id_);
    } catch (...) {  // the device is lost
    }
    give_back_unused_memory(id_);
  }

  /// Number of the GPU.
  [[nodiscard]] c10::DeviceIndex device() const { return device_; }
  /// LibTorch's identifier of the pool.
  [[nodiscard]] at::cuda::MempoolId_t id() const { return id_; }
  /// Number of users of the pool: this object, captures that have begun in it, and their graphs.
  [[nodiscard]] int users() const { return c10::cuda::CUDACachingAllocator::getPoolUseCount(device_, id_); }

 private:
  const c10::DeviceIndex device_;
  const at::cuda::MempoolId_t id_ = at::cuda::graph_pool_handle();
};

/// A CUDA graph of captured calls. As in LibTorch's own graphs, memory that is allocated during the capture comes from
/// a pool, and random numbers advance with every launch.
class CapturedGraph {
 public:
  /// Makes an empty graph, whose memory will come from `pool`.
  explicit CapturedGraph(std::shared_ptr<CapturePool> pool)
      : device_(pool->device()), pool_(std::move(pool)), graph_(/*keep_graph=*/true) {}
  CapturedGraph(const CapturedGraph&) = delete;
  ~CapturedGraph() { abandon(); }

  /// Begins to capture the current stream, which must not be the default one. Throws Unsupported if that is impossible.
  void begin() {
    if (const auto why = gpu::why_nothing_is_captured(); !why.empty()) throw Unsupported(why);
    stream_ = c10::cuda::getCurrentCUDAStream(device_);
    {
      // LibTorch allocates the generator's seed and offset while it registers the graph; if memory ran out there, the
      // graph's destructor would end the program. This allocation fails earlier instead.
      const auto options = at::TensorOptions().device(at::kCUDA, device_).dtype(at::kLong);
      const at::Tensor seed = at::empty({1}, options), offset = at::empty({1}, options);
    }
    // From here on, abandon() undoes the capture.
    users_before_ = pool_->users();
    capturing_ = true;
    // The capture is limited to this thread: calls of other threads, such as a profiler's, must not invalidate it.
    graph_.capture_begin(pool_->id(), cudaStreamCaptureModeThreadLocal);
  }

  /// Ends the capture, on the same current stream. Throws Unsupported if the capture has failed; the caller must then
  /// call abandon().
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

  /// Undoes begin() if the capture has not ended: restores the stream, the allocator and the random number generator.
  void abandon() noexcept {
    if (!capturing_) return;
    capturing_ = false;
    // The callable may have changed the current stream.
    const auto current = c10::cuda::getCurrentCUDAStream(device_);
    c10::cuda::setCurrentCUDAStream(*stream_);
    try {
      graph_.capture_end();
    } catch (...) {
      // The steps of capture_end() that follow the failed one, for device memory and pinned memory.
      quietly([&] { c10::cuda::CUDACachingAllocator::endAllocateToPool(device_, pool_->id()); });
      quietly([&] { at::getHostAllocator(at::kCUDA)->end_allocate_to_pool(pool_->id()); });
      quietly([&] {
        if (pool_->users() == users_before_) return;
        c10::cuda::CUDACachingAllocator::releasePool(device_, pool_->id());
        at::getHostAllocator(at::kCUDA)->release_pool(pool_->id());
      });
      // The generator is still in capture mode and would give no numbers; a copy of it is not.
      quietly([&] {
        at::Generator generator = at::cuda::detail::getDefaultCUDAGenerator(device_);
        const std::lock_guard lock(generator.mutex());
        at::check_generator<at::CUDAGeneratorImpl>(generator)->graphsafe_set_state(generator.clone().getIntrusivePtr());
      });
    }
    c10::cuda::setCurrentCUDAStream(current);
    static_cast<void>(cudaGetLastError());
  }

  /// Queues a launch on the current stream. If that stream is being captured, adds the graph to the captured one
  /// instead, in which random numbers do not advance.
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

  /// Number of kernels, those of nested graphs included.
  [[nodiscard]] std::size_t kernels() const { return count_.kernels; }
  /// Number of nodes, with those of nested graphs instead of the nested graphs.
  [[nodiscard]] std::size_t nodes() const { return count_.nodes; }
  /// The pool from which the graph's memory comes.
  [[nodiscard]] const CapturePool& pool() const { return *pool_; }
  /// CUDA's handle of the graph, which lives as long as this object.
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
  /// The captured stream.
  std::optional<c10::cuda::CUDAStream> stream_;
  bool capturing_ = false;
  Count count_;
};

}  // namespace pace::cuda
