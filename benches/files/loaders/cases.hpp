// The cases of a run: each one set of inputs, from a file of tensors, a line of text, or a value of a sweep.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/ivalue.h>
#include <torch/csrc/jit/serialization/import.h>
#include <torch/csrc/jit/serialization/import_read.h>
#include <torch/csrc/jit/serialization/storage_context.h>
#include <torch/csrc/jit/serialization/unpickler.h>

#include "benches/files/loaders/content.hpp"
#include "benches/files/loaders/input_text.hpp"
#include "benches/files/loaders/python.hpp"
#include "benches/files/loaders/sweep.hpp"
#include "benches/files/loaders/whole_weights.hpp"
#include "benches/text/beginning.hpp"
#include "pace/base/error.hpp"
#include "pace/check/text.hpp"
#include "pace/corpus/corpus.hpp"
#include "pace/inputs/generate.hpp"
#include "pace/os/read_file.hpp"

namespace pace::benches::loaders {

/// One set of inputs, which is made when its turn comes.
struct Case {
  std::string name = {};
  /// For results: the properties that distinguish the inputs from others.
  std::string description = {};
  /// The file of tensors; empty: `text` is made into tensors.
  std::string file = {};
  /// The name of the inputs in a Python file; empty: `file` is none.
  std::string python = {};
  InputText text = {};
};

/// The options about inputs.
struct InputOptions {
  std::string inputs = {};         ///< a file, a folder, or text that begins with `(`
  std::vector<Sweep> sweeps = {};  ///< values for names of sizes in text
  /// The operator to take recorded calls of, from a file with several, such as `aten.add.Tensor`; empty: none is named.
  std::string operator_name = {};
  /// How a file with calls of several operators is read after all; empty: it is not.
  std::string names_operator = "; or --baseline op:NAME with the name of one of them";
  SizeNames size_names = SizeNames::swept;
};

/// Whether a file of tensors comes from torch::save of C++: a TorchScript module with the attributes `0`, `1`, ...
/// Loading it may run code of the file.
[[nodiscard]] inline bool is_module_of_tensors(const Content& content) { return content.has("constants.pkl"); }

namespace detail {

/// The arguments that a value of torch.save stands for: a tensor, a tuple or a list of arguments, or a dict with the
/// keys `args` and `kwargs`. Throws InputError.
[[nodiscard]] inline inputs::Inputs arguments_in(const c10::IValue& value, const std::string& path) {
  const auto refuse = [&](const std::string& found) {
    throw InputError({path},
                     "expected a tensor, a tuple or a list of arguments, or a dict with the keys 'args' and "
                     "'kwargs', found " +
                         found);
  };
  inputs::Inputs inputs;
  if (value.isTensor()) {
    inputs.args = {value};
  } else if (value.isTuple()) {
    inputs.args = value.toTupleRef().elements().vec();
  } else if (value.isList()) {
    inputs.args = value.toListRef().vec();
  } else if (value.isGenericDict()) {
    for (const auto& item : value.toGenericDict()) {
      const std::string key = item.key().isString() ? item.key().toStringRef() : "";
      if (key == "args" && item.value().isTuple()) {
        inputs.args = item.value().toTupleRef().elements().vec();
      } else if (key == "args" && item.value().isList()) {
        inputs.args = item.value().toListRef().vec();
      } else if (key == "kwargs" && item.value().isGenericDict()) {
        for (const auto& argument : item.value().toGenericDict()) {
          if (!argument.key().isString()) refuse("a keyword argument whose name is no string");
          inputs.kwargs.emplace_back(argument.key().toStringRef(), argument.value());
        }
      } else {
        refuse("a dict with the key " + beginning(check::detail::key_text(item.key())) + " and a value of the type " +
               item.value().tagKind());
      }
    }
  } else {
    refuse("a " + value.tagKind());
  }
  return inputs;
}

/// Tensors that torch.save, torch::pickle_save or torch::save wrote. LibTorch's unpickler knows tensors and plain
/// values alone, so that no code of the file runs, unless torch::save wrote it (is_module_of_tensors()).
[[nodiscard]] inline inputs::Inputs read_tensors(const std::string& path) {
  const Content content(path);
  if (content.is_pickle())
    throw InputError({path},
                     "this is a pickle of Python, or of torch.save in its old format; expected torch.save "
                     "without _use_new_zipfile_serialization=False");
  if (!content.has("data.pkl"))
    throw InputError({path}, "this is " + content.describe() + "; expected tensors that torch.save has written");
  require_whole(content);
  try {
    if (is_module_of_tensors(content)) {
      const auto module = torch::jit::load(path);
      inputs::Inputs inputs;
      for (std::string name = "0"; module.hasattr(name); name = std::to_string(inputs.args.size()))
        inputs.args.push_back(module.attr(name));
      if (inputs.args.empty())
        throw InputError({path}, "this is TorchScript without tensors of torch::save; expected tensors");
      return inputs;
    }
    const auto storages = std::make_shared<torch::jit::DeserializationStorageContext>();
    auto value =
        torch::jit::readArchiveAndTensors("data", "", "", std::nullopt, std::nullopt, std::nullopt, content.reader(),
                                          torch::jit::Unpickler::defaultTypeParser, storages);
    require_whole_storages(content, "data/", *storages);
    return arguments_in(value, path);
  } catch (const InputError&) {
    throw;
  } catch (const std::exception& error) {
    // LibTorch reads an OrderedDict as None, and fails where items are put into that.
    const bool is_of_class = content.read("data.pkl").find("OrderedDict") != std::string::npos &&
                             first_line(error).find("isGenericDict") != std::string::npos;
    // torch.save writes it for types that have no storage class in Python.
    if (first_line(error).find("_rebuild_tensor_v3") != std::string::npos)
      throw InputError({path},
                       "there is a tensor among the values whose type LibTorch's unpickler does not know, such as "
                       "float8; try: text such as --inputs \"(T([8, 128], f8e4m3fn),)\"");
    throw InputError({path}, "the values cannot be read: " +
                                 (is_of_class ? "there is a collections.OrderedDict among them" : first_line(error)) +
                                 "; expected tensors, numbers, strings, and tuples, lists and dicts of these");
  }
}

/// A text of inputs, and where it stands.
struct Line {
  std::string text, name;
  Location where;
};

[[nodiscard]] inline std::string name_of(const std::string& stem, std::size_t index, std::size_t count) {
  return count == 1 ? stem : stem + '[' + std::to_string(index) + ']';
}

/// The lines of a file: recorded calls, or tuples one a line.
[[nodiscard]] inline std::vector<Line> lines_of(const std::string& path, const InputOptions& options) {
  const std::string text = read_file(path, "the text of inputs", {.text_only = true});
  const std::string stem = std::filesystem::path(path).stem().string();
  std::vector<Line> lines;
  if (text.find("Operator:") != std::string::npos) {
    const auto corpus = corpus::Corpus::from_file(path);
    const corpus::OperatorSamples* chosen = nullptr;
    std::string names;
    for (const auto& each : corpus.operators()) {
      names += (names.empty() ? "" : ", ") + each.name;
      if (each.name == options.operator_name || corpus.operators().size() == 1) chosen = &each;
    }
    if (corpus.operators().empty() || (chosen != nullptr && chosen->samples.empty()))
      throw InputError({path}, "the recording has no calls" + (names.empty() ? "" : " of " + beginning(names)) +
                                   "; expected at least one, as in cnt: 1, ((T([8, 128], f32),), {})");
    if (chosen == nullptr)
      throw InputError({path}, "these are calls of several operators (" + beginning(names) +
                                   "); expected calls of one" + options.names_operator);
    for (std::size_t i = 0; i < chosen->samples.size(); ++i)
      lines.push_back({chosen->samples[i].text, name_of(stem, i, chosen->samples.size()), chosen->samples[i].where});
    return lines;
  }
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0) line.pop_back();
    if (!line.empty()) lines.push_back({line, "", Location{path, number, 1}});
  }
  if (lines.empty()) throw InputError({path}, "the file has no inputs; expected lines such as (T([8, 128], f32),)");
  for (std::size_t i = 0; i < lines.size(); ++i) lines[i].name = name_of(stem, i, lines.size());
  return lines;
}

