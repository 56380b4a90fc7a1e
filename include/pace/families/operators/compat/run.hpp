// The compatible flows: PyTorch's operatorbench, from recorded inputs to its output files.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pace/core/error.hpp"
#include "pace/corpus/corpus.hpp"
#include "pace/corpus/embedding.hpp"
#include "pace/families/operators/channels_last.hpp"
#include "pace/families/operators/compat/matmul_precision.hpp"
#include "pace/families/operators/compat/measure.hpp"
#include "pace/families/operators/compat/models.hpp"
#include "pace/families/operators/compat/new_report.hpp"
#include "pace/families/operators/compat/old_report.hpp"
#include "pace/families/operators/compat/options.hpp"
#include "pace/families/operators/compat/timer.hpp"
#include "pace/families/operators/make_call.hpp"
#include "pace/families/operators/options.hpp"
#include "pace/families/operators/profile.hpp"
#include "pace/families/operators/slow_compile.hpp"
#include "pace/subject/backend.hpp"
#include "pace/subject/device.hpp"
#include "pace/subject/operator_call.hpp"
#include "pace/subject/operator_name.hpp"
#include "pace/subject/skip.hpp"

namespace pace::families::operators::compat {

/// What happened. The originals end well whatever happens, so it is the caller who may want to know.
struct Summary {
  std::size_t operators = 0;   ///< with a line of results
  std::size_t samples = 0;     ///< measured
  std::size_t errors = 0;      ///< samples with an `error` line instead
  std::size_t mismatches = 0;  ///< results that differed from the first model's, with accuracy checking
};

namespace detail {

class Flow {
 public:
  Flow(Generation generation, const corpus::Corpus& corpus, const CompatOptions& options,
       const subject::BackendRegistry& registry, Timer& timer, std::ostream& out, std::ostream& err)
      : generation_(generation),
        corpus_(corpus),
        options_(validate(options, generation)),
        timer_(timer),
        out_(out),
        err_(err) {
    generate_.dtype = parse_dtype(*options_.dtype);
    generate_.device = subject::parse_device(options_.device);
    generate_.seed = options_.seed;
    generate_.compat = true;
    if (!options_.has_implementation)
      options_.has_implementation = subject::has_kernel_on(generate_.device.type());
    models_ = models(options_, generation_, registry, err_);
  }

  [[nodiscard]] Summary run() {
    std::vector<const corpus::OperatorSamples*> wanted;
    if (*options_.op == "all") {
      for (const auto& op : corpus_.operators()) wanted.push_back(&op);
    } else {
      wanted.push_back(named_operator());
    }
    if (generation_ == Generation::old) report_ = std::make_unique<OldReport>(options_, out_);
    else report_ = std::make_unique<NewReport>(options_, column_names(models_), out_, err_);
    std::optional<MatmulPrecision> precision;
    if (generation_ == Generation::new_) precision.emplace("high");
    // The first package of a process takes longest: some operators' are compiled at once, before these are run.
    for (std::size_t begin = 0; begin < wanted.size();) {
      std::size_t end = begin, samples = 0;
      for (; end < wanted.size() && samples < samples_at_once; ++end) samples += selected(*wanted[end]).size();
      compile(std::span(wanted).subspan(begin, end - begin));
      for (; begin < end; ++begin)
        if (!leave_out(wanted[begin]->name)) run_operator(*wanted[begin]);
    }
    report_->end();
    return summary_;
  }

 private:
  using CallPointer = std::unique_ptr<subject::OperatorCall>;

  static constexpr std::size_t samples_at_once = 128;

  /// The samples of an operator that the options choose; none of an embedding.
  [[nodiscard]] std::span<const corpus::Sample> selected(const corpus::OperatorSamples& op) const {
    if (corpus::yields_no_inputs(op.name)) return {};
    constexpr std::size_t most = 1'000'000;
    const std::size_t first = std::min(options_.start_idx, most);
    const std::size_t last = first + std::min(options_.max_samples, most - first);
    const std::span<const corpus::Sample> samples(op.samples);
    return samples.first(std::min(last, samples.size())).subspan(std::min({first, last, samples.size()}));
  }

  [[nodiscard]] bool is_left_out(const std::string& op) const {
    return !subject::find_operator(op) || subject::skip_operator(op, options_.has_implementation).skip;
  }

  /// Lets every back end compile what it will be asked for.
  void compile(std::span<const corpus::OperatorSamples* const> operators) {
    std::vector<CallPointer> calls;
    for (const auto* op : operators) {
      if (is_left_out(op->name)) continue;
      for (const auto& sample : selected(*op)) {
        try {
          calls.push_back(std::make_unique<subject::OperatorCall>(
              make_announced_call(op->name, sample, generate_, 1, options_.channels_last)));
        } catch (const Error&) {  // says so when its turn comes
        }
      }
    }
    std::vector<const subject::OperatorCall*> batch;
    for (const auto& call : calls) batch.push_back(call.get());
    if (!batch.empty())
      for (const auto& model : models_) model.backend->prepare_all(batch);
  }

