// generate: the inputs of a recorded call, with random tensors of the recorded shapes.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>
#include <c10/util/complex.h>

#include "pace/base/cut_text.hpp"
#include "pace/base/digest.hpp"
#include "pace/base/error.hpp"
#include "pace/corpus/text.hpp"
#include "pace/corpus/value.hpp"
#include "pace/inputs/extent.hpp"
#include "pace/inputs/fill.hpp"
#include "pace/inputs/scalar_type.hpp"

namespace pace::inputs {

/// How the inputs of a recorded call are made.
struct GenerateOptions {
  /// Type of the run, to which floating tensors and floating dtype values are converted. Absent, or with float16,
  /// nothing is converted.
  std::optional<at::ScalarType> dtype;
  at::Device device = at::kCPU;  ///< where tensors are made; also replaces recorded devices
  std::uint64_t seed = 0;        ///< with the text of the call, determines all values
  /// Whether inputs are made as by PyTorch's benchmark: every dtype value is converted (`{'dtype': i64}` too), strings
  /// other than 'cpu' and 'cuda' become None, tensors whose elements share memory stay uninitialised, with a message,
  /// and values of f16 and bf16 are drawn from 2^11 and 2^8 numbers, 0 among them.
  bool compat = false;
  /// Whether tensors have no values and take no memory: they are on the `meta` device, with the dtype, sizes and
  /// strides that they would have on `device`. Other values are made as usual.
  bool metadata_only = false;
};

/// Arguments of one call. Lists are lists of Any, tuples are tuples, and dtypes, layouts and memory formats are
/// integers, so that a caller must convert them to the schema of the operator.
struct Inputs {
  std::vector<c10::IValue> args;                            ///< positional arguments
  std::vector<std::pair<std::string, c10::IValue>> kwargs;  ///< names and values of keyword arguments
};

namespace detail {

/// Whether a string names a device: `cuda`, `cuda:1`, `torch.device('cpu')`.
[[nodiscard]] inline bool names_device(std::string_view text) {
  constexpr std::string_view wrapper = "torch.device(";
  if (text.starts_with(wrapper)) return true;
  const std::string_view type = text.substr(0, text.find(':'));
  for (const std::string_view known : {"cpu", "cuda", "hip", "xpu", "mps", "xla", "meta", "hpu", "mtia"}) {
    if (type == known) return true;
  }
  return false;
}

/// Makes the values of one call. The number of each tensor in the call enters its seed, so that tensors differ.
class Generator {
 public:
  Generator(const corpus::Call& call, const GenerateOptions& options)
      : options_(options), seed_(mix64(options.seed ^ digest_of(corpus::to_text(call)))) {
    if (options.dtype) {
      dtype_ = dtype_from_scalar_type(*options.dtype);
      if (!dtype_) throw Unsupported(std::string("no inputs can be made in ") + c10::toString(*options.dtype));
    }
  }

  c10::IValue make(const corpus::Value& value, std::string_view name) {
    return std::visit([&](const auto& v) { return convert(v, name); }, value.data);
  }

 private:
  template <typename T>
  c10::IValue convert(const T& v, std::string_view name) {
    if constexpr (std::is_same_v<T, corpus::None>) {
      return {};
    } else if constexpr (std::is_same_v<T, std::complex<double>>) {
      return c10::complex<double>(v.real(), v.imag());
    } else if constexpr (std::is_same_v<T, corpus::BigInt>) {
      throw Unsupported("no operator takes the integer " + v.digits + ": it does not fit 64 bits");
    } else if constexpr (std::is_same_v<T, std::string>) {
      if (options_.compat) return v == "cpu" || v == "cuda" ? c10::IValue(options_.device) : c10::IValue();
      return name == "device" || names_device(v) ? c10::IValue(options_.device) : c10::IValue(v);
    } else if constexpr (std::is_same_v<T, corpus::TensorSpec>) {
      return tensor(v);
    } else if constexpr (std::is_same_v<T, corpus::DType>) {
      const bool every = options_.compat && dtype_ && *dtype_ != corpus::DType::f16;
      return static_cast<std::int64_t>(scalar_type(every ? *dtype_ : converted(v, dtype_)));
    } else if constexpr (std::is_same_v<T, corpus::TorchName>) {
      if (const auto constant = torch_constant(v.name)) return *constant;
      throw Unsupported("torch." + v.name + " is not a dtype, layout or memory format that can be replayed");
    } else if constexpr (std::is_same_v<T, corpus::Device>) {
      return options_.device;
    } else if constexpr (std::is_same_v<T, corpus::List>) {
      c10::impl::GenericList list(c10::AnyType::get());
      for (const auto& item : v.items) list.push_back(make(item, name));
      return list;
    } else if constexpr (std::is_same_v<T, corpus::Tuple>) {
      std::vector<c10::IValue> items;
      for (const auto& item : v.items) items.push_back(make(item, name));
      return c10::ivalue::Tuple::create(std::move(items));
    } else if constexpr (std::is_same_v<T, corpus::Dict>) {
      constexpr std::size_t longest = 200;
      throw Unsupported("no operator takes a dict, as " + cut_text(corpus::to_text(corpus::Value(v)), longest) + " is");
    } else {
      return v;  // bool, std::int64_t, double
    }
  }

