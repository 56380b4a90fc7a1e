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

/// What executes a step: a module of LibTorch, a loop in C++, or TorchScript's interpreter and fusers.
enum class Form { module, plain, scripted };

/// A runner by its name, and all that is known of it before its model is made. What the programs do with a runner
/// depends on these fields, never on its name.
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
  /// fastrnns makes it on a GPU, whatever --device says: with Sizes::original it needs one.
  bool needs_cuda_in_original = false;
  /// fastrnns keeps its parameters as a generator, which is exhausted after the first step: its loop zeroes their
  /// gradients once, and later steps add to them.
  bool zeroed_once_in_original = false;
  /// The runner that is the same without CUDA, for the error that refuses the CPU; empty: there is none.
  std::string without_cuda = {};
  std::int64_t max_layers = any_number_of_layers;
  /// With more layers than one, the answer depends on the default generators' state; between cuDNN and others, it is
  /// not even equal for equal states.
  bool draws = false;
  /// Gradients of a long sequence are thousands of times their inputs', as behind layer norms: on a GPU, each tensor is
  /// checked as a whole.
  bool magnifies_rounding = false;
  /// A rectifier that switches for an input near zero changes gradients by as much as they are, whatever the precision:
  /// on a GPU, errors are compared with those of the kind's reference against float64.
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
/// With Sizes::original, only what fastrnns cannot make either is refused.
void check(const Runner& runner, const Sizes& sizes);

/// All that are registered, sorted by name. Throws Error if two have one name, or one has no name or makes nothing.
[[nodiscard]] const std::vector<Runner>& runners();

/// All names, with commas between them.
[[nodiscard]] std::string names_of_runners();

/// Throws InputError with all names.
[[nodiscard]] const Runner& find_runner(const std::string& name);

/// The runner of a kind with the largest rank is what the others are compared with: one that leads its kind before
/// others, then one that is no TorchScript, then one that needs a GPU. 0: it does not run on this device.
[[nodiscard]] inline int reference_rank(const Runner& runner, const c10::Device& device) {
  if (runner.needs_cuda && !device.is_cuda()) return 0;
  const int rank = runner.leads ? 3 : runner.form != Form::scripted ? 2 : 1;
  return 2 * rank + (runner.needs_cuda ? 1 : 0);
}

}  // namespace pace::benches::rnn
