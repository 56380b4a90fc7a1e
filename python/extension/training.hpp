// PythonStep: a training step whose forward is a Python callable, with forward and backward timed apart.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "pace/subject/callable.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/operands.hpp"
#include "pace/training/gradient.hpp"
#include "pace/training/implementation.hpp"
#include "pace/training/step.hpp"
#include "python/extension/arguments.hpp"
#include "python/extension/callable.hpp"
#include "python/extension/outputs.hpp"

namespace pace::python {

/// As TrainingStep: `forward` returns a loss, or outputs.
struct PythonStep {
  PythonFunction forward;
  std::vector<at::Tensor> parameters;
};

}  // namespace pace::python

template <>
struct pace::detail::ImplementationOf<pace::python::PythonStep, pace::python::PythonArguments> {
  [[nodiscard]] static std::unique_ptr<Implementation> make(const python::PythonStep& step,
                                                            const OperandSets& operands) {
    AnyTrainingStep any;
    any.forward = [forward = step.forward](OperandSet& set) {
      // The last backward pass may have compiled, too.
      forward.check_compiled();
      const auto& values = static_cast<TypedOperands<python::PythonArguments>&>(set).values;
      c10::IValue output = python::to_ivalue(forward(std::get<0>(values)));
      forward.check_compiled();
      return output;
    };
    any.parameters = step.parameters;
    any.backward_setup = OutputGradient();
    any.backward = run_backward;
    return std::make_unique<TrainingImplementation>(std::move(any), operands);
  }
  [[nodiscard]] static bool has_no_function(const python::PythonStep&) { return false; }
  [[nodiscard]] static std::vector<std::string> phases() { return training_phases(); }
};
