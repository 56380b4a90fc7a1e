// ComparisonClock: the clock of pace::compare for operands on a GPU.
#pragma once

#include <algorithm>
#include <any>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "pace/base/format.hpp"
#include "pace/check/out_of_memory.hpp"
#include "pace/gpu/capture.hpp"
#include "pace/gpu/cuda/cache_settings.hpp"
#include "pace/gpu/cuda/clock_overhead.hpp"
#include "pace/gpu/cuda/device.hpp"
#include "pace/gpu/cuda/energy_recorder.hpp"
#include "pace/gpu/cuda/escape.hpp"
#include "pace/gpu/cuda/facts.hpp"
#include "pace/gpu/cuda/gpu_counters.hpp"
#include "pace/gpu/cuda/limits.hpp"
#include "pace/gpu/cuda/memory.hpp"
#include "pace/gpu/cuda/nvml.hpp"
#include "pace/gpu/cuda/sharing.hpp"
#include "pace/gpu/multi_mode_clock.hpp"
#include "pace/gpu/owned.hpp"
#include "pace/result/result.hpp"
#include "pace/timing/count_on_cpu.hpp"
#include "pace/timing/energy.hpp"
#include "pace/timing/event_count.hpp"
#include "pace/timing/gpu_reading.hpp"
#include "pace/timing/host_bandwidth.hpp"
#include "pace/timing/subject.hpp"

namespace pace::cuda {

/// The device clocks for a CUDA GPU, which also inspects its memory, its limits and its state by NVML.
class ComparisonClock : public gpu::MultiModeClock<CudaDevice> {
 public:
  /// Times calls on `device`, which must outlive the clock.
  explicit ComparisonClock(CudaDevice& device)
      : gpu::MultiModeClock<CudaDevice>(device),
        device_(device),
        nvml_(Nvml::open(pci_address(device))),
        cache_settings_(read_cache_settings(device)) {}

  /// Name of the GPU, such as `NVIDIA H200`.
  [[nodiscard]] std::string device_name() const override { return device_.name(); }

  /// What the cold and the graph clock add to each call, measured once per process and GPU. Nothing for the other
  /// clocks, and where it cannot be measured: memory does not suffice, or another profiler is attached.
  [[nodiscard]] std::optional<ClockOverhead> overhead() override {
    if (selected() != ClockChoice::cold && selected() != ClockChoice::graph) return std::nullopt;
    static std::map<std::pair<c10::DeviceIndex, ClockChoice>, std::optional<ClockOverhead>> known;
    const auto [found, is_new] = known.try_emplace({device_.index(), selected()});
    if (!is_new) return found->second;
    try {
      found->second = measure_clock_overhead(device_, selected() == ClockChoice::cold);
    } catch (const std::exception&) {
      // The times are then shown as they were read. A lost device is found by whoever uses it next.
    }
    return found->second;
  }

  /// Memory that LibTorch can still allocate on the GPU, in bytes.
  [[nodiscard]] std::optional<std::int64_t> available_memory() const override {
    return cuda::available_memory(device_.index());
  }

  /// Measures the device memory of one call, as measure_memory() does.
  [[nodiscard]] std::optional<DeviceMemory> memory_of(FunctionRef<std::any()> call) override {
    return measure_memory(device_, call);
  }

  /// Counts kernels, launches and waits of one call by the profiler, and the nodes of its graph if it can be captured;
  /// nothing if two calls differ in their counts.
  [[nodiscard]] std::optional<DeviceCounts> device_counts_of(FunctionRef<void()> call) override {
    // Starting and stopping a recording makes calls of CUDA, which are subtracted.
    const DeviceCounts nothing = recorded([] {});
    const auto count = [&] {
      DeviceCounts counts = recorded(call);
      counts.kernels -= nothing.kernels;
      counts.launches -= nothing.launches;
      counts.synchronisations -= nothing.synchronisations;
      return counts;
    };
    DeviceCounts counts = count();
    if (count() != counts) return std::nullopt;
    try {
      const auto graph = gpu::capture(device_, device_.capture_stream(), call);
      counts.graph_nodes = static_cast<std::int64_t>(graph.get()->nodes());
    } catch (const std::exception&) {
      device_.synchronise();
    }
    return counts;
  }

