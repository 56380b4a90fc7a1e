#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ops/_unique.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/view_as_real.h>

#include "pace/base/error.hpp"
#include "pace/corpus/parse.hpp"
#include "pace/inputs/generate.hpp"

// After LibTorch, whose logging header has a CHECK of its own.
#undef CHECK
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace pace::corpus;
using namespace pace::inputs;
using Catch::Matchers::ContainsSubstring;

namespace {

Inputs generate_text(const std::string& text, const GenerateOptions& options = {}) {
  return generate(parse_call(text, {}), options);
}
c10::IValue argument(const std::string& text, const GenerateOptions& options = {}) {
  return generate_text("((" + text + ",), {})", options).args.at(0);
}
at::Tensor tensor(const std::string& text, const GenerateOptions& options = {}) {
  return argument(text, options).toTensor();
}

GenerateOptions in(at::ScalarType dtype, bool compat = false) {
  GenerateOptions options;
  options.dtype = dtype;
  options.compat = compat;
  return options;
}

double least(const at::Tensor& values) { return values.to(at::kDouble).min().item<double>(); }
double most(const at::Tensor& values) { return values.to(at::kDouble).max().item<double>(); }
std::int64_t code(at::ScalarType dtype) { return static_cast<std::int64_t>(dtype); }

}  // namespace

TEST_CASE("values lie in the range of their dtype") {
  struct Row {
    std::string dtype;
    double low, high;  // 100,000 draws must reach these: [low, high]
  };
  for (const auto& [dtype, low, high] :
       {Row{"b8", 0, 1}, {"u8", 0, 9}, {"i8", -9, 9}, {"i16", -9, 9}, {"i32", -9, 9}, {"i64", -9, 9}}) {
    INFO(dtype);
    const at::Tensor values = tensor("T([100000], " + dtype + ")");
    CHECK(least(values) == low);
    CHECK(most(values) == high);
  }
  for (const char* dtype : {"f16", "bf16", "f32", "f64", "c32", "c64", "c128"}) {
    INFO(dtype);
    at::Tensor values = tensor(std::string("T([100000], ") + dtype + ")");
    CHECK(values.scalar_type() == scalar_type(*dtype_from_abbreviation(dtype)));
    if (values.is_complex()) values = at::view_as_real(values);
    CHECK(least(values) >= -9);
    CHECK(least(values) < -8.9);
    CHECK(most(values) < 9);
    CHECK(most(values) > 8.9);
    CHECK(values.eq(0).sum().item<std::int64_t>() == 0);
    // Uniform: mean 0 and variance 18^2 / 12 = 27, each within six standard errors of 100,000 draws.
    const at::Tensor exact = values.to(at::kDouble);
    CHECK(std::abs(exact.mean().item<double>()) < 0.1);
    CHECK(std::abs(exact.square().mean().item<double>() - 27) < 0.5);
  }
}

TEST_CASE("types of eight bits and fewer, and wide unsigned ones, get values that they hold") {
  for (const char* const dtype : {"f8e4m3fn", "f8e5m2", "f8e4m3fnuz", "f8e5m2fnuz", "f8e8m0fnu"}) {
    INFO(dtype);
    const auto values = tensor("T([4096], " + std::string(dtype) + ")").to(at::kFloat);
    CHECK(values.isfinite().all().item<bool>());
    CHECK(values.abs().max().item<float>() <= 9);
    CHECK(std::get<0>(at::_unique(values)).numel() > 6);
  }
  for (const char* const dtype : {"u16", "u32", "u64"}) {
    INFO(dtype);
    const auto values = tensor("T([4096], " + std::string(dtype) + ")").to(at::kLong);
    CHECK(least(values) == 0);
    CHECK(most(values) == 9);
  }
  for (const char* const dtype : {"f4e2m1fnx2", "b16", "b1x8", "bits8", "bits2x4", "bits4x2"}) {
    INFO(dtype);
    const auto made = tensor("T([4096], " + std::string(dtype) + ")");
    const auto* const bytes = static_cast<const std::uint8_t*>(made.const_data_ptr());
    CHECK(std::set<std::uint8_t>(bytes, bytes + 4096).size() == 256);
  }
}

