// The extension module pace._pace: comparisons, expectations and results, as pace/__init__.py uses them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <ATen/Parallel.h>
#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <torch/version.h>
#include <nlohmann/json.hpp>

#include "pace/base/spelling.hpp"
#include "pace/compare.hpp"
#include "pace/expectations.hpp"
#include "pace/options.hpp"
#include "pace/os/steady_memory.hpp"
#include "pace/report/console.hpp"
#include "pace/report/json.hpp"
#include "pace/result.hpp"
#include "pace/run/exit_code.hpp"
#include "pace/run/rounds_watch.hpp"
#include "pace/run/run_context.hpp"
#include "pace/subject/around_backward.hpp"
#include "pace/subject/operands.hpp"
#include "pace/version.hpp"
#include "python/extension/arguments.hpp"
#include "python/extension/callable.hpp"
#include "python/extension/exceptions.hpp"
#include "python/extension/options.hpp"
#include "python/extension/outputs.hpp"
#include "python/extension/results_file.hpp"
#include "python/extension/training.hpp"

namespace pace::python {
namespace {

using pace::check::CheckOptions;

[[nodiscard]] double to_seconds(Nanoseconds time) { return time.count() * 1e-9; }

/// While it exists, operators have so many threads.
class Threads {
 public:
  explicit Threads(int threads) : before_(at::get_num_threads()) {
    if (threads != before_) at::set_num_threads(threads);
  }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  ~Threads() {
    if (at::get_num_threads() != before_) at::set_num_threads(before_);
  }

 private:
  int before_;
};

/// A comparison of Python functions.
class PythonComparison {
 public:
  PythonComparison(std::string name, std::vector<at::Tensor> tensors, py::object rebuild)
      : comparison_(std::move(name), PythonArguments(std::move(tensors), std::move(rebuild))) {}

  [[nodiscard]] Comparison<PythonArguments>& plan() { return comparison_; }
  [[nodiscard]] PythonFunction function(std::string name, py::object of) const {
    return {std::move(of), std::move(name), raised_};
  }
  [[nodiscard]] PythonStep step(std::string name, py::object forward, std::vector<at::Tensor> parameters) const {
    return {function(std::move(name), std::move(forward)), std::move(parameters)};
  }
  void baseline_step(const std::string& name, py::object forward, std::vector<at::Tensor> parameters) {
    comparison_.baseline(name, step(name, std::move(forward), std::move(parameters)));
  }
  void candidate_step(const std::string& name, py::object forward, std::vector<at::Tensor> parameters) {
    comparison_.candidate(name, step(name, std::move(forward), std::move(parameters)));
  }
  void set_options(const py::dict& options) {
    for (const auto& [name, value] : options)
      set_option(options_, py::str(name), py::reinterpret_borrow<py::object>(value));
    comparison_.options(options_);
  }
  void set_check_options(const py::dict& options) {
    for (const auto& [name, value] : options)
      set_check(check_, py::str(name), py::reinterpret_borrow<py::object>(value));
    comparison_.check(check_);
  }
  void renew(const py::object& write) {
    comparison_.renew_each_round([write](PythonArguments& arguments) {
      if (PyObject* const done = arguments.pass_to(write.ptr()))
        Py_DECREF(done);
      else
        throw py::error_already_set();
    });
  }

  /// Runs it with so many threads for an operator. Raises KeyboardInterrupt if that came.
  [[nodiscard]] Result run(int threads) {
    static const bool prepared = [] {
      keep_freed_memory();
      run_context().has_runner = true;
      return true;
    }();
    (void)prepared;
    raised_->exceptions.clear();
    raised_->interrupt = {};
    raised_->compiled.clear();
    const RoundsWatch watch(raised_->in_rounds);
    const Threads with(threads);
    Result result = comparison_.run();
    if (raised_->interrupt) {
      PyErr_SetObject(PyExc_KeyboardInterrupt, raised_->interrupt.ptr());
      throw py::error_already_set();
    }
    return result;
  }
  /// Returns how run() measures with so many threads.
  [[nodiscard]] Settings settings(int threads) const { return {.options = options_, .threads = threads}; }
  [[nodiscard]] py::dict exceptions() const { return raised_->exceptions; }
  /// Notes that `what` is being compiled. In a sample of the rounds, the sample fails.
  void note_compiled(const std::string& what) const {
    if (raised_->in_rounds && raised_->compiled.empty()) raised_->compiled = what;
  }

