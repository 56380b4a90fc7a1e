// The optimiser of a training step, and the scaler of its loss.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/_amp_foreach_non_finite_check_and_unscale.h>
#include <ATen/ops/_amp_update_scale.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include "benches/models/config.hpp"
#include "benches/models/run/instance.hpp"
#include "benches/models/settings.hpp"
#include "pace/training/optimizer.hpp"

namespace pace::benches::models {

/// Both of torchbench's.
inline constexpr double learning_rate = 0.01;

/// The rate of a mode. 0: runs the same operators on the same sizes as any other rate, and parameters keep their
/// values. So steps stay comparable if back ends are called unequally often. Under `compat` weights change, as
/// torchbench's do.
[[nodiscard]] inline double rate_of(const Settings& settings) {
  return settings.mode == Mode::performance && !settings.compat ? 0 : learning_rate;
}

/// Which optimiser a training step has. As torchbench: a new capturable Adam, SGD for those listed, none for those
/// listed, in inference, and on a CPU unless the settings have it there.
[[nodiscard]] inline std::optional<OptimizerOptions> optimizer_options(const Instance& instance, const Config& config,
                                                                       const Settings& settings,
                                                                       double rate = learning_rate) {
  const std::string_view name = instance.name();
  if (!instance.options.training || config.optimizer.none.contains(name)) return std::nullopt;
  if (instance.options.device.is_cpu() && !settings.optimizer_on_cpu) return std::nullopt;
  if (trained_parameters(instance).empty()) return std::nullopt;
  using Code = OptimizerOptions::Code;
  OptimizerOptions options{.rate = rate, .continues = true};
  options.algorithm =
      config.optimizer.sgd.contains(name) ? OptimizerOptions::Algorithm::sgd : OptimizerOptions::Algorithm::adam;
  options.code = settings.optimizer_code == "single"  ? Code::single
                 : settings.optimizer_code == "fused" ? Code::fused
                                                      : Code::foreach;
  options.capturable = options.code != Code::single;
  return options;
}

/// The name of such an optimiser in notes.
[[nodiscard]] inline std::string name_of_optimizer(const OptimizerOptions& options, const Settings& settings) {
  return (options.algorithm == OptimizerOptions::Algorithm::sgd ? "sgd, " : "adam, ") + settings.optimizer_code;
}

/// torch.amp.GradScaler, which LibTorch has no C++ of: multiplies the start of the backward, divides the gradients
/// again, and skips a step if its gradients are not finite. Then it adapts.
class GradScaler {
 public:
  explicit GradScaler(c10::Device device, double scale = 65536)
      : scale_(at::full({}, scale, at::TensorOptions().dtype(at::kFloat).device(device))),
        found_infinite_(at::zeros({}, scale_.options())),
        growth_(at::zeros({}, scale_.options().dtype(at::kInt))) {}

  /// The start of a loss's backward: the scale, in the loss's type.
  [[nodiscard]] at::Tensor gradient_for(const at::Tensor& loss) const { return scale_.to(loss.scalar_type()); }

  /// Once after each backward: divides the gradients of `parameters` by the scale. Whether all of them are finite.
  bool unscale(const std::vector<at::Tensor>& parameters) {
    const at::NoGradGuard values_alone;
    std::vector<at::Tensor> gradients;
    for (const auto& parameter : parameters)
      if (parameter.grad().defined()) gradients.push_back(parameter.grad());
    found_infinite_.zero_();
    const at::Tensor inverse = scale_.to(at::kDouble).reciprocal().to(at::kFloat);
    if (!gradients.empty()) at::_amp_foreach_non_finite_check_and_unscale_(gradients, found_infinite_, inverse);
    return found_infinite_.item<float>() == 0;
  }

  /// Once after each step: half the scale if gradients were not finite, twice the scale after 2000 steps with finite
  /// ones.
  void update() {
    constexpr double growth = 2, backoff = 0.5;
    constexpr std::int64_t interval = 2000;
    at::_amp_update_scale_(scale_, growth_, found_infinite_, growth, backoff, interval);
  }

  [[nodiscard]] double scale() const { return scale_.item<double>(); }

 private:
  at::Tensor scale_, found_infinite_, growth_;
};

}  // namespace pace::benches::models
