// An accuracy run: eager twice, each back end once, and a float64 run that says how much rounding is worth.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <utility>

#include <ATen/core/Dict.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "benches/files/aot/rand_strided.hpp"
#include "benches/models/run/iteration.hpp"
#include "benches/models/run/outcome.hpp"
#include "benches/models/run/outputs_file.hpp"
#include "benches/models/run/plan.hpp"
#include "benches/models/run/tolerance_policy.hpp"
#include "pace/check/check_options.hpp"
#include "pace/check/outputs.hpp"
#include "pace/check/same.hpp"

namespace pace::benches::models {

struct AccuracyStatus {
  std::string status, message = {};
  /// False: there are no answers of eager's to hold any back end's against.
  bool eager_ran = true;
};

/// The run of one model in accuracy mode: eager's answers, and then each back end's status.
class AccuracyRun {
 public:
  /// `entry` and the lists must outlive it; `base` is in the precision asked for.
  AccuracyRun(const ModelEntry& entry, const Settings& settings, const Config& config, const RunPlan& plan,
              std::ostream& log)
      : entry_(entry), settings_(settings), config_(config), plan_(plan), log_(log) {}

  /// Steps 1 to 5 of torchbench's check_accuracy. A status here holds for all back ends; none: go on.
  [[nodiscard]] std::optional<AccuracyStatus> prepare(const Instance& base) {
    if (config_.accuracy.large_models.contains(entry_.name))
      return AccuracyStatus{"pass_due_to_skip", "the list of large models says so"};
    take_float64_reference(base);
    choose_tolerance();
    Failed failed;
    for (int run = 1; run <= 2; ++run) {
      const std::string which = run == 1 ? "eager_1st_run" : "eager_2nd_run";
      std::optional<c10::IValue> output = attempt(failed, [&] { return run_eager(base); });
      if (!output) return AccuracyStatus{which + (failed.out_of_memory ? "_OOM" : "_fail"), failed.message, false};
      (run == 1 ? first_ : second_) = std::move(*output);
    }
    if (auto why = why_nothing_compares(); !why.empty()) return AccuracyStatus{"fail_accuracy", std::move(why)};
    if (!eager_may_differ() && !eager_repeats())
      return forgiven("eager_two_runs_differ",
                      last_reason_.empty() ? "two eager runs answer differently" : last_reason_);
    second_ = {};
    return std::nullopt;
  }

  /// Steps 6 to 10, for one back end.
  [[nodiscard]] AccuracyStatus check(const std::string& backend, const Instance& base) {
    const std::int64_t runs = runs_of();
    std::int64_t passed = 0;
    AccuracyStatus last;
    for (std::int64_t run = 0; run < runs; ++run) {
      last = check_once(backend, base);
      if (last.status != "pass" && last.status != "fail_accuracy") return last;
      passed += last.status == "pass" ? 1 : 0;
    }
    if (2 * passed > runs) return {"pass", {}};
    if (settings_.skip_accuracy_check) return {"pass_due_to_skip", last.message};
    return forgiven("fail_accuracy", last.message);
  }

  [[nodiscard]] const Tolerance& tolerance() const noexcept { return tolerance_; }

 private:
  template <class F>
  [[nodiscard]] std::optional<c10::IValue> attempt(Failed& failed, F&& run) {
    try {
      benches::aot::reset_rng_state();
      c10::IValue output = run();
      synchronise(plan_.instance.device);
      return output;
    } catch (const InputError&) {
      throw;
    } catch (...) {
      failed = current_failed();
      return std::nullopt;
    }
  }

  [[nodiscard]] c10::IValue run(Iterating iterating, std::int64_t iterations) {
    add_optimizer(iterating, config_, settings_);
    return run_iterations(iterating, iterations);
  }
  [[nodiscard]] c10::IValue run_eager(const Instance& base) {
    const auto scaler = make_scaler(plan_, settings_);
    Instance copy = copy_instance(base);
    benches::aot::reset_rng_state();  // making it has drawn numbers
    return run({.runnable = detail::make_eager(std::move(copy), {&settings_, scaler}), .scaler = scaler},
               settings_.iterations);
  }

  void take_float64_reference(const Instance& base) {
    Failed failed;
    reference_ = attempt(failed, [&] {
      // A cast model has lost digits that float64 would keep; a new one has not.
      auto options = plan_.instance;
      options.cast = at::kDouble;
      options.autocast = std::nullopt;
      Instance wide = base.options.cast ? make_instance(entry_, options) : float64_copy(base);
      benches::aot::reset_rng_state();
      const auto output =
          run({.runnable = detail::make_eager(std::move(wide), {&settings_, {}})}, settings_.iterations);
      check::for_each_tensor(output, [](const at::Tensor& tensor) {
        if (at::isFloatingType(tensor.scalar_type())) tensor.set_data(tensor.detach().to(at::kDouble));
      });
      return output;
    });
    if (!reference_)
      log_ << entry_.name << ": there is no float64 reference (" << failed.message
           << "); cosines are compared instead\n";
  }

  void choose_tolerance() {
    const std::string device = plan_.instance.device.is_cuda() ? "cuda" : "cpu";
    tolerance_ = tolerance_of({.suite = entry_.suite,
                               .training = settings_.training,
                               .precision = plan_.instance.autocast ? Precision::amp : settings_.precision,
                               .device = device,
                               .cosine = settings_.cosine,
                               .freezing = settings_.freezing},
                              entry_.name, config_);
    if (!reference_) tolerance_.cosine = true;
  }