 private:
  std::shared_ptr<Raised> raised_ = std::make_shared<Raised>();
  Comparison<PythonArguments> comparison_;
  Options options_ = {};
  CheckOptions check_ = {};
};

/// Returns the table of a result, with a row for each implementation if `blocks`.
[[nodiscard]] std::string table_of(const Result& result, bool blocks, std::size_t width) {
  std::ostringstream out;
  report::ConsoleSink sink(out, {.blocks = blocks, .width = [width] { return width; }});
  sink.write(result);
  for (const auto& phase : result.phases) sink.write(phase);
  return out.str();
}

[[nodiscard]] WhenUndecided when_undecided(const std::string& what) {
  if (what == "close") return WhenUndecided::close;
  if (what == "let_through") return WhenUndecided::let_through;
  throw Error("when_undecided('" + what + "'); expected 'close' or 'let_through'");
}

/// Returns the name of a count in pace::Count.
[[nodiscard]] std::string name_of(const gate::CountEntry& entry) {
  if (entry.count == Count::bytes_allocated) return "bytes_allocated";
  // All others are their plurals.
  std::string name = entry.many;
  std::ranges::replace(name, ' ', '_');
  return name;
}

[[nodiscard]] Expectation count_limit(const std::string& count, std::int64_t limit, bool exactly) {
  std::string known;
  for (const auto& entry : gate::count_entries) {
    const std::string name = name_of(entry);
    // The name that `bytes_allocated` had here at first.
    if (count == name || (count == "bytes" && entry.count == Count::bytes_allocated))
      return exactly ? Exactly(entry.count, limit) : AtMost(entry.count, limit);
    known += (known.empty() ? "'" : ", '") + name + '\'';
  }
  throw Error("there is no count '" + count + "'; expected one of " + known);
}

template <class Member>
[[nodiscard]] auto interval_of(const Member& interval) {
  return interval ? std::optional(std::pair(interval->low, interval->high)) : std::nullopt;
}

}  // namespace
}  // namespace pace::python

