// CudaDevice: one CUDA GPU, as the device clocks use it, with LibTorch's streams, graphs and memory.
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

class CudaDevice {
 public:
  using Stream = c10::cuda::CUDAStream;
  using Event = cudaEvent_t;
  using Graph = std::shared_ptr<CapturedGraph>;
  using Alarm = timing::Alarm;
  using Pool = std::shared_ptr<CapturePool>;
  struct Flag {
    std::uint32_t* host = nullptr;
  };
  struct Buffer {
    at::Tensor memory, sum;
  };

  /// Throws DeviceMissing, which says why, if there is no such GPU.
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

  /// How long to wait for anything, at most: the time that the program has left before it is killed.
  [[nodiscard]] Nanoseconds call_timeout() const { return call_timeout_; }
  void limit_call_timeout(Nanoseconds call_timeout) { call_timeout_ = call_timeout; }

  [[nodiscard]] Nanoseconds now() const { return std::chrono::steady_clock::now().time_since_epoch(); }
  /// Counters of the host.
  [[nodiscard]] timing::MachineCounters counters() const { return timing::read_machine_counters(); }
  [[nodiscard]] timing::ThreadCounters thread_counters() const { return timing::read_thread_counters(); }
  /// Does not wait: what is still running is no failure.
  [[nodiscard]] bool usable() const {
    const cudaError_t status = cudaStreamQuery(current_stream());
    return status == cudaSuccess || status == cudaErrorNotReady;
  }
  [[nodiscard]] std::string name() const { return properties_.name; }
  [[nodiscard]] const cudaDeviceProp& properties() const { return properties_; }
  [[nodiscard]] c10::DeviceIndex index() const { return index_; }
  [[nodiscard]] at::Device torch_device() const { return {at::kCUDA, index_}; }

  [[nodiscard]] Stream current_stream() const { return c10::cuda::getCurrentCUDAStream(index_); }
  [[nodiscard]] Stream take_stream() const { return c10::cuda::getStreamFromPool(false, index_); }
  [[nodiscard]] Stream capture_stream() const {
    static const std::vector<Stream> streams = [] {
      std::vector<Stream> each;
      for (c10::DeviceIndex index = 0; index < c10::cuda::device_count(); ++index)
        each.push_back(c10::cuda::getStreamFromPool(false, index));
      return each;
    }();
    return streams.at(static_cast<std::size_t>(index_));
  }
  void make_current(const Stream& stream) const noexcept { c10::cuda::setCurrentCUDAStream(stream); }
  void synchronise() const { check(cudaDeviceSynchronize(), "waiting for the device"); }
  void synchronise(const Stream& stream) const { check(cudaStreamSynchronize(stream), "waiting for a stream"); }

  [[nodiscard]] Event make_event() const {
    Event event = nullptr;
    check(cudaEventCreate(&event), "making an event");
    return event;
  }
  void destroy(Event event) const noexcept { static_cast<void>(cudaEventDestroy(event)); }
  void record(Event event, const Stream& stream) const { check(cudaEventRecord(event, stream), "recording an event"); }
  void record_node(Event event, const Stream& stream) const {
    check(cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal), "recording an event into a graph");
  }
  [[nodiscard]] bool finished(Event event) const {
    const cudaError_t status = cudaEventQuery(event);
    if (status == cudaErrorNotReady) return false;
    check(status, "waiting for what was queued");
    return true;
  }
  [[nodiscard]] Nanoseconds elapsed(Event start, Event stop) const {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start, stop), "reading two events");
    return std::chrono::duration<double, std::milli>(milliseconds);
  }

  [[nodiscard]] Pool make_pool() const { return std::make_shared<CapturePool>(index_); }
  void begin_capture(const Stream&, const Pool& pool) {
    make_room_for_capture(index_);
    auto graph = std::make_shared<CapturedGraph>(pool);
    graph->begin();
    capturing_ = std::move(graph);
  }
  [[nodiscard]] Graph end_capture(const Stream&) {
    capturing_->end();
    return std::exchange(capturing_, nullptr);
  }
  void abandon_capture(const Stream&) noexcept {
    if (capturing_) capturing_->abandon();
    capturing_.reset();
  }
  void launch(const Graph& graph, const Stream&) const { graph->launch(); }
  void destroy(const Graph&) const noexcept {}
  [[nodiscard]] std::size_t kernels(const Graph& graph) const { return graph->kernels(); }

  [[nodiscard]] Flag make_flag() const {
    Flag flag;
    check(cudaHostAlloc(reinterpret_cast<void**>(&flag.host), sizeof(std::uint32_t), cudaHostAllocMapped),
          "allocating a flag");
    *flag.host = 0;
    return flag;
  }
  void destroy(const Flag& flag) const noexcept { static_cast<void>(cudaFreeHost(flag.host)); }
  /// The driver waits for a value in memory: no kernel has to be there, or to be loaded.
  void block_until(const Stream& stream, const Flag& flag, std::uint32_t value) const {
    if (wait_value_(stream.stream(), reinterpret_cast<CUdeviceptr>(flag.host), value, CU_STREAM_WAIT_VALUE_GEQ) !=
        CUDA_SUCCESS)
      throw Error("cuStreamWaitValue32 failed; expected a stream that can be blocked");
  }
  [[nodiscard]] static Alarm make_alarm(std::function<void()> ring) { return Alarm(std::move(ring)); }
  void raise(const Flag& flag, std::uint32_t value) const noexcept {
    std::atomic_ref(*flag.host).store(value, std::memory_order_release);
  }

  [[nodiscard]] std::size_t l2_bytes() const { return static_cast<std::size_t>(properties_.l2CacheSize); }
  [[nodiscard]] Buffer make_buffer(std::size_t bytes) const {
    const auto options = at::TensorOptions().device(torch_device()).dtype(at::kFloat);
    Buffer buffer{at::empty({static_cast<std::int64_t>(bytes / sizeof(float))}, options), at::empty({}, options)};
    // Loads what evict() needs, outside of whatever is captured or blocked.
    buffer.memory.zero_();
    evict(buffer, current_stream());
    synchronise();
    return buffer;
  }
  void destroy(const Buffer&) const noexcept {}
  void fill(const Buffer& buffer, const Stream&) const { buffer.memory.zero_(); }
  /// Reads: lines that were written would have to be written back while the next call runs.
  void evict(const Buffer& buffer, const Stream&) const {
    at::Tensor sum = buffer.sum;
    at::sum_out(sum, buffer.memory, at::OptionalIntArrayRef(std::nullopt));
  }
  /// How much of the L2 may hold lines that survive a flush; 0 where the device has no such thing.
  [[nodiscard]] std::size_t persisting_bytes() const {
    std::size_t bytes = 0;
    if (cudaDeviceGetLimit(&bytes, cudaLimitPersistingL2CacheSize) == cudaSuccess) return bytes;
    static_cast<void>(cudaGetLastError());
    return 0;
  }
  /// Does nothing where the device, or the host that lends it, does not allow that: then no line persists.
  void set_persisting_bytes(std::size_t bytes) const {
    check_if_supported(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, bytes),
                       "limiting the persisting part of the L2");
  }
  /// Lines that were marked as persisting survive any flush; afterwards they are ordinary ones. Does nothing where that is
  /// not allowed.
  void drop_persisting_lines() const {
    check_if_supported(cudaCtxResetPersistingL2Cache(), "resetting persisting lines of the L2");
  }

  void start_trace() { kineto::start(); }
  [[nodiscard]] std::vector<gpu::Activity> stop_trace() { return kineto::stop(); }
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
