// PythonFunction: a Python callable as an implementation. The loop of a sample is here, and only the calls are
// Python's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <ATen/core/ivalue.h>
#include <pybind11/pybind11.h>

#include "pace/subject/callable.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/operands.hpp"
#include "pace/timing/do_not_optimize.hpp"
#include "python/extension/arguments.hpp"
#include "python/extension/exceptions.hpp"
#include "python/extension/outputs.hpp"

namespace pace::python {

/// What Python did in a comparison, beside returning outputs.
struct Raised {
  /// KeyboardInterrupt, which ends the comparison; null: none.
  py::object interrupt = {};
  /// The last exception of each implementation, by its name.
  py::dict exceptions = {};
  /// Whether samples count: the warm-up has ended.
  bool in_rounds = false;
  /// The first thing that was compiled in a sample of the rounds, such as a frame of torch.compile; empty: nothing.
  std::string compiled = {};
};

/// A callable with the name of its row.
struct PythonFunction {
  py::object function;
  std::string name;
  std::shared_ptr<Raised> raised;

  /// Calls it. Throws PythonError or OutOfMemory for its exceptions, and once the comparison was interrupted.
  [[nodiscard]] py::object operator()(const PythonArguments& arguments) const {
    if (raised->interrupt) throw PythonError("interrupted");
    if (PyObject* const output = arguments.pass_to(function.ptr())) return py::reinterpret_steal<py::object>(output);
    take_exception();
  }
  /// Throws PythonError if something was compiled in this sample.
  void check_compiled() const {
    if (raised->compiled.empty()) return;
    throw PythonError(compiled_again(std::exchange(raised->compiled, {})));
  }
  /// Takes Python's signals, such as Ctrl-C's, between samples.
  void take_signals() const {
    if (!raised->interrupt && PyErr_CheckSignals() != 0) take_exception();
  }

 private:
  [[noreturn]] void take_exception() const {
    py::error_already_set error;
    if (error.matches(PyExc_KeyboardInterrupt)) {
      raised->interrupt = error.value();
      throw PythonError("interrupted");
    }
    py::object exception = error.value();
    if (error.trace()) exception = exception.attr("with_traceback")(error.trace());
    raised->exceptions[py::str(name)] = exception;
    if (error.matches(PyExc_MemoryError)) throw OutOfMemory(describe_exception(error));
    throw PythonError(describe_exception(error));
  }
};

/// Calls a Python function with the operands. Python's lock is held throughout a comparison.
class PythonImplementation final : public detail::Implementation {
 public:
  PythonImplementation(PythonFunction function, const detail::OperandSets& operands)
      : Implementation(operands), function_(std::move(function)) {}

  c10::IValue call(std::size_t set) override {
    announce();
    return to_ivalue(function_(arguments(operands().sets[set])));
  }

  c10::IValue take_output() override {
    if (!last_) return std::exchange(copied_, {});
    return to_ivalue(std::exchange(last_, {}));
  }

  [[nodiscard]] const c10::IValue* kept_output() const override {
    return last_ || copied_.isNone() ? nullptr : &copied_;
  }

  void run(std::size_t set, std::int64_t iterations) override {
    const auto& first = arguments(operands().sets[set]);
    try {
      if (operands().spares.empty()) {
        repeat(iterations, [&]() -> auto& { return first; });
      } else {
        const auto& spares = operands().spares[set];
        repeat(iterations, [&]() -> auto& {
          const std::size_t turn = calls_since_prepared_++ % (spares.size() + 1);
          return turn == 0 ? first : arguments(spares[turn - 1]);
        });
      }
      function_.check_compiled();
    } catch (...) {
      failed();
    }
  }

  void prepare(std::size_t set) override {
    last_ = {};
    copied_ = {};
    replayed_ = {};
    calls_since_prepared_ = 0;
    try {
      function_.take_signals();
    } catch (...) {
      failed();
    }
    start(set);
  }

  std::shared_ptr<void> keep_output() override {
    return last_ ? captured(to_ivalue(std::exchange(last_, {}))) : nullptr;
  }
  void put_back_output(const std::shared_ptr<void>& output) override {
    if (output) replayed_ = replayed(output);
  }

  void finish() override {
    if (!last_ && replayed_.isNone()) return;
    try {
      const c10::IValue output = last_ ? to_ivalue(std::exchange(last_, {})) : std::exchange(replayed_, {});
      copied_ = copy_of(output);
    } catch (...) {
      failed();
    }
  }

 private:
  [[nodiscard]] static const PythonArguments& arguments(const std::unique_ptr<detail::OperandSet>& set) {
    return std::get<0>(static_cast<detail::TypedOperands<PythonArguments>&>(*set).values);
  }

  /// Releases each output before the next call, as ordinary code does, and keeps one to check.
  template <class Next>
  void repeat(std::int64_t iterations, const Next& next) {
    const std::int64_t kept = kept_call(iterations);
    for (std::int64_t i = 0; i < iterations; ++i) {
      py::object output = function_(next());
      if (i == kept) [[unlikely]]
        last_ = std::move(output);
    }
  }

  PythonFunction function_;
  /// Output of one call; a copy of it once the sample has finished.
  py::object last_ = {};
  c10::IValue copied_ = {};
  /// Output of a replayed call, in the memory of its graph.
  c10::IValue replayed_ = {};
  std::size_t calls_since_prepared_ = 0;
};

}  // namespace pace::python

template <>
struct pace::detail::ImplementationOf<pace::python::PythonFunction, pace::python::PythonArguments> {
  [[nodiscard]] static std::unique_ptr<Implementation> make(const python::PythonFunction& function,
                                                            const OperandSets& operands) {
    return std::make_unique<python::PythonImplementation>(function, operands);
  }
  [[nodiscard]] static bool has_no_function(const python::PythonFunction&) { return false; }
};
