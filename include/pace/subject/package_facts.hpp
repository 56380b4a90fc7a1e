// What the compile script keeps of a package beside it: the inputs that it was compiled for, and what Inductor knows of
// its kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "pace/core/error.hpp"
#include "pace/subject/tensor_metadata.hpp"

namespace pace::subject {

/// One kernel that Inductor wrote, or one call of an operator that it left to LibTorch.
struct PackageKernel {
  /// As the profiler and the driver tell it: `triton_poi_fused_add_0`, `cpp_fused_add_0`; of a call of LibTorch the
  /// operator, `aten::addmm`.
  std::string name;
  enum class Kind { triton, cpp, external } kind = Kind::triton;
  /// Inductor's word for it: `pointwise`, `persistent_reduction`, ...; empty: it has none.
  std::string category;
  /// Of the source, Inductor's; what a line of wrapper_benchmark shows the beginning of. Empty for a call of LibTorch.
  std::string key;
  /// That one call must read and write at least; none: Inductor does not know.
  std::optional<double> bytes;
  /// Names of its arguments, in order. Those that begin with `in_out_ptr` are read and written. Empty: not known.
  std::vector<std::string> arguments;
  /// Calls in one run of the package. 0: not known, for it is in a branch that a run may take or not.
  std::int64_t calls = 1;
  /// What a package that was compiled with `cpp.enable_kernel_profile` announces to the profiler on the CPU, where
  /// `graph_N_` may stand before it: `cpp_fused_add_0`, `aoti_torch_cpu_addmm_out`. Empty: nothing, or not known.
  std::string range = {};
};

/// Of KEY.json beside KEY.pt2, or MODEL.json beside MODEL.pt2.
struct PackageFacts {
  /// What one run is called with, in order. Empty also where that is not known.
  std::vector<TensorMetadata> inputs;
  /// In the order of their first calls.
  std::vector<PackageKernel> kernels;
  /// Why the kernels are not known; empty if they are.
  std::string problem = {};
};

namespace detail {

/// One JSON object of a file of facts, which knows where it stands there, for messages.
class FactsObject {
 public:
  /// Throws `Error` if it is no object.
  FactsObject(std::string where, const nlohmann::json& json) : where_(std::move(where)), json_(json) {
    if (!json.is_object()) fail("", "an object", json);
  }

  [[nodiscard]] bool has(const std::string& field) const { return json_.contains(field) && !json_.at(field).is_null(); }

  /// Throws `Error` if there is no such field, or it is no `T`: `expected` says what that is for people.
  template <class T>
  [[nodiscard]] T get(const std::string& field, const char* expected) const {
    const nlohmann::json& value = at(field, expected);
    try {
      return value.get<T>();
    } catch (const nlohmann::json::exception&) {
      fail(field, expected, value);
    }
  }

  /// What is null, or not there, is as it was.
  template <class T>
  void get_if_known(const std::string& field, const char* expected, T& to) const {
    if (has(field)) to = get<T>(field, expected);
  }

  /// `read` makes an element of where it stands and its JSON. Null is an empty list, a field that is missing an error.
  template <class Read>
  [[nodiscard]] auto list(const std::string& field, const char* expected, Read read) const {
    std::vector<decltype(read(where_, json_))> elements;
    const nlohmann::json& value = at(field, expected);
    if (value.is_null()) return elements;
    if (!value.is_array()) fail(field, expected, value);
    for (std::size_t i = 0; i < value.size(); ++i)
      elements.push_back(read(inside(field) + '[' + std::to_string(i) + ']', value[i]));
    return elements;
  }

  [[noreturn]] void fail(const std::string& field, const char* expected, const nlohmann::json& found) const {
    constexpr std::size_t most = 60;  // characters of what was found
    std::string text = found.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    if (text.size() > most) text = text.substr(0, most) + "...";
    throw Error((field.empty() ? where_ : inside(field)) + ": expected " + expected + ", found " + text);
  }

 private:
  /// The place within the file follows the file's name and a colon.
  [[nodiscard]] std::string inside(const std::string& field) const {
    return where_ + (where_.ends_with(".json") ? ": " : ".") + field;
  }

  [[nodiscard]] const nlohmann::json& at(const std::string& field, const char* expected) const {
    const auto found = json_.find(field);
    if (found == json_.end()) throw Error(inside(field) + ": expected " + expected + ", found no such field");
    return *found;
  }

  std::string where_;
  const nlohmann::json& json_;
};

[[nodiscard]] inline TensorMetadata read_input(const std::string& where, const nlohmann::json& json) {
  const FactsObject object(where, json);
  try {
    return metadata_from_json(json);
  } catch (const std::exception&) {  // Error, c10::Error, nlohmann::json::exception
    object.fail("", "an object with `sizes`, `strides`, `dtype` and `device`", json);
  }
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
  if (object.has("bytes")) kernel.bytes = object.get<double>("bytes", "a number or null");
  if (kernel.bytes && !(*kernel.bytes >= 0)) object.fail("bytes", "a number of bytes, or null", *kernel.bytes);
  kernel.calls = 0;
  object.get_if_known("calls", "a number or null", kernel.calls);
  if (kernel.calls < 0) object.fail("calls", "a number of calls, or null", kernel.calls);
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

/// What is kept beside the package `MODEL.pt2`, or stands in `MODEL.json` (record_kernels.py describes it); nothing if
/// there is no such file, or nothing of this in it. `model`: of several in one package; `model` is also the only one,
/// whatever its name. Throws `Error`, which names the file and the field, if the file is not what the script writes or has
/// no such model.
[[nodiscard]] inline std::optional<PackageFacts> read_package_facts(std::filesystem::path path,
                                                                    const std::string& model = "model") {
  path.replace_extension(".json");
  std::ifstream file(path);
  if (!file) return std::nullopt;
  const nlohmann::json json = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) throw Error(path.string() + ": expected JSON, as pace writes it beside a package");
  const detail::FactsObject object(path.string(), json);
  const auto no_such_model = [&](const std::string& found) {
    return Error(path.string() + ": the package has no model `" + model + "`, but " + found);
  };
  if (!json.contains("models")) {
    if (!json.contains("inputs") && !json.contains("kernels")) return std::nullopt;
    if (model != "model") throw no_such_model("only one, `model`");
    return detail::read_facts(path.string(), json);
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
  return detail::read_facts(path.string() + ": models." + asked.key(), *asked);
}

}  // namespace pace::subject