  at::Tensor tensor(const corpus::TensorSpec& spec) {
    RandomBits random(mix64(seed_ + ++tensors_));
    const std::int64_t elements = storage_elements(spec);
    try {
      if (options_.metadata_only) return metadata(spec);
      if (options_.compat) return upstream_tensor(spec, elements, random);
      at::Tensor out = allocate(spec, converted(spec.dtype, dtype_), options_.device);
      fill_tensor(out, elements, random);
      return out;
    } catch (const c10::Error& error) {
      refuse_tensor(spec, error.what_without_backtrace());
    } catch (const std::bad_alloc&) {
      refuse_tensor(spec, "there is not enough memory");
    }
  }

  /// Makes the tensor in the recorded type and converts it, as PyTorch's benchmark does, at the cost of a second copy.
  at::Tensor upstream_tensor(const corpus::TensorSpec& spec, std::int64_t elements, RandomBits& random) {
    at::Tensor out = allocate(spec, spec.dtype, at::kCPU);
    if (is_expanded(spec)) {
      std::cerr << "elements of " << corpus::to_text(corpus::Value(spec))
                << " share memory: it is left uninitialised\n";
    } else {
      fill_tensor(out, elements, random);
    }
    return out.to(at::TensorOptions().dtype(scalar_type(converted(spec.dtype, dtype_))).device(options_.device));
  }

  at::Tensor metadata(const corpus::TensorSpec& spec) {
    if (!options_.compat) return allocate(spec, converted(spec.dtype, dtype_), at::kMeta);
    // A copy closes the gaps that strides leave.
    const auto converted_options = at::TensorOptions().dtype(scalar_type(converted(spec.dtype, dtype_)));
    return allocate(spec, spec.dtype, at::kMeta)
        .to(converted_options, /*non_blocking=*/false,
            /*copy=*/!options_.device.is_cpu());
  }

  static at::Tensor allocate(const corpus::TensorSpec& spec, corpus::DType dtype, at::Device device) {
    const auto options = at::TensorOptions().dtype(scalar_type(dtype)).device(device);
    return spec.strides ? at::empty_strided(spec.sizes, *spec.strides, options) : at::empty(spec.sizes, options);
  }

  /// Values for a device pass through a buffer of about a megabyte: the page faults of a buffer as large as the tensor
  /// take three times as long as drawing its values.
  void fill_tensor(const at::Tensor& out, std::int64_t elements, RandomBits& random) const {
    if (out.is_cpu()) return fill_storage(out, elements, random);
    constexpr std::int64_t most = 256 * drawn_at_once;
    const at::Tensor buffer = at::empty({std::min(elements, most)}, at::TensorOptions().dtype(out.scalar_type()));
    for (std::int64_t begin = 0; begin < elements; begin += most) {
      const std::int64_t count = std::min(elements - begin, most);
      fill_storage(buffer, count, random);
      out.as_strided({count}, {1}, begin).copy_(buffer.narrow(0, 0, count));
    }
  }

  /// Returns a function that makes values to be rounded to a type of `digits` binary digits.
  [[nodiscard]] auto before_rounding(int digits) const {
    const float last = static_cast<float>(float_bound) - std::ldexp(1.0f, 4 - digits);  // of that type, below the bound
    return [compat = options_.compat, digits, last](std::uint32_t bits) {
      return compat ? random_float_of(digits, bits) : std::min(random_float(bits), last);
    };
  }

  /// Values of a type of `digits` binary digits. LibTorch rounds by vector instructions, three times as fast as one
  /// value after another.
  void fill_rounded(const at::Tensor& out, std::int64_t elements, RandomBits& random, int digits) const {
    constexpr std::int64_t most = 16 * drawn_at_once;  // few enough for LibTorch to start no threads
    const at::Tensor buffer = at::empty({std::min(elements, most)}, at::TensorOptions().dtype(at::kFloat));
    for (std::int64_t begin = 0; begin < elements; begin += most) {
      const std::int64_t count = std::min(elements - begin, most);
      fill(buffer.mutable_data_ptr<float>(), count, random, before_rounding(digits));
      out.as_strided({count}, {1}, begin).copy_(buffer.narrow(0, 0, count));
    }
  }