  /// Returns a description of work of `call` that escapes the stream that is timed, or of its changes to the L2 cache's
  /// settings, which are then restored; nothing if there is neither. Takes about a tenth of a second at most, or four
  /// calls.
  [[nodiscard]] std::optional<std::string> find_escape(FunctionRef<void()> call) override {
    device_.synchronise();
    const Nanoseconds start = device_.now();
    call();
    device_.synchronise();
    const Nanoseconds each = device_.now() - start;
    constexpr Nanoseconds most = std::chrono::milliseconds(30);
    auto escape = cuda::find_escape(device_, call, static_cast<int>(std::clamp(most / each, 1.0, 100.0)));
    if (escape || read_cache_settings(device_) == cache_settings_) return escape;
    restore_cache_settings(device_, cache_settings_);
    return "it left memory marked to stay in the L2, where the next implementation would find it; expected it to put "
           "back the stream's access policy and the device's limit";
  }

  /// Returns an object whose destructor restores the stream that is current now.
  [[nodiscard]] std::shared_ptr<void> keep_stream() override {
    return std::make_shared<gpu::OnStream<CudaDevice>>(device_, device_.current_stream());
  }

  /// Enters into `row` the share of the GPU's measured peak (see MachineLimits; measured once per process) that the
  /// implementation reaches, by its cold time if it has one; a share above impossible_share is noted as impossible.
  /// Returns false if memory did not suffice to measure the peak.
  [[nodiscard]] bool hold_against_limits(ImplementationResult& row) override {
    const MachineLimits* const known = limits();
    if (known == nullptr) return false;
    const MachineLimits& limits = *known;
    Nanoseconds cold = row.time->median;
    for (const auto& mode : row.modes)
      if (mode.name == to_string(ClockChoice::cold) && mode.time) cold = mode.time->median;
    const double moved = row.bytes ? *row.bytes / cold.count() * 1e9 / limits.memory() : 0;
    const double computed = row.flops ? *row.flops / row.time->median.count() * 1e9 / limits.products() : 0;
    row.share_of_peak = std::max(moved, computed);
    if (*row.share_of_peak <= impossible_share) return true;
    row.context.enter({Severity::impossible,
                       "it would be " + format_percent(*row.share_of_peak) + " of what this GPU was measured to " +
                           (moved > computed ? "move at most. Are the bytes" : "compute at most. Are the operations") +
                           " declared right, and is all the work done?"});
    return true;
  }

  /// Returns how long the memory takes at the measured peak (see MachineLimits; measured once per process, and only for
  /// a `time` that the memory's clock does not allow, or hardly). What is written may stay in the L2.
  [[nodiscard]] std::optional<Nanoseconds> least_cold_time(const timing::LeastTraffic& traffic,
                                                           Nanoseconds time) override {
    const double bytes = traffic.read + std::max(0.0, traffic.written - static_cast<double>(device_.l2_bytes()));
    if (bytes <= 0) return std::nullopt;
    const auto time_at = [&](double bandwidth) { return Nanoseconds(1e9 * bytes / (impossible_share * bandwidth)); };
    // GPUs move more than half of what their memory's clock allows.
    if (const double nominal = device_.nominal_bandwidth(); nominal > 0 && time >= time_at(nominal / 2))
      return std::nullopt;
    const MachineLimits* const known = limits();
    if (known == nullptr || !(known->memory() > 0)) return std::nullopt;
    return time_at(known->memory());
  }

  /// Reads the state of the GPU by NVML; nothing without NVML.
  [[nodiscard]] std::optional<timing::GpuReading> look_at_gpu() const override {
    if (!nvml_) return std::nullopt;
    return reading_of(nvml_->state());
  }