TEST_CASE("a sample gets the same values in every process, other samples and seeds get others") {
  // Fixed numbers: a change of the generator changes every recorded baseline and must be seen.
  // Worked out apart, in Python, from the definitions of FNV-1a, SplitMix64 and sfc32.
  const at::Tensor values = tensor("T([3], f64)");
  const std::vector<double> seen(values.const_data_ptr<double>(), values.const_data_ptr<double>() + 3);
  const std::vector<double> expected{8.354138699825853, -4.887469605077058, 5.155398682225496};
  CHECK(seen == expected);

  CHECK(at::equal(tensor("T([1000], f32)"), tensor("T([1000], f32)")));
  CHECK_FALSE(at::equal(tensor("T([1000], f32)"), tensor("T([1000, 1], f32)").view(-1)));
  GenerateOptions other;
  other.seed = 1;
  CHECK_FALSE(at::equal(tensor("T([1000], f32)"), tensor("T([1000], f32)", other)));
  const Inputs two = generate_text("((T([1000], f32), T([1000], f32)), {})");
  CHECK_FALSE(at::equal(two.args[0].toTensor(), two.args[1].toTensor()));
  // Another precision rounds the same values.
  CHECK((tensor("T([1000], f16)").sub(tensor("T([1000], f16)", in(at::kFloat)))).abs().max().item<double>() < 0.01);
}

TEST_CASE("compat draws short types from as few values as make_tensor does") {
  for (const auto& [dtype, digits] : {std::pair{"f16", 11}, {"bf16", 8}, {"c32", 11}}) {
    INFO(dtype);
    GenerateOptions options;
    options.compat = true;
    at::Tensor values = tensor(std::string("T([100000], ") + dtype + ")", options);
    if (values.is_complex()) values = at::view_as_real(values);
    // 9 - 18 / 2^digits is the last; a step of the grid is more than rounding to the type takes away.
    const at::Tensor steps = values.to(at::kDouble).add(9).mul(std::pow(2.0, digits) / 18);
    CHECK(steps.sub(steps.round()).abs().max().item<double>() < 0.5);
    CHECK(steps.round().min().item<double>() == 0);
    CHECK(steps.round().max().item<double>() == std::pow(2.0, digits) - 1);
    CHECK(std::get<0>(at::_unique(values.to(at::kFloat))).numel() == std::int64_t{1} << digits);
    CHECK(std::abs(values.to(at::kDouble).mean().item<double>()) < 0.1);
  }
}

TEST_CASE("half precision is single precision rounded, in tensors of any size, and stays below 9") {
  for (const std::int64_t size : {std::int64_t{1}, std::int64_t{1000}, std::int64_t{262144}, std::int64_t{600001}}) {
    const std::string text = "T([" + std::to_string(size) + "], f16)";
    const at::Tensor half = tensor(text), single = tensor(text, in(at::kFloat));
    REQUIRE(half.scalar_type() == at::kHalf);
    const auto* const halves = half.const_data_ptr<at::Half>();
    const auto* const singles = single.const_data_ptr<float>();
    std::int64_t different = 0;
    for (std::int64_t i = 0; i < size; ++i) different += halves[i].x != at::Half(std::min(singles[i], 8.9921875f)).x;
    INFO(text);
    CHECK(different == 0);
  }
}

TEST_CASE("of metadata alone, tensors are on meta and everything else is as it would be") {
  const std::string text =
      "((T([2, 3], f16, stride=(100, 7)), [T([4], i64)], 2.5, 'floor'), {'device': 'cuda', 'dtype': f16})";
  for (const bool compat : {false, true}) {
    GenerateOptions options = in(at::kFloat, compat);
    const Inputs with_values = generate_text(text, options);
    options.metadata_only = true;
    const Inputs without = generate_text(text, options);
    const at::Tensor filled = with_values.args[0].toTensor(), bare = without.args[0].toTensor();
    CHECK(bare.is_meta());
    CHECK(bare.scalar_type() == at::kFloat);
    CHECK(bare.sizes() == filled.sizes());
    CHECK(bare.strides() == filled.strides());
    CHECK(without.args[1].toListRef()[0].toTensor().is_meta());
    CHECK(without.args[1].toListRef()[0].toTensor().scalar_type() == at::kLong);
    CHECK(without.args[2].toDouble() == 2.5);
    CHECK(without.args[3].isString() == with_values.args[3].isString());
    CHECK(without.kwargs[0].second.toDevice() == at::Device(at::kCPU));  // not meta: it is compiled in
    CHECK(without.kwargs[1].second.toInt() == code(at::kFloat));
  }
}

TEST_CASE("sizes and strides are as recorded") {
  CHECK(tensor("T([], f32)").sizes().empty());
  CHECK(tensor("T([0, 4], f32)").numel() == 0);
  CHECK(tensor("T([2, 3, 4], f32)").strides() == at::IntArrayRef({12, 4, 1}));
  for (const at::ScalarType dtype : {at::kHalf, at::kFloat}) {
    const at::Tensor transposed = tensor("T([2, 3], f16, stride=(1, 2))", in(dtype));
    CHECK(transposed.scalar_type() == dtype);
    CHECK(transposed.sizes() == at::IntArrayRef({2, 3}));
    CHECK(transposed.strides() == at::IntArrayRef({1, 2}));
    CHECK(tensor("T([2, 3], f16, stride=(100, 7))", in(dtype)).strides() == at::IntArrayRef({100, 7}));  // gaps
  }
}

