// find_sharing: who else uses a GPU: instances of MIG, MPS and other processes.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "pace/base/format.hpp"
#include "pace/base/units.hpp"
#include "pace/gpu/cuda/nvml.hpp"
#include "pace/timing/gpu_reading.hpp"

namespace pace::cuda {

namespace detail {

/// The name of a process, such as `python3`; empty where it has ended or belongs to another namespace.
[[nodiscard]] inline std::string process_name(unsigned pid, const std::string& root = "") {
  std::string name;
  std::getline(std::ifstream(root + "/proc/" + std::to_string(pid) + "/comm"), name);
  return name;
}

/// Describes MPS by its environment, as a clause; empty: its daemon is not there. Clients need no variable for the
/// default folder.
[[nodiscard]] inline std::string describe_mps() {
  const char* const folder = std::getenv("CUDA_MPS_PIPE_DIRECTORY");
  struct stat found{};
  const std::string control = std::string(folder != nullptr ? folder : "/tmp/nvidia-mps") + "/control";
  if (::stat(control.c_str(), &found) != 0) return {};
  const char* const share = std::getenv("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE");
  return std::string("by MPS, whose clients run kernels at the same time") +
         (share != nullptr ? std::string(" (CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=") + share + ')' : std::string());
}

/// What the driver calls MPS's own process, which computes nothing itself.
inline constexpr const char* mps_server = "nvidia-cuda-mps";

/// Leaves this process out of `all`. In a container the driver may tell other numbers of processes, among which nobody
/// knows his own: then the busiest is taken for this one.
inline void leave_own_out(std::vector<GpuProcess>& all, unsigned own) {
  auto found = std::ranges::find(all, own, &GpuProcess::pid);
  if (found == all.end())
    found = std::ranges::max_element(all, {}, [](const GpuProcess& each) { return each.multiprocessors.value_or(0); });
  if (found != all.end()) all.erase(found);
}

}  // namespace detail

/// Finds who else uses the GPU that CUDA calls `name`, and in the last `period` how much. Without NVML (null), only
/// what CUDA and the environment tell. `own` is the number of this process, and `root` leads to /proc, both for tests.
[[nodiscard]] inline timing::GpuSharing find_sharing(const std::string& name, const Nvml* nvml, Nanoseconds period,
                                                     unsigned own = static_cast<unsigned>(::getpid()),
                                                     const std::string& root = "") {
  timing::GpuSharing sharing;
  // The driver enters uses about once a second.
  constexpr Nanoseconds least = std::chrono::seconds(2);
  const std::chrono::duration<double, std::micro> now = std::chrono::system_clock::now().time_since_epoch();
  const std::chrono::duration<double, std::micro> past = std::max(least, period);
  auto all = nvml == nullptr ? std::vector<GpuProcess>()
                             : nvml->processes(static_cast<std::uint64_t>(std::max(0.0, (now - past).count())));
  const auto self = std::ranges::find(all, own, &GpuProcess::pid);
  constexpr unsigned unknown = 0xffffffff;
  const unsigned instance = self != all.end() ? self->instance.value_or(unknown) : unknown;
  const bool by_mps = self != all.end() && self->by_mps;
  const bool is_instance = name.find(" MIG ") != std::string::npos || instance != unknown;
  if (is_instance)
    sharing.who.push_back("this is an instance of MIG (" + name + "), and all instances share power and clocks");
  if (auto mps = detail::describe_mps(); !mps.empty() || by_mps)
    sharing.who.push_back(mps.empty() ? "by MPS, whose clients run kernels at the same time" : std::move(mps));

  detail::leave_own_out(all, own);
  std::erase_if(all, [&](const GpuProcess& each) {
    return detail::process_name(each.pid, root).starts_with(detail::mps_server);
  });
  double used = 0;
  bool known = true;
  for (const auto& each : all) {
    const std::string program = detail::process_name(each.pid, root);
    std::string text = "process " + std::to_string(each.pid) + (program.empty() ? "" : " (" + program + ')');
    const bool elsewhere = instance != unknown && each.instance.value_or(instance) != instance;
    if (elsewhere) text += " on another instance";
    if (each.multiprocessors) text += ", which used " + format_percent(*each.multiprocessors) + " of it";
    sharing.who.push_back(std::move(text));
    // Another instance has its own multiprocessors, L2 and memory channels.
    if (elsewhere) continue;
    ++sharing.processes;
    known = known && each.multiprocessors;
    used += each.multiprocessors.value_or(0);
  }
  if (known && nvml != nullptr && sharing.processes > 0) sharing.others = used;
  return sharing;
}

}  // namespace pace::cuda
