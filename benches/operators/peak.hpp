// Shares of the CPU's measured peak: of the most that it can move and compute.
#pragma once

#include <algorithm>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>

#include "benches/operators/backends/work.hpp"
#include "pace/base/units.hpp"
#include "pace/result/result.hpp"
#include "pace/run/run_context.hpp"
#include "pace/timing/host_bandwidth.hpp"
#include "pace/timing/wall.hpp"

namespace pace::benches::operators {

/// Peak of the CPU with as many threads as LibTorch uses, measured when it is first needed and kept.
class HostPeak {
 public:
  /// Returns operations per second of products of matrices of a type; nothing: they cannot be measured.
  using MeasureProducts = std::function<std::optional<double>(at::ScalarType)>;

  /// Measures by these; tests replace them.
  explicit HostPeak(timing::HostBandwidth& bandwidth, MeasureProducts products = measure_products)
      : bandwidth_(bandwidth), products_(std::move(products)) {}

  /// Returns the share of the peak that a call of this time reaches. It is the larger of two times over the call's. One
  /// is its bytes at the measured bandwidth, the other its operations at the rate of a large product of matrices of
  /// that type. The bandwidth is timing::HostBandwidth's for data of that size, so a cache's if they fit in it. Only
  /// calls with more operations than bytes have the second time, since memory limits the others. That is the roofline
  /// model: Williams, Waterman, Patterson, "Roofline", Communications of the ACM 52 (4), 2009. If a call exceeds the
  /// peak, other work disturbed its measurement. It is measured again, up to three times. Nothing if neither is known.
  [[nodiscard]] std::optional<double> share(const CallWork& work, at::ScalarType dtype, Nanoseconds time, int threads) {
    if (!(time.count() > 0)) return std::nullopt;
    constexpr int most = 3;
    auto found = share_so_far(work, dtype, time, threads);
    for (int again = 0; found && *found > 1 && again < most; ++again) {
      bandwidth_.measure_again({.read = work.read, .written = work.written}, threads);
      if (const auto known = rates_.find(dtype); known != rates_.end())
        if (const auto rate = products_(dtype)) known->second = std::max(known->second.value_or(0), *rate);
      found = share_so_far(work, dtype, time, threads);
    }
    return found;
  }

  /// The rate of the fastest of five products of 1024 x 1024 matrices; nothing for a type that has no product.
  [[nodiscard]] static std::optional<double> measure_products(at::ScalarType dtype) {
    constexpr int side = 1024, times = 5;
    try {
      const auto one = at::ones({side, side}, dtype), other = at::ones({side, side}, dtype);
      static_cast<void>(at::mm(one, other));
      timing::WallClock clock;
      Nanoseconds fastest = Nanoseconds::max();
      for (int i = 0; i < times; ++i) {
        const Nanoseconds start = clock.now();
        static_cast<void>(at::mm(one, other));
        fastest = std::min(fastest, clock.now() - start);
      }
      if (fastest.count() > 0) return 2.0 * side * side * side / fastest.count() * 1e9;
    } catch (const std::exception&) {  // LibTorch has no such product
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] std::optional<double> share_so_far(const CallWork& work, at::ScalarType dtype, Nanoseconds time,
                                                   int threads) {
    std::optional<double> found;
    const auto reach = [&](double least) { found = std::max(found.value_or(0), least / time.count()); };
    if (const auto least = bandwidth_.least_time({.read = work.read, .written = work.written}, threads);
        least && work.bytes() > 0)
      reach(least->count() / timing::HostBandwidth::margin);
    if (work.flops && *work.flops > work.bytes())
      if (const auto rate = rate_of(dtype)) reach(*work.flops / *rate * 1e9);
    return found;
  }
  [[nodiscard]] std::optional<double> rate_of(at::ScalarType dtype) {
    const auto known = rates_.find(dtype);
    return known != rates_.end() ? known->second : rates_.emplace(dtype, products_(dtype)).first->second;
  }

  timing::HostBandwidth& bandwidth_;
  MeasureProducts products_;
  std::map<at::ScalarType, std::optional<double>> rates_;
};

/// Enters the shares of the CPU's peak into the results of a comparison that are published while the object lives. The
/// peak is measured after the rounds, once for each row, and not at all once the time of the run is over
/// (RunContext::deadline). Shares of a GPU's peak are the comparison's own.
class OfPeak final : public RunContext::Completion {
 public:
  /// `work`: the work of a call; nothing: unknown. `dtype`: of its first operand, if that is on the CPU. Both, and the
  /// peak, must outlive the object. Completes by the earlier completion as well.
  OfPeak(HostPeak& peak, const std::optional<CallWork>& work, std::optional<at::ScalarType> dtype)
      : peak_(peak), work_(work), dtype_(dtype), before_(run_context().completion) {
    if (work_ && dtype_) run_context().completion = this;
  }
  OfPeak(const OfPeak&) = delete;
  OfPeak& operator=(const OfPeak&) = delete;
  ~OfPeak() override { run_context().completion = before_; }

  /// Enters the shares into `result` and its phases.
  void complete(Result& result) override {
    if (before_ != nullptr) before_->complete(result);
    if (!work_ || !dtype_) return;
    enter(result);
    for (auto& phase : result.phases) enter(phase);
  }

 private:
  void enter(Result& result) {
    for (auto& row : result.implementations) {
      if (row.outcome != Outcome::measured || !row.time) continue;
      const auto key = std::pair(result.phase, row.name);
      auto known = shares_.find(key);
      if (known == shares_.end()) known = shares_.emplace(key, share(row.time->median)).first;
      row.share_of_peak = known->second;
    }
  }
  [[nodiscard]] std::optional<double> share(Nanoseconds time) {
    const auto& deadline = run_context().deadline;
    if (deadline && timing::WallClock().now() >= deadline->time) return std::nullopt;
    return peak_.share(*work_, *dtype_, time, at::get_num_threads());
  }

  HostPeak& peak_;
  const std::optional<CallWork>& work_;
  const std::optional<at::ScalarType> dtype_;
  RunContext::Completion* const before_;
  /// By phase and implementation: a result is published as a copy, and completed once more where it is returned.
  std::map<std::pair<std::string, std::string>, std::optional<double>> shares_;
};

}  // namespace pace::benches::operators