  [[nodiscard]] check::SameOptions same_options() {
    check::SameOptions options;
    options.cos_similarity = tolerance_.cosine;
    options.tol = tolerance_.tolerance;
    options.equal_nan = settings_.precision != Precision::float32;
    options.use_larger_multiplier_for_smaller_tensor =
        config_.require_larger_multiplier_for_smaller_tensor.contains(entry_.name);
    options.force_max_multiplier = settings_.force_max_multiplier;
    options.use_iou_for_bool = config_.tolerance.use_iou_for_bool_masks.contains(entry_.name);
    const auto threshold = config_.tolerance.iou_thresholds.find(entry_.name);
    if (threshold != config_.tolerance.iou_thresholds.end()) options.iou_threshold = threshold->second;
    options.multipliers =
        settings_.generation == Generation::v2_6 ? check::MultiplierSet::v2_6 : check::MultiplierSet::newest;
    options.log = [this](const std::string& reason) {
      // The first is the tensor's own; the next ones say where it is.
      if (last_reason_.empty())
        last_reason_ = reason;
      else if (last_reason_.size() < 300)
        last_reason_ += "; " + reason;
    };
    return options;
  }

  /// An exception counts as different.
  [[nodiscard]] bool are_same(const c10::IValue& ref, const c10::IValue& res, const std::optional<c10::IValue>& fp64,
                              const check::SameOptions& options) {
    last_reason_.clear();
    try {
      return check::same(ref, res, fp64, options);
    } catch (...) {
      last_reason_ = current_failed().message;
      return false;
    }
  }

  [[nodiscard]] bool eager_may_differ() const {
    return settings_.training && config_.accuracy.eager_not_deterministic.contains(entry_.name);
  }
  [[nodiscard]] bool eager_repeats() {
    auto options = same_options();
    options.cos_similarity = false;
    options.tol = 0;
    return are_same(first_, second_, std::nullopt, options);
  }

  /// Why no back end's outputs can be compared with eager's; empty if some can. Any that fails in the same way would
  /// agree, which is no accuracy; torchbench calls it `pass`.
  [[nodiscard]] std::string why_nothing_compares() const {
    if (settings_.compat) return {};
    check::CheckOptions options;
    options.equal_nan = true;
    const auto match = check::outputs_match(first_, first_, options);
    if (match.compared > 0 || match.only_nan + match.empty == 0) return {};
    return match.only_nan > 0 ? "eager's outputs are NaN throughout, so that nothing can be compared with them"
                              : "eager's outputs have no elements, so that nothing can be compared with them";
  }

  [[nodiscard]] std::int64_t runs_of() const {
    const auto listed = config_.tolerance.accuracy_check_runs.find(entry_.name);
    return listed == config_.tolerance.accuracy_check_runs.end() ? 1 : std::max<std::int64_t>(1, listed->second);
  }

  [[nodiscard]] AccuracyStatus check_once(const std::string& backend, const Instance& base) {
    Failed failed;
    bool folded = false;
    std::optional<c10::IValue> output = attempt(failed, [&] {
      const auto scaler = make_scaler(plan_, settings_);
      Iterating iterating{.runnable = find_backend(backend).make(copy_instance(base), {&settings_, scaler}),
                          .scaler = scaler};
      folded = iterating.runnable.folded;
      benches::aot::reset_rng_state();
      return run(std::move(iterating), settings_.iterations);
    });
    if (!output) return {failed.out_of_memory ? "OOM" : "fail_to_run", failed.message};
    if (eager_may_differ())
      return {"pass_due_to_skip", "the list of models that are not deterministic in eager says so"};
    if (!settings_.save_outputs_to.empty())
      save_outputs(*output, outputs_path(settings_.save_outputs_to, entry_.name, backend, settings_.training));
    if (!settings_.compare_outputs_with.empty()) {
      const auto path = outputs_path(settings_.compare_outputs_with, entry_.name, backend, settings_.training);
      if (!bitwise_equal(load_outputs(path), *output))
        return {"not_bitwise_equivalent", "outputs differ from those in " + path.string()};
    }
    auto options = same_options();
    // As torchbench: weights with a batch norm folded in are rounded to bfloat16 once more.
    if (folded && settings_.precision == Precision::bfloat16) options.force_max_multiplier = true;
    const bool same = are_same(first_, *output, reference_, options);
    return {same ? "pass" : "fail_accuracy", same ? std::string() : last_reason_};
  }

  [[nodiscard]] bool bitwise_equal(const c10::IValue& saved, const c10::IValue& output) {
    try {
      return check::bitwise_same(saved, output, settings_.precision != Precision::float32);
    } catch (...) {
      return false;
    }
  }

  /// Models that are known not to be deterministic pass all the same.
  [[nodiscard]] AccuracyStatus forgiven(std::string status, std::string message) const {
    if (!config_.non_deterministic.contains(entry_.name)) return {std::move(status), std::move(message)};
    return {"pass", "would be " + status + ", but the list of models that are not deterministic has it"};
  }

  const ModelEntry& entry_;
  const Settings& settings_;
  const Config& config_;
  const RunPlan& plan_;
  std::ostream& log_;
  Tolerance tolerance_;
  std::optional<c10::IValue> reference_;
  c10::IValue first_, second_;
  std::string last_reason_;
};

}  // namespace pace::benches::models
