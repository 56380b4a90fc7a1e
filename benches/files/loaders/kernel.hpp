// Kernels: a YAML file that names an image (a cubin, PTX, a fatbin, a kernel of Triton's cache, CUDA source), and how
// one of its kernels is launched.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/empty.h>
#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include "benches/files/kernels/formula.hpp"
#include "benches/files/kernels/image.hpp"
#include "benches/files/kernels/kernel_device.hpp"
#include "benches/files/kernels/kernel_file.hpp"
#include "benches/files/kernels/nvrtc.hpp"
#include "benches/files/kernels/triton.hpp"
#include "benches/files/loaders/loader.hpp"
#include "pace/base/demangle.hpp"
#include "pace/base/error.hpp"
#include "pace/inputs/scalar_type.hpp"
#include "pace/os/read_file.hpp"

namespace pace::benches::loaders {

namespace detail {

/// An image of a kernel file, before it is loaded.
struct FoundImage {
  std::string path, bytes;
  bool is_source = false;              ///< CUDA source, whose bytes and codes NVRTC makes
  std::vector<KernelCode> codes = {};  ///< none of source that was not compiled yet
  std::optional<TritonFacts> triton = {};
};

/// The paths of an entry of `image`: those of Triton's cubin and PTX beside its JSON, or the entry itself. `json` gets
/// the path of the JSON.
[[nodiscard]] inline std::vector<std::string> image_paths(const std::string& entry, std::string& json) {
  namespace fs = std::filesystem;
  std::error_code problem;
  if (fs::is_directory(entry, problem))
    json = triton_json_in(entry);
  else if (fs::path(entry).extension() == ".json")
    json = entry;
  else
    return {entry};
  std::vector<std::string> found;
  for (const char* const extension : {".cubin", ".ptx"})
    if (const auto path = fs::path(json).replace_extension(extension); fs::exists(path, problem))
      found.push_back(path.string());
  if (found.empty())
    throw InputError({json}, "expected " + fs::path(json).stem().string() +
                                 ".cubin or .ptx beside it, as in Triton's "
                                 "cache; found neither");
  return found;
}

/// The files of an entry of `image`; the entry itself where they are not there.
[[nodiscard]] inline std::vector<std::string> files_of_image(const std::string& entry) {
  try {
    std::string json;
    auto files = image_paths(entry, json);
    if (!json.empty()) files.insert(files.begin(), json);
    return files;
  } catch (const InputError&) {
    return {entry};
  }
}

/// Calls `work` on an image of the file. What it throws gets the place of the key before it.
template <class Work>
auto for_image(const KernelFile& file, const Work& work) {
  const std::string key = "key 'image': ";
  try {
    return work();
  } catch (const Unsupported& error) {
    throw Unsupported(file.where_images.to_string() + ": " + key + error.what());
  } catch (const Error& error) {
    throw InputError(file.where_images, key + error.what());
  }
}

/// The images of an entry of `image`.
[[nodiscard]] inline std::vector<FoundImage> images_of(const std::string& entry) {
  std::string json;
  std::optional<TritonFacts> facts;
  const auto paths = image_paths(entry, json);
  if (!json.empty()) facts = read_triton_facts(json);
  std::vector<FoundImage> images;
  for (const auto& path : paths) {
    FoundImage image{.path = path,
                     .bytes = read_file(path, "the image of a kernel"),
                     .is_source = std::filesystem::path(path).extension() == ".cu",
                     .triton = facts};
    if (!image.is_source) image.codes = read_image(image.bytes, path);
    images.push_back(std::move(image));
  }
  return images;
}

[[nodiscard]] inline std::vector<FoundImage> find_images(const KernelFile& file) {
  std::vector<FoundImage> images;
  for (const auto& entry : file.images)
    for (auto& image : for_image(file, [&] { return images_of(entry); })) images.push_back(std::move(image));
  const auto sources = std::ranges::count_if(images, &FoundImage::is_source);
  if (sources > 0 && images.size() > 1)
    throw InputError(file.where_images, "key 'image': CUDA source is compiled for each GPU; expected it alone, found " +
                                            std::to_string(images.size()) + " files");
  if (sources == 0 && !file.options.empty())
    throw InputError(file.where, "key 'options': these are for CUDA source (a file *.cu), and there is none");
  return images;
}

/// The name of a kernel as it stands in C++, without parameters and anonymous namespaces: `scale` of `_Z5scalePfi`; the
/// symbol itself where it is not mangled.
[[nodiscard]] inline std::string source_name(const std::string& symbol) {
  std::string name = demangled(symbol);
  constexpr std::string_view anonymous = "(anonymous namespace)::";
  for (auto at = name.find(anonymous); at != std::string::npos; at = name.find(anonymous, at))
    name.erase(at, anonymous.size());
  // That of an instance of a template has its result before it.
  if (name.starts_with("void ")) name.erase(0, 5);
  // The arguments of a template may have brackets, too: `k<(Mode)1>(float*)`. In brackets `>` may be an operator.
  std::size_t parameters = name.size();
  std::string open;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '(' && open.empty()) parameters = i;
    if (name[i] == '(' || name[i] == '<') open += name[i];
    if (name[i] == '>' && open.ends_with('<')) open.pop_back();
    if (name[i] == ')') open.resize(std::min(open.rfind('('), open.size()));
  }
  return name.substr(0, parameters);
}