/// Whether a file of a folder of inputs has a case.
[[nodiscard]] inline bool is_input(const std::filesystem::directory_entry& entry) {
  const auto extension = entry.path().extension();
  return entry.is_regular_file() && (extension == ".pt" || extension == ".txt");
}

/// Cases of one text: one for each combination of sizes.
inline void add_text(const Line& line, const InputOptions& options, std::vector<Case>& cases,
                     std::set<std::string>& used) {
  std::set<std::string> known;
  for (const auto& sizes : combinations(options.sweeps)) {
    auto parsed = parse_input_text(line.text, sizes, line.where, options.size_names);
    // A name that this text does not have makes no case of its own.
    std::vector<Sweep> named;
    for (const auto& sweep : options.sweeps)
      if (parsed.names.contains(sweep.name)) named.push_back(sweep);
    const std::string of_sizes = sizes_text(named, sizes);
    if (!known.insert(of_sizes).second) continue;
    used.insert(parsed.names.begin(), parsed.names.end());
    std::string name = line.name;
    if (!of_sizes.empty()) name = name.empty() ? of_sizes : name + '/' + of_sizes;
    if (name.empty()) name = "inputs";
    std::string description = line.text + (of_sizes.empty() ? "" : " with " + of_sizes);
    cases.push_back({.name = std::move(name), .description = std::move(description), .text = std::move(parsed)});
  }
}

