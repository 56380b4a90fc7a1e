// CudaDevice: a CUDA GPU for the device clocks, with LibTorch's streams, graphs and memory.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/sum.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pace/gpu/activity.hpp"
#include "pace/gpu/cuda/driver.hpp"
#include "pace/gpu/cuda/error.hpp"
#include "pace/gpu/cuda/graph.hpp"
#include "pace/gpu/cuda/kineto.hpp"
#include "pace/gpu/cuda/unused_memory.hpp"
#include "pace/gpu/device.hpp"
#include "pace/timing/alarm.hpp"
#include "pace/timing/machine_counters.hpp"

namespace pace::cuda {

/// A CUDA GPU as a gpu::Device, whose documentation describes the functions. Functions throw as check() does.
class CudaDevice {
 public:
  using Stream = c10::cuda::CUDAStream;          ///< LibTorch's streams, on which its operators run
  using Event = cudaEvent_t;                     ///< an event with timing
  using Graph = std::shared_ptr<CapturedGraph>;  ///< a captured graph; the last owner destroys it
  using Alarm = timing::Alarm;                   ///< rings on a thread of its own
  using Pool = std::shared_ptr<CapturePool>;     ///< memory of captured calls
  /// A counter in pinned host memory, which the device reads.
  struct Flag {
    std::uint32_t* host = nullptr;  ///< address of the counter
  };
  /// Device memory from LibTorch's allocator.
  struct Buffer {
    at::Tensor memory;  ///< 1-D, of float32
    at::Tensor sum;     ///< a scalar, to which evict() writes
  };

  /// Makes the GPU of this number the current device. Throws DeviceMissing with the reason if there is no such GPU.
  explicit CudaDevice(int index = 0) : index_(static_cast<c10::DeviceIndex>(index)) {
    int count = 0;
    check(cudaGetDeviceCount(&count), "looking for CUDA devices");
    if (index < 0 || index >= count)
      throw DeviceMissing("no CUDA device " + std::to_string(index) + "; this machine has " + std::to_string(count));
    check(cudaSetDevice(index), "choosing the device");
    check(cudaGetDeviceProperties(&properties_, index), "asking for the device's properties");
    wait_value_ = driver_function<WaitValue>("cuStreamWaitValue32");
  }
  CudaDevice(const CudaDevice&) = delete;

  /// Longest time to wait for the device, such as the time that is left before the program is killed; by default,
  /// unlimited.
  [[nodiscard]] Nanoseconds call_timeout() const { return call_timeout_; }
  /// Sets call_timeout().
  void limit_call_timeout(Nanoseconds call_timeout) { call_timeout_ = call_timeout; }

  /// The time of the host's steady clock.
  [[nodiscard]] Nanoseconds now() const { return std::chrono::steady_clock::now().time_since_epoch(); }
  /// Counters of the host.
  [[nodiscard]] timing::MachineCounters counters() const { return timing::read_machine_counters(); }
  /// Counters of the calling thread.
  [[nodiscard]] timing::ThreadCounters thread_counters() const { return timing::read_thread_counters(); }
  /// Whether the device still works, without waiting for it.
  [[nodiscard]] bool usable() const {
    const cudaError_t status = cudaStreamQuery(current_stream());
    return status == cudaSuccess || status == cudaErrorNotReady;
  }
  /// Name of the GPU, such as `NVIDIA H200`.
  [[nodiscard]] std::string name() const { return properties_.name; }
  /// CUDA's properties of the GPU.
  [[nodiscard]] const cudaDeviceProp& properties() const { return properties_; }
  /// CUDA's number of the GPU.
  [[nodiscard]] c10::DeviceIndex index() const { return index_; }
  /// The GPU as LibTorch's device.
  [[nodiscard]] at::Device torch_device() const { return {at::kCUDA, index_}; }

