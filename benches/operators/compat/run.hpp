// The compatible flows: PyTorch's operatorbench, from recorded inputs to its output files.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "benches/files/aot/device.hpp"
#include "benches/operators/backends/backend.hpp"
#include "benches/operators/backends/randomness.hpp"
#include "benches/operators/backends/skip.hpp"
#include "benches/operators/calls/operator_call.hpp"
#include "benches/operators/calls/operator_name.hpp"
#include "benches/operators/channels_last.hpp"
#include "benches/operators/compat/error_text.hpp"
#include "benches/operators/compat/matmul_precision.hpp"
#include "benches/operators/compat/measure.hpp"
#include "benches/operators/compat/models.hpp"
#include "benches/operators/compat/new_report.hpp"
#include "benches/operators/compat/old_report.hpp"
#include "benches/operators/compat/options.hpp"
#include "benches/operators/compat/report.hpp"
#include "benches/operators/compat/sample_result.hpp"
#include "benches/operators/compat/timer.hpp"
#include "benches/operators/make_call.hpp"
#include "benches/operators/options.hpp"
#include "benches/operators/profile.hpp"
#include "benches/operators/selection.hpp"
#include "benches/operators/slow_compile.hpp"
#include "benches/rows/refusal.hpp"
#include "pace/base/error.hpp"
#include "pace/corpus/corpus.hpp"
#include "pace/corpus/embedding.hpp"
#include "pace/os/activity.hpp"
#include "pace/result/result.hpp"
#include "pace/run/run_context.hpp"

namespace pace::benches::operators::compat {

/// The outcome. The originals always end well, so this is for the caller alone.
struct Summary {
  std::size_t operators = 0;   ///< with a line of results
  std::size_t samples = 0;     ///< measured
  std::size_t errors = 0;      ///< samples with an `error` line instead
  std::size_t mismatches = 0;  ///< results that differed from the first model's, with accuracy checking
};

/// For the user: how any program in C++ differs from the originals.
inline constexpr const char* differences =
    "as PyTorch's operatorbench.py, but: operators are called from C++, without Python's share of each call; "
    "AOTInductor compiles ahead, for several operators at once, and each one's elapsed time holds its share of that; "
    "values are drawn from the original's ranges by a generator with a seed; indices lie in range, where the "
    "original's are random";

/// A generation's flow in two steps: the constructor checks the options, the inputs and the output file, before
/// anything is measured. See run().
class Flow {
 public:
  /// Everything that is given must outlive it, but the options.
  Flow(Generation generation, const corpus::Corpus& corpus, const CompatOptions& options,
       const benches::operators::BackendRegistry& registry, Timer& timer, std::ostream& out, std::ostream& err)
      : generation_(generation),
        corpus_(corpus),
        options_(validate(options, generation)),
        timer_(timer),
        to_out_(out),
        to_err_(err) {
    generate_.dtype = parse_dtype(*options_.dtype);
    generate_.device = benches::aot::parse_device(options_.device);
    generate_.seed = options_.seed;
    generate_.compat = true;
    if (!options_.has_implementation)
      options_.has_implementation = benches::operators::has_kernel_on(generate_.device.type());
    choose();
    if (!goes_on()) speak();
    err_ << "--compat: " << differences << std::endl;
    models_ = models(options_, generation_, registry, err_);
    for (const auto& model : models_) names_.push_back(model.name);
    if (generation_ == Generation::old)
      report_ = std::make_unique<OldReport>(options_, out_);
    else
      report_ = std::make_unique<NewReport>(options_, column_names(models_), out_, err_);
  }

  /// Whether the options, and the original's rules, leave a sample that can be measured.
  [[nodiscard]] bool has_samples() const {
    return std::ranges::any_of(wanted_, [this](const Selected& selected) {
      return !selected.samples.empty() && !is_left_out(selected.op->name);
    });
  }