  [[nodiscard]] const corpus::OperatorSamples* named_operator() const {
    // The originals evaluate the option: these two are the same object.
    constexpr std::string_view prefix = "torch.ops.";
    const std::string name = options_.op->starts_with(prefix) ? options_.op->substr(prefix.size()) : *options_.op;
    if (const auto* found = corpus_.find(name)) return found;
    throw InputError({}, "--op: expected all, or the name of an operator with its overload that has recorded inputs, "
                         "found '" + *options_.op + "'");
  }

  [[nodiscard]] bool leave_out(const std::string& op) {
    if (!subject::find_operator(op)) {
      err_ << "Evaluating an op name into an OpOverload: this LibTorch has no " << op << std::endl;
      return true;
    }
    const auto decision = subject::skip_operator(op, options_.has_implementation);
    if (decision.skip && !decision.message.empty()) out_ << decision.message << std::endl;
    return decision.skip;
  }

  void run_operator(const corpus::OperatorSamples& op) {
    const double start = timer_.now().count();
    if (corpus::yields_no_inputs(op.name)) err_ << corpus::no_inputs_warning << std::endl;
    const auto samples = selected(op);
    const std::size_t first = std::min(options_.start_idx, op.samples.size());

    report_->start(op.name, samples.size());
    SampleTimes times;
    std::optional<OperatorTrace> trace;
    if (options_.profile) trace.emplace(options_.output_directory, op.name);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      report_->start_sample(first + i);
      try {
        const TraceRange range("iter", i);
        const auto call = make(op.name, samples[i]);
        times.push_back(measure_sample(*call));
        ++summary_.samples;
      } catch (const DeviceLost&) {
        throw;  // nothing can follow
      } catch (const std::exception& error) {
        ++summary_.errors;
        report_->failed(op.name, i, error);
      }
    }
    if (trace) static_cast<void>(trace->save());
    if (times.empty()) return;
    ++summary_.operators;
    report_->finish(op.name, times, timer_.now().count() - start);
  }

  [[nodiscard]] CallPointer make(const std::string& op, const corpus::Sample& sample) const {
    auto call = make_call(op, sample, generate_, 1);
    return std::make_unique<subject::OperatorCall>(options_.channels_last ? channels_last(call) : std::move(call));
  }

  [[nodiscard]] std::vector<double> measure_sample(const subject::OperatorCall& call) {
    Executables executables;
    for (const auto& model : models_) {
      auto prepared = prepare_timed(*model.backend, call, [&] { return timer_.now().count(); });
      executables.push_back(std::move(prepared.executable));
      if (generation_ == Generation::old || model.config.empty()) continue;
      if (const auto line = slow_compile_line(prepared.compile_seconds, model.config)) out_ << *line << std::endl;
    }
    auto measured =
        measure(call.name(), executables, call.tensors(), options_, generation_, timer_, out_, err_);
    summary_.mismatches += measured.mismatches;
    return std::move(measured.medians);
  }

  Generation generation_;
  const corpus::Corpus& corpus_;
  CompatOptions options_;
  Timer& timer_;
  std::ostream &out_, &err_;
  corpus::GenerateOptions generate_;
  std::vector<Model> models_;
  std::unique_ptr<Report> report_;
  Summary summary_;
};

}  // namespace detail

/// Runs a generation's flow on the recorded inputs: times the operator of `options.op`, or all of them, prints what
/// the original prints on `out` (warnings and progress on `err`), and writes its file into `options.output_directory`.
/// The registry must have `eager` and `aot_inductor`, for the old generation on a GPU `cuda_graph` and
/// `aot_inductor_cuda_graph` instead, and what the options ask for beyond (see models()).
///
/// Runs under the caller's grad mode; the originals set none. A sample that cannot be run has its `error` line, and the
/// flow goes on. Throws InputError for what validate() refuses, an operator without recorded inputs, a back end that is
/// not registered, and a file that cannot be opened; Error if one cannot be written; Refused for a trace where LibTorch
/// has no profiler; DeviceLost.
inline Summary run(Generation generation, const corpus::Corpus& corpus, const CompatOptions& options,
                   const subject::BackendRegistry& registry, Timer& timer, std::ostream& out, std::ostream& err) {
  return detail::Flow(generation, corpus, options, registry, timer, out, err).run();
}

}  // namespace pace::families::operators::compat
