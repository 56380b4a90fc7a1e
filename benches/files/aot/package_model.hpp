// One compiled model of a package, which checks its inputs.
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "benches/files/aot/libtorch_parts.hpp"
#include "benches/files/aot/tensor_metadata.hpp"
#include "pace/base/error.hpp"

#if PACE_HAS_AOT_INDUCTOR
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#endif

namespace pace::benches::aot {

/// Loads a package, and returns the result of `load` for its path. If that fails, has it compiled anew and loads that.
/// `find` gives its path, `discard` is false where it has been compiled anew before, `load` throws. Throws
/// `Unsupported` with the reason.
template <class Find, class Discard, class Load>
[[nodiscard]] auto load_package(const Find& find, const Discard& discard, const Load& load) {
  const auto first_line = [](const std::exception& error) {
    const std::string text = error.what();
    return text.substr(0, text.find('\n'));
  };
  const std::string package = find();
  try {
    return load(package);
  } catch (const std::exception& error) {  // c10::Error, std::runtime_error
    if (!discard()) throw Unsupported("the package " + package + " does not load: " + first_line(error));
  }
  const std::string again = find();
  try {
    return load(again);
  } catch (const std::exception& error) {
    throw Unsupported("the package " + again + " does not load, though compiled anew: " + first_line(error));
  }
}

namespace detail {

/// LibTorch's attention keeps the state of its random numbers in whole numbers without dimensions. It has them on the
/// CPU unless a graph is captured; compilers are told of the GPU, but only hand them on to its backward.
[[nodiscard]] inline bool is_random_state(const TensorMetadata& expected, const at::Tensor& operand) {
  return operand.defined() && operand.device().is_cpu() && operand.dim() == 0 && expected.sizes.empty() &&
         operand.scalar_type() == at::kLong && expected.dtype == at::kLong;
}

}  // namespace detail

/// The operands that one model of a package is for.
class ExpectedOperands {
 public:
  /// Whether they come from another model of the package: among them may be random states on the CPU.
  enum class From { given, handed_on };

  /// `name`: of the model, for people.
  ExpectedOperands(std::string name, std::vector<TensorMetadata> operands, From from = From::given)
      : name_(std::move(name)), operands_(std::move(operands)), from_(from) {}

  /// Throws `Error` for operands of other metadata.
  void check(const std::vector<at::Tensor>& operands) const {
    if (operands.size() != operands_.size()) {
      throw Error(name_ + " was compiled for " + std::to_string(operands_.size()) + " operands, but called with " +
                  std::to_string(operands.size()));
    }
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (operands_[i].fits(operands[i])) continue;
      if (from_ == From::given || !detail::is_random_state(operands_[i], operands[i])) refuse(i, operands[i]);
    }
  }

  [[nodiscard]] const std::vector<TensorMetadata>& all() const noexcept { return operands_; }

 private:
  [[noreturn]] void refuse(std::size_t i, const at::Tensor& operand) const {
    throw Error(name_ + " was compiled for " + operands_[i].to_string() + " as operand " + std::to_string(i) +
                ", but called with " +
                (operand.defined() ? TensorMetadata::of(operand).to_string() : std::string("an undefined tensor")));
  }

  std::string name_;
  std::vector<TensorMetadata> operands_;
  From from_;
};

#if PACE_HAS_AOT_INDUCTOR

/// One model of a package, loaded to be called by one caller at a time.
class PackageModel {
 public:
  using Operands = ExpectedOperands::From;

  /// `model`: its name within the package; `name`: for people.
  PackageModel(const std::string& package, const std::string& model, std::string name,
               std::vector<TensorMetadata> operands, Operands from = Operands::given)
      : operands_(std::move(name), std::move(operands), from),
        // Single-threaded: no lock and no event is taken for a second caller, since there is none here; and only so can
        // a run be captured into a CUDA graph.
        loader_(std::make_unique<torch::inductor::AOTIModelPackageLoader>(
            package, model, /*run_single_threaded=*/true, /*num_runners=*/1,
            operands_.all().empty() ? c10::DeviceIndex(-1) : operands_.all().front().device.index())) {}

  /// Throws `Error` for operands of other metadata: compiled code trusts its operands, so others would be read out of
  /// bounds.
  [[nodiscard]] std::vector<at::Tensor> run(const std::vector<at::Tensor>& operands) {
    operands_.check(operands);
    return loader_->run(operands);
  }

  /// The same, and frees each operand that nothing else holds when it has been used for the last time.
  [[nodiscard]] std::vector<at::Tensor> consume(std::vector<at::Tensor> operands) {
    operands_.check(operands);
    return loader_->boxed_run(std::move(operands));
  }

  [[nodiscard]] const std::vector<TensorMetadata>& operands() const noexcept { return operands_.all(); }

 private:
  ExpectedOperands operands_;
  std::unique_ptr<torch::inductor::AOTIModelPackageLoader> loader_;
};

#endif  // PACE_HAS_AOT_INDUCTOR

}  // namespace pace::benches::aot