/// The symbol of the kernel that the file names among those of the image. Throws InputError, which lists them.
[[nodiscard]] inline std::string choose_kernel(const KernelFile& file, const std::string& wanted,
                                               const std::vector<std::string>& symbols, const std::string& image) {
  std::vector<std::string> found;
  std::string all;
  for (const auto& symbol : symbols) {
    if (symbol == wanted) return symbol;
    const std::string name = source_name(symbol);
    if (wanted.empty() || name == wanted) found.push_back(symbol);
    all += (all.empty() ? "" : ", ") + symbol + (name == symbol ? "" : " (" + name + ')');
  }
  if (found.size() == 1) return found.front();
  const std::string problem = wanted.empty() ? "the key 'kernel' is missing"
                              : found.empty()
                                  ? "key 'kernel': there is no kernel '" + wanted + "' in " + image
                                  : "key 'kernel': '" + wanted + "' is the name of several kernels in " + image;
  throw InputError(file.where_kernel, problem + "; expected one of: " + (all.empty() ? "none" : all));
}

/// An argument of a launch: what the driver copies from.
struct ArgumentSlot {
  DescribedArgument::Kind kind = DescribedArgument::Kind::input;
  std::size_t tensor = 0;  ///< of an input: its position in CallInputs::tensors(); of an output: among the outputs
  std::array<unsigned char, 8> bytes{};
};

/// An output that is made before each launch.
struct MadeOutput {
  std::vector<std::int64_t> sizes;
  at::TensorOptions options;
  bool zero = false;
};

class BoundKernel final : public BoundCall {
 public:
  std::unique_ptr<LaunchableKernel> kernel;
  KernelLaunch launch;
  std::vector<ArgumentSlot> slots;
  std::vector<MadeOutput> outputs;
  std::vector<TritonScratch> scratch;  ///< with the bytes of all blocks
  c10::Device device = c10::kCPU;

  [[nodiscard]] std::vector<at::Tensor> run(const std::vector<at::Tensor>& tensors) override {
    std::vector<at::Tensor> results, kept;
    addresses_.clear();
    for (auto& slot : slots) {
      using enum DescribedArgument::Kind;
      if (slot.kind == output) {
        const auto& made = outputs[slot.tensor];
        results.push_back(at::empty(made.sizes, made.options));
        if (made.zero) results.back().zero_();
        point_to(slot, results.back().data_ptr());
      } else if (slot.kind == input || slot.kind == in_place) {
        point_to(slot, tensors[slot.tensor].data_ptr());
        if (slot.kind == in_place) results.push_back(tensors[slot.tensor]);
      }
      addresses_.push_back(slot.bytes.data());
    }
    pointers_.assign(scratch.size(), 0);
    for (std::size_t i = 0; i < scratch.size(); ++i) {
      if (scratch[i].bytes > 0) {
        kept.push_back(at::empty({scratch[i].bytes + scratch[i].align}, at::TensorOptions(device).dtype(at::kByte)));
        const auto align = static_cast<std::uintptr_t>(std::max<std::int64_t>(scratch[i].align, 1));
        pointers_[i] = (reinterpret_cast<std::uintptr_t>(kept.back().data_ptr()) + align - 1) / align * align;
      }
      addresses_.push_back(&pointers_[i]);
    }
    kernel->launch(launch, addresses_.data());
    return results;
  }

