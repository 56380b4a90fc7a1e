// A package that the command line names: inspected before it is loaded, and called with inputs that it was compiled
// for.
#pragma once

#include <array>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/Device.h>
#include <c10/util/Exception.h>

#include "benches/files/aot/device.hpp"
#include "benches/files/aot/package_facts.hpp"
#include "benches/files/aot/package_model.hpp"
#include "benches/kernels/inputs.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::kernels {

/// An exception's message, in one line.
[[nodiscard]] inline std::string first_line(const std::exception& error) {
  const auto* const torch = dynamic_cast<const c10::Error*>(&error);
  const std::string text = torch != nullptr ? torch->what_without_backtrace() : error.what();
  return text.substr(0, text.find('\n'));
}

/// Throws InputError unless the file is an archive, as packages are.
inline void check_file(const std::string& path) {
  namespace fs = std::filesystem;
  if (!fs::exists(path)) throw InputError({path}, "no such file; expected a package of AOTInductor (.pt2)");
  std::array<char, 4> begin{};
  if (fs::is_regular_file(path)) std::ifstream(path, std::ios::binary).read(begin.data(), begin.size());
  if (std::string_view(begin.data(), begin.size()) != "PK\3\4")
    throw InputError({path}, "this is no package; expected an archive (.pt2) that AOTInductor wrote");
}

/// The names of a package's models, from LibTorch's message when it is asked for another.
[[nodiscard]] inline std::vector<std::string> models_told(const std::string& message) {
  constexpr std::string_view title = "Available models in the archive:\n";
  std::vector<std::string> models;
  const std::size_t begin = message.find(title);
  if (begin == std::string::npos) return models;
  std::istringstream lines(message.substr(begin + title.size()));
  for (std::string line; std::getline(lines, line) && !line.empty();) models.push_back(line);
  return models;
}

/// Metadata of a model, and its name: `named`, or without a name the only one, or `model`. `load` throws as LibTorch
/// does. Throws InputError that lists the models that there are.
template <class Load>
[[nodiscard]] auto find_model(const std::string& path, const std::string& named, const Load& load) {
  const std::string wanted = named.empty() ? "model" : named;
  std::vector<std::string> models;
  try {
    return std::pair(load(wanted), wanted);
  } catch (const c10::Error& error) {
    models = models_told(error.what_without_backtrace());
    if (models.empty()) throw InputError({path}, first_line(error));
  }
  if (named.empty() && models.size() == 1) return std::pair(load(models.front()), models.front());
  std::string names;
  for (const auto& each : models) names += (names.empty() ? "" : ", ") + each;
  throw InputError({path}, "the package has no model '" + wanted + "'; expected --model with one of " + names);
}

/// Where a package runs that was compiled for `compiled_for`, on a machine with so many GPUs. `named`: `cpu`, `cuda`,
/// `cuda:1` or nothing. Throws InputError for a package that was compiled for another device, DeviceMissing for a GPU
/// that is not there.
[[nodiscard]] inline c10::Device device_of(const std::string& path, const std::string& compiled_for,
                                           const std::string& named, int gpus) {
  if (compiled_for != "cpu" && compiled_for != "cuda")
    throw InputError({path}, "the package was compiled for " + compiled_for + "; expected one for cpu or cuda");
  if (!named.empty() && named.substr(0, named.find(':')) != compiled_for)
    throw InputError({path}, "the package was compiled for " + compiled_for + "; --device asks for " + named);
  c10::Device device(named.empty() ? compiled_for : named);
  if (device.is_cuda() && gpus > 0 && device.index() >= gpus)
    throw DeviceMissing(path + ": --device asks for " + named + ", and this machine has " + std::to_string(gpus) +
                        " GPUs");
  if (device.is_cuda() && gpus == 0)
    throw DeviceMissing(path + ": the package was compiled for a GPU, and there is none here");
  return device;
}

/// The package, with operands. Nothing runs before run() is called: under Nsight Compute, one call is all that may be
/// seen.
class Package {
 public:
  /// Throws InputError, Unsupported, DeviceMissing or Error, which name the file.
  Package(const std::string& path, const std::string& model, const std::string& inputs, const std::string& device)
      : path_(path) {
    check_file(path);
    const auto [metadata, name] = find_model(
        path, model, [&](const std::string& each) { return Loader::load_metadata_from_package(path, each); });
    facts_ = benches::aot::read_package_facts(path, name);
    const auto compiled_for = metadata.find("AOTI_DEVICE_KEY");
    if (compiled_for == metadata.end())
      throw InputError(
          {path}, "the package does not say which device it was compiled for; expected one that AOTInductor wrote");
    const auto& cuda = at::detail::getCUDAHooks();
    device_ = device_of(path, compiled_for->second, device, cuda.hasCUDA() ? static_cast<int>(cuda.deviceCount()) : 0);
    if (!inputs.empty())
      metadata_ = parse_inputs(inputs, device_);
    else if (facts_)
      metadata_ = facts_->inputs;
    else
      throw InputError({path},
                       "what it was compiled for is not kept beside it; expected --inputs, such as "
                       "--inputs \"(T([4, 8], f32),)\"");
    // Compiled code trusts its operands, unless it is told not to before its first run.
    if (!facts_) ::setenv("AOTI_RUNTIME_CHECK_INPUTS", "1", 1);
    tensors_ = named([&] { return make_inputs(metadata_); });
    const auto& compiled_with = facts_ ? facts_->inputs : metadata_;
    model_ = named(
        [&, &name = name] { return std::make_unique<benches::aot::PackageModel>(path, name, path, compiled_with); });
  }

  /// One call. Throws Error with LibTorch's message.
  std::vector<at::Tensor> run() {
    return named([&] { return model_->run(tensors_); });
  }

  [[nodiscard]] c10::Device device() const { return device_; }
  [[nodiscard]] std::vector<at::Tensor>& operands() { return tensors_; }
  [[nodiscard]] const std::optional<benches::aot::PackageFacts>& facts() const { return facts_; }

 private:
  using Loader = torch::inductor::AOTIModelPackageLoader;

  /// LibTorch's exceptions say little of where they come from.
  template <class Body>
  std::invoke_result_t<Body&> named(Body&& body) const {
    try {
      return body();
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      const std::string text = first_line(error);
      const bool told = text.find("API call failed") != std::string::npos;
      throw Error(path_ + ": " + (told ? "its run failed; the package has said above why" : text));
    }
  }

  std::string path_;
  std::optional<benches::aot::PackageFacts> facts_;
  c10::Device device_ = at::kCPU;
  std::vector<benches::aot::TensorMetadata> metadata_;
  std::vector<at::Tensor> tensors_;
  std::unique_ptr<benches::aot::PackageModel> model_;
};

}  // namespace pace::benches::kernels
