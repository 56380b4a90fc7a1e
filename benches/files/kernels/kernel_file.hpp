// The YAML that describes a launch: its image, kernel, grid and arguments.
#pragma once

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "benches/files/kernels/formula.hpp"
#include "benches/text/beginning.hpp"
#include "benches/yaml/yaml_file.hpp"
#include "pace/base/error.hpp"
#include "pace/corpus/dtype.hpp"
#include "pace/os/read_file.hpp"

namespace pace::benches::loaders {

/// A formula and where it stands.
struct Expression {
  Formula formula;
  std::string key;  ///< such as `grid`
  Location where;

  /// Throws InputError, which names the place, the key and the formula.
  [[noreturn]] void refuse(const std::string& what) const {
    throw InputError(where, "key '" + key + "', '" + formula.text() + "': " + what);
  }
  [[nodiscard]] Number value(const Scope& scope) const {
    try {
      return formula.value(scope);
    } catch (const Error& error) {
      refuse(error.what());
    }
  }
  /// A whole number from `least` to `most`.
  [[nodiscard]] std::int64_t whole(const Scope& scope, std::int64_t least, std::int64_t most) const {
    std::int64_t value = 0;
    try {
      value = formula.whole(scope);
    } catch (const Error& error) {
      refuse(error.what());
    }
    if (value < least || value > most)
      refuse("expected a whole number from " + std::to_string(least) + " to " + std::to_string(most) + ", found " +
             std::to_string(value));
    return value;
  }
};

/// The type of a number that a kernel takes by value.
enum class ScalarKind : std::uint8_t { boolean, whole, unsigned_whole, real, half, brain };

struct ScalarType {
  std::string_view name;
  ScalarKind kind;
  std::size_t bytes;
};

inline constexpr std::array<ScalarType, 13> scalar_types = {{{"b8", ScalarKind::boolean, 1},
                                                             {"i8", ScalarKind::whole, 1},
                                                             {"i16", ScalarKind::whole, 2},
                                                             {"i32", ScalarKind::whole, 4},
                                                             {"i64", ScalarKind::whole, 8},
                                                             {"u8", ScalarKind::unsigned_whole, 1},
                                                             {"u16", ScalarKind::unsigned_whole, 2},
                                                             {"u32", ScalarKind::unsigned_whole, 4},
                                                             {"u64", ScalarKind::unsigned_whole, 8},
                                                             {"f16", ScalarKind::half, 2},
                                                             {"bf16", ScalarKind::brain, 2},
                                                             {"f32", ScalarKind::real, 4},
                                                             {"f64", ScalarKind::real, 8}}};

/// An input as the file describes it.
struct DescribedInput {
  std::string name;
  bool is_number = false;
  /// Each a name, which gets this size, or a formula that has to be it; none: not given.
  std::optional<std::vector<Expression>> shape = {};
  std::optional<corpus::DType> dtype = {};
  Location where = {};
};

struct DescribedArgument {
  enum class Kind : std::uint8_t { input, in_place, output, scalar } kind = Kind::input;
  std::string input = {};                    ///< of an input: its name, or its position
  std::vector<Expression> shape = {};        ///< of an output
  corpus::DType dtype = corpus::DType::f32;  ///< of an output
  bool zero = false;                         ///< whether an output is filled with zeros before each launch
  std::optional<Expression> value = {};      ///< of a scalar
  ScalarType type = {};                      ///< of a scalar
  Location where = {};
};

/// A launch as its file describes it.
struct KernelFile {
  std::string path;
  std::vector<std::string> images;  ///< paths
  Location where_images;
  std::string kernel;  ///< its name; empty: the image has one
  Location where_kernel;
  std::vector<std::string> options;  ///< of NVRTC
  /// None: arguments name inputs by their positions.
  std::optional<std::vector<DescribedInput>> inputs;
  std::vector<DescribedArgument> arguments;
  Location where_arguments;
  std::vector<Expression> grid, block, cluster;  ///< one to three numbers; empty: not given
  std::optional<Expression> shared;
  bool cooperative = false;
  Location where;  ///< of the first line
};

namespace detail {

class KernelFileReader {
 public:
  explicit KernelFileReader(std::string path) { file_.path = std::move(path); }