 private:
  static void point_to(ArgumentSlot& slot, const void* address) {
    std::memcpy(slot.bytes.data(), &address, sizeof(address));
  }

  std::vector<void*> addresses_;
  std::vector<std::uintptr_t> pointers_;
};

/// The bytes of a number as a kernel takes it. Throws InputError for one that the type does not hold.
[[nodiscard]] inline std::array<unsigned char, 8> scalar_bytes(const Expression& expression, const ScalarType& type,
                                                               const Scope& scope) {
  std::array<unsigned char, 8> bytes{};
  const auto keep = [&](auto value) { std::memcpy(bytes.data(), &value, sizeof(value)); };
  const int bits = static_cast<int>(8 * type.bytes);
  // `rounded` is the number in this type, or in one that holds more.
  const auto require_held = [&](double number, double rounded) {
    if (std::isfinite(number) && !std::isfinite(rounded))
      expression.refuse("expected a number that " + std::string(type.name) + " holds, found one that it rounds to " +
                        (number < 0 ? "-infinity" : "infinity"));
  };
  const auto real = [&] {
    const double number = expression.value(scope).real;
    const auto rounded = static_cast<float>(number);
    require_held(number, rounded);
    return rounded;
  };
  switch (type.kind) {
    case ScalarKind::boolean:
      keep(static_cast<unsigned char>(expression.whole(scope, 0, 1)));
      break;
    case ScalarKind::whole: {
      const std::int64_t most = std::numeric_limits<std::int64_t>::max() >> (64 - bits);
      keep(expression.whole(scope, -most - 1, most));  // the lowest bytes come first
      break;
    }
    case ScalarKind::unsigned_whole: {
      const auto most = bits == 64 ? std::numeric_limits<std::int64_t>::max() : (std::int64_t{1} << bits) - 1;
      keep(expression.whole(scope, 0, most));
      break;
    }
    case ScalarKind::real:
      if (type.bytes == 8)
        keep(expression.value(scope).real);
      else
        keep(real());
      break;
    case ScalarKind::half: {
      const float number = real();
      const c10::Half rounded(number);
      require_held(number, rounded);
      keep(rounded.x);
      break;
    }
    case ScalarKind::brain: {
      const float number = real();
      const c10::BFloat16 rounded(number);
      require_held(number, rounded);
      keep(rounded.x);
      break;
    }
  }
  return bytes;
}

/// Binds the arguments of one case.
class KernelBinder {
 public:
  KernelBinder(const KernelFile& file, const CallInputs& inputs, c10::Device device)
      : file_(file), inputs_(inputs), device_(device) {
    number_inputs();
    // A size may have the name of a number that comes after it, and must be it.
    for (std::size_t i = 0; i < values_.size(); ++i) describe(i);
    for (std::size_t i = 0; file_.inputs && i < values_.size(); ++i)
      if (const auto& described = (*file_.inputs)[i]; described.shape)
        match_shape(*described.shape, values_[i]->toTensor(), "input '" + described.name + "': ", described.where);
  }

  [[nodiscard]] const Scope& scope() const { return scope_; }

