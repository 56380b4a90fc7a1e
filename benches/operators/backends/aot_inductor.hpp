// Back end `aot_inductor`: the call compiled ahead of time by Inductor, as a package that LibTorch loads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "benches/files/aot/package_model.hpp"
#include "benches/files/aot/tensor_metadata.hpp"
#include "benches/operators/backends/backend.hpp"
#include "benches/operators/backends/package_store.hpp"
#include "benches/operators/backends/randomness.hpp"
#include "benches/operators/calls/operator_call.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::operators {

namespace detail {

/// How an operator arranges the tensors that it returns. A package's tensors get the same form.
enum class ResultForm { nothing, tensor, list, tuple };

/// Throws `Unsupported` for results that a package cannot return: values that are no dense tensors, or eager's random
/// numbers.
[[nodiscard]] inline ResultForm result_form(const OperatorCall& call) {
  if (draws_random_numbers(call))
    throw Unsupported("Inductor draws random numbers of its own, so that no two implementations of " + call.name() +
                      " agree");
  for (std::size_t i = 0; i < call.arguments().size(); ++i) {
    const c10::IValue& layout = call.arguments()[i].value;  // None but for constants
    if (call.schema().arguments()[i].name() != "layout" || layout.isNone()) continue;
    if (layout.toInt() != static_cast<std::int64_t>(c10::kStrided)) {
      // Seen with 2.11: the package runs, prints an error, and returns an undefined tensor.
      throw Unsupported("AOTInductor has no sparse tensors, " + call.name() + " makes one");
    }
  }
  const std::vector<c10::Argument>& returns = call.schema().returns();
  if (returns.empty()) return ResultForm::nothing;
  if (returns.size() == 1 && returns[0].type()->isSubtypeOf(*c10::ListType::ofTensors())) return ResultForm::list;
  for (const c10::Argument& returned : returns) {
    if (returned.type()->kind() != c10::TypeKind::TensorType) {
      throw Unsupported("AOTInductor returns tensors only, " + call.name() + " returns " + returned.type()->str());
    }
  }
  return returns.size() == 1 ? ResultForm::tensor : ResultForm::tuple;
}

}  // namespace detail

#if PACE_HAS_AOT_INDUCTOR

class AotInductorExecutable final : public Executable {
 public:
  AotInductorExecutable(const std::string& package, const OperatorCall& call)
      : form_(detail::result_form(call)),
        model_(package, "model", "the package of " + call.name(), metadata_of(call)) {}

  [[nodiscard]] c10::IValue run(const std::vector<at::Tensor>& tensors) override {
    std::vector<at::Tensor> outputs = model_.run(tensors);
    switch (form_) {
      case detail::ResultForm::nothing:
        return {};
      case detail::ResultForm::tensor:
        return outputs.empty() ? c10::IValue() : c10::IValue(std::move(outputs.front()));
      case detail::ResultForm::list:
        return c10::IValue(std::move(outputs));
      case detail::ResultForm::tuple:
        break;
    }
    return c10::ivalue::Tuple::create(
        std::vector<c10::IValue>(std::make_move_iterator(outputs.begin()), std::make_move_iterator(outputs.end())));
  }

 private:
  [[nodiscard]] static std::vector<benches::aot::TensorMetadata> metadata_of(const OperatorCall& call) {
    std::vector<benches::aot::TensorMetadata> metadata;
    for (const at::Tensor& tensor : call.tensors()) metadata.push_back(benches::aot::TensorMetadata::of(tensor));
    return metadata;
  }

  detail::ResultForm form_;
  benches::aot::PackageModel model_;
};

#endif  // PACE_HAS_AOT_INDUCTOR

class AotInductorBackend final : public Backend {
 public:
  /// A back end with other options of Inductor needs another name.
  explicit AotInductorBackend(benches::aot::PackageOptions options = {}, std::string name = "aot_inductor")
      : name_(std::move(name)), store_(std::move(options)) {}

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] bool is_differentiable() const override { return false; }
  [[nodiscard]] std::optional<double> compile_seconds(const OperatorCall& call) override {
    return store_.compile_seconds(call);
  }

#if PACE_HAS_AOT_INDUCTOR
  [[nodiscard]] std::unique_ptr<Executable> prepare(const OperatorCall& call) override {
    (void)detail::result_form(call);  // before compiling in vain
    return benches::aot::load_package([&] { return store_.find(call).string(); }, [&] { return store_.discard(call); },
                                      [&](const std::string& package) -> std::unique_ptr<Executable> {
                                        return std::make_unique<AotInductorExecutable>(package, call);
                                      });
  }

  void prepare_all(std::span<const OperatorCall* const> calls) override {
    std::vector<const OperatorCall*> possible;
    for (const OperatorCall* call : calls) {
      try {
        (void)detail::result_form(*call);
        possible.push_back(call);
      } catch (const Unsupported&) {  // prepare() will say so
      }
    }
    store_.prepare_all(possible);
  }
#else
  [[nodiscard]] std::unique_ptr<Executable> prepare(const OperatorCall& /*call*/) override {
    throw Unsupported("this LibTorch has no AOTInductor package loader");
  }
#endif

  [[nodiscard]] PackageStore& store() noexcept { return store_; }

 private:
  std::string name_;
  PackageStore store_;
};

}  // namespace pace::benches::operators
