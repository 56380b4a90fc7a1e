// Config: a YAML file's settings of models by name (the sections of torchbench.yaml).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace pace::benches::models {

using Names = std::set<std::string, std::less<>>;

struct Config {
  struct {
    std::map<std::string, std::int64_t, std::less<>> training, inference;
  } batch_size;
  Names dont_change_batch_size;
  struct {
    Names higher, even_higher, higher_fp16, higher_bf16, cosine;
    Names higher_bf16_xpu;
    Names freezing_higher_fp16, freezing_even_higher;
    Names use_iou_for_bool_masks;
    std::map<std::string, double, std::less<>> iou_thresholds;
    std::map<std::string, std::int64_t, std::less<>> accuracy_check_runs;
  } tolerance;
  Names require_larger_multiplier_for_smaller_tensor;
  Names very_slow, slow;  ///< slow holds the very slow ones, too
  Names non_deterministic;
  /// Models with operators that LibTorch has no deterministic kernel of: they run all the same, and are judged as
  /// others.
  Names no_deterministic_kernels;
  struct {
    Names force_amp_for_fp16_bf16_models, force_fp16_for_bf16_models, fp32_only_models;
  } dtype;
  Names only_training;
  struct {
    Names all, training, cpu, cuda, control_flow, multiprocess, freezing_cpu, freezing_cuda;
  } skip;
  struct {
    Names large_models, eager_not_deterministic;
    std::map<std::string, std::int64_t, std::less<>> max_batch_size;
  } accuracy;
  /// Models that SGD trains instead of Adam, with a step that is not compiled. Models without an optimiser.
  struct {
    Names sgd, none;
  } optimizer;
  /// Statuses that are expected and why: name -> mode -> status and reason. A mode is `training` or `inference`, or one
  /// of them with a precision, as in `training/amp`. Of one back end, or of any if that is empty.
  struct Expected {
    std::string status, reason, backend = {};
  };
  std::map<std::string, std::map<std::string, Expected, std::less<>>, std::less<>> expected;
};

}  // namespace pace::benches::models
