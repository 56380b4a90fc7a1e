// fastrnns' correctness tool, runners against nn::LSTM: inputs, parameters, outputs, gradients.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/zeros_like.h>
#include <c10/util/Exception.h>

#include "benches/rnn/choose_runners.hpp"
#include "benches/rnn/command_line.hpp"
#include "benches/rnn/model_def.hpp"
#include "benches/rnn/runners.hpp"
#include "pace/base/error.hpp"
#include "pace/base/format.hpp"
#include "pace/check/outputs.hpp"
#include "pace/report/text.hpp"

namespace pace::benches::rnn {

struct CheckOptions {
  /// How far every element may be off, absolutely.
  double tolerance = 1e-3;
  bool gradients = true;
};

namespace detail {

[[nodiscard]] inline c10::IValue to_tuple(std::vector<c10::IValue> values) {
  return c10::ivalue::Tuple::create(std::move(values));
}

/// The first `count` of them.
[[nodiscard]] inline c10::IValue to_tuple(const std::vector<at::Tensor>& tensors, std::size_t count) {
  return to_tuple(std::vector<c10::IValue>(tensors.begin(), tensors.begin() + static_cast<std::ptrdiff_t>(count)));
}

[[nodiscard]] inline c10::IValue answer_of(const Step& step, const c10::IValue& output) {
  return step.answer ? step.answer(output) : output;
}

[[nodiscard]] inline c10::IValue gradients_of(const Step& step) {
  std::vector<at::Tensor> gradients;
  if (step.gradients) {
    gradients = step.gradients();
  } else {
    for (const auto& parameter : step.parameters)
      gradients.push_back(parameter.grad().defined() ? parameter.grad() : at::zeros_like(parameter));
  }
  return to_tuple(gradients, gradients.size());
}

/// Compares, and writes to `log` by how much the two differ. Throws Error that names the difference.
class ModelChecker {
 public:
  ModelChecker(const CheckOptions& options, std::ostream& log) : log_(log) {
    settings_.rtol = 0;
    settings_.atol = options.tolerance;
    settings_.equal_nan = false;
  }

  /// `part`: a noun for a compared tensor, such as "output".
  void compare(const std::string& part, const c10::IValue& expected, const c10::IValue& actual) {
    const auto match = pace::check::outputs_match(expected, actual, settings_);
    if (!match.correct) throw Error(part + "s differ: " + called(part, match.message));
    if (match.compared == 0) throw Error("there are no " + part + "s to compare");
    log_ << "  " << match.compared << ' ' << part << "s differ by " << format_significant(match.max_abs_error)
         << " at most\n";
  }

 private:
  /// Lines begin with "output" for every part.
  [[nodiscard]] static std::string called(const std::string& part, const std::string& message) {
    const std::string noun = "output";
    std::string result;
    for (std::size_t start = 0; start <= message.size();) {
      const std::size_t end = std::min(message.find('\n', start), message.size());
      std::string line = message.substr(start, end - start);
      if (line.starts_with(noun)) line.replace(0, noun.size(), part);
      result += (start == 0 ? "" : "\n  ") + line;
      start = end + 1;
    }
    return result;
  }