TEST_CASE("tensors whose elements share memory are filled and keep their strides; Compat leaves them uninitialised") {
  for (const at::ScalarType dtype : {at::kHalf, at::kFloat}) {
    const at::Tensor expanded = tensor("T([2048, 768], f16, stride=(0, 0))", in(dtype));
    CHECK(expanded.scalar_type() == dtype);
    CHECK(expanded.strides() == at::IntArrayRef({0, 0}));
    CHECK(expanded.storage().nbytes() == at::elementSize(dtype));
    CHECK(least(expanded) == most(expanded));
    CHECK(std::abs(most(expanded)) < 9);
    CHECK(most(expanded) != 0);
  }
  const at::Tensor rows = tensor("T([3, 4], f32, stride=(0, 1))");
  CHECK(at::equal(rows[0], rows[2]));
  CHECK_FALSE(at::equal(rows.select(1, 0), rows.select(1, 1)));

  const at::Tensor trap = tensor("T([3, 4], f32, stride=(0, 1))", in(at::kFloat, true));
  CHECK(trap.strides() == at::IntArrayRef({0, 1}));
  CHECK(tensor("T([3, 4], f16, stride=(0, 1))", in(at::kFloat, true)).is_contiguous());  // as .to() leaves it
}

TEST_CASE("floating tensors take the type of the run, except in float16") {
  for (const bool compat : {false, true}) {
    const Inputs single = generate_text("(([T([2], f16), T([2], f64)], T([2], i64), T([2], b8), T([2], c64)), {})",
                                        in(at::kFloat, compat));
    const auto list = single.args[0].toListRef();
    CHECK(list[0].toTensor().scalar_type() == at::kFloat);
    CHECK(list[1].toTensor().scalar_type() == at::kFloat);
    CHECK(single.args[1].toTensor().scalar_type() == at::kLong);
    CHECK(single.args[2].toTensor().scalar_type() == at::kBool);
    CHECK(single.args[3].toTensor().scalar_type() == at::kComplexFloat);
    const Inputs half = generate_text("((T([2], f16), T([2], f32)), {'dtype': f32})", in(at::kHalf, compat));
    CHECK(half.args[0].toTensor().scalar_type() == at::kHalf);
    CHECK(half.args[1].toTensor().scalar_type() == at::kFloat);
    CHECK(half.kwargs[0].second.toInt() == code(at::kFloat));
  }
  CHECK(tensor("T([2], bf16)").scalar_type() == at::kBFloat16);
  CHECK_THROWS_AS(tensor("T([2], f16)", in(at::ScalarType::QInt8)), pace::Unsupported);
}

TEST_CASE("floating dtype values follow the run; in Compat all of them do") {
  const auto dtype = [](const std::string& text, bool compat) {
    return argument(text, in(at::kFloat, compat)).toInt();
  };
  for (const bool compat : {false, true}) {
    CHECK(dtype("f16", compat) == code(at::kFloat));
    CHECK(dtype("f64", compat) == code(at::kFloat));
    CHECK(dtype("i64", compat) == code(compat ? at::kFloat : at::kLong));
    CHECK(dtype("torch.bool", compat) == code(compat ? at::kFloat : at::kBool));
  }
  CHECK(argument("f16").toInt() == code(at::kHalf));
  const Inputs inputs = generate_text("((T([1], f32),), {'dtype': i64})", in(at::kFloat));
  CHECK(inputs.kwargs[0].first == "dtype");
  CHECK(inputs.kwargs[0].second.toInt() == code(at::kLong));
}

TEST_CASE("devices become the target; other strings stay, or become None in Compat") {
  const auto device = [](const std::string& text, bool compat) {
    return generate_text("((1,), {'device': " + text + "})", in(at::kFloat, compat)).kwargs[0].second;
  };
  for (const bool compat : {false, true}) {
    CHECK(device("'cuda'", compat).toDevice() == at::Device(at::kCPU));
    CHECK(device("'cpu'", compat).toDevice() == at::Device(at::kCPU));
    CHECK(device("device(type='cuda', index=0)", compat).toDevice() == at::Device(at::kCPU));
  }
  CHECK(device("\"torch.device('cpu')\"", false).toDevice() == at::Device(at::kCPU));
  CHECK(device("\"torch.device('cpu')\"", true).isNone());
  CHECK(device("'cuda:1'", false).toDevice() == at::Device(at::kCPU));
  CHECK(device("'npu'", false).toDevice() == at::Device(at::kCPU));
  CHECK(argument("'cuda:1'").toDevice() == at::Device(at::kCPU));
  CHECK(argument("'floor'").toStringRef() == "floor");
  CHECK(argument("'floor'", in(at::kFloat, true)).isNone());
  GenerateOptions elsewhere;
  elsewhere.device = at::Device(at::kMeta);
  CHECK(argument("'cuda'", elsewhere).toDevice() == at::Device(at::kMeta));
}

