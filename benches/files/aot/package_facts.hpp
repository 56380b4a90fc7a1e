// The facts that the compile script writes beside a package: the inputs that it was compiled for, and Inductor's facts
// of its kernels.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "benches/files/aot/facts_object.hpp"
#include "benches/files/aot/tensor_metadata.hpp"
#include "pace/base/error.hpp"
#include "pace/os/parse_json.hpp"

namespace pace::benches::aot {

/// One kernel that Inductor wrote, or one call of an operator that it left to LibTorch.
struct PackageKernel {
  /// One of those that Inductor chose among, as a binary of its own.
  struct Configuration {
    /// The settings: `XBLOCK 1024, num_warps 4`.
    std::string text;
    /// The same as Triton prints it.
    std::string printed;
    /// A cubin, and the kernel's name in it.
    std::filesystem::path file;
    std::string symbol;
    /// Blocks, for the operands that the kernel was tuned with.
    std::array<std::uint32_t, 3> grid{1, 1, 1};
    /// The warps of each block, of 32 threads each, and its dynamic shared memory in bytes.
    std::uint32_t warps = 1, shared_bytes = 0;
    bool chosen = false;
  };

  /// As the profiler and the driver tell it: `triton_poi_fused_add_0`, `cpp_fused_add_0`; of a call of LibTorch the
  /// operator, `aten::addmm`.
  std::string name;
  enum class Kind { triton, cpp, external } kind = Kind::triton;
  /// Inductor's word for it: `pointwise`, `persistent_reduction`, ...; empty: it has none.
  std::string category;
  /// Inductor's key of the source. A line of wrapper_benchmark shows its beginning. Empty for a call of LibTorch.
  std::string key;
  /// The least that one call must read and write; none: Inductor does not know.
  std::optional<double> bytes;
  /// Names of its arguments, in order. Those that begin with `in_out_ptr` are read and written. Empty: not known.
  std::vector<std::string> arguments;
  /// Calls in one run of the package. 0: not known, for it is in a branch that a run may take or not.
  std::int64_t calls = 1;
  /// Its name in the profiler on the CPU, if the package was compiled with `cpp.enable_kernel_profile`:
  /// `cpp_fused_add_0`, `aoti_torch_cpu_addmm_out`. `graph_N_` may stand before it. Empty: nothing, or not known.
  std::string range = {};
  /// In the order of the attempts. Empty: not kept (record_configurations.py keeps them).
  std::vector<Configuration> configurations = {};
  /// Bytes of each argument of a call of a Triton kernel, in order, as a whole tensor; none for an argument that is no
  /// tensor. Empty: not known.
  std::vector<std::optional<double>> argument_bytes = {};
};

/// The content of KEY.json beside KEY.pt2, or of MODEL.json beside MODEL.pt2.
struct PackageFacts {
  /// The inputs of one run, in order. Also empty if unknown.
  std::vector<TensorMetadata> inputs;
  /// In the order of their first calls.
  std::vector<PackageKernel> kernels;
  /// Why the kernels are not known; empty if they are.
  std::string problem = {};
};

namespace detail {

[[nodiscard]] inline TensorMetadata read_input(const std::string& where, const nlohmann::json& json) {
  const FactsObject object(where, json);
  try {
    return metadata_from_json(json);
  } catch (const std::exception&) {  // Error, c10::Error, nlohmann::json::exception
    object.fail("", "an object with `sizes`, `strides`, `dtype` and `device`", json);
  }
}

/// `{"XBLOCK": 1024, "num_warps": 4}` as `XBLOCK 1024, num_warps 4`, in the order of the names.
[[nodiscard]] inline std::string settings_text(const nlohmann::json& settings) {
  std::string text;
  for (const auto& [name, value] : settings.items()) text += (text.empty() ? "" : ", ") + name + ' ' + value.dump();
  return text;
}

[[nodiscard]] inline PackageKernel::Configuration read_configuration(const std::string& where,
                                                                     const nlohmann::json& json) {
  const FactsObject object(where, json);
  PackageKernel::Configuration configuration;
  const auto settings = object.get<nlohmann::json>("config", "an object");
  if (!settings.is_object()) object.fail("config", "an object", settings);
  configuration.text = settings_text(settings);
  configuration.printed = object.get<std::string>("printed", "a text");
  configuration.file = object.get<std::string>("file", "a path");
  configuration.symbol = object.get<std::string>("symbol", "a text");
  const auto grid = object.get<std::vector<std::int64_t>>("grid", "three numbers of blocks");
  if (grid.size() != 3 || std::ranges::any_of(grid, [](auto blocks) { return blocks < 1 || blocks > UINT32_MAX; }))
    object.fail("grid", "three numbers of blocks", grid);
  for (std::size_t i = 0; i < 3; ++i) configuration.grid[i] = static_cast<std::uint32_t>(grid[i]);
  const auto number = [&](const std::string& field, const char* expected, std::int64_t least, std::int64_t most) {
    const auto value = object.get<std::int64_t>(field, expected);
    if (value < least || value > most) object.fail(field, expected, value);
    return static_cast<std::uint32_t>(value);
  };
  configuration.warps = number("warps", "1 to 32 warps", 1, 32);
  configuration.shared_bytes = number("shared_bytes", "a number of bytes", 0, UINT32_MAX);
  configuration.chosen = object.get<bool>("chosen", "true or false");
  return configuration;
}

[[nodiscard]] inline PackageKernel read_kernel(const std::string& where, const nlohmann::json& json) {
  const FactsObject object(where, json);
  const char* const kinds = "`triton`, `cpp` or `external`";
  PackageKernel kernel;
  kernel.name = object.get<std::string>("name", "a text");
  const auto kind = object.get<std::string>("kind", kinds);
  if (kind != "triton" && kind != "cpp" && kind != "external") object.fail("kind", kinds, kind);
  using Kind = PackageKernel::Kind;
  kernel.kind = kind == "triton" ? Kind::triton : kind == "cpp" ? Kind::cpp : Kind::external;
  object.get_if_known("category", "a text or null", kernel.category);
  object.get_if_known("key", "a text or null", kernel.key);
  object.get_if_known("range", "a text or null", kernel.range);
  object.get_if_known("arguments", "a list of names, or null", kernel.arguments);
  const char* const bytes_of_arguments = "a list of numbers of bytes and nulls, or null";
  std::vector<nlohmann::json> argument_bytes;
  object.get_if_known("argument_bytes", bytes_of_arguments, argument_bytes);
  for (const auto& each : argument_bytes) {
    if (!each.is_null() && !(each.is_number() && each.get<double>() >= 0))
      object.fail("argument_bytes", bytes_of_arguments, argument_bytes);
    kernel.argument_bytes.push_back(each.is_null() ? std::nullopt : std::optional(each.get<double>()));
  }
  if (object.has("bytes")) kernel.bytes = object.get<double>("bytes", "a number or null");
  if (kernel.bytes && !(*kernel.bytes >= 0)) object.fail("bytes", "a number of bytes, or null", *kernel.bytes);
  kernel.calls = 0;
  object.get_if_known("calls", "a number or null", kernel.calls);
  if (kernel.calls < 0) object.fail("calls", "a number of calls, or null", kernel.calls);
  if (object.has("configurations"))
    kernel.configurations = object.list("configurations", "a list of configurations, or null", read_configuration);
  return kernel;
}

[[nodiscard]] inline PackageFacts read_facts(const std::string& where, const nlohmann::json& json) {
  const FactsObject object(where, json);
  PackageFacts facts;
  facts.inputs = object.list("inputs", "a list of tensors' metadata, or null", read_input);
  facts.kernels = object.list("kernels", "a list of kernels, or null", read_kernel);
  object.get_if_known("problem", "a text or null", facts.problem);
  return facts;
}

}  // namespace detail

/// Reads the facts beside the package `MODEL.pt2`, or in `MODEL.json` (record_kernels.py describes it). Nothing if
/// there is no such file, or no such facts in it. `model` names one of several in a package; the word `model` also
/// stands for the only one, under any name. Throws `Error`, which names the file and the field, if the script cannot
/// have written the file, or it has no such model.
[[nodiscard]] inline std::optional<PackageFacts> read_package_facts(std::filesystem::path path,
                                                                    const std::string& model = "model") {
  path.replace_extension(".json");
  if (!std::filesystem::exists(path)) return std::nullopt;
  const auto json = read_json_file<nlohmann::json>(path.string(), "JSON, as pace writes it beside a package");
  const detail::FactsObject object(path.string(), json);
  const auto read = [&](const std::string& where, const nlohmann::json& facts_json) {
    PackageFacts facts = detail::read_facts(where, facts_json);
    for (PackageKernel& kernel : facts.kernels)
      for (auto& configuration : kernel.configurations) configuration.file = path.parent_path() / configuration.file;
    return facts;
  };
  const auto no_such_model = [&](const std::string& found) {
    return Error(path.string() + ": the package has no model `" + model + "`, but " + found);
  };
  if (!json.contains("models")) {
    if (!json.contains("inputs") && !json.contains("kernels")) return std::nullopt;
    if (model != "model") throw no_such_model("only one, `model`");
    return read(path.string(), json);
  }
  const auto& models = json.at("models");
  if (!models.is_object()) object.fail("models", "an object", models);
  const bool only = model == "model" && models.size() == 1;
  const auto asked = only ? models.begin() : models.find(model);
  if (asked == models.end()) {
    std::string names;
    for (const auto& [name, ignored] : models.items()) names += (names.empty() ? "`" : ", `") + name + '`';
    throw no_such_model(names.empty() ? "none at all" : names);
  }
  return read(path.string() + ": models." + asked.key(), *asked);
}

}  // namespace pace::benches::aot
