#include "benches/models/run/run_model.hpp"

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <ATen/Context.h>
#include <ATen/Parallel.h>

#include "benches/models/compat/compat_performance.hpp"
#include "benches/models/config.hpp"
#include "benches/models/model.hpp"
#include "benches/models/row.hpp"
#include "benches/models/run/accuracy.hpp"
#include "benches/models/run/candidates.hpp"
#include "benches/models/run/context_flags.hpp"
#include "benches/models/run/determinism.hpp"
#include "benches/models/run/extras.hpp"
#include "benches/models/run/load.hpp"
#include "benches/models/run/memory_fraction.hpp"
#include "benches/models/run/model_run.hpp"
#include "benches/models/run/modes.hpp"
#include "benches/models/run/performance.hpp"
#include "benches/models/run/plan.hpp"
#include "benches/models/settings.hpp"
#include "pace/base/error.hpp"
#include "pace/run/progress.hpp"

namespace pace::benches::models {

namespace detail {
namespace {

/// Sets the types that products and convolutions of float32 may be computed in on a GPU. torchbench.py allows TF32 in
/// products when it starts; huggingface.py and timm_models.py leave LibTorch's default, which has it in cuDNN alone.
/// The code that makes a run deterministic takes it back.
void set_tf32(const std::string& tf32, Suite suite) {
  auto& context = at::globalContext();
  if (tf32 != "default") context.setAllowTF32CuDNN(tf32 == "on");
  context.setAllowTF32CuBLAS(tf32 == "default" ? suite == Suite::torchbench || suite == Suite::own : tf32 == "on");
}

/// Extras of all the runs; a failure there is printed and fails no row.
void run_extras(const ModelRun& run, std::vector<Candidate*> candidates) {
  const auto& settings = run.settings;
  for (Candidate* candidate : candidates) {
    if (!candidate->usable()) continue;
    try {
      if (!settings.profiler_trace.empty())
        trace_iteration(*candidate->iterating, candidate->name, settings.profiler_trace);
      if (!settings.memory_snapshot.empty())
        snapshot_memory(*candidate->iterating, candidate->name, settings.memory_snapshot);
    } catch (...) {
      run.log << run.entry.name << ", " << candidate->name << ": " << current_failed().message << '\n';
    }
  }
}

[[nodiscard]] std::vector<Row> run_performance(const ModelRun& run, Instance base) {
  const auto& settings = run.settings;
  report_step({.what = "warm-up of eager"});
  Candidate eager = make_candidate("eager", base, run.plan, settings);
  std::vector<Candidate> candidates;
  const auto ready = [&](Candidate& candidate) {
    // torchbench's steps change the weights for the next ones. Steps of a comparison must all answer the same.
    add_optimizer(candidate, run.config, settings, rate_of(settings));
    warm_up_candidate(candidate, settings);
  };
  ready(eager);
  if (!eager.usable()) return run.status_rows(eager.status == "OOM" ? "OOM" : "warmup_failed", eager.message);
  for (const auto& name : candidates_of(settings)) {
    report_step({.what = "making and warm-up of " + name});
    ready(candidates.emplace_back(make_candidate(name, base, run.plan, settings)));
  }
  base = {};
  auto rows = settings.compat ? measure_compatibly(run.entry, settings, eager, candidates)
                              : measure_performance(run.entry, settings, eager, candidates, run.log);
  std::vector<Candidate*> all{&eager};
  for (auto& candidate : candidates) all.push_back(&candidate);
  run_extras(run, std::move(all));
  return rows;
}

/// Whether the YAML file expects just this, and why.
void heed_expected(const ModelRun& run, Row& row, const std::string& status) {
  const auto found = run.config.expected.find(run.entry.name);
  if (found == run.config.expected.end()) return;
  const auto& precision = run.settings.precision;
  const std::string mode = run.settings.training ? "training" : "inference";
  const std::string detailed = mode + (precision == Precision::float16    ? "/float16"
                                       : precision == Precision::bfloat16 ? "/bfloat16"
                                       : precision == Precision::amp      ? "/amp"
                                                                          : "/float32");
  auto expected = found->second.find(detailed);
  if (expected == found->second.end()) expected = found->second.find(mode);
  if (expected == found->second.end() || expected->second.status != status) return;
  if (!expected->second.backend.empty() && expected->second.backend != row.backend) return;
  row.result = RowResult::passed;
  row.message += (row.message.empty() ? "" : "; ") + ("expected: " + expected->second.reason);
}

[[nodiscard]] std::vector<Row> run_accuracy(const ModelRun& run, const Instance& base) {
  AccuracyRun accuracy(run.entry, run.settings, run.config, run.plan, run.log);
  report_step({.what = "accuracy of eager"});
  const auto common = accuracy.prepare(base);
  std::vector<Row> rows;
  for (const auto& name : rows_of(run.settings)) {
    report_step({.what = "accuracy of " + name});
    const auto status = common ? *common : accuracy.check(name, base);
    Row row = run.status_row(name, status.status, status.message);
    if (!status.eager_ran) row.result = RowResult::unmeasured;
    row.values.emplace_back("tolerance", accuracy.tolerance().tolerance);
    row.values.emplace_back("cosine", std::int64_t{accuracy.tolerance().cosine});
    heed_expected(run, row, status.status);
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Puts the number of threads back.
class Threads {
 public:
  explicit Threads(std::optional<int> wanted) : before_(at::get_num_threads()), changes_(wanted.has_value()) {
    if (wanted && *wanted < 1) throw InputError({}, "--threads: expected at least 1, found " + std::to_string(*wanted));
    if (wanted) at::set_num_threads(*wanted);
  }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  ~Threads() {
    if (changes_) at::set_num_threads(before_);
  }

 private:
  int before_;
  bool changes_;
};

}  // namespace
}  // namespace detail

std::vector<Row> run_model(const ModelEntry& entry, const Settings& settings, const Config& config, std::ostream& log) {
  const detail::Threads threads(settings.threads);
  RunPlan plan;
  const detail::ModelRun run{entry, settings, config, plan, log};
  try {
    plan = plan_run(entry, settings, config);
  } catch (const DeviceMissing& missing) {
    return run.status_rows("fail_to_run", missing.what());
  }
  const MemoryFraction memory(plan.instance.device, settings.memory_fraction);
  if (!plan.warning.empty()) log << "warning: " << plan.warning << '\n';
  if (settings.mode == Mode::batch_invariance) {
    plan.instance.training = plan.instance.train_mode = false;
    if (settings.training) throw InputError({}, "batch invariance is checked of inference; expected no --training");
  }
  const ContextFlagsKept flags;
  detail::set_tf32(settings.tf32, entry.suite);
  std::optional<Deterministic> deterministic;
  const bool accuracy = settings.mode == Mode::accuracy || settings.mode == Mode::batch_invariance;
  const bool warn_only =
      config.non_deterministic.contains(entry.name) || config.no_deterministic_kernels.contains(entry.name);
  if (accuracy || settings.deterministic) deterministic.emplace(warn_only);
  if (settings.mode == Mode::find_batch_size) {
    report_step({.what = "looking for the largest batch"});
    return detail::run_find_batch_size(run);
  }
  report_step({.what = "making the model"});
  auto loaded = load_model(entry, plan.instance);
  if (!loaded.instance) {
    auto rows = run.status_rows(loaded.status, loaded.message);
    // The inputs are wrong, or the model is: neither is the machine's fault.
    for (auto& row : rows)
      if (entry.inputs_are_given) row.result = RowResult::failed;
    return rows;
  }
  Instance base = std::move(*loaded.instance);
  switch (settings.mode) {
    case Mode::performance:
      return detail::run_performance(run, std::move(base));
    case Mode::accuracy:
      return detail::run_accuracy(run, base);
    case Mode::tolerance:
      report_step({.what = "errors against eager"});
      return detail::run_tolerance(run, base);
    case Mode::batch_invariance:
      report_step({.what = "smaller batches"});
      return detail::run_batch_invariance(run, base);
    case Mode::throughput:
      report_step({.what = "throughput"});
      return detail::run_throughput(run, base);
    case Mode::operator_inputs:
      report_step({.what = "recording operators"});
      return detail::run_operator_inputs(run, base);
    case Mode::find_batch_size:
      break;
  }
  return {};
}

}  // namespace pace::benches::models