/// `FILE.py:NAME`, apart; none: `inputs` is no such text, or a file has all of it as its name.
[[nodiscard]] inline std::optional<std::pair<std::string, std::string>> python_place(const std::string& inputs) {
  const auto colon = inputs.rfind(':');
  const std::string path = inputs.substr(0, colon);
  if (inputs.starts_with('(') || !is_python_path(path) || std::filesystem::is_directory(path)) return std::nullopt;
  if (colon == std::string::npos) return std::pair(path, std::string());
  if (std::filesystem::exists(inputs)) return std::nullopt;
  return std::pair(path, inputs.substr(colon + 1));
}

inline void add_file(const std::string& path, const std::string& stem, const InputOptions& options,
                     std::vector<Case>& cases, std::set<std::string>& used) {
  if (path.starts_with("T(") && !std::filesystem::exists(path))
    throw InputError({path}, "no such file; expected a tuple where this is text: (" + path + ",)");
  if (auto place = python_place(path)) {
    auto& [file, name] = *place;
    (void)Content(file);
    require_python_name(file, name);
    cases.push_back({.name = name, .description = path, .file = std::move(file), .python = std::move(name)});
    return;
  }
  const Content content(path);
  if (content.is_archive() || content.is_pickle() || content.is_elf()) {
    cases.push_back({.name = stem, .description = path, .file = path});
    return;
  }
  for (const auto& line : lines_of(path, options)) add_text(line, options, cases, used);
}

}  // namespace detail

/// The files that `inputs` names: none if it is text, the files of a folder in their order, or the file itself.
[[nodiscard]] inline std::vector<std::string> files_of_inputs(const std::string& inputs) {
  if (inputs.starts_with('(')) return {};
  if (auto place = detail::python_place(inputs)) return {std::move(place->first)};
  if (!std::filesystem::is_directory(inputs)) return {inputs};
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(inputs))
    if (detail::is_input(entry)) files.push_back(entry.path().string());
  std::ranges::sort(files);
  return files;
}

/// The cases that the options name. `warn` gets a sentence for each file of a folder that is left out. Throws
/// InputError for inputs that cannot be read, and for sweeps that have no effect.
template <class Warn>
[[nodiscard]] std::vector<Case> find_cases(const InputOptions& options, const Warn& warn) {
  namespace fs = std::filesystem;
  std::vector<Case> cases;
  std::set<std::string> used;
  if (options.inputs.starts_with('(')) {
    detail::add_text({options.inputs, "", Location{"--inputs"}}, options, cases, used);
  } else if (fs::is_directory(options.inputs)) {
    for (const auto& entry : fs::directory_iterator(options.inputs))
      if (!detail::is_input(entry)) warn(entry.path().string() + " is left out; expected files named *.pt or *.txt");
    const auto files = files_of_inputs(options.inputs);
    if (files.empty())
      throw InputError({options.inputs}, "expected files named *.pt or *.txt in the folder, found none");
    for (const auto& file : files) detail::add_file(file, fs::path(file).stem().string(), options, cases, used);
  } else {
    detail::add_file(options.inputs, fs::path(options.inputs).stem().string(), options, cases, used);
  }
  for (const auto& sweep : options.sweeps)
    if (!used.contains(sweep.name))
      throw InputError({}, "--sweep " + sweep.name + " has no effect: no text of --inputs has a size of that name");
  std::set<std::string> names;
  for (const auto& each : cases)
    if (!names.insert(each.name).second)
      throw InputError({options.inputs},
                       "two cases are called '" + each.name + "'; expected another name for one file");
  return cases;
}

/// The inputs of a case for an InputCheck: a file's as they are, a text's without values and memory. Not for those of a
/// Python file, which would run it. Throws InputError or Unsupported.
[[nodiscard]] inline CallInputs inputs_to_check(const Case& one) {
  if (!one.file.empty()) return CallInputs(detail::read_tensors(one.file));
  inputs::GenerateOptions options;
  options.metadata_only = true;
  return CallInputs(inputs::generate(one.text.call, options));
}

/// Where a run has the tensors of inputs_to_check(). `device`: where the options put them; none: where a file has them,
/// or the CPU.
[[nodiscard]] inline TensorPlaces places_in_run(const Case& one, std::optional<c10::Device> device) {
  if (one.file.empty() && !device) device = c10::kCPU;
  return {.moved_to = device};
}

/// The inputs of a case; `device`: where they are, none: as the file says, or the CPU. Throws InputError or
/// Unsupported.
[[nodiscard]] inline CallInputs make_inputs(const Case& one, std::optional<c10::Device> device, std::uint64_t seed,
                                            std::size_t copies) {
  if (one.file.empty()) return CallInputs(make_inputs(one.text, device.value_or(c10::kCPU), seed, copies));
  if (!one.python.empty()) return CallInputs(python_inputs(one.file, one.python), device);
  return CallInputs(detail::read_tensors(one.file), device);
}

}  // namespace pace::benches::loaders