TEST_CASE("everything else becomes the IValue of its kind") {
  CHECK(argument("None").isNone());
  CHECK(argument("True").toBool());
  CHECK(argument("-3").toInt() == -3);
  CHECK(argument("0.5").toDouble() == 0.5);
  CHECK(argument("(1+2j)").toComplexDouble() == c10::complex<double>(1, 2));
  CHECK(argument("torch.strided").toInt() == static_cast<std::int64_t>(c10::kStrided));
  CHECK(argument("torch.sparse_coo").toInt() == static_cast<std::int64_t>(c10::kSparse));
  CHECK(argument("torch.channels_last").toInt() == static_cast<std::int64_t>(c10::MemoryFormat::ChannelsLast));
  CHECK(argument("torch.contiguous_format").toInt() == static_cast<std::int64_t>(c10::MemoryFormat::Contiguous));
  const c10::IValue list = argument("[None, T([2], f32), [True, 1]]");
  REQUIRE(list.isList());
  CHECK(list.toListRef()[0].isNone());
  CHECK(list.toListRef()[1].isTensor());
  CHECK(list.toListRef()[2].toListRef()[0].toBool());
  const c10::IValue tuple = argument("(1, [])");
  REQUIRE(tuple.isTuple());
  CHECK(tuple.toTupleRef().elements()[0].toInt() == 1);
  CHECK(tuple.toTupleRef().elements()[1].toListRef().empty());
  CHECK_THROWS_AS(argument("99999999999999999999"), pace::Unsupported);
  CHECK_THROWS_AS(argument("torch.per_tensor_affine"), pace::Unsupported);
  CHECK_THROWS_WITH(argument("{'mask': T([2], f32)}"), "no operator takes a dict, as {'mask': T([2], f32)} is");
}

TEST_CASE("the bytes of a call are known before they are allocated") {
  const auto bytes = [](const std::string& text, std::optional<at::ScalarType> dtype = {}) {
    return input_bytes(parse_call(text, {}), dtype);
  };
  CHECK(bytes("((1, None), {})") == 0);
  CHECK(bytes("((T([2, 3], f16), [T([5], i64)], (T([7], b8),)), {'k': T([], f64)})") == 12 + 40 + 7 + 8);
  CHECK(bytes("((T([2, 3], f16), T([5], i64)), {})", at::kFloat) == 24 + 40);
  CHECK(bytes("((T([2, 3], f16), T([2, 3], f32)), {})", at::kHalf) == 12 + 24);
  CHECK(bytes("((T([2048, 768], f16, stride=(0, 0)),), {})") == 2);
  CHECK(bytes("((T([2, 3], f32, stride=(100, 7)),), {})") == (100 + 14 + 1) * 4);
  CHECK(bytes("((T([0, 1000000], f32),), {})") == 0);
  CHECK(bytes("((T([1000000000, 1000], f32),), {})") == 4000000000000);  // known, though it fits no memory
}

TEST_CASE("tensors that cannot exist are refused") {
  for (const char* text : {
           "T([9223372036854775807, 2], f32)",
           "T([9223372036854775807], f32)",
           "T([4294967296, 4294967296], b8, stride=(0, 0))",
           "T([0, 4294967296, 4294967296], b8)",
           "T([4294967296, 2], b8, stride=(4294967296, 9223372036854775807))",
           "T([1152921504606846976], f32)",
           "T([100000000000000, 2], f32)",
       }) {
    INFO(text);
    CHECK_THROWS_AS(tensor(text), pace::Unsupported);
    CHECK_THROWS_WITH(tensor(text), ContainsSubstring(std::string("the tensor ") + text + " cannot be made: "));
  }
  const auto with = [](TensorSpec spec) { return Call{{std::move(spec)}, {}}; };
  CHECK_THROWS_AS(generate(with({{-1}, DType::f32, {}})), pace::Unsupported);
  CHECK_THROWS_AS(generate(with({{2}, DType::f32, {{-1}}})), pace::Unsupported);
  CHECK_THROWS_AS(generate(with({{2}, DType::f32, {{1, 1}}})), pace::Unsupported);
  CHECK_THROWS_AS(input_bytes(with({{2}, DType::f32, {{1, 1}}}), at::kFloat), pace::Unsupported);
  CHECK_THROWS_AS(input_bytes(with({{INT64_MAX}, DType::f32, {}}), at::kFloat), pace::Unsupported);
}
