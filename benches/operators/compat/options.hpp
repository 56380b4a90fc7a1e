// Options of the two compatible flows, and the assertions of PyTorch's operatorbench on them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "benches/files/aot/inductor_configs.hpp"
#include "benches/operators/backends/skip.hpp"
#include "pace/base/error.hpp"

/// PyTorch's operatorbench in its two generations, with their output formats, units and flaws, so that their numbers
/// can be had again and their consumers keep working. pace's own flow is Replay: it checks results, warms up, and says
/// how sure it is.
namespace pace::benches::operators::compat {

enum class Generation {
  old,   ///< text file of speed-ups; the models are CUDA graphs; the mean of do_bench
  new_,  ///< CSV file of speed-ups and times; several Inductor configurations; the median of do_bench
};

struct CompatOptions {
  /// Part of the output file's name, and where the caller finds the inputs when no file is given.
  std::string suite = "torchbench";
  /// The caller's file of inputs. Any: the suite is not checked then.
  std::string inp_file;
  /// `all`, or one operator such as `aten.add.Tensor`. The new generation defaults to all, the old has no default.
  std::optional<std::string> op;
  /// float16 or float32. The new generation defaults to float32, the old has no default.
  std::optional<std::string> dtype;
  std::size_t max_samples = 15, start_idx = 0, repeats = 3;
  bool accuracy_checking = false, measure_nvfuser = false;
  /// Names of inductor_configs(), each one a model more.
  std::vector<std::string> inductor_configs;
  std::string device = "cuda";
  bool channels_last = false, profile = false;

  // Settings without an option in the originals.
  std::uint64_t seed = 0;
  std::filesystem::path output_directory = ".";
  /// Stands in for Inductor's tables; unset, whether this LibTorch has a kernel for the device.
  benches::operators::HasImplementation has_implementation;
};

[[nodiscard]] inline bool on_gpu(const CompatOptions& options) { return options.device.starts_with("cuda"); }

/// The options with the generation's defaults filled in. Throws InputError for values that the originals reject or
/// lack, and for 0 repeats, since those give NaN in the originals.
[[nodiscard]] inline CompatOptions validate(CompatOptions options, Generation generation) {
  const auto refuse = [](const std::string& message) { throw InputError({}, message); };
  const bool old = generation == Generation::old;
  if (options.inp_file.empty()) {
    constexpr std::array<std::string_view, 3> suites = {"timm", "huggingface", "torchbench"};
    if (std::ranges::find(suites, options.suite) == suites.end())
      refuse("--suite: expected timm, huggingface or torchbench, found '" + options.suite + "'");
  }
  if (!options.op) {
    if (old) refuse("--op: must be given to the old generation: all, or an operator such as aten.add.Tensor");
    options.op = "all";
  }
  if (!options.dtype) {
    if (old) refuse("--dtype: must be given to the old generation: float16 or float32");
    options.dtype = "float32";
  }
  if (*options.dtype != "float16" && *options.dtype != "float32")
    refuse("--dtype: expected float16 or float32, found '" + *options.dtype + "'");
  if (options.repeats == 0) refuse("--repeats: expected 1 or more, found 0");
  if (old && options.profile) refuse("--profile: the old generation has no such option");
  if (old && !options.inductor_configs.empty()) refuse("--inductor-config: the old generation has no such option");
  for (const auto& name : options.inductor_configs) (void)benches::aot::find_inductor_config(name);
  return options;
}

}  // namespace pace::benches::operators::compat