  /// Appends what a launch takes to `call`. Throws InputError.
  void bind_arguments(BoundKernel& call) const {
    for (const auto& argument : file_.arguments) {
      ArgumentSlot slot{.kind = argument.kind};
      using enum DescribedArgument::Kind;
      if (argument.kind == scalar) {
        slot.bytes = scalar_bytes(*argument.value, argument.type, scope_);
      } else if (argument.kind == output) {
        slot.tensor = call.outputs.size();
        MadeOutput made{.sizes = {},
                        .options = at::TensorOptions(device_).dtype(inputs::scalar_type(argument.dtype)),
                        .zero = argument.zero};
        constexpr std::int64_t most = std::int64_t{1} << 40;
        for (const auto& size : argument.shape) made.sizes.push_back(size.whole(scope_, 0, most));
        call.outputs.push_back(std::move(made));
      } else {
        slot.tensor = position_of(argument);
      }
      call.slots.push_back(slot);
    }
  }

  /// One to three numbers; those that are not given are 1.
  [[nodiscard]] std::array<std::uint32_t, 3> sizes(const std::vector<Expression>& given,
                                                   const std::array<std::int64_t, 3>& most) const {
    std::array<std::uint32_t, 3> all{1, 1, 1};
    for (std::size_t i = 0; i < given.size(); ++i)
      all[i] = static_cast<std::uint32_t>(given[i].whole(scope_, 1, most[i]));
    return all;
  }

 private:
  [[noreturn]] void refuse(const Location& where, const std::string& what) const { throw InputError(where, what); }
  [[nodiscard]] std::string name_of(std::size_t i) const {
    return file_.inputs ? (*file_.inputs)[i].name : std::to_string(i);
  }

  /// Puts the inputs into the file's order.
  void number_inputs() {
    const auto& given = inputs_.inputs();
    const std::size_t count = given.args.size() + given.kwargs.size();
    if (!file_.inputs) {
      if (!given.kwargs.empty())
        refuse(file_.where, "the key 'inputs' is missing, which gives inputs names; found an input called '" +
                                given.kwargs.front().first + '\'');
      for (const auto& value : given.args) values_.push_back(&value);
      return;
    }
    std::string all;
    for (const auto& input : *file_.inputs) all += (all.empty() ? "" : ", ") + input.name;
    if (count != file_.inputs->size())
      refuse(file_.where, "key 'inputs': expected " + std::to_string(file_.inputs->size()) + " inputs (" + all +
                              "), found " + std::to_string(count));
    values_.assign(count, nullptr);
    for (std::size_t i = 0; i < given.args.size(); ++i) values_[i] = &given.args[i];
    for (const auto& [name, value] : given.kwargs) {
      const auto found = std::ranges::find(*file_.inputs, name, &DescribedInput::name);
      const auto i = static_cast<std::size_t>(found - file_.inputs->begin());
      if (found == file_.inputs->end() || values_[i] != nullptr)
        refuse(file_.where,
               "key 'inputs': " +
                   std::string(found == file_.inputs->end() ? "there is no input" : "there are two values for") + " '" +
                   name + "'; expected " + all);
      values_[i] = &value;
    }
  }

  void describe(std::size_t i) {
    const c10::IValue& value = *values_[i];
    const auto* const described = file_.inputs ? &(*file_.inputs)[i] : nullptr;
    const Location where = described != nullptr ? described->where : file_.where;
    const std::string name = name_of(i), input = "input '" + name + "': ";
    if (value.isInt() || value.isBool() || value.isDouble()) {
      if (described != nullptr && !described->is_number) refuse(where, input + "expected a tensor, found a number");
      scope_.numbers[name] =
          value.isDouble() ? Number::of(value.toDouble())
                           : Number::of(value.isInt() ? value.toInt() : static_cast<std::int64_t>(value.toBool()));
      return;
    }
    if (!value.isTensor()) refuse(where, input + "expected a tensor or a number, found a " + value.tagKind());
    if (described != nullptr && described->is_number) refuse(where, input + "expected a number, found a tensor");
    const at::Tensor& tensor = value.toTensor();
    if (!tensor.defined() || tensor.layout() != c10::kStrided)
      refuse(where, input + "expected a dense tensor, found another one");
    if (tensor.device() != device_)
      refuse(where, input + "expected on " + device_.str() + ", found on " + tensor.device().str());
    scope_.tensors[name] = {tensor.sizes().vec(), tensor.strides().vec()};
    scope_.tensors[std::to_string(i)] = scope_.tensors[name];
    if (described == nullptr) return;
    if (described->dtype && inputs::scalar_type(*described->dtype) != tensor.scalar_type())
      refuse(where, input + "expected " + c10::toString(inputs::scalar_type(*described->dtype)) + ", found " +
                        c10::toString(tensor.scalar_type()));
  }

