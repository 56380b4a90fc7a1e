// Arguments of a kernel's launch: the inputs of a case, checked against the kernel's file, and the call that they make.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
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
#include "benches/files/kernels/kernel_device.hpp"
#include "benches/files/kernels/kernel_file.hpp"
#include "benches/files/kernels/triton.hpp"
#include "benches/files/loaders/call_inputs.hpp"
#include "benches/files/loaders/loader.hpp"
#include "pace/base/error.hpp"
#include "pace/inputs/scalar_type.hpp"

namespace pace::benches::loaders::detail {

/// An argument of a launch: the driver copies from it.
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

  /// Appends the arguments of a launch to `call`. Throws InputError.
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

}  // namespace pace::benches::loaders::detail