  [[nodiscard]] KernelFile read(const YAML::Node& document) {
    file_.where = {file_.path, 1};
    if (!document.IsMap())
      fail(document, "expected a map with the keys image, arguments and grid, found " + kind_of(document));
    require_known(
        document, "",
        {"image", "kernel", "options", "inputs", "arguments", "grid", "block", "shared", "cluster", "cooperative"});
    read_images(need(document, "image", "the file of the kernel, such as kernel.cubin"));
    if (const auto node = document["kernel"]) {
      file_.kernel = text_of(node, "kernel", "a name");
      file_.where_kernel = place(node);
    } else {
      file_.where_kernel = file_.where;
    }
    if (const auto node = document["options"]) {
      for (const auto& each : list_of(node, "options", "a list of options of NVRTC"))
        file_.options.push_back(text_of(each, "options", "an option"));
    }
    if (const auto node = document["inputs"]) read_inputs(node);
    const auto arguments = need(document, "arguments", "a list of what the kernel takes, in its order");
    file_.where_arguments = place(arguments);
    for (const auto& each : list_of(arguments, "arguments", "a list")) read_argument(each);
    file_.grid = sizes_of(need(document, "grid", "one to three numbers of blocks"), "grid");
    if (const auto node = document["block"]) file_.block = sizes_of(node, "block");
    if (const auto node = document["cluster"]) file_.cluster = sizes_of(node, "cluster");
    if (const auto node = document["shared"]) file_.shared = expression(node, "shared");
    if (const auto node = document["cooperative"]) file_.cooperative = flag_of(node, "cooperative");
    return std::move(file_);
  }

 private:
  /// More arguments than any kernel takes: its parameters have at most 32 KiB.
  static constexpr std::size_t most_entries = 4096;

  [[nodiscard]] Location place(const YAML::Node& node) const { return place_of(node, file_.path); }
  [[noreturn]] void fail(const YAML::Node& node, const std::string& what) const { throw InputError(place(node), what); }
  [[noreturn]] void fail(const YAML::Node& node, const std::string& key, const std::string& what) const {
    fail(node, "key '" + key + "': " + what);
  }

  void require_known(const YAML::Node& map, const std::string& inside,
                     const std::vector<std::string_view>& keys) const {
    std::set<std::string> seen;
    for (const auto& entry : map) {
      const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
      const std::string of = inside.empty() ? "" : "key '" + inside + "': ";
      if (std::ranges::find(keys, key) == keys.end()) {
        std::string all;
        for (const auto each : keys) all += (all.empty() ? "" : ", ") + std::string(each);
        fail(entry.first, of + "there is no key " + kind_of(entry.first) + "; expected one of " + all);
      }
      if (!seen.insert(key).second) fail(entry.first, of + "the key '" + key + "' is there twice");
    }
  }
  [[nodiscard]] YAML::Node need(const YAML::Node& map, const char* key, const std::string& expected) const {
    const auto node = map[key];
    if (!node) fail(map, std::string("the key '") + key + "' is missing; expected " + expected);
    return node;
  }
  [[nodiscard]] std::string text_of(const YAML::Node& node, const std::string& key, const std::string& expected) const {
    if (!node.IsScalar() || node.Scalar().empty()) fail(node, key, "expected " + expected + ", found " + kind_of(node));
    return node.Scalar();
  }
  [[nodiscard]] bool flag_of(const YAML::Node& node, const std::string& key) const {
    bool value = false;
    if (!node.IsScalar() || !YAML::convert<bool>::decode(node, value))
      fail(node, key, "expected true or false, found " + kind_of(node));
    return value;
  }
  [[nodiscard]] std::vector<YAML::Node> list_of(const YAML::Node& node, const std::string& key,
                                                const std::string& expected) const {
    if (!node.IsSequence()) fail(node, key, "expected " + expected + ", found " + kind_of(node));
    if (node.size() > most_entries)
      fail(node, key,
           "expected at most " + std::to_string(most_entries) + " entries, found " + std::to_string(node.size()));
    return {node.begin(), node.end()};
  }

