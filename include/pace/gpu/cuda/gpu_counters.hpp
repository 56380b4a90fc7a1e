// GpuCounters: the counters of counter_entries that a GPU counts.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/base/function_ref.hpp"
#include "pace/gpu/cuda/range_counters.hpp"
#include "pace/timing/event_count.hpp"
#include "pace/timing/subject.hpp"

namespace pace::cuda {

/// CUPTI's name of a counter of counter_entries; nothing if it is none of a GPU. Nsight Compute describes them:
/// `ncu --query-metrics`.
[[nodiscard]] inline std::optional<std::string> metric_of(std::string_view counter) {
  if (counter == "dram_bytes") return "dram__bytes.sum";
  if (counter == "l2_hit_rate") return "lts__t_sector_hit_rate.pct";
  if (counter == "sm_active") return "sm__cycles_active.avg.pct_of_peak_sustained_elapsed";
  if (counter == "tensor_active") return "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed";
  if (counter == "occupancy") return "sm__warps_active.avg.pct_of_peak_sustained_active";
  return std::nullopt;
}

#ifdef PACE_HAS_RANGE_PROFILER

/// Counts calls on a GPU. Keeps CUPTI's objects from one count of the same names to the next.
class GpuCounters {
 public:
  /// `device`: number of the GPU, whose context must be current in each count.
  explicit GpuCounters(int device) : device_(device) {}

  /// Returns the counts of `names`, all with a metric_of(), over `calls` calls of `subject`, or the reason why there
  /// are none. Makes the calls several times if the names need several passes. Throws what the subject throws.
  [[nodiscard]] std::vector<timing::EventCount> count(const std::vector<std::string>& names, timing::Subject& subject,
                                                      std::int64_t calls) {
    std::vector<timing::EventCount> counts(names.size());
    std::vector<std::string> metrics;
    for (const auto& name : names) metrics.push_back(*metric_of(name));
    try {
      make(metrics);
    } catch (const Unsupported& refused) {
      return names.size() == 1 ? std::vector<timing::EventCount>{{.missing = refused.what()}}
                               : count_without_refused(names, refused, subject, calls);
    }
    NamedFaults named(subject);
    try {
      const auto values = counters_->over(named, calls);
      for (std::size_t place = 0; place < names.size(); ++place)
        if (std::isfinite(values[place]))
          counts[place].events = values[place];
        else
          counts[place].missing = "these calls run nothing that it counts";
    } catch (const Unsupported& lost) {
      release();
      if (named.threw) throw;
      for (auto& each : counts) each.missing = lost.what();
    } catch (...) {
      release();
      throw;
    }
    return counts;
  }

  /// Gives CUPTI's objects back.
  void release() noexcept { counters_.reset(); }

 private:
  /// Says whether an exception is the subject's.
  class NamedFaults final : public timing::Subject {
   public:
    explicit NamedFaults(timing::Subject& of) : of_(of) {}
    void run(std::size_t operands, std::int64_t iterations) override {
      noted([&] { of_.run(operands, iterations); });
    }
    void prepare(std::size_t operands) override {
      noted([&] { of_.prepare(operands); });
    }
    void finish() override {
      noted([&] { of_.finish(); });
    }
    bool threw = false;

   private:
    void noted(FunctionRef<void()> call) {
      threw = true;
      call();
      threw = false;
    }
    timing::Subject& of_;
  };

  void make(const std::vector<std::string>& metrics) {
    if (counters_ && counters_->metrics() == metrics) return;
    release();
    counters_ = std::make_unique<RangeCounters>(device_, metrics);
  }

  /// Finds the names that CUPTI refuses by themselves, and counts the others.
  [[nodiscard]] std::vector<timing::EventCount> count_without_refused(const std::vector<std::string>& names,
                                                                      const Unsupported& refused,
                                                                      timing::Subject& subject, std::int64_t calls) {
    std::vector<timing::EventCount> counts(names.size());
    std::vector<std::string> others;
    std::vector<std::size_t> places;
    for (std::size_t place = 0; place < names.size(); ++place) {
      try {
        const RangeCounters alone(device_, {*metric_of(names[place])});
        others.push_back(names[place]);
        places.push_back(place);
      } catch (const Unsupported& reason) {
        counts[place].missing = reason.what();
      }
    }
    if (others.size() == names.size())
      return std::vector<timing::EventCount>(
          names.size(), {.missing = std::string(refused.what()) + "; or expected fewer counters at once"});
    const auto counted = others.empty() ? std::vector<timing::EventCount>() : count(others, subject, calls);
    for (std::size_t at = 0; at < others.size(); ++at) counts[places[at]] = counted[at];
    return counts;
  }

  int device_;
  std::unique_ptr<RangeCounters> counters_;
};

#else

/// Counts nothing, since pace was compiled without CUPTI's range profiler.
class GpuCounters {
 public:
  /// Ignores the number of the GPU.
  explicit GpuCounters(int /*device*/) {}

  /// Returns the reason for each name.
  [[nodiscard]] std::vector<timing::EventCount> count(const std::vector<std::string>& names,
                                                      timing::Subject& /*subject*/, std::int64_t /*calls*/) const {
    return std::vector<timing::EventCount>(
        names.size(), {.missing = "pace was compiled without CUPTI's range profiler; expected cupti_range_profiler.h "
                                  "of CUDA 12.6 or later among the headers of CUDA"});
  }
  /// Does nothing.
  void release() noexcept {}
};

#endif

}  // namespace pace::cuda