  /// LibTorch's current stream of this GPU.
  [[nodiscard]] Stream current_stream() const { return c10::cuda::getCurrentCUDAStream(index_); }
  /// A stream from LibTorch's pool.
  [[nodiscard]] Stream take_stream() const { return c10::cuda::getStreamFromPool(false, index_); }
  /// The stream on which calls are captured, always the same for a GPU.
  [[nodiscard]] Stream capture_stream() const {
    static const std::vector<Stream> streams = [] {
      std::vector<Stream> each;
      for (c10::DeviceIndex index = 0; index < c10::cuda::device_count(); ++index)
        each.push_back(c10::cuda::getStreamFromPool(false, index));
      return each;
    }();
    return streams.at(static_cast<std::size_t>(index_));
  }
  /// Makes `stream` LibTorch's current stream.
  void make_current(const Stream& stream) const noexcept { c10::cuda::setCurrentCUDAStream(stream); }
  /// Waits for all streams of the GPU.
  void synchronise() const { check(cudaDeviceSynchronize(), "waiting for the device"); }
  /// Waits for `stream`.
  void synchronise(const Stream& stream) const { check(cudaStreamSynchronize(stream), "waiting for a stream"); }

  /// Makes an event.
  [[nodiscard]] Event make_event() const {
    Event event = nullptr;
    check(cudaEventCreate(&event), "making an event");
    return event;
  }
  /// Destroys an event.
  void destroy(Event event) const noexcept { static_cast<void>(cudaEventDestroy(event)); }
  /// Records `event` when `stream` reaches this point.
  void record(Event event, const Stream& stream) const { check(cudaEventRecord(event, stream), "recording an event"); }
  /// Adds a node to the graph that is captured on `stream`, so that every launch of the graph records `event`.
  void record_node(Event event, const Stream& stream) const {
    check(cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal), "recording an event into a graph");
  }
  /// Whether the device has reached `event`.
  [[nodiscard]] bool finished(Event event) const {
    const cudaError_t status = cudaEventQuery(event);
    if (status == cudaErrorNotReady) return false;
    check(status, "waiting for what was queued");
    return true;
  }
  /// The time between two events that the device has reached.
  [[nodiscard]] Nanoseconds elapsed(Event start, Event stop) const {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start, stop), "reading two events");
    return std::chrono::duration<double, std::milli>(milliseconds);
  }

  /// Makes a pool for the memory of captured calls.
  [[nodiscard]] Pool make_pool() const { return std::make_shared<CapturePool>(index_); }
  /// Begins to capture the current stream, with memory from `pool`. Throws Unsupported if that is impossible.
  void begin_capture(const Stream&, const Pool& pool) {
    make_room_for_capture(index_);
    auto graph = std::make_shared<CapturedGraph>(pool);
    graph->begin();
    capturing_ = std::move(graph);
  }
  /// Ends the capture and returns the graph. Throws Unsupported if the capture has failed; abandon_capture() must
  /// follow.
  [[nodiscard]] Graph end_capture(const Stream&) {
    capturing_->end();
    return std::exchange(capturing_, nullptr);
  }
  /// Undoes begin_capture(), if a capture has not ended.
  void abandon_capture(const Stream&) noexcept {
    if (capturing_) capturing_->abandon();
    capturing_.reset();
  }
  /// Queues a launch of `graph` on the current stream.
  void launch(const Graph& graph, const Stream&) const { graph->launch(); }
  /// Does nothing, since the last owner destroys the graph.
  void destroy(const Graph&) const noexcept {}
  /// Number of kernels in `graph`.
  [[nodiscard]] std::size_t kernels(const Graph& graph) const { return graph->kernels(); }

  /// Makes a flag of value 0.
  [[nodiscard]] Flag make_flag() const {
    Flag flag;
    check(cudaHostAlloc(reinterpret_cast<void**>(&flag.host), sizeof(std::uint32_t), cudaHostAllocMapped),
          "allocating a flag");
    *flag.host = 0;
    return flag;
  }
  /// Destroys a flag.
  void destroy(const Flag& flag) const noexcept { static_cast<void>(cudaFreeHost(flag.host)); }
  /// Blocks `stream` until the value of `flag` is at least `value`, by cuStreamWaitValue32, which needs no kernel and
  /// so loads none. Throws Error if it fails.
  void block_until(const Stream& stream, const Flag& flag, std::uint32_t value) const {
    if (wait_value_(stream.stream(), reinterpret_cast<CUdeviceptr>(flag.host), value, CU_STREAM_WAIT_VALUE_GEQ) !=
        CUDA_SUCCESS)
      throw Error("cuStreamWaitValue32 failed; expected a stream that can be blocked");
  }
  /// Makes an alarm that calls `ring`.
  [[nodiscard]] static Alarm make_alarm(std::function<void()> ring) { return Alarm(std::move(ring)); }
  /// Sets the value of `flag`.
  void raise(const Flag& flag, std::uint32_t value) const noexcept {
    std::atomic_ref(*flag.host).store(value, std::memory_order_release);
  }

  /// Bytes per second that the memory moves at its clock; 0: unknown.
  [[nodiscard]] double nominal_bandwidth() const {
    int kilohertz = 0, bits = 0;
    if (cudaDeviceGetAttribute(&kilohertz, cudaDevAttrMemoryClockRate, index_) != cudaSuccess ||
        cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, index_) != cudaSuccess)
      return 0;
    // Two transfers in each period.
    return 2e3 * kilohertz * bits / 8;
  }
  /// Size of the L2 cache, in bytes.
  [[nodiscard]] std::size_t l2_bytes() const { return static_cast<std::size_t>(properties_.l2CacheSize); }
  /// Allocates `bytes` bytes, rounded down to a multiple of 4, and loads the kernels of fill() and evict().
  [[nodiscard]] Buffer make_buffer(std::size_t bytes) const {
    const auto options = at::TensorOptions().device(torch_device()).dtype(at::kFloat);
    Buffer buffer{at::empty({static_cast<std::int64_t>(bytes / sizeof(float))}, options), at::empty({}, options)};
    // Loads the kernels of evict() now, since none can be loaded during a capture or behind a block.
    buffer.memory.zero_();
    evict(buffer, current_stream());
    synchronise();
    return buffer;
  }
  /// Does nothing, since the tensors own the memory.
  void destroy(const Buffer&) const noexcept {}
  /// Queues a fill with zeros on the current stream.
  void fill(const Buffer& buffer, const Stream&) const { buffer.memory.zero_(); }
  /// Queues a read of the whole buffer on the current stream, which evicts other lines from the L2 cache. It reads,
  /// since written lines would have to be written back while the next call runs.
  void evict(const Buffer& buffer, const Stream&) const {
    at::Tensor sum = buffer.sum;
    at::sum_out(sum, buffer.memory, at::OptionalIntArrayRef(std::nullopt));
  }
  /// Limit for lines of the L2 cache that survive a flush, in bytes; 0 if the device has none.
  [[nodiscard]] std::size_t persisting_bytes() const {
    std::size_t bytes = 0;
    if (cudaDeviceGetLimit(&bytes, cudaLimitPersistingL2CacheSize) == cudaSuccess) return bytes;
    static_cast<void>(cudaGetLastError());
    return 0;
  }
  /// Sets persisting_bytes(). Has no effect where the device or its virtualisation does not allow that; no line
  /// persists there.
  void set_persisting_bytes(std::size_t bytes) const {
    check_if_supported(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, bytes),
                       "limiting the persisting part of the L2");
  }
  /// Makes persisting lines of the L2 cache ordinary ones. Has no effect where that is not allowed.
  void drop_persisting_lines() const {
    check_if_supported(cudaCtxResetPersistingL2Cache(), "resetting persisting lines of the L2");
  }

  /// Starts to record activities; see kineto::start().
  void start_trace() { kineto::start(); }
  /// Stops the recording and returns its activities, in no particular order.
  [[nodiscard]] std::vector<gpu::Activity> stop_trace() { return kineto::stop(); }
  /// Stops the recording without a result.
  void abandon_trace() noexcept { kineto::abandon(); }

 private:
  using WaitValue = CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned int);

  c10::DeviceIndex index_;
  cudaDeviceProp properties_{};
  WaitValue wait_value_ = nullptr;
  Nanoseconds call_timeout_ = Nanoseconds::max();
  std::shared_ptr<CapturedGraph> capturing_;
};

static_assert(gpu::Device<CudaDevice> && gpu::TracesActivities<CudaDevice>);

}  // namespace pace::cuda
