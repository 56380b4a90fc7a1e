// Nvml: clocks, temperature and power of a GPU by NVML, which is loaded at run time.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pace/base/error.hpp"

namespace pace::cuda {

/// State of a GPU at one moment. Values that the driver does not report are absent.
struct GpuState {
  std::optional<unsigned> sm_megahertz = {};      ///< clock of the multiprocessors
  std::optional<unsigned> memory_megahertz = {};  ///< clock of the memory
  std::optional<unsigned> celsius = {};           ///< temperature of the chip
  std::optional<double> watts = {};               ///< power of the board
  std::optional<std::uint64_t> reasons = {};      ///< bits of the reasons for a reduced clock, see clock_reasons()
};

/// The bit of GpuState::reasons for a clock that is reduced by the power limit. Heavy work reaches that limit on any
/// machine.
inline constexpr std::uint64_t power_limit = 0x4;

/// A process with memory of its own on a GPU.
struct GpuProcess {
  unsigned pid = 0;                       ///< number, in the driver's namespace
  bool by_mps = false;                    ///< it is a client of MPS, whose kernels run beside those of other clients
  std::optional<unsigned> instance = {};  ///< its instance of MIG; absent: none
  std::optional<double> multiprocessors = {};  ///< largest share of their time that it used lately; absent: unknown
};

namespace detail {

/// nvmlProcessInfo_v2_t of nvml.h.
struct NvmlProcess {
  unsigned pid;
  unsigned long long bytes;
  unsigned gpu_instance, compute_instance;
};

/// nvmlProcessUtilizationSample_t of nvml.h; shares in per cent.
struct NvmlUse {
  unsigned pid;
  unsigned long long microseconds;
  unsigned multiprocessors, memory, encoder, decoder;
};

struct ClockReason {
  std::uint64_t bit;
  const char* name;
  /// Whether it slows work down; false if the clock was set by the user or nothing runs.
  bool slows;
};

// The values of nvml.h, which a toolkit may lack.
inline constexpr ClockReason clock_reasons[] = {
    {0x1, "idle", false},
    {0x2, "clocks were set", false},
    {power_limit, "power limit", true},
    {0x8, "hardware slow-down", true},
    {0x10, "synchronised boost", false},
    {0x20, "temperature (software)", true},
    {0x40, "temperature (hardware)", true},
    {0x80, "power brake", true},
    {0x100, "display clocks", false},
};

}  // namespace detail

/// Returns the names of the reasons in GpuState::reasons, such as `power limit`.
[[nodiscard]] inline std::vector<std::string_view> clock_reasons(std::uint64_t bits) {
  std::vector<std::string_view> names;
  for (const auto& reason : detail::clock_reasons)
    if ((bits & reason.bit) != 0) names.emplace_back(reason.name);
  return names;
}

/// Whether a reason in `bits` slows work down and is not a setting of the user.
[[nodiscard]] inline bool throttles(std::uint64_t bits) {
  for (const auto& reason : detail::clock_reasons)
    if (reason.slows && (bits & reason.bit) != 0) return true;
  return false;
}

/// Reads the state of one GPU by NVML.
class Nvml {
 public:
  /// Opens the GPU at an address of the PCI bus, such as `0000:18:00.0`, since NVML's numbers differ from CUDA's.
  /// Returns nothing without the library or the GPU. `library` is for tests.
  [[nodiscard]] static std::optional<Nvml> open(const std::string& pci_address,
                                                const char* library = "libnvidia-ml.so.1") {
    Nvml nvml;
    nvml.library_.reset(::dlopen(library, RTLD_NOW | RTLD_LOCAL));
    if (!nvml.library_) return std::nullopt;
    int (*by_address)(const char*, Device*) = nullptr;
    int (*init)() = nullptr;
    nvml.find(init, "nvmlInit_v2");
    nvml.find(by_address, "nvmlDeviceGetHandleByPciBusId_v2");
    nvml.find(nvml.clock_, "nvmlDeviceGetClockInfo");
    nvml.find(nvml.temperature_, "nvmlDeviceGetTemperature");
    nvml.find(nvml.power_, "nvmlDeviceGetPowerUsage");
    nvml.find(nvml.reasons_, "nvmlDeviceGetCurrentClocksEventReasons");
    // The name before version 535 of the driver.
    if (nvml.reasons_ == nullptr) nvml.find(nvml.reasons_, "nvmlDeviceGetCurrentClocksThrottleReasons");
    nvml.find(nvml.energy_, "nvmlDeviceGetTotalEnergyConsumption");
    nvml.find(nvml.processes_, "nvmlDeviceGetComputeRunningProcesses_v3");
    nvml.find(nvml.mps_processes_, "nvmlDeviceGetMPSComputeRunningProcesses_v3");
    nvml.find(nvml.uses_, "nvmlDeviceGetProcessUtilization");
    nvml.find(nvml.highest_clock_, "nvmlDeviceGetMaxClockInfo");
    nvml.find(nvml.lock_clocks_, "nvmlDeviceSetGpuLockedClocks");
    if (init == nullptr || by_address == nullptr || init() != 0) return std::nullopt;
    if (by_address(pci_address.c_str(), &nvml.device_) != 0) return std::nullopt;
    return nvml;
  }

