// The runners by name. A runner is one source file, which registers itself; see Registered.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <c10/core/Device.h>

#include "benches/rnn/model_def.hpp"

namespace pace::benches::rnn {

inline constexpr std::int64_t any_number_of_layers = std::numeric_limits<std::int64_t>::max();

/// The executor of a step: a module of LibTorch, a loop in C++, or TorchScript's interpreter and fusers.
enum class Form { module, plain, scripted };

/// A runner by its name, with all facts that need no model. The programs go by these fields, never by the name.
struct Runner {
  std::string name;
  /// lstm, vl_lstm or resnet: under which name fastrnns reports its results.
  std::string group = "lstm";
  /// Its kind: runners of equal kinds give equal answers and gradients to equal seeds. An empty one stands alone.
  std::string compared_with = {};
  /// A scripted runner is not compiled a second time, and TorchScript's options concern it alone.
  Form form = Form::plain;
  /// The others of its kind are compared with it, where it runs; see reference_rank.
  bool leads = false;
  bool needs_cuda = false;
  /// fastrnns makes it on a GPU for any --device. So it needs one with Sizes::original.
  bool needs_cuda_in_original = false;
  /// fastrnns keeps its parameters as a generator, which the first step exhausts. So its loop zeroes the gradients
  /// once, and later steps add to them.
  bool zeroed_once_in_original = false;
  /// The runner that is the same without CUDA, for the error that refuses the CPU; empty: there is none.
  std::string without_cuda = {};
  std::int64_t max_layers = any_number_of_layers;
  /// With several layers, the answer depends on the default generators' state. cuDNN and others differ even for equal
  /// states.
  bool draws = false;
  /// Gradients of a long sequence are thousands of times the inputs', as behind layer norms. On a GPU, each tensor is
  /// then checked as a whole.
  bool magnifies_rounding = false;
  /// A rectifier may switch for an input near zero, in any precision. That changes gradients by as much as they are. On
  /// a GPU, errors against float64 are then compared with the errors of the kind's reference.
  bool needs_float64_reference = false;
  /// Makes the model for these sizes. Called by `runners()` with sizes that `check` lets through.
  std::function<ModelDef(const Sizes&)> make = {};
};

/// Registers a runner, in any source file of a program that has `//benches/rnn:program` or `:runners` among its deps:
///
///     const pace::benches::rnn::Registered mine({.name = "mine", .compared_with = "lstm", .make = my_lstm});
///
/// and `--rnns aten,mine` measures it. `examples/own_runner` is a whole one.
struct Registered {
  explicit Registered(Runner runner);
};

/// Throws InputError naming the option if the runner cannot take the sizes, Unsupported if it needs another device.
/// With Sizes::original, only sizes that fastrnns cannot make either are refused.
void check(const Runner& runner, const Sizes& sizes);

/// All that are registered, sorted by name. Throws Error if two have one name, or one has no name or makes nothing.
[[nodiscard]] const std::vector<Runner>& runners();

/// All names, with commas between them.
[[nodiscard]] std::string names_of_runners();

/// Throws InputError with all names.
[[nodiscard]] const Runner& find_runner(const std::string& name);

/// Ranks runners of a kind; the highest is the reference. Leaders come first, then those without TorchScript, then
/// those that need a GPU. 0: does not run here.
[[nodiscard]] inline int reference_rank(const Runner& runner, const c10::Device& device) {
  if (runner.needs_cuda && !device.is_cuda()) return 0;
  const int rank = runner.leads ? 3 : runner.form != Form::scripted ? 2 : 1;
  return 2 * rank + (runner.needs_cuda ? 1 : 0);
}

}  // namespace pace::benches::rnn