  void match_shape(const std::vector<Expression>& shape, const at::Tensor& tensor, const std::string& input,
                   const Location& where) {
    std::string expected;
    for (const auto& size : shape) expected += (expected.empty() ? "" : ", ") + size.formula.text();
    const std::string found = "; expected [" + expected + "], found " + sizes_text(tensor);
    if (static_cast<std::int64_t>(shape.size()) != tensor.dim())
      refuse(where, input + "another number of dimensions" + found);
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const auto size = tensor.size(static_cast<std::int64_t>(d));
      const auto& formula = shape[d].formula;
      if (formula.is_name() && !scope_.numbers.contains(formula.text())) {
        scope_.numbers[formula.text()] = Number::of(size);
      } else if (const auto wanted = shape[d].whole(scope_, 0, std::numeric_limits<std::int64_t>::max());
                 wanted != size) {
        refuse(where, input + "size " + std::to_string(d) + " is not " + formula.text() + " = " +
                          std::to_string(wanted) + found);
      }
    }
  }
  [[nodiscard]] static std::string sizes_text(const at::Tensor& tensor) {
    std::string text;
    for (const auto size : tensor.sizes()) text += (text.empty() ? "[" : ", ") + std::to_string(size);
    return (text.empty() ? "[" : text) + ']';
  }

  [[nodiscard]] std::size_t position_of(const DescribedArgument& argument) const {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (name_of(i) != argument.input && std::to_string(i) != argument.input) continue;
      if (!values_[i]->isTensor())
        refuse(argument.where, "'" + argument.input +
                                   "' is a number; expected {scalar: ..., type: ...} with its name "
                                   "in the key 'inputs'");
      return inputs_.index_of(values_[i]->toTensor());
    }
    refuse(argument.where, "there is no input " + argument.input + "; the case has " + std::to_string(values_.size()));
  }

  const KernelFile& file_;
  const CallInputs& inputs_;
  c10::Device device_;
  std::vector<const c10::IValue*> values_;
  Scope scope_;
};

/// Throws InputError unless the list of arguments has as many as the kernel has parameters, of the same sizes.
inline void check_parameters(const KernelFile& file, const std::string& kernel,
                             const std::vector<std::size_t>& parameters, const std::vector<TritonScratch>& scratch) {
  const std::size_t own = parameters.size() - std::min(parameters.size(), scratch.size());
  if (file.arguments.size() != own || parameters.size() < scratch.size()) {
    std::string sizes;
    for (std::size_t i = 0; i < own; ++i) sizes += (i == 0 ? "" : ", ") + std::to_string(parameters[i]);
    throw InputError(
        file.where_arguments,
        "key 'arguments': the kernel '" + kernel + "' takes " + std::to_string(own) + " parameters" +
            (own == 0 ? "" : " of " + sizes + " bytes") + ", found " + std::to_string(file.arguments.size()) +
            " arguments" +
            (scratch.empty() ? ""
                             : "; constexpr arguments, and those for which Triton has compiled in the value "
                               "1, are no parameters"));
  }
  for (std::size_t i = 0; i < own; ++i) {
    const auto& argument = file.arguments[i];
    const bool is_scalar = argument.kind == DescribedArgument::Kind::scalar;
    const std::size_t bytes = is_scalar ? argument.type.bytes : sizeof(void*);
    if (bytes == parameters[i]) continue;
    throw InputError(argument.where, "key 'arguments[" + std::to_string(i) + "]': the kernel '" + kernel + "' takes " +
                                         std::to_string(parameters[i]) + " bytes there, found " +
                                         (is_scalar ? "a number of type " + std::string(argument.type.name) + " (" +
                                                          std::to_string(bytes) + " bytes)"
                                                    : "a pointer (8 bytes)") +
                                         (parameters[i] > sizeof(void*) ? "; structures cannot be given" : ""));
  }
}