  pace::check::CheckOptions settings_;
  std::ostream& log_;
};

}  // namespace detail

/// One training step of both. Messages on the way go to `out`; figures go to `log`. Throws Error that says what
/// differs, where and by how much.
inline void compare_models(ModelDef& model, ModelDef& reference, const CheckOptions& options, std::ostream& out,
                           std::ostream& log) {
  detail::ModelChecker checker(options, log);
  checker.compare("input", detail::to_tuple(reference.inputs), detail::to_tuple(model.inputs));
  // A runner may have fewer; all that matters in the end are their gradients.
  const std::size_t common = std::min(model.step.parameters.size(), reference.step.parameters.size());
  checker.compare("parameter", detail::to_tuple(reference.step.parameters, common),
                  detail::to_tuple(model.step.parameters, common));

  out << "Checking outputs..." << std::endl;
  const c10::IValue expected = reference.step.forward(reference.inputs), actual = model.step.forward(model.inputs);
  checker.compare("output", detail::answer_of(reference.step, expected), detail::answer_of(model.step, actual));
  if (!options.gradients) return;

  out << "Checking grads..." << std::endl;
  if (!model.step.backward || !reference.step.backward)
    throw Error("there is no backward step; --check-grad no compares the forward step alone");
  const auto go_back = [](Step& step, const c10::IValue& output) {
    step.backward(step.backward_setup ? step.backward_setup(output) : output);
  };
  go_back(reference.step, expected);
  go_back(model.step, actual);
  checker.compare("gradient", detail::gradients_of(reference.step), detail::gradients_of(model.step));
}

/// The reference of `runner`: of its kind, the runner with the largest rank (see reference_rank).
/// nn::LSTM is one, by cuDNN on a GPU and by LibTorch's own code on a CPU. None if all others are TorchScript.
[[nodiscard]] inline const Runner* reference_of(const Runner& runner, const c10::Device& device,
                                                const std::vector<Runner>& all) {
  const auto rank = [&](const Runner& each) {
    const bool of_its_kind = !runner.compared_with.empty() && each.compared_with == runner.compared_with;
    return of_its_kind && each.form != Form::scripted ? reference_rank(each, device) : 0;
  };
  const Runner* found = nullptr;
  for (const auto& each : all)
    if (rank(each) > (found == nullptr ? 0 : rank(*found))) found = &each;
  return found;
}

struct CheckLine {
  std::int64_t seq_length = 100, num_layers = 1, input_size = 512, hidden_size = 512, mini_batch = 64;
  std::optional<std::string> device;
  std::uint64_t seed = 17;
  std::vector<std::string> rnns = {"jit_premul", "jit"};
  bool check_grad = true, variable_lstms = false, verbose = false, help = false;
};

/// The tool's options; `line` must outlive them.
[[nodiscard]] inline args::Groups check_options(CheckLine& line) {
  return {
      detail::size_options(line),
      {"Checks",
       {{"--seed", "of inputs, weights and gradients", args::whole_from(line.seed, 0)},
        args::Option("--rnns", "runners to check", detail::runner_names(line.rnns, "a,b", "jit_premul,jit")).as_list(),
        args::Option("--check-grad", "compare gradients, too",
                     {"yes|no", "yes or no",
                      [&to = line.check_grad](const std::string& text) {
                        to = text == "yes" || text == "True" || text == "true";
                        return to || text == "no" || text == "False" || text == "false";
                      },
                      "yes"}),
        {"--variable-lstms", "also vl_py, on sequences of different lengths", args::flag(line.variable_lstms)},
        {"--verbose", "say by how much everything differs that agrees", args::flag(line.verbose)}}}};
}

/// Throws InputError.
[[nodiscard]] inline CheckLine parse_check_line(int argc, char** argv, std::ostream& out) {
  CheckLine line;
  const auto options = check_options(line);
  line.help = args::parse(options, {argv + std::min(argc, 1), argv + argc}, {.camel_case = true}).help;
  if (line.help)
    out << "bazel run //benches/rnn:check_rnns -- OPTIONS: runners against nn::LSTM\n" << args::help(options);
  return line;
}

namespace detail {

/// Throws an error that says why they are not the same.
inline void check_runner(const Runner& runner, const std::vector<Runner>& all, const Sizes& sizes,
                         const CheckLine& line, std::ostream& out) {
  const Runner* const reference = reference_of(runner, sizes.device, all);
  if (reference == nullptr) throw Unsupported("there is no other runner of its kind to compare it with");
  if (reference->name == runner.name) throw Unsupported("it is itself what the others of its kind are compared with");
  if (runner.draws && sizes.layers > 1)
    throw Unsupported("it drops out between layers, by chance; expected --num-layers 1");
  out << "Setting up..." << std::endl;
  ModelDef expected = reference->make(sizes), model = runner.make(sizes);
  std::ostream nowhere(nullptr);
  try {
    compare_models(model, expected, {.gradients = line.check_grad}, out, line.verbose ? out : nowhere);
  } catch (const Unsupported&) {
    throw;
  } catch (const Error& error) {
    throw Error("not as " + reference->name + ": " + error.what());
  }
}

}  // namespace detail

/// All of the program but main and the choice of a device. `to_device` turns a name into a device. Returns the exit
/// code: 0 if all runners agree with their references, else 1 with a message for each that does not.
template <class ToDevice>
[[nodiscard]] int check_rnns(int argc, char** argv, const std::vector<Runner>& all, ToDevice&& to_device,
                             std::ostream& out, std::ostream& err) {
  const auto complain = [&err](const std::string& message) {
    err << "check_rnns: " << report::printable_lines(message) << std::endl;
    return 1;
  };
  CheckLine line;
  Sizes sizes;
  std::vector<const Runner*> selected;
  try {
    line = parse_check_line(argc, argv, out);
    if (line.help) return 0;
    sizes = {line.seq_length, line.num_layers,        line.input_size, line.hidden_size,
             line.mini_batch, to_device(line.device), line.seed};
    if (line.variable_lstms) selected.push_back(&find_among(all, "vl_py", "--variable-lstms"));
    for (const auto& name : line.rnns) selected.push_back(&find_among(all, name, "--rnns"));
  } catch (const Error& error) {
    return complain(error.what());
  }
  // Products of TensorFloat32 are off by much more than a thousandth.
  at::globalContext().setAllowTF32CuDNN(false);
  at::globalContext().setAllowTF32CuBLAS(false);
  int code = 0;
  for (const Runner* const runner : selected) {
    out << "testing " << runner->name << "..." << std::endl;
    try {
      detail::check_runner(*runner, all, sizes, line, out);
    } catch (const c10::Error& error) {
      code = complain(runner->name + ": " + error.what_without_backtrace());
    } catch (const std::exception& error) {
      code = complain(runner->name + ": " + error.what());
    }
    out << std::endl;
  }
  return code;
}

}  // namespace pace::benches::rnn