PYBIND11_MODULE(_pace, module) {
  namespace py = pybind11;
  using namespace pace;          // NOLINT(google-build-using-namespace)
  using namespace pace::python;  // NOLINT(google-build-using-namespace)

  module.attr("version") = pace::version;
  module.attr("built_for") = TORCH_VERSION;
#ifdef PACE_CUDA
  module.attr("has_cuda") = true;
#else
  module.attr("has_cuda") = false;
#endif
  spelling() = Spelling::python;
  detail::around_backward() = [](FunctionRef<void()> backward) { run_without_lock(backward); };
  py::register_exception<Error>(module, "Error", PyExc_ValueError);
  module.def("describe_tensor", &detail::describe_tensor);

  py::class_<Expectation>(module, "Expectation")
      .def("alpha", &Expectation::alpha)
      .def("beta", &Expectation::beta)
      .def("in_phase", &Expectation::in_phase)
      .def("on_device", &Expectation::on_device)
      .def("on_host", &Expectation::on_host)
      .def("when_undecided",
           [](const Expectation& of, const std::string& what) { return of.when_undecided(when_undecided(what)); })
      .def("__repr__", &Expectation::describe);
  module.def("speedup_at_least", &SpeedupAtLeast);
  module.def("no_slower_than", &NoSlowerThan);
  module.def("mean_no_slower_than", &MeanNoSlowerThan);
  module.def("quantile_no_slower_than", &QuantileNoSlowerThan);
  module.def("faster_than", &FasterThan);
  module.def("within_time", [](double seconds) { return WithinTime(from_seconds(seconds)); });
  module.def("energy_at_most", &EnergyAtMost);
  module.def("counter_at_most", &CounterAtMost);
  module.def("at_most", [](const std::string& count, std::int64_t limit) { return count_limit(count, limit, false); });
  module.def("peak_memory_at_most", &PeakMemoryAtMost);
  module.def("exactly", [](const std::string& count, std::int64_t number) { return count_limit(count, number, true); });

  py::class_<Judgement>(module, "Judgement")
      .def_readonly("expectation", &Judgement::expectation)
      .def_property_readonly("verdict", [](const Judgement& of) { return to_string(of.verdict); })
      .def_readonly("acceptable", &Judgement::acceptable)
      .def_readonly("unresolved", &Judgement::unresolved)
      .def_readonly("message", &Judgement::message);

  py::class_<ImplementationResult>(module, "Row")
      .def_readonly("name", &ImplementationResult::name)
      .def_readonly("is_baseline", &ImplementationResult::is_baseline)
      .def_property_readonly("outcome", [](const ImplementationResult& of) { return to_string(of.outcome); })
      .def_readonly("message", &ImplementationResult::message)
      .def_readonly("checked", &ImplementationResult::checked)
      .def_readonly("judgements", &ImplementationResult::judgements)
      .def_property_readonly("acceptable", &ImplementationResult::acceptable)
      .def_property_readonly("samples",
                             [](const ImplementationResult& of) {
                               std::vector<double> samples;
                               for (const auto& each : of.samples) samples.push_back(to_seconds(each));
                               return samples;
                             })
      .def_property_readonly("time",
                             [](const ImplementationResult& of) {
                               return of.time ? std::optional(to_seconds(of.time->shown_median())) : std::nullopt;
                             })
      .def_property_readonly("clock_overhead",
                             [](const ImplementationResult& of) -> std::optional<std::pair<double, double>> {
                               if (!of.time || !of.time->overhead) return std::nullopt;
                               return std::pair(to_seconds(of.time->overhead->added),
                                                to_seconds(of.time->overhead->error));
                             })
      .def_property_readonly("first_call",
                             [](const ImplementationResult& of) {
                               return of.first_call.count() > 0 ? std::optional(to_seconds(of.first_call))
                                                                : std::nullopt;
                             })
      .def_property_readonly(
          "speedup",
          [](const ImplementationResult& of) { return of.speedup ? std::optional(of.speedup->median) : std::nullopt; })
      .def_property_readonly("interval", [](const ImplementationResult& of) {
        return of.speedup ? interval_of(of.speedup->interval) : std::nullopt;
      });

  py::class_<Result>(module, "Result")
      .def_readonly("name", &Result::name)
      .def_readonly("phase", &Result::phase)
      .def_readonly("inputs", &Result::inputs)
      .def_readonly("clock", &Result::clock)
      .def_readonly("device", &Result::device)
      .def_readonly("rounds", &Result::rounds)
      .def_readonly("iterations", &Result::iterations)
      .def_readonly("audit", &Result::audit)
      .def_readonly("check_seed", &Result::check_seed)
      .def_readonly("notes", &Result::notes)
      .def_readonly("implementations", &Result::implementations)
      .def_readonly("phases", &Result::phases)
      .def("as_expected",
           [](const Result& of) {
             const auto match = AsExpected().examine(of);
             return std::pair(match.met, match.text);
           })
      .def("correct",
           [](const Result& of) {
             const auto match = Correct().examine(of);
             return std::pair(match.met, match.text);
           })
      .def("exit_code",
           [](const Result& of) {
             RunAccount account;
             account.add(of);
             for (const auto& phase : of.phases) account.add(phase);
             std::ostringstream reasons;
             const int code =
                 account.exit_code(AsExpected().examine(of).met ? 0 : exit_failed, /*allow_undecided=*/false,
                                   /*allow_unmeasured=*/false, reasons);
             return std::pair(code, reasons.str());
           })
      .def("to_json", [](const Result& of) { return report::to_json(of).dump(); })
      .def("table", &table_of);
  module.def("write_results", &write_results);

  py::class_<Settings>(module, "Settings");
  using Self = PythonComparison;
  py::class_<Self>(module, "Comparison")
      .def(py::init<std::string, std::vector<at::Tensor>, py::object>())
      .def("baseline", [](Self& of, const std::string& name,
                          py::object function) { of.plan().baseline(name, of.function(name, std::move(function))); })
      .def("candidate", [](Self& of, const std::string& name,
                           py::object function) { of.plan().candidate(name, of.function(name, std::move(function))); })
      .def("baseline_step", &Self::baseline_step)
      .def("candidate_step", &Self::candidate_step)
      .def("refused", [](Self& of, const std::string& name,
                         const std::string& reason) { of.plan().refused({.name = name, .reason = reason}); })
      .def("expect", [](Self& of, const std::string& name, const Expectation& what) { of.plan().expect(name, what); })
      .def("options", &Self::set_options)
      .def("check", &Self::set_check_options)
      .def("compare_outputs",
           [](Self& of, const py::object& function) {
             of.plan().compare_outputs(
                 [function](const c10::IValue& expected, const c10::IValue& actual) -> std::string {
                   const auto to_python = [](const c10::IValue& value) -> py::object { return to_object(value); };
                   try {
                     const py::object problem = function(to_python(expected), to_python(actual));
                     return problem.is_none() ? std::string() : std::string(py::str(problem));
                   } catch (const py::error_already_set& error) {
                     throw PythonError("the function of compare_outputs() raised " + describe_exception(error));
                   }
                 });
           })
      .def("order_free", [](Self& of) { of.plan().order_free(); })
      .def("sign_free", [](Self& of) { of.plan().sign_free(); })
      .def("sign_free_of", [](Self& of, std::size_t output, std::int64_t dim) { of.plan().sign_free(output, dim); })
      .def("ties", [](Self& of, std::int64_t dim, std::size_t operand) { of.plan().ties(dim, operand); })
      .def("random", [](Self& of) { of.plan().random(); })
      .def("scratch", [](Self& of, std::size_t operand) { of.plan().scratch(operand); })
      .def("constant", [](Self& of, std::size_t operand) { of.plan().constant(operand); })
      .def("captures", [](Self& of) { of.plan().captures(); })
      .def("reuses_outputs",
           [](Self& of, const std::string& name) {
             if (name.empty())
               of.plan().reuses_outputs();
             else
               of.plan().reuses_outputs(name);
           })
      .def("float64_reference",
           [](Self& of, const py::object& function) {
             if (function.is_none())
               of.plan().float64_reference();
             else
               of.plan().float64_reference(of.function("the float64 reference", function));
           })
      .def("renew_each_round", &Self::renew)
      .def("bytes", [](Self& of, double bytes) { of.plan().bytes(bytes); })
      .def("flops", [](Self& of, double flops) { of.plan().flops(flops); })
      .def("inputs", [](Self& of, const std::string& text) { of.plan().inputs(text); })
      .def("note", [](Self& of, const std::string& text) { of.plan().note(text); })
      .def("late_notes",
           [](Self& of, const py::object& notes) {
             of.plan().late_notes([notes] { return notes().cast<std::vector<std::string>>(); });
           })
      .def("run", &Self::run)
      .def("settings", &Self::settings)
      .def("exceptions", &Self::exceptions)
      .def("note_compiled", &Self::note_compiled);
}