/// Throws InputError for keys that Triton's JSON has, and for those that are missing without it.
inline void require_launch_keys(const KernelFile& file, const FoundImage& image) {
  const auto refuse = [&](const std::string& key, const std::string& what) {
    throw InputError(file.where, "key '" + key + "': " + what);
  };
  if (!image.triton) {
    if (file.block.empty())
      throw InputError(file.where, "the key 'block' is missing; expected one to three numbers of threads");
    return;
  }
  const auto& triton = *image.triton;
  if (!file.block.empty())
    throw InputError(file.block.front().where, "key 'block': Triton's JSON says " + std::to_string(triton.threads) +
                                                   " threads; expected no such key");
  if (file.shared)
    throw InputError(file.shared->where, "key 'shared': Triton's JSON says " + std::to_string(triton.shared) +
                                             " bytes; expected no such key");
  if (!file.cluster.empty())
    throw InputError(file.cluster.front().where, "key 'cluster': Triton's JSON says " + std::to_string(triton.blocks) +
                                                     " blocks; expected no such key");
  if (file.cooperative) refuse("cooperative", "Triton's JSON says it; expected no such key");
}

class LoadedKernelFile final : public Loaded {
 public:
  LoadedKernelFile(KernelFile file, const OpenKernelDevice& open, c10::Device device)
      : file_(std::move(file)), torch_device_(device) {
    auto images = find_images(file_);
    device_ = open(device);
    if (images.front().is_source) compile(images.front());
    const FoundImage& image = choose(images);
    require_launch_keys(file_, image);
    std::string wanted = file_.kernel;
    if (!compiled_kernel_.empty()) wanted = compiled_kernel_;
    if (wanted.empty() && image.triton) wanted = image.triton->kernel;
    triton_ = image.triton;
    if (code_->kernels) symbol_ = choose_kernel(file_, wanted, symbols_of(*code_->kernels), image.path);
    kernels_ = for_image(file_, [&] { return device_->load(image.bytes, image.path); });
    // Those of a compressed image are known to the driver alone.
    if (!code_->kernels) symbol_ = choose_kernel(file_, wanted, kernels_->names(), image.path);
    if (triton_ && triton_->programmatic)
      notes_.push_back(file_.path + ": Triton launches this kernel before the one before it has ended; here it waits");
  }

  [[nodiscard]] std::vector<std::string> notes() const override { return notes_; }

  [[nodiscard]] std::unique_ptr<BoundCall> bind(const CallInputs& inputs) override {
    const KernelBinder binder(file_, inputs, torch_device_);
    auto call = std::make_unique<BoundKernel>();
    call->device = torch_device_;
    binder.bind_arguments(*call);
    const auto known = code_->kernels ? std::ranges::find(*code_->kernels, symbol_, &KernelEntry::symbol)
                                      : std::vector<KernelEntry>::const_iterator{};
    const bool says_parameters = code_->kernels && known->parameters;
    const auto scratch = triton_ ? triton_->scratch : std::vector<TritonScratch>{};
    if (says_parameters) check_parameters(file_, source_name(symbol_), *known->parameters, scratch);
    call->launch = launch_of(binder);
    call->kernel = kernels_->get(symbol_);
    if (!says_parameters) check_parameters(file_, source_name(symbol_), call->kernel->parameters(), scratch);
    check_resources(*call->kernel, call->launch);
    call->kernel->allow_shared_bytes(call->launch.shared_bytes);
    // As many as Triton's grid has elements, for each block of a cluster.
    const auto& grid = call->launch.grid;
    for (auto each : scratch) {
      const std::int64_t bytes = each.bytes;
      for (const auto blocks : grid)
        if (__builtin_mul_overflow(each.bytes, std::int64_t{blocks}, &each.bytes))
          file_.grid.front().refuse("Triton's scratch memory, " + std::to_string(bytes) +
                                    " bytes for each block, is too large for a grid of " + std::to_string(grid[0]) +
                                    " x " + std::to_string(grid[1]) + " x " + std::to_string(grid[2]) + " blocks");
      call->scratch.push_back(each);
    }
    return call;
  }

