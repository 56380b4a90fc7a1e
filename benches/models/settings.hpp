// Settings: how one model is run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pace::benches::models {

enum class Mode { performance, accuracy, tolerance, batch_invariance, find_batch_size, throughput, operator_inputs };

/// The type that parameters and inputs are cast to; amp leaves them, and runs the forward and the loss in autocast.
enum class Precision { as_made, float32, float16, bfloat16, amp };

/// Which generation's multiplier rules `same` follows: PyTorch 2.6's, or today's.
enum class Generation { v2_6, latest };

struct Settings {
  Mode mode = Mode::performance;
  bool training = false;
  /// By name: `built_in_backends`, and any that a program adds. Eager is the baseline and need not be named.
  std::vector<std::string> backends = {"aot_inductor"};
  Precision precision = Precision::as_made;
  /// The type that `amp` computes in: `bfloat16` or `float16`.
  std::string amp_dtype = "bfloat16";
  bool grad_scaler = false;
  /// TF32 in products and convolutions of float32 on a GPU: `on`, `off`, or `default`, as the suite's program has it in
  /// PyTorch.
  std::string tf32 = "default";
  std::string device = "cpu";
  bool small = false;
  /// None: the YAML file's, then the suite's (accuracy), then the model's own.
  std::optional<std::int64_t> batch_size = {};
  std::uint64_t seed = 1337;
  bool compat = false;
  Generation generation = Generation::latest;

  // Performance.
  std::int64_t repeat = 30, iterations_per_run = 1, warm_up_iterations = 5;
  /// Unseen values for every repeat, the same for all back ends.
  bool randomize_input = false;
  /// Under compat: each iteration collects the values that accuracy runs compare. (Else the last output is always
  /// kept.)
  bool collect_outputs = false;
  bool warm_peak_memory = false, deterministic = false;
  std::optional<bool> use_eval_mode = {};
  std::optional<double> no_slower_than = {}, peak_memory_at_most = {};
  std::optional<int> threads = {};

  // Accuracy.
  std::int64_t iterations = 2;
  /// Training steps have their optimiser on a CPU, too, which torchbench's have not.
  bool optimizer_on_cpu = false;
  /// The code of LibTorch that computes it: `single`, `foreach` (torchbench's) or `fused`.
  std::string optimizer_code = "foreach";
  /// Back ends that open packages have its step compiled, too.
  bool compile_optimizer = false;
  bool cosine = false, skip_accuracy_check = false, force_max_multiplier = false;
  std::string save_outputs_to = {}, compare_outputs_with = {};

  // Compiling.
  /// `key=value` of Inductor's configuration.
  std::vector<std::string> inductor_config = {};
  std::vector<std::string> packages = {};
  bool dynamic_batch = false, channels_last = false;
  /// Packages hold parameters and buffers as constants (inference alone).
  bool freezing = false;

  // Extras, each in a run of its own.
  std::string profiler_trace = {}, memory_snapshot = {}, log_operator_inputs = {};
  double memory_fraction = 1;
  /// Threads that call the model at once, in throughput mode.
  std::int64_t callers = 4;
};

}  // namespace pace::benches::models