  void fill_storage(const at::Tensor& out, std::int64_t elements, RandomBits& random) const {
    void* const data = out.mutable_data_ptr();
    const auto to_float = [](std::uint32_t bits) { return random_float(bits); };
    const auto to_double = [](std::uint32_t bits) { return random_double(bits); };
    const auto to_half = [make = before_rounding(half_digits)](std::uint32_t bits) { return c10::Half(make(bits)); };
    const auto to_bfloat16 = [make = before_rounding(8)](std::uint32_t bits) { return c10::BFloat16(make(bits)); };
    switch (out.scalar_type()) {
      case at::kFloat:
        return fill(static_cast<float*>(data), elements, random, to_float);
      case at::kComplexFloat:
        return fill(static_cast<float*>(data), 2 * elements, random, to_float);
      case at::kHalf:
        return fill_rounded(out, elements, random, half_digits);
      case at::kDouble:
        return fill(static_cast<double*>(data), elements, random, to_double);
      case at::kComplexDouble:
        return fill(static_cast<double*>(data), 2 * elements, random, to_double);
      case at::kComplexHalf:
        return fill(static_cast<c10::Half*>(data), 2 * elements, random, to_half);
      case at::kBFloat16:
        return fill(static_cast<c10::BFloat16*>(data), elements, random, to_bfloat16);
      case at::kBool:
        return fill_integers(static_cast<std::uint8_t*>(data), elements, random, integer_bounds(corpus::DType::b8));
      case at::kByte:
        return integers<std::uint8_t>(data, elements, random, corpus::DType::u8);
      case at::kChar:
        return integers<std::int8_t>(data, elements, random, corpus::DType::i8);
      case at::kShort:
        return integers<std::int16_t>(data, elements, random, corpus::DType::i16);
      case at::kInt:
        return integers<std::int32_t>(data, elements, random, corpus::DType::i32);
      case at::kLong:
        return integers<std::int64_t>(data, elements, random, corpus::DType::i64);
      case at::kUInt16:
        return integers<std::uint16_t>(data, elements, random, corpus::DType::u16);
      case at::kUInt32:
        return integers<std::uint32_t>(data, elements, random, corpus::DType::u32);
      case at::kUInt64:
        return integers<std::uint64_t>(data, elements, random, corpus::DType::u64);
      case at::kFloat8_e4m3fn:
      case at::kFloat8_e4m3fnuz:
        return fill_rounded(out, elements, random, 4);
      case at::kFloat8_e5m2:
      case at::kFloat8_e5m2fnuz:
        return fill_rounded(out, elements, random, 3);
      case at::kFloat8_e8m0fnu:
        // Exponents alone: 1/8 to 8.
        return fill_integers(static_cast<std::uint8_t*>(data), elements, random, {127 - 3, 127 + 4});
      case at::ScalarType::Float4_e2m1fn_x2:
      case at::ScalarType::Bits1x8:
      case at::ScalarType::Bits8:
      case at::ScalarType::Bits2x4:
      case at::ScalarType::Bits4x2:
        return fill_integers(static_cast<std::uint8_t*>(data), elements, random, {0, 1 << 8});
      case at::ScalarType::Bits16:
        return fill_integers(static_cast<std::uint16_t*>(data), elements, random, {0, 1 << 16});
      default:
        throw Unsupported(std::string("no random values can be made in ") + c10::toString(out.scalar_type()));
    }
  }

  template <typename T>
  static void integers(void* data, std::int64_t elements, RandomBits& random, corpus::DType dtype) {
    fill_integers(static_cast<T*>(data), elements, random, integer_bounds(dtype));
  }

  static constexpr int half_digits = 11;

  const GenerateOptions& options_;
  std::optional<corpus::DType> dtype_;
  std::uint64_t seed_;
  std::uint64_t tensors_ = 0;
};

}  // namespace detail

/// Makes the inputs of a call, with random tensors. The values depend on the text of the call and on `options.seed`
/// alone, and are equal in every process.
///
/// As in torch.testing.make_tensor, floating values are uniform in [-9, 9), b8 in [0, 2), unsigned integers in [0, 10)
/// and signed ones in [-9, 10). f8e8m0fnu holds powers of two from 1/8 to 8; f4e2m1fnx2 and bits are any. Unless
/// `options.compat`, no floating value of 16 bits or more is 0. Recorded strides are kept; where elements share memory,
/// the storage behind them is filled. Allocates input_bytes() (nothing for metadata only): compare that with the
/// available memory first, since Linux grants more memory than it has. Throws Unsupported for a tensor that is too
/// large and for a value that no operator takes.
[[nodiscard]] inline Inputs generate(const corpus::Call& call, const GenerateOptions& options = {}) {
  detail::Generator generator(call, options);
  Inputs inputs;
  inputs.args.reserve(call.args.size());
  for (const auto& value : call.args) inputs.args.push_back(generator.make(value, {}));
  for (const auto& [name, value] : call.kwargs) inputs.kwargs.emplace_back(name, generator.make(value, name));
  return inputs;
}

/// Bytes of tensor data that generate() allocates for a call in a run in `dtype`.
[[nodiscard]] inline std::int64_t input_bytes(const corpus::Call& call, std::optional<at::ScalarType> dtype) {
  return input_bytes(call, dtype ? dtype_from_scalar_type(*dtype) : std::nullopt);
}

}  // namespace pace::inputs