 private:
  [[nodiscard]] static std::vector<std::string> symbols_of(const std::vector<KernelEntry>& kernels) {
    std::vector<std::string> all;
    for (const auto& kernel : kernels) all.push_back(kernel.symbol);
    return all;
  }

  void compile(FoundImage& image) {
    const auto nvrtc = for_image(file_, [] { return std::make_unique<const Nvrtc>(); });
    const SourceToCompile source{
        .text = image.bytes, .path = image.path, .kernel = file_.kernel, .options = file_.options};
    CompiledSource compiled;
    try {
      compiled = for_image(file_, [&] { return nvrtc->compile(source, device_->compute_capability()); });
    } catch (const InputError&) {
      if (source.kernel.empty()) throw;
      SourceToCompile all = source;
      all.kernel.clear();
      std::optional<CompiledSource> without_name;
      try {
        without_name = nvrtc->compile(all, device_->compute_capability());
      } catch (const Error&) {
      }
      if (!without_name) throw;
      // The source compiles: the name is wrong, or an instance of a template does not compile.
      const auto codes = read_image(without_name->image, image.path);
      if (codes.front().kernels && !file_.kernel.ends_with('>'))
        static_cast<void>(choose_kernel(file_, file_.kernel, symbols_of(*codes.front().kernels), image.path));
      throw;
    }
    image.bytes = std::move(compiled.image);
    image.codes = for_image(file_, [&] { return read_image(image.bytes, image.path); });
    compiled_kernel_ = std::move(compiled.kernel);
    if (!compiled.log.empty()) notes_.push_back(image.path + ": NVRTC: " + compiled.log);
  }

  /// The image for the device. Throws InputError, which names the architectures that were found.
  [[nodiscard]] const FoundImage& choose(std::vector<FoundImage>& images) {
    std::vector<KernelCode> all;
    for (const auto& image : images) all.insert(all.end(), image.codes.begin(), image.codes.end());
    const KernelCode* const best = code_for(all, device_->compute_capability());
    if (best == nullptr)
      throw InputError(file_.where_images, "key 'image': the kernel is for another GPU: found " + texts_of(all) +
                                               ", and the device (" + device_->name() + ") is sm_" +
                                               std::to_string(device_->compute_capability()) +
                                               "; expected machine code for it, or PTX of it or an older one");
    code_ = *best;
    auto at = static_cast<std::size_t>(best - all.data());
    for (auto& image : images) {
      if (at < image.codes.size()) {
        if (best->is_ptx && !image.is_source)
          notes_.push_back(image.path + ": the driver compiles its " + best->text() + " for sm_" +
                           std::to_string(device_->compute_capability()));
        return image;
      }
      at -= image.codes.size();
    }
    throw Error(file_.path + ": no image was chosen");
  }

  [[nodiscard]] KernelLaunch launch_of(const KernelBinder& binder) const {
    constexpr std::int64_t most_grid = std::numeric_limits<std::int32_t>::max();
    KernelLaunch launch;
    launch.grid = binder.sizes(file_.grid, {most_grid, 65535, 65535});
    launch.cooperative = file_.cooperative;
    if (triton_) {
      launch.block = {triton_->threads, 1, 1};
      launch.shared_bytes = triton_->shared;
      launch.cluster = {triton_->blocks, 1, 1};
      launch.cooperative = triton_->cooperative;
      if (launch.grid[0] > most_grid / triton_->blocks)
        file_.grid.front().refuse("the grid and Triton's clusters have more than 2147483647 blocks");
      launch.grid[0] *= triton_->blocks;
      return launch;
    }
    launch.block = binder.sizes(file_.block, {1024, 1024, 64});
    if (!file_.cluster.empty())
      launch.cluster =
          binder.sizes(file_.cluster, {most_blocks_of_cluster, most_blocks_of_cluster, most_blocks_of_cluster});
    if (launch.cluster[0] * launch.cluster[1] * launch.cluster[2] > most_blocks_of_cluster)
      file_.cluster.front().refuse("expected at most 8 blocks of a cluster");
    for (std::size_t i = 0; i < 3; ++i)
      if (launch.grid[i] % launch.cluster[i] != 0)
        file_.cluster.front().refuse("expected a grid that is a multiple of it, found " +
                                     std::to_string(launch.grid[i]) + " blocks and clusters of " +
                                     std::to_string(launch.cluster[i]));
    if (file_.shared) launch.shared_bytes = static_cast<std::uint32_t>(file_.shared->whole(binder.scope(), 0, 1 << 30));
    return launch;
  }