  /// Returns the version of the driver, such as `580.65.06`; empty without the library. `library` is for tests.
  [[nodiscard]] static std::string driver_version(const char* library = "libnvidia-ml.so.1") {
    Nvml nvml;
    nvml.library_.reset(::dlopen(library, RTLD_NOW | RTLD_LOCAL));
    if (!nvml.library_) return "";
    int (*init)() = nullptr;
    int (*version)(char*, unsigned) = nullptr;
    nvml.find(init, "nvmlInit_v2");
    nvml.find(version, "nvmlSystemGetDriverVersion");
    char text[80] = "";
    if (init == nullptr || version == nullptr || init() != 0 || version(text, sizeof text) != 0) return "";
    return text;
  }

  /// Reads the state of the GPU. Takes from 10 us to 1 ms, so call it outside of timed code.
  [[nodiscard]] GpuState state() const {
    constexpr int sm_clock = 1, memory_clock = 2, gpu_sensor = 0;
    GpuState state;
    unsigned value = 0;
    unsigned long long bits = 0;
    if (clock_ != nullptr && clock_(device_, sm_clock, &value) == 0) state.sm_megahertz = value;
    if (clock_ != nullptr && clock_(device_, memory_clock, &value) == 0) state.memory_megahertz = value;
    if (temperature_ != nullptr && temperature_(device_, gpu_sensor, &value) == 0) state.celsius = value;
    if (power_ != nullptr && power_(device_, &value) == 0) state.watts = 1e-3 * value;
    if (reasons_ != nullptr && reasons_(device_, &bits) == 0) state.reasons = bits;
    return state;
  }

  /// Reads the clock of the multiprocessors and the reasons for a low one, without the slower sensors.
  [[nodiscard]] GpuState clock_state() const {
    constexpr int sm_clock = 1;
    GpuState state;
    unsigned value = 0;
    unsigned long long bits = 0;
    if (clock_ != nullptr && clock_(device_, sm_clock, &value) == 0) state.sm_megahertz = value;
    if (reasons_ != nullptr && reasons_(device_, &bits) == 0) state.reasons = bits;
    return state;
  }

  /// Energy of the board since the driver was loaded, in millijoules; nothing without such a counter.
  [[nodiscard]] std::optional<std::uint64_t> millijoules() const {
    unsigned long long value = 0;
    if (energy_ == nullptr || energy_(device_, &value) != 0) return std::nullopt;
    return value;
  }

