// The sections of a YAML file by their names, and the part of a Config that each fills.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>

#include "benches/models/config.hpp"

namespace pace::benches::models::detail {

/// The types that sections fill.
using Whole = std::map<std::string, std::int64_t, std::less<>>;
using Real = std::map<std::string, double, std::less<>>;
using Expectations = decltype(Config::expected);
/// A section that is read for the anchors in it, and why it has no other effect; empty: that is all it is for.
struct Ignored {
  const char* reason;
};
using Target = std::variant<Names*, Whole*, Real*, Expectations*, Ignored>;

/// Every section by its full name, as in `tolerance.higher`.
[[nodiscard]] inline std::map<std::string, Target, std::less<>> sections_of(Config& config) {
  auto& tolerance = config.tolerance;
  auto& skip = config.skip;
  return {
      {"batch_size.training", &config.batch_size.training},
      {"batch_size.inference", &config.batch_size.inference},
      {"dont_change_batch_size", &config.dont_change_batch_size},
      {"tolerance.higher", &tolerance.higher},
      {"tolerance.even_higher", &tolerance.even_higher},
      {"tolerance.higher_fp16", &tolerance.higher_fp16},
      {"tolerance.higher_bf16", &tolerance.higher_bf16},
      {"tolerance.higher_bf16_xpu", &tolerance.higher_bf16_xpu},
      {"tolerance.cosine", &tolerance.cosine},
      {"tolerance.freezing.higher_fp16", &tolerance.freezing_higher_fp16},
      {"tolerance.freezing.even_higher", &tolerance.freezing_even_higher},
      {"tolerance.use_iou_for_bool_masks", &tolerance.use_iou_for_bool_masks},
      {"tolerance.iou_thresholds", &tolerance.iou_thresholds},
      {"tolerance.accuracy_check_runs", &tolerance.accuracy_check_runs},
      {"require_larger_multiplier_for_smaller_tensor", &config.require_larger_multiplier_for_smaller_tensor},
      {"very_slow", &config.very_slow},
      {"slow", &config.slow},
      {"non_deterministic", &config.non_deterministic},
      {"no_deterministic_kernels", &config.no_deterministic_kernels},
      {"dtype.force_amp_for_fp16_bf16_models", &config.dtype.force_amp_for_fp16_bf16_models},
      {"dtype.force_fp16_for_bf16_models", &config.dtype.force_fp16_for_bf16_models},
      {"dtype.fp32_only_models", &config.dtype.fp32_only_models},
      {"only_training", &config.only_training},
      {"skip.all", &skip.all},
      {"skip.test.training", &skip.training},
      {"skip.device.cpu", &skip.cpu},
      {"skip.device.cuda", &skip.cuda},
      {"skip.control_flow", &skip.control_flow},
      {"skip.multiprocess", &skip.multiprocess},
      {"skip.freezing.cpu", &skip.freezing_cpu},
      {"skip.freezing.cuda", &skip.freezing_cuda},
      {"accuracy.skip.large_models", &config.accuracy.large_models},
      {"accuracy.skip.eager_not_deterministic", &config.accuracy.eager_not_deterministic},
      {"accuracy.max_batch_size", &config.accuracy.max_batch_size},
      {"optimizer.sgd", &config.optimizer.sgd},
      {"optimizer.none", &config.optimizer.none},
      {"expected", &config.expected},
      {"detectron2_models", Ignored{""}},
      {"canary_models", Ignored{"every model that is registered is run"}},
      {"trt_not_yet_working", Ignored{"there is no TensorRT back end"}},
  };
}

}  // namespace pace::benches::models::detail