  /// Once.
  [[nodiscard]] Summary run() {
    std::optional<MatmulPrecision> precision;
    if (generation_ == Generation::new_) precision.emplace("high");
    // The first package of a process takes longest: some operators' are compiled at once, before these are run.
    for (std::size_t begin = 0; begin < wanted_.size();) {
      std::size_t end = begin, samples = 0;
      for (; end < wanted_.size() && samples < samples_at_once; ++end) samples += wanted_[end].samples.size();
      compile(std::span(wanted_).subspan(begin, end - begin));
      for (; begin < end; ++begin)
        if (!leave_out(wanted_[begin].op->name)) run_operator(wanted_[begin]);
    }
    speak();
    report_->end();
    return summary_;
  }

 private:
  using CallPointer = std::unique_ptr<benches::operators::OperatorCall>;

  static constexpr std::size_t samples_at_once = 128;

  void choose() {
    const auto take = [this](const corpus::OperatorSamples& op) {
      wanted_.push_back({&op, std::min(options_.start_idx, op.samples.size()), samples_of(op)});
    };
    if (*options_.op == "all")
      std::ranges::for_each(corpus_.operators(), take);
    else
      take(named_operator());
  }

  /// The samples of an operator that the options choose; none of an embedding.
  [[nodiscard]] std::span<const corpus::Sample> samples_of(const corpus::OperatorSamples& op) const {
    if (corpus::yields_no_inputs(op.name)) return {};
    constexpr std::size_t most = 1'000'000;
    const std::size_t first = std::min(options_.start_idx, most);
    const std::size_t last = first + std::min(options_.max_samples, most - first);
    const std::span<const corpus::Sample> samples(op.samples);
    return samples.first(std::min(last, samples.size())).subspan(std::min({first, last, samples.size()}));
  }

  [[nodiscard]] bool is_left_out(const std::string& op) const {
    return !benches::operators::find_operator(op) ||
           benches::operators::skip_operator(op, options_.has_implementation).skip;
  }

  /// Whether an earlier process of this run, or an earlier run, has begun this work.
  [[nodiscard]] bool goes_on() const {
    for (const auto& selected : wanted_)
      if (!selected.samples.empty() && !is_left_out(selected.op->name)) return is_known(case_name(selected, 0));
    return false;
  }
  [[nodiscard]] static bool is_known(const std::string& name) {
    return run_context().recollection != nullptr && run_context().recollection->knows(name);
  }

  /// An earlier process printed everything up to here. Later output is new.
  void speak() {
    if (speaks_) return;
    speaks_ = true;
    out_.rdbuf(to_out_.rdbuf());
    err_.rdbuf(to_err_.rdbuf());
  }

  /// Lets every back end compile all of its calls, and divides that time among the samples.
  void compile(std::span<const Selected> operators) {
    std::vector<CallPointer> calls;
    std::vector<const corpus::Sample*> samples;
    for (const auto& selected : operators) {
      if (is_left_out(selected.op->name)) continue;
      for (std::size_t i = 0; i < selected.samples.size(); ++i) {
        if (is_known(case_name(selected, i))) continue;
        try {
          calls.push_back(std::make_unique<benches::operators::OperatorCall>(
              make_announced_call(selected.op->name, selected.samples[i], generate_, 1, options_.channels_last)));
          samples.push_back(&selected.samples[i]);
        } catch (const Error&) {  // says so when its turn comes
        }
      }
    }
    if (calls.empty()) return;
    std::vector<const benches::operators::OperatorCall*> batch;
    for (const auto& call : calls) batch.push_back(call.get());
    const double start = timer_.now().count();
    for (const auto& model : models_) model.backend->prepare_all(batch);
    share_out(timer_.now().count() - start, batch, samples);
  }

  /// In proportion to the time that each took by itself; where no back end knows that, in equal parts.
  void share_out(double seconds, const std::vector<const benches::operators::OperatorCall*>& calls,
                 const std::vector<const corpus::Sample*>& samples) {
    std::vector<double> weights(calls.size(), 0);
    double total = 0;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      for (const auto& model : models_) weights[i] += model.backend->compile_seconds(*calls[i]).value_or(0);
      total += weights[i];
    }
    for (std::size_t i = 0; i < calls.size(); ++i)
      compile_seconds_[samples[i]] = seconds * (total > 0 ? weights[i] / total : 1 / static_cast<double>(calls.size()));
  }