  /// Locks the clock of the multiprocessors: to `base` (what the board's power allows under any load), `max`, or a
  /// number of MHz. Returns why it could not, as a clause; empty: it is locked. The driver takes the nearest clock that
  /// the GPU has. Nothing but a reset ends the lock.
  [[nodiscard]] std::string lock_clock(const std::string& wanted) const {
    constexpr unsigned sm_clock = 1, by_power = 0xffffff01;  // nvmlClockType_t, nvmlClockLimitId_t
    constexpr int success = 0, invalid = 2, not_supported = 3, no_permission = 4;
    if (lock_clocks_ == nullptr) return "its driver locks no clocks";
    unsigned clock = by_power;
    int status = success;
    if (wanted == "max")
      status = highest_clock_ == nullptr ? not_supported : highest_clock_(device_, sm_clock, &clock);
    else if (wanted != "base")
      clock = static_cast<unsigned>(std::stoul(wanted));
    if (status == success) status = lock_clocks_(device_, clock, clock);
    if (status == success) return "";
    if (status == invalid) return "it has no clock of " + wanted + " MHz";
    if (status == not_supported) return "its driver locks no clocks";
    if (status == no_permission) return "its driver permits that to root alone";
    return "its driver reports error " + std::to_string(status);
  }

  /// Returns the processes that compute on the GPU, on all its instances, with what they used since `since`, in
  /// microseconds since 1970. Those that the driver does not show to this process are missing.
  [[nodiscard]] std::vector<GpuProcess> processes(std::uint64_t since) const {
    std::vector<GpuProcess> found;
    const auto add_all = [&](ListProcesses* list, bool by_mps) {
      constexpr unsigned no_instance = 0xffffffff;
      for (const auto& each : listed(list)) {
        const auto known = std::ranges::find(found, each.pid, &GpuProcess::pid);
        auto& process = known != found.end() ? *known : found.emplace_back(GpuProcess{.pid = each.pid});
        process.by_mps = process.by_mps || by_mps;
        if (each.gpu_instance != no_instance) process.instance = each.gpu_instance;
      }
    };
    add_all(processes_, false);
    add_all(mps_processes_, true);
    enter_uses(since, found);
    return found;
  }

 private:
  using Device = void*;
  using ListProcesses = int(Device, unsigned*, detail::NvmlProcess*);
  struct Close {
    void operator()(void* library) const {
      // NVML counts its users, so that other users in this process can continue.
      if (auto* const shutdown = reinterpret_cast<int (*)()>(::dlsym(library, "nvmlShutdown"))) shutdown();
      ::dlclose(library);
    }
  };

  Nvml() = default;
  template <class Function>
  void find(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(::dlsym(library_.get(), name));
  }

  [[nodiscard]] std::vector<detail::NvmlProcess> listed(ListProcesses* list) const {
    // More may start between two calls.
    unsigned count = 256;
    std::vector<detail::NvmlProcess> found(count);
    if (list == nullptr || list(device_, &count, found.data()) != 0) count = 0;
    found.resize(count);
    return found;
  }

  /// The driver keeps uses of the last seconds, and lists no process that used nothing.
  void enter_uses(std::uint64_t since, std::vector<GpuProcess>& processes) const {
    constexpr int not_found = 6, success = 0;
    unsigned count = 4096;
    std::vector<detail::NvmlUse> uses(count);
    const int status = uses_ == nullptr ? -1 : uses_(device_, uses.data(), &count, since);
    if (status != success && status != not_found) return;
    uses.resize(status == success ? count : 0);
    for (auto& process : processes) {
      process.multiprocessors = 0;
      for (const auto& use : uses)
        if (use.pid == process.pid && use.microseconds >= since)
          process.multiprocessors = std::max(*process.multiprocessors, 0.01 * use.multiprocessors);
    }
  }

  std::unique_ptr<void, Close> library_;
  Device device_ = nullptr;
  int (*energy_)(Device, unsigned long long*) = nullptr;
  ListProcesses *processes_ = nullptr, *mps_processes_ = nullptr;
  int (*uses_)(Device, detail::NvmlUse*, unsigned*, unsigned long long) = nullptr;
  int (*highest_clock_)(Device, unsigned, unsigned*) = nullptr;
  int (*lock_clocks_)(Device, unsigned, unsigned) = nullptr;
  int (*clock_)(Device, int, unsigned*) = nullptr;
  int (*temperature_)(Device, int, unsigned*) = nullptr;
  int (*power_)(Device, unsigned*) = nullptr;
  int (*reasons_)(Device, unsigned long long*) = nullptr;
};

}  // namespace pace::cuda