  [[nodiscard]] Expression expression(const YAML::Node& node, const std::string& key) const {
    return expression(node, key, text_of(node, key, "a number or a formula such as ceil_div(n, 1024)"));
  }
  [[nodiscard]] Expression expression(const YAML::Node& node, const std::string& key, const std::string& text) const {
    try {
      return {Formula(text), key, place(node)};
    } catch (const Error& error) {
      fail(node, key, '\'' + beginning(text) + "': " + error.what());
    }
  }
  [[nodiscard]] std::vector<Expression> expressions(const YAML::Node& list, const std::string& key) const {
    std::vector<Expression> all;
    const auto parts = list_of(list, key, "a list such as [rows, 128]");
    for (std::size_t i = 0; i < parts.size(); ++i) {
      // YAML splits a list at commas, those inside of a formula's brackets among them.
      std::string text;
      const YAML::Node first = parts[i];
      while (true) {
        text += text_of(parts[i], key, "a number or a formula such as ceil_div(n, 1024)");
        if (std::ranges::count(text, '(') <= std::ranges::count(text, ')') || i + 1 == parts.size()) break;
        text += ", ";
        ++i;
      }
      all.push_back(expression(first, key, text));
    }
    return all;
  }
  [[nodiscard]] std::vector<Expression> sizes_of(const YAML::Node& node, const std::string& key) const {
    if (node.IsScalar()) return {expression(node, key)};
    auto all = expressions(node, key);
    if (all.empty() || all.size() > 3)
      fail(node, key, "expected one to three numbers, found " + std::to_string(all.size()));
    return all;
  }
  [[nodiscard]] corpus::DType dtype_of(const YAML::Node& node, const std::string& key) const {
    const std::string text = text_of(node, key, "a type such as f32");
    const auto dtype = corpus::dtype_from_abbreviation(text);
    if (!dtype) fail(node, key, "'" + beginning(text) + "' is no type; expected such as f32, bf16, i64, b8");
    return *dtype;
  }

  void read_images(const YAML::Node& node) {
    file_.where_images = place(node);
    const auto folder = std::filesystem::path(file_.path).parent_path();
    const auto add = [&](const YAML::Node& each) {
      file_.images.push_back((folder / text_of(each, "image", "the name of a file or a folder")).string());
    };
    if (!node.IsSequence()) return add(node);
    for (const auto& each : list_of(node, "image", "a file")) add(each);
    if (file_.images.empty()) fail(node, "image", "expected the name of a file, found an empty list");
  }

  void read_inputs(const YAML::Node& node) {
    if (!node.IsMap())
      fail(node, "inputs", "expected a map such as {x: {shape: [n], dtype: f32}}, found " + kind_of(node));
    file_.inputs.emplace();
    std::set<std::string> names;
    for (const auto& entry : node) {
      DescribedInput input{.name = text_of(entry.first, "inputs", "a name"), .where = place(entry.first)};
      const std::string key = "inputs." + input.name;
      if (!names.insert(input.name).second) fail(entry.first, key, "there are two inputs of this name");
      if (const auto& what = entry.second; what.IsScalar() && what.Scalar() == "number") {
        input.is_number = true;
      } else if (what.IsMap()) {
        require_known(what, key, {"shape", "dtype"});
        if (const auto shape = what["shape"]) input.shape = expressions(shape, key + ".shape");
        if (const auto dtype = what["dtype"]) input.dtype = dtype_of(dtype, key + ".dtype");
      } else if (!what.IsNull()) {
        fail(what, key, "expected {shape: [...], dtype: ...}, or number, found " + kind_of(what));
      }
      file_.inputs->push_back(std::move(input));
    }
  }