  [[nodiscard]] const corpus::OperatorSamples& named_operator() const {
    // The originals evaluate the option: these two are the same object.
    constexpr std::string_view prefix = "torch.ops.";
    const std::string name = options_.op->starts_with(prefix) ? options_.op->substr(prefix.size()) : *options_.op;
    if (const auto* found = corpus_.find(name)) return *found;
    throw InputError({},
                     "--op: expected all, or the name of an operator with its overload that has recorded inputs, "
                     "found '" +
                         *options_.op + "'");
  }

  [[nodiscard]] bool leave_out(const std::string& op) {
    if (!benches::operators::find_operator(op)) {
      err_ << "Evaluating an op name into an OpOverload: this LibTorch has no " << op << std::endl;
      return true;
    }
    const auto decision = benches::operators::skip_operator(op, options_.has_implementation);
    if (decision.skip && !decision.message.empty()) out_ << decision.message << std::endl;
    return decision.skip;
  }

  void run_operator(const Selected& selected) {
    const std::string& op = selected.op->name;
    const double start = timer_.now().count();
    if (corpus::yields_no_inputs(op)) err_ << corpus::no_inputs_warning << std::endl;
    report_->start(op, selected.samples.size());
    Progress progress;
    for (std::size_t i = 0; i < selected.samples.size(); ++i) {
      report_->start_sample(selected.first + i);
      const std::string name = case_name(selected, i);
      if (recall(name, progress)) continue;
      speak();
      if (options_.profile && !progress.trace) progress.trace.emplace(options_.output_directory, op);
      run_sample(selected, i, name, progress);
    }
    if (progress.trace) static_cast<void>(progress.trace->save());
    if (progress.times.empty()) return;
    ++summary_.operators;
    report_->finish(op, progress.times, timer_.now().count() - start + progress.seconds_elsewhere, speaks_);
  }

  /// The results of one operator so far.
  struct Progress {
    SampleTimes times;
    /// Time of the operator that passed before its clock was started: compiling, earlier processes.
    double seconds_elsewhere = 0;
    std::optional<OperatorTrace> trace;
  };

  /// Takes a result that an earlier process of the run found and printed.
  [[nodiscard]] bool recall(const std::string& name, Progress& progress) {
    Result known;
    if (!run_context().recall(name, /*inputs=*/"", known)) return false;
    if (auto medians = medians_of(known, on_gpu(options_))) {
      ++summary_.samples;
      summary_.mismatches += mismatches_of(known);
      progress.times.push_back(*std::move(medians));
    } else {
      ++summary_.errors;
    }
    progress.seconds_elsewhere += known.elapsed.count() * 1e-9;
    run_context().publish(known);
    return true;
  }

  void run_sample(const Selected& selected, std::size_t i, const std::string& name, Progress& progress) {
    const AtWork at_work(name);
    const double start = timer_.now().count(), compiling = compile_seconds_[&selected.samples[i]];
    progress.seconds_elsewhere += compiling;
    const auto publish = [&](Result result) {
      result.elapsed = Seconds(timer_.now().count() - start + compiling);
      run_context().publish(result);
    };
    const auto fail = [&](const std::exception& error, Result result) {
      ++summary_.errors;
      report_->failed(selected.op->name, i, error);
      publish(std::move(result));
    };
    std::optional<Result> result;
    try {
      throw_fate(name);
      const TraceRange range("iter", i);
      const auto call = make(selected.op->name, selected.samples[i]);
      const auto measured = measure_sample(*call);
      progress.times.push_back(measured.medians);
      ++summary_.samples;
      result = sample_result(name, models_, measured, on_gpu(options_), call->signature());
      summary_.mismatches += mismatches_of(*result);
    } catch (const DeviceLost& error) {
      Result lost = refusal(name, names_, error.what(), Outcome::threw);
      lost.lost_device = error.what();
      fail(error, std::move(lost));  // a listener may begin a fresh process
      throw;                         // in this one nothing can follow
    } catch (const Unsupported& error) {
      fail(error, refusal(name, names_, error.what()));
    } catch (const std::exception& error) {
      fail(error, refusal(name, names_, describe(error).second, Outcome::threw));
    }
    if (result) publish(*std::move(result));
  }

