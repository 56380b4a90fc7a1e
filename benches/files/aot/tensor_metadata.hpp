// The properties that compiled code takes for granted of a tensor argument.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>
#include <nlohmann/json.hpp>

#include "pace/base/error.hpp"
#include "pace/corpus/dtype.hpp"
#include "pace/inputs/scalar_type.hpp"
#include "pace/os/parse_json.hpp"

namespace pace::benches::aot {

struct TensorMetadata {
  at::ScalarType dtype = at::kFloat;
  c10::Device device = at::kCPU;
  std::vector<std::int64_t> sizes, strides;
  /// Where the first size, a batch, may be another one: from `low` to `high`. Compilers take a one for a constant.
  struct Range {
    std::int64_t low = 2, high = std::numeric_limits<std::int64_t>::max();
  };
  std::optional<Range> batch = {};

  [[nodiscard]] static TensorMetadata of(const at::Tensor& tensor) {
    return {tensor.scalar_type(), tensor.device(), tensor.sizes().vec(), tensor.strides().vec(), std::nullopt};
  }

  /// Strides along which nothing is ever stepped do not matter.
  [[nodiscard]] bool fits(const at::Tensor& tensor) const {
    if (!tensor.defined() || tensor.scalar_type() != dtype || tensor.device() != device || !fits_sizes(tensor.sizes()))
      return false;
    if (tensor.strides() == strides || tensor.numel() == 0) return true;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] != 1 && tensor.strides()[i] != strides[i]) return false;
    }
    return true;
  }

  /// `float32[2, 3] with strides [3, 1] on cpu`, and of a batch `... on cpu, for a first size of 2 or more`.
  [[nodiscard]] std::string to_string() const {
    const auto list = [](const std::vector<std::int64_t>& numbers) {
      std::string text;
      for (const std::int64_t number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
      return '[' + text + ']';
    };
    const auto known = inputs::dtype_from_scalar_type(dtype);
    const std::string name = known ? std::string(corpus::torch_name(*known)) : c10::toString(dtype);
    std::string text = name + list(sizes) + " with strides " + list(strides) + " on " + device.str();
    if (!batch) return text;
    const bool open = batch->high == std::numeric_limits<std::int64_t>::max();
    return text + ", for a first size of " + std::to_string(batch->low) +
           (open ? " or more" : " to " + std::to_string(batch->high));
  }

 private:
  [[nodiscard]] bool fits_sizes(at::IntArrayRef found) const {
    if (!batch) return found == sizes;
    return found.size() == sizes.size() && found.slice(1) == at::IntArrayRef(sizes).slice(1) &&
           found[0] >= batch->low && found[0] <= batch->high;
  }
};

/// Returns the metadata as the compile script reads it. Throws `Unsupported` for a tensor that compiled code cannot
/// take.
[[nodiscard]] inline nlohmann::json to_json(const TensorMetadata& tensor) {
  const auto dtype = inputs::dtype_from_scalar_type(tensor.dtype);
  if (!dtype) throw Unsupported("AOTInductor takes no tensor of " + std::string(c10::toString(tensor.dtype)));
  nlohmann::json json = {{"sizes", tensor.sizes},
                         {"strides", tensor.strides},
                         {"dtype", corpus::torch_name(*dtype)},
                         {"device", tensor.device.str()}};
  if (tensor.batch) json["batch"] = true;
  return json;
}

/// Returns the metadata that `json` describes. Throws `nlohmann::json::exception` or `Error` for anything that
/// `to_json` does not make.
[[nodiscard]] inline TensorMetadata metadata_from_json(const nlohmann::json& json) {
  const auto dtype = corpus::dtype_from_torch_name(json.at("dtype").get<std::string>());
  if (!dtype) throw Error("unknown dtype " + json.at("dtype").dump());
  const auto naturals = [&](const char* key) {
    const auto numbers = whole_numbers<std::int64_t>(json.at(key));
    if (!numbers || std::ranges::any_of(*numbers, [](auto number) { return number < 0; }))
      throw Error(std::string(key) + ": expected whole numbers from 0 on, found " + json.at(key).dump());
    return *numbers;
  };
  TensorMetadata tensor{inputs::scalar_type(*dtype), c10::Device(json.at("device").get<std::string>()),
                        naturals("sizes"), naturals("strides"), std::nullopt};
  if (tensor.sizes.size() != tensor.strides.size())
    throw Error("expected as many strides as sizes (" + std::to_string(tensor.sizes.size()) + "), found " +
                std::to_string(tensor.strides.size()));
  return tensor;
}

/// Returns the properties of a tensor that compiled code has to know. Throws `Unsupported` for one that is not strided.
[[nodiscard]] inline TensorMetadata dense_metadata(const at::Tensor& tensor) {
  if (tensor.layout() != c10::kStrided) throw Unsupported("AOTInductor takes no tensor that is not strided");
  return TensorMetadata::of(tensor);
}

}  // namespace pace::benches::aot