  /// Reads the clock and what reduces it, without the slower sensors.
  [[nodiscard]] std::optional<timing::GpuReading> look_at_clock() const override {
    if (!nvml_) return std::nullopt;
    return reading_of(nvml_->clock_state());
  }

  /// Records the board's energy; null without NVML or its counter.
  [[nodiscard]] std::unique_ptr<timing::EnergyRecording> record_energy() override {
    if (!nvml_ || !nvml_->millijoules()) return nullptr;
    return std::make_unique<EnergyRecorder>(*nvml_);
  }

  /// Counts events of the host, and then in further calls those of the GPU. What was launched before does not make the
  /// host wait.
  [[nodiscard]] std::vector<timing::EventCount> count_events(const std::vector<std::string>& names,
                                                             timing::Subject& subject, std::int64_t calls) override {
    std::vector<std::string> of_host, of_gpu;
    for (const auto& name : names) (metric_of(name) ? of_gpu : of_host).push_back(name);
    std::vector<timing::EventCount> on_host, on_gpu, all;
    if (!of_host.empty()) {
      subject.prepare(0);
      device_.synchronise();
      on_host = timing::count_on_cpu(of_host, [&] { subject.run(0, calls); });
      device_.synchronise();
      subject.finish();
    }
    if (!of_gpu.empty()) on_gpu = gpu_counters_.count(of_gpu, subject, calls);
    auto next_on_host = on_host.begin(), next_on_gpu = on_gpu.begin();
    for (const auto& name : names) all.push_back(metric_of(name) ? *next_on_gpu++ : *next_on_host++);
    return all;
  }
  /// Gives up CUPTI's counters, which may slow down kernels.
  void end_counts() noexcept override { gpu_counters_.release(); }

  /// Looks for MIG, MPS and other processes, by NVML and the environment.
  [[nodiscard]] timing::GpuSharing look_for_others(Nanoseconds period) const override {
    return find_sharing(device_.name(), nvml_ ? &*nvml_ : nullptr, period);
  }

  /// Sleeps.
  void pause(Nanoseconds time) override { std::this_thread::sleep_for(time); }

 private:
  [[nodiscard]] static timing::GpuReading reading_of(const GpuState& state) {
    timing::GpuReading reading;
    reading.clock = state.sm_megahertz.value_or(0);
    reading.celsius = state.celsius.value_or(0);
    reading.watts = state.watts.value_or(0);
    const auto reasons = state.reasons.value_or(0);
    reading.power_limited = (reasons & power_limit) != 0;
    reading.slowed = throttles(reasons & ~power_limit);
    return reading;
  }

  /// Returns the limits, which are measured once per process; null if memory ran out.
  [[nodiscard]] const MachineLimits* limits() {
    try {
      static const MachineLimits measured = measure_limits(device_);
      return &measured;
    } catch (const std::exception& error) {
      if (!check::means_out_of_memory(error)) throw;
      return nullptr;
    }
  }

  template <class F>
  [[nodiscard]] DeviceCounts recorded(F&& call) {
    device_.synchronise();
    kineto::start();
    try {
      call();
      // The recording has only what has ended.
      device_.synchronise();
    } catch (...) {
      kineto::abandon();
      throw;
    }
    return kineto::stop_and_count();
  }

  [[nodiscard]] static std::string pci_address(const CudaDevice& device) {
    const auto& at = device.properties();
    char text[32];
    std::snprintf(text, sizeof text, "%08x:%02x:%02x.0", at.pciDomainID, at.pciBusID, at.pciDeviceID);
    return text;
  }

  CudaDevice& device_;
  std::optional<Nvml> nvml_;
  /// As they were before the first call.
  const CacheSettings cache_settings_;
  GpuCounters gpu_counters_{device_.index()};
};

}  // namespace pace::cuda