  void read_argument(const YAML::Node& node) {
    const std::string key = "arguments[" + std::to_string(file_.arguments.size()) + ']';
    if (!node.IsMap())
      fail(node, key, "expected such as {input: x}, {output: {...}} or {scalar: n, type: i32}, found " + kind_of(node));
    DescribedArgument argument{.where = place(node)};
    using enum DescribedArgument::Kind;
    if (const auto name = node["input"]) {
      require_known(node, key, {"input"});
      argument.input = input_name(name, key + ".input");
    } else if (const auto changed = node["in_place"]) {
      require_known(node, key, {"in_place"});
      argument.kind = in_place;
      argument.input = input_name(changed, key + ".in_place");
    } else if (const auto made = node["output"]) {
      require_known(node, key, {"output"});
      argument.kind = output;
      read_output(made, key + ".output", argument);
    } else if (const auto value = node["scalar"]) {
      require_known(node, key, {"scalar", "type"});
      argument.kind = scalar;
      argument.value = expression(value, key + ".scalar");
      argument.type = scalar_type_of(node, key);
    } else {
      fail(node, key, "expected one of the keys input, in_place, output and scalar, found none");
    }
    file_.arguments.push_back(std::move(argument));
  }

  /// The name of an input, or its position.
  [[nodiscard]] std::string input_name(const YAML::Node& node, const std::string& key) const {
    const std::string name = text_of(node, key, "the name or the position of an input");
    const bool is_position = std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; }) && name.size() < 5;
    if (!file_.inputs) {
      if (!is_position)
        fail(node, key,
             "'" + beginning(name) + "' is no position, and the file has no key 'inputs', which gives inputs names");
      return name;
    }
    std::string all;
    for (std::size_t i = 0; i < file_.inputs->size(); ++i) {
      const auto& input = (*file_.inputs)[i];
      if (input.name == name || (is_position && std::to_string(i) == name)) {
        if (input.is_number) fail(node, key, "'" + name + "' is a number; expected {scalar: " + name + ", type: f32}");
        return name;
      }
      all += (all.empty() ? "" : ", ") + input.name;
    }
    fail(node, key, "there is no input '" + beginning(name) + "'; expected one of " + beginning(all));
  }

  void read_output(const YAML::Node& node, const std::string& key, DescribedArgument& argument) const {
    if (!node.IsMap() || !node["shape"] || !node["dtype"])
      fail(node, key,
           "an output is made before the launch: expected {shape: [...], dtype: ...}, found " +
               (node.IsMap() ? std::string("no ") + (node["shape"] ? "dtype" : "shape") : kind_of(node)) +
               "; a kernel that writes to an input has {in_place: NAME}");
    require_known(node, key, {"shape", "dtype", "zero"});
    argument.shape = expressions(node["shape"], key + ".shape");
    argument.dtype = dtype_of(node["dtype"], key + ".dtype");
    if (const auto zero = node["zero"]) argument.zero = flag_of(zero, key + ".zero");
  }

  [[nodiscard]] ScalarType scalar_type_of(const YAML::Node& argument, const std::string& key) const {
    const auto node = argument["type"];
    std::string all;
    for (const auto& type : scalar_types) all += (all.empty() ? "" : ", ") + std::string(type.name);
    if (!node) fail(argument, key, "a scalar has no type; expected type: with one of " + all);
    const std::string name = text_of(node, key + ".type", "one of " + all);
    const auto found = std::ranges::find(scalar_types, name, &ScalarType::name);
    if (found == scalar_types.end())
      fail(node, key + ".type", "'" + beginning(name) + "' is no type; expected one of " + all);
    return *found;
  }

  KernelFile file_;
};

}  // namespace detail

/// The launch that a YAML text describes. Throws InputError with the file, the line, the key, the found and the
/// expected value.
[[nodiscard]] inline KernelFile parse_kernel_file(const std::string& text, const std::string& path) {
  try {
    return detail::KernelFileReader(path).read(parse_yaml(text, path));
  } catch (const YAML::Exception& error) {
    throw InputError(
        error.mark.is_null() ? Location{path} : Location{path, static_cast<std::size_t>(error.mark.line) + 1},
        error.msg);
  }
}

/// As parse_kernel_file(), of a file. Throws InputError if it cannot be read.
[[nodiscard]] inline KernelFile read_kernel_file(const std::string& path) {
  return parse_kernel_file(pace::read_file(path, "a YAML file of a kernel", {.text_only = true}), path);
}

}  // namespace pace::benches::loaders