  void check_resources(const LaunchableKernel& kernel, const KernelLaunch& launch) const {
    const std::int64_t fixed = kernel.static_shared_bytes(), most = device_->most_shared_bytes();
    if (fixed + launch.shared_bytes > most) {
      const std::string what = "expected at most " + std::to_string(most) + " bytes of shared memory on " +
                               device_->name() + ", found " + std::to_string(launch.shared_bytes) + " and " +
                               std::to_string(fixed) + " of the kernel's own";
      if (file_.shared) file_.shared->refuse(what);
      throw InputError(file_.where, what);
    }
    const std::int64_t threads = std::int64_t{launch.block[0]} * launch.block[1] * launch.block[2];
    if (threads > kernel.most_threads()) {
      const std::string what = "expected at most " + std::to_string(kernel.most_threads()) +
                               " threads of a block for this kernel, found " + std::to_string(threads);
      if (!file_.block.empty()) file_.block.front().refuse(what);
      throw InputError(file_.where, what);
    }
  }

  KernelFile file_;
  c10::Device torch_device_;
  std::unique_ptr<KernelDevice> device_;
  std::optional<TritonFacts> triton_;
  std::optional<KernelCode> code_;
  std::string compiled_kernel_, symbol_;
  std::unique_ptr<LoadedKernels> kernels_;
  std::vector<std::string> notes_;
};

}  // namespace detail

class KernelLoader final : public Loader {
 public:
  /// `open`: what kernels run on.
  explicit KernelLoader(OpenKernelDevice open = open_kernel_device) : open_(std::move(open)) {}

  [[nodiscard]] std::string name() const override { return "kernel (a file *.yaml)"; }
  [[nodiscard]] bool recognises(const Content& content) const override {
    const auto extension = std::filesystem::path(content.path()).extension();
    return (extension == ".yaml" || extension == ".yml") && !content.is_archive() && !content.is_elf() &&
           !content.is_pickle();
  }
  [[nodiscard]] std::string code_in(const Content& content) const override {
    std::string images;
    for (const auto& image : read_kernel_file(content.path()).images) images += (images.empty() ? "" : ", ") + image;
    return "a kernel, which may read and write all memory of this program on the GPU (" + images + ')';
  }
  [[nodiscard]] std::vector<std::string> also_reads(const Content& content) const override {
    std::vector<std::string> all;
    for (const auto& image : read_kernel_file(content.path()).images)
      for (auto& each : detail::files_of_image(image)) all.push_back(std::move(each));
    return all;
  }
  void require_loadable(const Content& content, const LoadOptions& options) const override {
    const KernelFile file = read_kernel_file(content.path());
    const auto images = detail::find_images(file);
    const auto is_like_first = [&](const auto& image) {
      return image.triton.has_value() == images.front().triton.has_value();
    };
    // The device chooses among images of both kinds.
    if (std::ranges::all_of(images, is_like_first)) detail::require_launch_keys(file, images.front());
    (void)open_(options.device);
  }
  [[nodiscard]] std::unique_ptr<Loaded> load(const Content& content, const LoadOptions& options) const override {
    return std::make_unique<detail::LoadedKernelFile>(read_kernel_file(content.path()), open_, options.device);
  }

 private:
  OpenKernelDevice open_;
};

}  // namespace pace::benches::loaders
