// Back ends: ways to run an operator call, found by name.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "benches/files/aot/package_options.hpp"
#include "benches/operators/calls/operator_call.hpp"
#include "pace/base/error.hpp"
#include "pace/os/activity.hpp"

namespace pace::benches::operators {

/// A call made ready to run. It need not outlive its back end, but may outlive the call that it was made from.
class Executable {
 public:
  Executable() = default;
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;
  virtual ~Executable() = default;

  /// One iteration, on tensors of the metadata that the call was bound with. The result has the form that
  /// `OperatorCall::run` gives. One thread at a time.
  [[nodiscard]] virtual c10::IValue run(const std::vector<at::Tensor>& tensors) = 0;
  /// `iterations` of them in a row, dropping their results, each with a beat of activity().
  virtual void repeat(const std::vector<at::Tensor>& tensors, std::int64_t iterations) {
    for (std::int64_t i = 0; i < iterations; ++i) {
      static_cast<void>(run(tensors));
      activity()->running(activity()->implementation);
    }
  }
};

/// One way to run operator calls.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  [[nodiscard]] virtual std::string name() const = 0;
  /// Throws `Unsupported` with the reason when this back end cannot run the call.
  [[nodiscard]] virtual std::unique_ptr<Executable> prepare(const OperatorCall& call) = 0;
  /// Announces the calls that will be prepared, so that a back end that compiles can take many at once. Reports
  /// nothing: a call that cannot be compiled says so in its own `prepare`.
  virtual void prepare_all(std::span<const OperatorCall* const> /*calls*/) {}
  /// How long compiling the call took, if this process did that, in prepare() or prepare_all(). Nothing where nothing
  /// was compiled, or that is not known.
  [[nodiscard]] virtual std::optional<double> compile_seconds(const OperatorCall& /*call*/) { return std::nullopt; }
  /// Whether TorchScript's fuser has an effect on it, so that `--fuser` means something.
  [[nodiscard]] virtual bool uses_fuser() const { return false; }
  /// Whether autograd can follow its code, so that outputs have gradients.
  [[nodiscard]] virtual bool is_differentiable() const { return true; }
  /// Whether it returns the same memory from all calls, so that an output must be read before the next call.
  [[nodiscard]] virtual bool reuses_outputs() const { return false; }
};

/// The options of back ends.
struct BackendOptions {
  benches::aot::PackageOptions packages{};
  /// Each one a back end `aot_inductor[NAME]` more (see find_inductor_config).
  std::vector<std::string> inductor_configs = {};
};

/// Back ends by name, in the order of their addition.
class BackendRegistry {
 public:
  /// `eager`, `torchscript`, `aot_inductor`, and a CUDA graph of each; then those that source files register
  /// (registered.hpp), sorted by name. Throws InputError where two have one name. Defined in default_backends.hpp,
  /// which the caller includes.
  [[nodiscard]] static BackendRegistry with_defaults(const BackendOptions& options);

  /// Throws `InputError` when a back end of that name is there already.
  Backend& add(std::unique_ptr<Backend> backend) {
    const std::string name = backend->name();
    if (lookup(name) != nullptr) throw InputError({}, "a back end named '" + name + "' is already registered");
    backends_.push_back(std::move(backend));
    return *backends_.back();
  }

  /// Throws `InputError` that lists the known names.
  [[nodiscard]] Backend& find(std::string_view name) const {
    if (Backend* found = lookup(name)) return *found;
    std::string message = "unknown back end '" + std::string(name) + "'; known: ";
    for (std::size_t i = 0; i < backends_.size(); ++i) message += (i == 0 ? "" : ", ") + backends_[i]->name();
    throw InputError({}, message);
  }

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& backend : backends_) names.push_back(backend->name());
    return names;
  }

 private:
  [[nodiscard]] Backend* lookup(std::string_view name) const {
    const auto found =
        std::find_if(backends_.begin(), backends_.end(), [&](const auto& backend) { return backend->name() == name; });
    return found == backends_.end() ? nullptr : found->get();
  }

  std::vector<std::unique_ptr<Backend>> backends_;
};

}  // namespace pace::benches::operators