  /// Throws Error with how the sample has ended an earlier process of the run, if it has.
  void throw_fate(const std::string& name) const {
    RunContext::PriorFailure fate;
    if (run_context().recollection == nullptr || !run_context().recollection->next_fate(name, fate)) return;
    const auto model = static_cast<std::size_t>(fate.implementation);
    throw Error((fate.implementation >= 0 && model < names_.size() ? names_[model] + ' ' : "") +
                to_string(fate.outcome) + ": " + fate.message);
  }

  [[nodiscard]] CallPointer make(const std::string& op, const corpus::Sample& sample) const {
    auto call = make_call(op, sample, generate_, 1);
    return std::make_unique<benches::operators::OperatorCall>(options_.channels_last ? channels_last(call)
                                                                                     : std::move(call));
  }

  [[nodiscard]] Measured measure_sample(const benches::operators::OperatorCall& call) {
    Executables executables;
    for (std::size_t i = 0; i < models_.size(); ++i) {
      const auto& model = models_[i];
      activity()->running(static_cast<std::int64_t>(i));
      auto prepared = prepare_timed(*model.backend, call, [&] { return timer_.now().count(); });
      executables.push_back(std::move(prepared.executable));
      if (generation_ == Generation::old || model.config.empty()) continue;
      if (const auto line = slow_compile_line(prepared.compile_seconds, model.config)) out_ << *line << std::endl;
    }
    activity()->watch(true);
    auto measured = measure(call.name(), executables, call.tensors(), options_, generation_, timer_, out_, err_);
    activity()->watch(false);
    // They ran on operands that others had changed, or drew other numbers: a flaw of the originals, and no model's
    // fault.
    if (call.mutates_inputs() || benches::operators::draws_random_numbers(call))
      measured.mismatches.assign(models_.size(), false);
    return measured;
  }

  Generation generation_;
  const corpus::Corpus& corpus_;
  CompatOptions options_;
  Timer& timer_;
  std::ostream &to_out_, &to_err_;
  /// They print nothing until speak().
  std::ostream out_{nullptr}, err_{nullptr};
  bool speaks_ = false;
  inputs::GenerateOptions generate_;
  std::vector<Model> models_;
  std::vector<std::string> names_;
  std::vector<Selected> wanted_;
  std::map<const corpus::Sample*, double> compile_seconds_;
  std::unique_ptr<Report> report_;
  Summary summary_;
};

/// Runs a generation's flow on the recorded inputs: times the operator of `options.op`, or all of them. Prints the
/// original's lines on `out`, and warnings and progress on `err`. Writes the file into `options.output_directory`. The
/// registry must have `eager` and `aot_inductor`; for the old generation on a GPU, `cuda_graph` and
/// `aot_inductor_cuda_graph` instead. It must also have the back ends that the options name (see models()).
///
/// Runs under the caller's grad mode; the originals set none. A sample that cannot be run has its `error` line, and the
/// flow goes on. run_context() publishes every sample as a Result. Samples that it recollects are not measured or
/// printed again, but the new generation's file has them. Throws InputError for options that validate() refuses, an
/// operator without recorded inputs, an unknown back end, and a file that does not open. Throws Error if a file cannot
/// be written, Unsupported for a trace where LibTorch has no profiler, and DeviceLost.
inline Summary run(Generation generation, const corpus::Corpus& corpus, const CompatOptions& options,
                   const benches::operators::BackendRegistry& registry, Timer& timer, std::ostream& out,
                   std::ostream& err) {
  return Flow(generation, corpus, options, registry, timer, out, err).run();
}

}  // namespace pace::benches::operators::compat
