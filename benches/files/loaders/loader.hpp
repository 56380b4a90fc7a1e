// The seam between a program and the kinds of files that it runs: one class derived from Loader for each kind.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/scalar_tensor.h>
#include <c10/core/Device.h>

#include "benches/files/loaders/call_inputs.hpp"
#include "benches/files/loaders/content.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::loaders {

/// Whether two tensors of one type and size hold the same bytes.
[[nodiscard]] inline bool same_bytes(const at::Tensor& a, const at::Tensor& b) {
  const auto bytes = [](const at::Tensor& tensor) { return tensor.contiguous().view({-1}).view(at::kByte).cpu(); };
  return at::equal(bytes(a), bytes(b));
}

/// A tensor that a file holds under a name, such as a buffer of a module.
struct Buffer {
  std::string name;
  at::Tensor value;
};

/// A loaded file, bound to the arguments of one case.
class BoundCall {
 public:
  BoundCall() = default;
  BoundCall(const BoundCall&) = delete;
  BoundCall& operator=(const BoundCall&) = delete;
  virtual ~BoundCall() = default;
  /// One call with `tensors` in the place of CallInputs::tensors(), and behind them those in the place of state().
  /// Returns the tensors of the outputs in depth-first order; numbers among the outputs are tensors without dimensions,
  /// and None is left out.
  [[nodiscard]] virtual std::vector<at::Tensor> run(const std::vector<at::Tensor>& tensors) = 0;
  /// The buffers that calls write to, in the order of their names. Each call takes them from its caller, who can so
  /// restore and compare them.
  [[nodiscard]] virtual const std::vector<Buffer>& state() const {
    static const std::vector<Buffer> none;
    return none;
  }
  /// Adds the file's buffers with a name in `state` to state(). Calls of another file write to those. A first call that
  /// wrote the values already there went unnoticed. Throws as bind() does for such buffers.
  virtual void also_take(const std::vector<Buffer>& /*state*/) {}
};

/// A module, a program or an operator that can be called.
class Loaded {
 public:
  Loaded() = default;
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;
  virtual ~Loaded() = default;
  /// Throws InputError for inputs that do not fit, as far as the file says. The message has the argument, the found and
  /// the expected input. The result refers to this object.
  [[nodiscard]] virtual std::unique_ptr<BoundCall> bind(const CallInputs& inputs) = 0;
  /// Sentences for the results.
  [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }
  /// Sentences for the results that are known once it was called. `side`: its name there.
  [[nodiscard]] virtual std::vector<std::string> late_notes(const std::string& /*side*/) const { return {}; }
};

/// How files are loaded.
struct LoadOptions {
  c10::Device device = c10::kCPU;  ///< where the inputs are
  std::string model = {};          ///< the name of the model in an archive of several; empty: the only one, or `model`
  /// The names of the arguments of the program that a package was compiled from, the positional ones first; the package
  /// itself has none. Empty: they are not known.
  std::vector<std::string> argument_names = {};
  /// Whether this process has the operators of the libraries that are loaded before: a dry run loads none.
  bool has_libraries = true;
};

/// Throws InputError or Unsupported for inputs that a file does not take. The message has the argument, the found and
/// the expected input. Of tensors it reads types and sizes alone.
using InputCheck = std::function<void(const CallInputs& inputs, const TensorPlaces& places)>;

/// One kind of file.
class Loader {
 public:
  Loader() = default;
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;
  virtual ~Loader() = default;
  /// The name of this kind of file in messages.
  [[nodiscard]] virtual std::string name() const = 0;
  /// Whether the file is of this kind.
  [[nodiscard]] virtual bool recognises(const Content& content) const = 0;
  /// The code in the file that runs when it is loaded or called, in words; empty: there is none.
  [[nodiscard]] virtual std::string code_in(const Content& content) const = 0;
  /// Paths of other files that are read when it is loaded. Throws InputError.
  [[nodiscard]] virtual std::vector<std::string> also_reads(const Content& /*content*/) const { return {}; }
  /// Throws InputError or Unsupported, which name the file, where load() would. Finds only errors that show without
  /// running code of the file. The archive itself was looked at before: require_whole().
  virtual void require_loadable(const Content& content, const LoadOptions& options) const = 0;
  /// The check of inputs by the file's own description, without running its code; empty: it has none. Throws as
  /// require_loadable() does.
  [[nodiscard]] virtual InputCheck input_check(const Content& /*content*/, const LoadOptions& /*options*/) const {
    return {};
  }
  /// Throws InputError or Unsupported, which name the file.
  [[nodiscard]] virtual std::unique_ptr<Loaded> load(const Content& content, const LoadOptions& options) const = 0;
};

/// Returns the name of the model to load out of those in an archive. Throws InputError, which lists them.
[[nodiscard]] inline std::string choose_model(const Content& content, const std::vector<std::string>& models,
                                              const std::string& wanted) {
  const auto has = [&](const std::string& name) { return std::ranges::find(models, name) != models.end(); };
  if (wanted.empty() && models.size() == 1) return models.front();
  const std::string name = wanted.empty() ? "model" : wanted;
  if (has(name)) return name;
  std::string all;
  for (const auto& each : models) all += (all.empty() ? "" : ", ") + each;
  throw InputError({content.path()}, "the archive has no model '" + name + "'; expected FILE:NAME with one of " + all);
}

namespace detail {

inline void flatten_output(const c10::IValue& value, std::vector<at::Tensor>& tensors) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) tensors.push_back(value.toTensor());
  } else if (value.isTuple()) {
    for (const auto& item : value.toTupleRef().elements()) flatten_output(item, tensors);
  } else if (value.isList()) {
    for (const c10::IValue& item : value.toListRef()) flatten_output(item, tensors);
  } else if (value.isGenericDict()) {
    for (const auto& item : value.toGenericDict()) flatten_output(item.value(), tensors);
  } else if (value.isInt() || value.isDouble() || value.isBool()) {
    const at::Scalar scalar = value.toScalar();
    tensors.push_back(at::scalar_tensor(scalar, at::TensorOptions().dtype(scalar.type())));
  } else if (!value.isNone()) {
    throw Error("an output is of type " + value.tagKind() +
                "; expected tensors, numbers, and tuples, lists and dicts of these");
  }
}

}  // namespace detail

/// The tensors of an output in depth-first order: implementations differ in whether they return one tensor or a tuple
/// of one. None is no output: NativeRT returns it as None, AOTInductor as a tensor that is not defined. Throws Error
/// for an output of another type.
[[nodiscard]] inline std::vector<at::Tensor> flat_outputs(const c10::IValue& output) {
  std::vector<at::Tensor> tensors;
  detail::flatten_output(output, tensors);
  return tensors;
}
/// The same of outputs that are flat already.
template <class Value>
[[nodiscard]] std::vector<at::Tensor> flat_outputs(const std::vector<Value>& outputs) {
  std::vector<at::Tensor> tensors;
  tensors.reserve(outputs.size());
  for (const auto& output : outputs) detail::flatten_output(output, tensors);
  return tensors;
}

}  // namespace pace::benches::loaders
