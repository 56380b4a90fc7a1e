// EnergyRecorder: moves of a GPU's counter of energy, by NVML.
#pragma once

#include <chrono>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "pace/base/units.hpp"
#include "pace/gpu/cuda/nvml.hpp"
#include "pace/timing/energy.hpp"

namespace pace::cuda {

/// Reads the counter every millisecond on a thread of its own. On an H200 it moves every 91 ms. Times are of the host's
/// steady clock.
class EnergyRecorder final : public timing::EnergyRecording {
 public:
  /// `nvml` must outlive it and have the counter.
  explicit EnergyRecorder(const Nvml& nvml)
      : thread_([this, &nvml](const std::stop_token& ended) {
          auto last = nvml.millijoules();
          while (!ended.stop_requested()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            const auto now = nvml.millijoules();
            if (!now || now == std::exchange(last, now)) continue;
            moves_.push_back({std::chrono::steady_clock::now().time_since_epoch(), static_cast<double>(*now)});
          }
        }) {}

  [[nodiscard]] std::vector<timing::EnergyMove> stop() override {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
    return std::move(moves_);
  }

 private:
  std::vector<timing::EnergyMove> moves_;
  // Last, since it writes the moves.
  std::jthread thread_;
};

}  // namespace pace::cuda
