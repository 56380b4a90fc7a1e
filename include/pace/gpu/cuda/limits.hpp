// MachineLimits: the measured peaks of this GPU in bytes and floating-point operations per second.
#pragma once

#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/randn.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "pace/base/format.hpp"
#include "pace/base/units.hpp"
#include "pace/gpu/cuda/device.hpp"
#include "pace/gpu/event.hpp"

namespace pace::cuda {

/// Measured peaks of a GPU, each the best of a few tries. A call that exceeds them has not done its work. Bandwidths
/// are bytes per second; the others are floating-point operations per second in products of random matrices, where a
/// multiplication and an addition are two operations.
struct MachineLimits {
  double copy = 0;     ///< bytes read and written by a copy
  double read = 0;     ///< bytes read by a sum
  double write = 0;    ///< bytes written by a fill
  double float32 = 0;  ///< operations in float32
  double tf32 = 0;     ///< operations in float32 with products in TF32
  double bf16 = 0;     ///< operations in bfloat16
  double f16 = 0;      ///< operations in float16

  /// The largest bandwidth, in bytes per second.
  [[nodiscard]] double memory() const { return std::max({copy, read, write}); }
  /// The largest rate of products, in operations per second.
  [[nodiscard]] double products() const { return std::max({float32, tf32, bf16, f16}); }
};

/// Share of the measured peak above which a time counts as impossible. The peak itself varies by a few per cent.
inline constexpr double impossible_share = 1.05;

namespace detail {

/// The least time of a call in several bursts of `calls` calls, which are too short for the power limit to apply.
template <class F>
[[nodiscard]] double least_seconds(CudaDevice& device, int calls, F&& call) {
  gpu::EventClock clock(device);
  call();
  device.synchronise();
  Nanoseconds least = Nanoseconds::max();
  for (int burst = 0; burst < 5; ++burst)
    least = std::min(least, clock.time([&] {
      for (int i = 0; i < calls; ++i) call();
    }));
  return 1e-9 * least.count() / calls;
}

/// Sets LibTorch's precision of float32 products for the lifetime of the object.
class Float32Precision {
 public:
  explicit Float32Precision(const char* wanted) { at::globalContext().setFloat32MatmulPrecision(wanted); }
  Float32Precision(const Float32Precision&) = delete;
  ~Float32Precision() {
    using enum at::Float32MatmulPrecision;
    at::globalContext().setFloat32MatmulPrecision(before_ == HIGHEST ? "highest" : before_ == HIGH ? "high" : "medium");
  }

 private:
  const at::Float32MatmulPrecision before_ = at::globalContext().float32MatmulPrecision();
};

[[nodiscard]] inline double product_rate(CudaDevice& device, at::ScalarType type, bool tf32) {
  const Float32Precision precision(tf32 ? "high" : "highest");
  // Large enough for the full rate, small enough for a burst: 0.7 ms in bf16 on an H200.
  const std::int64_t n = type == at::kFloat && !tf32 ? 4096 : 6144;
  const auto options = at::TensorOptions().device(device.torch_device()).dtype(type);
  const at::Tensor a = at::randn({n, n}, options), b = at::randn({n, n}, options);
  at::Tensor out = at::empty({n, n}, options);
  const double flops = 2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
  return flops / least_seconds(device, 5, [&] { at::mm_out(out, a, b); });
}

}  // namespace detail

/// Measures the peaks of a GPU. Takes about a tenth of a second, and 20 times the size of the L2 in memory. Throws
/// c10::Error if memory does not suffice.
[[nodiscard]] inline MachineLimits measure_limits(CudaDevice& device) {
  const auto elements = static_cast<std::int64_t>(10 * device.l2_bytes() / sizeof(float));
  const auto options = at::TensorOptions().device(device.torch_device()).dtype(at::kFloat);
  at::Tensor from = at::randn({elements}, options), to = at::empty({elements}, options);
  at::Tensor sum = at::empty({}, options);
  const double bytes = static_cast<double>(from.nbytes());
  MachineLimits limits;
  limits.copy = 2 * bytes / detail::least_seconds(device, 10, [&] { to.copy_(from); });
  limits.read = bytes / detail::least_seconds(device, 10, [&] { at::sum_out(sum, from, at::OptionalIntArrayRef()); });
  limits.write = bytes / detail::least_seconds(device, 10, [&] { to.zero_(); });
  limits.float32 = detail::product_rate(device, at::kFloat, false);
  limits.tf32 = detail::product_rate(device, at::kFloat, true);
  limits.bf16 = detail::product_rate(device, at::kBFloat16, false);
  limits.f16 = detail::product_rate(device, at::kHalf, false);
  return limits;
}

}  // namespace pace::cuda
