// Kernels of files: formulas, the YAML of a launch, PTX, Triton's JSON; launched on a fake GPU.
#include "benches/files/loaders/kernel.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "benches/files/loaders/loaders.hpp"
#include "tests/files/fake_kernel_device.hpp"
#include "tests/support/scratch.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;
using pace::testing::argument;
using pace::testing::FakeGpu;
using pace::testing::open_fake;
namespace loaders = pace::benches::loaders;

std::int64_t value_of(const std::string& formula, const loaders::Scope& scope = {}) {
  return loaders::Formula(formula).whole(scope);
}

TEST_CASE("formulas are arithmetic of sizes, with tensors by name and by position") {
  const loaders::Extent matrix{{6, 1025}, {1025, 1}};
  const loaders::Scope scope{
      .numbers = {{"n", loaders::Number::of(std::int64_t{1025})}, {"half", loaders::Number::of(0.5)}},
      .tensors = {{"x", matrix}, {"0", matrix}}};
  const std::map<std::string, std::int64_t> expected = {
      {"7", 7},
      {"n", 1025},
      {"1 + 2 * 3", 7},
      {"(1 + 2) * 3 - -1", 10},
      {"n // 2", 512},
      {"-7 // 2", -4},
      {"-7 % 4", 1},
      {"12 / 4", 3},
      {"n * 2 / 5", 410},
      {"4 * half", 2},
      {"ceil_div(n, 1024)", 2},
      {"ceil_div(max(16, 32 * half), 4)", 4},
      {"ceil_div(1024, 1024)", 1},
      {"round_up(n, 128)", 1152},
      {"min(n, 3) + max(n, 3)", 1028},
      {"next_power_of_2(n)", 2048},
      {"next_power_of_2(1024)", 1024},
      {"numel(x)", 6150},
      {"size(x, 0) * size(0, -1)", 6150},
      {" stride( x , 0 ) ", 1025},
  };
  for (const auto& [formula, value] : expected) {
    CAPTURE(formula);
    CHECK(value_of(formula, scope) == value);
  }
}

TEST_CASE("formulas of whole numbers are exact up to the ends of 64 bits") {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  const loaders::Scope scope{.numbers = {{"most", loaders::Number::of(most)}, {"least", loaders::Number::of(least)}},
                             .tensors = {}};
  const std::map<std::string, std::int64_t> expected = {
      {"2 % least", least + 2},
      {"-most % least", -most},
      {"least % 3", 1},
      {"least // 2", least / 2},
      {"ceil_div(least, 2)", least / 2},
      {"ceil_div(1, least)", 0},
      {"round_up(least, most)", -most},
      {"most / -1", -most},
      {"min(most, most - 1)", most - 1},
      {"max(most - 1, most)", most},
      {"max(most, most - 1)", most},
  };
  for (const auto& [formula, value] : expected) {
    CAPTURE(formula);
    CHECK(value_of(formula, scope) == value);
  }
  for (const char* const formula : {"-least", "least / -1", "least // -1", "ceil_div(least, -1)", "round_up(most, 2)",
                                    "most + 1", "least - 1", "most * most"}) {
    CAPTURE(formula);
    CHECK_THROWS_WITH(value_of(formula, scope), ContainsSubstring("expected less than 2^63"));
  }
}

TEST_CASE("formulas without a result say why") {
  const loaders::Scope scope{.numbers = {{"n", loaders::Number::of(std::int64_t{0})}}, .tensors = {{"x", {{4}, {1}}}}};
  const std::map<std::string, std::string> expected = {
      {"", "expected a number, a name or a bracket, found the end"},
      {"1 +", "expected a number, a name or a bracket, found the end"},
      {"(1", "expected ')', found the end"},
      {"1 2", "expected an operator, found '2'"},
      {"m", "there is no size 'm'; expected one of: n"},
      {"1 / n", "1 / 0: a division by zero"},
      {"1 // n", "a division by zero"},
      {"1 / 2", "expected a whole number, found 0.5"},
      {"1.5 // 2", "//: expected whole numbers, found 1.5"},
      {"4611686018427387904 * 2", "expected less than 2^63"},
      {"sin(1)", "there is no function 'sin'; expected one of ceil_div, max"},
      {"ceil_div(1)", "ceil_div: expected 2 arguments, found 1"},
      {"size(y, 0)", "size: there is no tensor 'y' among the inputs; expected one of: x"},
      {"size(x, 1)", "size: 'x' has no dimension 1; it has 1"},
      {std::string(600, '1'), "expected a formula of at most 500 characters, found 600"},
  };
  for (const auto& [formula, message] : expected) {
    CAPTURE(formula);
    CHECK_THROWS_WITH(value_of(formula, scope), ContainsSubstring(message));
  }
}

const std::string axpy_ptx = R"(
//
// Made by hand: .entry nothing(
//
.version 8.0
.target sm_80, debug
.address_size 64
/* .entry nothing2( */
.visible .entry axpy(
	.param .u64 .ptr .global .align 16 axpy_param_0,
	.param .u64 axpy_param_1,
	.param .u64 axpy_param_2,
	.param .u32 axpy_param_3,
	.param .f32 axpy_param_4
)
.maxntid 128
{ ret; }
.visible .func (.param .b32 result) helper(.param .b32 one) { ret; }
.entry _Z3addPKfS0_Pfi(.param .align 8 .b8 a[24], .param .u8 b) { ret; }
.entry bare { ret; }
)";

TEST_CASE("PTX says its architecture, its kernels and the sizes of their parameters") {
  const auto codes = loaders::read_image(axpy_ptx, "axpy.ptx");
  REQUIRE(codes.size() == 1);
  CHECK(codes[0].is_ptx);
  CHECK(codes[0].text() == "PTX of compute_80");
  REQUIRE(codes[0].kernels);
  REQUIRE(codes[0].kernels->size() == 3);
  const auto& kernels = *codes[0].kernels;
  CHECK(kernels[0].symbol == "axpy");
  CHECK(kernels[0].parameters == std::vector<std::size_t>{8, 8, 8, 4, 4});
  CHECK(kernels[1].symbol == "_Z3addPKfS0_Pfi");
  CHECK(kernels[1].parameters == std::vector<std::size_t>{24, 1});
  CHECK(kernels[2].parameters->empty());
  const auto refusal = [](const std::string& image) { (void)loaders::read_image(image, "a.ptx"); };
  CHECK_THROWS_WITH(refusal(""), ContainsSubstring("a.ptx: expected compiled kernels") && ContainsSubstring("empty"));
  CHECK_THROWS_WITH(refusal("a text"), ContainsSubstring("it has no line .target"));
  CHECK_THROWS_WITH(refusal(".target gfx90"), ContainsSubstring("its .target is 'gfx90'; expected such as sm_90"));
  CHECK_THROWS_WITH(refusal(std::string("a\0b", 3)), ContainsSubstring("it is none of these"));
  CHECK_THROWS_WITH(refusal("\x7f"
                            "ELF"),
                    ContainsSubstring("it was cut"));
  // The header of a fatbin, with nothing behind it.
  CHECK_THROWS_WITH(
      refusal(std::string("\x50\xed\x55\xba\1\0\x10\0\0\0\0\0\0\0\0\0", 16)),
      ContainsSubstring("a.ptx: expected compiled kernels") && ContainsSubstring("it is a fatbin without code"));
}

loaders::KernelCode code(int number, bool is_ptx, char suffix = '\0') {
  return {.architecture = {number, suffix}, .is_ptx = is_ptx};
}

TEST_CASE("machine code runs on GPUs of its major number, PTX on newer ones, and code of one GPU there alone") {
  CHECK(code(80, false).runs_on(86));
  CHECK_FALSE(code(86, false).runs_on(80));
  CHECK_FALSE(code(80, false).runs_on(90));
  CHECK(code(80, true).runs_on(120));
  CHECK_FALSE(code(90, true).runs_on(80));
  CHECK(code(90, true, 'a').runs_on(90));
  CHECK_FALSE(code(90, true, 'a').runs_on(100));
  CHECK(code(100, true, 'f').runs_on(103));
  CHECK_FALSE(code(100, true, 'f').runs_on(120));
  const std::vector<loaders::KernelCode> codes = {code(80, true), code(80, false), code(86, false), code(90, true)};
  CHECK(loaders::code_for(codes, 80) == &codes[1]);
  CHECK(loaders::code_for(codes, 89) == &codes[2]);
  CHECK(loaders::code_for(codes, 100) == &codes[3]);
  CHECK(loaders::code_for(codes, 75) == nullptr);
}

/// The rest of a file that launches axpy.
const std::string axpy_launch = R"(kernel: axpy
inputs:
  x: {shape: [rows, n], dtype: f32}
  y: {shape: [rows, n]}
  alpha: number
arguments:
  - input: x
  - input: y
  - output: {shape: [rows, n], dtype: f32}
  - {scalar: rows * n, type: i32}
  - {scalar: alpha, type: f32}
grid: [ceil_div(numel(x), 4)]
block: 4
shared: 1000
)";

/// As the kernel computes it, on the host.
void run_axpy(const loaders::KernelLaunch& launch, void** arguments) {
  const auto* const x = argument<const float*>(arguments, 0);
  const auto* const y = argument<const float*>(arguments, 1);
  auto* const out = argument<float*>(arguments, 2);
  const auto n = static_cast<std::uint32_t>(argument<std::int32_t>(arguments, 3));
  for (std::uint32_t i = 0; i < std::min(n, launch.grid[0] * launch.block[0]); ++i)
    out[i] = argument<float>(arguments, 4) * x[i] + y[i];
}

struct Fixture {
  pace::test::Scratch scratch;
  FakeGpu gpu = {.run = run_axpy};

  std::unique_ptr<loaders::Loaded> load(const std::string& yaml) {
    scratch.write("axpy.ptx", axpy_ptx);
    const loaders::Content content(scratch.write("kernel.yaml", yaml));
    return loaders::KernelLoader(open_fake(gpu)).load(content, {.device = c10::kCPU});
  }
  std::vector<at::Tensor> call(const std::string& yaml, const pace::inputs::Inputs& given) {
    const auto loaded = load(yaml);
    const loaders::CallInputs inputs(given);
    return loaded->bind(inputs)->run(inputs.tensors());
  }
};

const at::Tensor x = at::arange(6, at::kFloat).reshape({2, 3}), y = at::ones({2, 3});

TEST_CASE("a kernel gets pointers and numbers in the order of its arguments, and returns its outputs") {
  Fixture here;
  const auto loaded = here.load("image: axpy.ptx\n" + axpy_launch);
  const loaders::CallInputs inputs({.args = {x, y}, .kwargs = {{"alpha", 2.5}}});
  const auto call = loaded->bind(inputs);
  const auto outputs = call->run(inputs.tensors());
  REQUIRE(outputs.size() == 1);
  CHECK(at::equal(outputs[0], 2.5 * x + y));
  // Other tensors, in the same places.
  CHECK(at::equal(call->run({x * 2, y * 3})[0], 5 * x + 3 * y));
  REQUIRE(here.gpu.launches.size() == 2);
  const auto& launch = here.gpu.launches[0];
  CHECK(launch.grid == std::array<std::uint32_t, 3>{2, 1, 1});
  CHECK(launch.block == std::array<std::uint32_t, 3>{4, 1, 1});
  CHECK(launch.cluster == std::array<std::uint32_t, 3>{1, 1, 1});
  CHECK(launch.shared_bytes == 1000);
  CHECK_FALSE(launch.cooperative);
  CHECK(here.gpu.symbol == "axpy");
  CHECK(here.gpu.asked_shared == 1000);
  CHECK(here.gpu.image == axpy_ptx);
  CHECK(here.gpu.asked_driver == 0);
  REQUIRE(loaded->notes().size() == 1);
  CHECK_THAT(loaded->notes()[0], ContainsSubstring("axpy.ptx: the driver compiles its PTX of compute_80 for sm_90"));
}

TEST_CASE("inputs are named by their positions, and a kernel may write to one") {
  Fixture here;
  here.gpu.run = [](const loaders::KernelLaunch& launch, void** arguments) {
    auto* const changed = argument<float*>(arguments, 0);
    const auto* const zeros = argument<const float*>(arguments, 2);
    for (std::uint32_t i = 0; i < launch.grid[1]; ++i) changed[i] += 1 + zeros[i];
  };
  const auto outputs = here.call(R"(
image: [axpy.ptx]
kernel: axpy
arguments:
  - in_place: 0
  - input: 1
  - output: {shape: [size(0, 0)], dtype: f32, zero: true}
  - {scalar: 7, type: f32}
  - {scalar: -1, type: i32}
grid: [1, min(numel(0), max(7, 4)), 1]
block: [1, 2, 3]
cluster: [1, 3]
cooperative: true
)",
                                 {.args = {at::zeros({3}), at::ones({5})}, .kwargs = {}});
  REQUIRE(outputs.size() == 2);
  CHECK(at::equal(outputs[0], at::ones({3})));
  CHECK(at::equal(outputs[1], at::zeros({3})));
  REQUIRE(here.gpu.launches.size() == 1);
  CHECK(here.gpu.launches[0].cluster == std::array<std::uint32_t, 3>{1, 3, 1});
  CHECK(here.gpu.launches[0].block == std::array<std::uint32_t, 3>{1, 2, 3});
  CHECK(here.gpu.launches[0].cooperative);
}

TEST_CASE("numbers have the bytes of their types") {
  const auto bytes = [](const std::string& formula, const std::string& type) {
    const auto found = std::ranges::find(loaders::scalar_types, type, &loaders::ScalarType::name);
    REQUIRE(found != loaders::scalar_types.end());
    return loaders::detail::scalar_bytes({loaders::Formula(formula), "arguments[0].scalar", {"k.yaml", 3}}, *found, {});
  };
  const auto as = [&]<class T>(T, const std::string& formula, const std::string& type) {
    T value{};
    const auto all = bytes(formula, type);
    std::memcpy(&value, all.data(), sizeof(T));
    return value;
  };
  CHECK(as(std::int8_t{}, "-128", "i8") == -128);
  CHECK(as(std::int64_t{}, "-5", "i64") == -5);
  CHECK(as(std::uint32_t{}, "4294967295", "u32") == 4294967295U);
  CHECK(as(std::uint64_t{}, "9223372036854775807", "u64") == std::numeric_limits<std::int64_t>::max());
  CHECK(as(float{}, "0.25", "f32") == 0.25F);
  CHECK(as(double{}, "1e-3", "f64") == 1e-3);
  CHECK(as(std::uint16_t{}, "1.5", "f16") == c10::Half(1.5F).x);
  CHECK(as(std::uint16_t{}, "1.5", "bf16") == c10::BFloat16(1.5F).x);
  CHECK(as(std::uint8_t{}, "1", "b8") == 1);
  CHECK_THROWS_WITH(bytes("128", "i8"),
                    ContainsSubstring("k.yaml:3: key 'arguments[0].scalar', '128': expected a whole "
                                      "number from -128 to 127, found 128"));
  CHECK_THROWS_WITH(bytes("-1", "u64"), ContainsSubstring("from 0 to"));
  CHECK_THROWS_WITH(bytes("2", "b8"), ContainsSubstring("from 0 to 1"));
  CHECK_THROWS_WITH(bytes("0.5", "i32"), ContainsSubstring("expected a whole number, found 0.5"));
  CHECK(as(std::uint16_t{}, "65504", "f16") == c10::Half(65504.0F).x);
  CHECK(as(float{}, "3.4e38", "f32") == 3.4e38F);
  for (const auto& [formula, type] : {std::pair{"1e300", "f32"}, std::pair{"-1e39", "f32"}, std::pair{"1e6", "f16"},
                                      std::pair{"1e300", "f16"}, std::pair{"3.4e38", "bf16"}}) {
    CAPTURE(formula, type);
    CHECK_THROWS_WITH(bytes(formula, type),
                      ContainsSubstring(std::string("key 'arguments[0].scalar', '") + formula +
                                        "': expected a number that " + type + " holds, found one that it rounds to "));
  }
}

TEST_CASE("a YAML file that is wrong is refused with its line and key") {
  const auto refusal = [](const std::string& yaml) { (void)loaders::parse_kernel_file(yaml, "k.yaml"); };
  const std::string begin = "image: a.ptx\nblock: 1\ngrid: 1\n";
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"", "k.yaml: expected a map with the keys image, arguments and grid, found nothing"},
      {"- 1", "k.yaml:1: expected a map"},
      {"a: [", "k.yaml:1: expected YAML: "},
      {"a: 1\n---\nb: 2", "k.yaml:3: expected one document"},
      {begin, "k.yaml:1: the key 'arguments' is missing; expected a list"},
      {"grid: 1\narguments: []", "the key 'image' is missing"},
      {"image: a\narguments: []", "the key 'grid' is missing"},
      {begin + "shard: 1", "k.yaml:4: there is no key 'shard'; expected one of image, kernel"},
      {begin + "grid: 1", "k.yaml:4: the key 'grid' is there twice"},
      {begin + "arguments: 3", "k.yaml:4: key 'arguments': expected a list, found '3'"},
      {begin + "arguments:\n  - 3", "k.yaml:5: key 'arguments[0]': expected such as {input: x}"},
      {begin + "arguments:\n  - {}", "expected one of the keys input, in_place, output and scalar, found none"},
      {begin + "arguments:\n  - input: 0\n  - input: x", "k.yaml:6: key 'arguments[1].input': 'x' is no position"},
      {begin + "inputs: {x: , y: }\narguments:\n  - input: z",
       "k.yaml:6: key 'arguments[0].input': there is no input 'z'; expected one of x, y"},
      {begin + "inputs: {x: number}\narguments:\n  - input: x", "'x' is a number; expected {scalar: x, type: f32}"},
      {begin + "inputs: {x: {size: [1]}}\narguments: []",
       "key 'inputs.x': there is no key 'size'; expected one of shape"},
      {begin + "inputs: {x: {dtype: float}}\narguments: []", "key 'inputs.x.dtype': 'float' is no type"},
      {begin + "arguments:\n  - output: {dtype: f32}",
       "k.yaml:5: key 'arguments[0].output': an output is made before the launch: expected {shape: [...], dtype: ...}, "
       "found no shape; a kernel that writes to an input has {in_place: NAME}"},
      {begin + "arguments:\n  - output: {shape: [1]}", "found no dtype"},
      {begin + "arguments:\n  - output: y", "found 'y'"},
      {begin + "arguments:\n  - output: {shape: [1 +], dtype: f32}",
       "key 'arguments[0].output.shape': '1 +': expected a number, a name or a bracket, found the end"},
      {begin + "arguments:\n  - scalar: 1",
       "key 'arguments[0]': a scalar has no type; expected type: with one of b8, i8"},
      {begin + "arguments:\n  - {scalar: 1, type: int}", "'int' is no type; expected one of b8"},
      {"image: a\nblock: 1\narguments: []\ngrid: [1, 2, 3, 4]",
       "k.yaml:4: key 'grid': expected one to three numbers, found 4"},
      {"image: a\nblock: 1\narguments: []\ngrid: [max(1, 2, 3, 4]", "key 'grid': 'max(1, 2, 3, 4': expected ')'"},
      {"image: []\ngrid: 1\narguments: []", "key 'image': expected the name of a file, found an empty list"},
      {begin + "cooperative: perhaps\narguments: []", "key 'cooperative': expected true or false, found 'perhaps'"},
  };
  for (const auto& [yaml, message] : expected) {
    CAPTURE(yaml);
    CHECK_THROWS_WITH(refusal(yaml), ContainsSubstring(message));
    CHECK_THROWS_AS(refusal(yaml), pace::InputError);
  }
}

/// `axpy_launch` with `from` replaced.
std::string with(const std::string& from, const std::string& to) {
  std::string text = "image: axpy.ptx\n" + axpy_launch;
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

TEST_CASE("inputs that do not fit are named, with what was found and expected") {
  Fixture here;
  const std::string yaml = "image: axpy.ptx\n" + axpy_launch;
  const auto refusal = [&](const pace::inputs::Inputs& given) { (void)here.call(yaml, given); };
  CHECK_THROWS_WITH(refusal({.args = {x, y}, .kwargs = {}}),
                    ContainsSubstring("kernel.yaml:1: key 'inputs': expected 3 inputs (x, y, alpha), found 2"));
  CHECK_THROWS_WITH(refusal({.args = {x, y}, .kwargs = {{"beta", 1}}}), ContainsSubstring("there is no input 'beta'"));
  CHECK_THROWS_WITH(refusal({.args = {x, y}, .kwargs = {{"x", x}}}), ContainsSubstring("there are two values for 'x'"));
  CHECK_THROWS_WITH(refusal({.args = {x.to(at::kDouble), y, 1}, .kwargs = {}}),
                    ContainsSubstring("kernel.yaml:4: input 'x': expected Float, found Double"));
  CHECK_THROWS_WITH(
      refusal({.args = {x, at::ones({2, 4}), 1}, .kwargs = {}}),
      ContainsSubstring("kernel.yaml:5: input 'y': size 1 is not n = 3; expected [rows, n], found [2, 4]"));
  CHECK_THROWS_WITH(refusal({.args = {x[0], y, 1}, .kwargs = {}}),
                    ContainsSubstring("input 'x': another number of dimensions; expected [rows, n], found [3]"));
  CHECK_THROWS_WITH(refusal({.args = {x, 1, 1}, .kwargs = {}}), ContainsSubstring("input 'y': expected a tensor"));
  CHECK_THROWS_WITH(refusal({.args = {x, y, x}, .kwargs = {}}), ContainsSubstring("input 'alpha': expected a number"));
  CHECK_THROWS_WITH(refusal({.args = {x, "text", 1}, .kwargs = {}}), ContainsSubstring("found a String"));
  CHECK(here.gpu.launches.empty());
}

TEST_CASE("a number of a size's name is that size") {
  Fixture here;
  const std::string yaml =
      "image: axpy.ptx\nkernel: bare\ninputs: {x: {shape: [n]}, n: number}\narguments: []\ngrid: n\nblock: 1\n";
  here.gpu.run = [](const loaders::KernelLaunch&, void**) {};
  CHECK_THROWS_WITH(here.call(yaml, {.args = {at::ones({8}), 4}, .kwargs = {}}),
                    ContainsSubstring("kernel.yaml:3: input 'x': size 0 is not n = 4; expected [n], found [8]"));
  CHECK(here.gpu.launches.empty());
  (void)here.call(yaml, {.args = {at::ones({8}), 8}, .kwargs = {}});
  REQUIRE(here.gpu.launches.size() == 1);
  CHECK(here.gpu.launches[0].grid[0] == 8);
}

TEST_CASE("static and dynamic shared memory count together") {
  Fixture here;
  here.gpu.static_shared_bytes = 40 * 1024;
  (void)here.call(with("shared: 1000", "shared: 20480"), {.args = {x, y, 1}, .kwargs = {}});
  REQUIRE(here.gpu.launches.size() == 1);
  CHECK(here.gpu.asked_shared == 20480);
}

TEST_CASE("kernels have the names of their source, whatever is in their templates and namespaces") {
  const std::map<std::string, std::string> expected = {
      {"axpy", "axpy"},
      {"_Z5scalePfi", "scale"},
      {"_ZN12_GLOBAL__N_15scaleEPfi", "scale"},
      {"_ZN2ns12_GLOBAL__N_15scaleEPfi", "ns::scale"},
      {"_ZN12_GLOBAL__N_15scaleINS_1TEEEvPT_", "scale<T>"},
      {"_Z1kIL4Mode1EEvPf", "k<(Mode)1>"},
      {"_Z1kIFvPfEEvPT_i", "k<void (float*)>"},
      {"_Z1kPFvPfE", "k"},
      {"_Z1kILb1EEvv", "k<true>"},
  };
  for (const auto& [symbol, name] : expected) {
    CAPTURE(symbol, pace::demangled(symbol));
    CHECK(loaders::detail::source_name(symbol) == name);
  }
}

TEST_CASE("a list of arguments that is not the kernel's, and a launch that no GPU can make, are refused") {
  Fixture here;
  const pace::inputs::Inputs given{.args = {x, y, 1}, .kwargs = {}};
  const auto refusal = [&](const std::string& yaml) { (void)here.call(yaml, given); };
  CHECK_THROWS_WITH(
      refusal(with("  - {scalar: alpha, type: f32}\n", "")),
      ContainsSubstring("kernel.yaml:7: key 'arguments': the kernel 'axpy' takes 5 parameters of 8, 8, 8, "
                        "4, 4 bytes, found 4 arguments") ||
          ContainsSubstring("kernel.yaml:8: key 'arguments': the kernel 'axpy' takes 5 parameters of 8, 8, "
                            "8, 4, 4 bytes, found 4 arguments"));
  CHECK_THROWS_WITH(
      refusal(with("n, type: i32", "n, type: i64")),
      ContainsSubstring("kernel.yaml:11: key 'arguments[3]': the kernel 'axpy' takes 4 bytes there, found a "
                        "number of type i64 (8 bytes)"));
  CHECK_THROWS_WITH(refusal(with("{scalar: rows * n, type: i32}", "input: x")),
                    ContainsSubstring("takes 4 bytes there, found a pointer (8 bytes)"));
  CHECK_THROWS_WITH(refusal(with("ceil_div(numel(x), 4)", "n // 4")),
                    ContainsSubstring("kernel.yaml:13: key 'grid', 'n // 4': expected a whole number from 1 to "
                                      "2147483647, found 0"));
  CHECK_THROWS_WITH(refusal(with("numel(x), 4", "numel(z), 4")), ContainsSubstring("there is no tensor 'z'"));
  CHECK_THROWS_WITH(refusal(with("block: 4", "block: [64, 32]")),
                    ContainsSubstring("kernel.yaml:14: key 'block', '64': expected at most 1024 threads of a block for "
                                      "this kernel, found 2048"));
  CHECK_THROWS_WITH(refusal(with("block: 4", "block: 2000")), ContainsSubstring("from 1 to 1024, found 2000"));
  CHECK_THROWS_WITH(refusal(with("block: 4\n", "")), ContainsSubstring("the key 'block' is missing"));
  here.gpu.static_shared_bytes = 100;
  CHECK_THROWS_WITH(refusal(with("shared: 1000", "shared: 232400")),
                    ContainsSubstring("kernel.yaml:15: key 'shared', '232400': expected at most 232448 bytes of shared "
                                      "memory on fake GPU, found 232400 and 100 of the kernel's own"));
  CHECK_THROWS_WITH(refusal(with("block: 4", "block: 4\ncluster: 3")),
                    ContainsSubstring("expected a grid that is a multiple of it, found 2 blocks and clusters of 3"));
  CHECK_THROWS_WITH(refusal(with("block: 4", "block: 4\ncluster: [4, 4]")),
                    ContainsSubstring("expected at most 8 blocks of a cluster"));
  CHECK(here.gpu.launches.empty());
}

TEST_CASE("an image for another GPU, and a name that it does not have, are refused before anything is loaded") {
  Fixture here;
  here.gpu.compute_capability = 75;
  const auto refusal = [&](const std::string& yaml) { (void)here.load(yaml); };
  CHECK_THROWS_WITH(refusal("image: axpy.ptx\n" + axpy_launch),
                    ContainsSubstring("kernel.yaml:1: key 'image': the kernel is for another GPU: found PTX of "
                                      "compute_80, and the device (fake GPU) is sm_75"));
  here.gpu.compute_capability = 90;
  CHECK_THROWS_WITH(refusal(with("kernel: axpy", "kernel: axpby")),
                    ContainsSubstring("kernel.yaml:2: key 'kernel': there is no kernel 'axpby' in ") &&
                        ContainsSubstring("; expected one of: axpy, _Z3addPKfS0_Pfi (add), bare"));
  CHECK_THROWS_WITH(refusal(with("kernel: axpy\n", "")),
                    ContainsSubstring("the key 'kernel' is missing; expected one of"));
  CHECK_THROWS_WITH(refusal(with("axpy.ptx", "none.ptx")), ContainsSubstring("none.ptx"));
  CHECK_THROWS_WITH(refusal(with("axpy.ptx", "axpy.ptx\noptions: [-O3]")),
                    ContainsSubstring("these are for CUDA source"));
  CHECK(here.gpu.loaded.empty());
  // As it stands in the source.
  (void)here.load(with("kernel: axpy", "kernel: add"));
  CHECK(here.gpu.loaded.size() == 1);
}

const std::string triton_json = R"({"target": {"backend": "cuda", "arch": 80, "warp_size": 32}, "num_warps": 2,
"num_ctas": 1, "launch_cooperative_grid": false, "launch_pdl": false, "shared": 4096, "name": "axpy"})";

TEST_CASE("Triton's JSON says the kernel, the threads, the shared memory and the clusters") {
  Fixture here;
  const std::string launch = R"(
inputs: {x: {shape: [rows, n]}, y: , alpha: number}
arguments:
  - input: x
  - input: y
  - output: {shape: [rows, n], dtype: f32}
  - {scalar: numel(x), type: i32}
  - {scalar: alpha, type: f32}
grid: 3
)";
  here.scratch.write("cache/axpy.json", triton_json);
  here.scratch.write("cache/__grp__axpy.json", "{}");
  const auto refusal = [&](const std::string& yaml) { (void)here.call(yaml, {.args = {x, y, 2}, .kwargs = {}}); };
  CHECK_THROWS_WITH(refusal("image: cache" + launch), ContainsSubstring("expected axpy.cubin or .ptx beside it"));
  here.scratch.write("cache/axpy.ptx", axpy_ptx);
  for (const char* const image : {"cache", "cache/axpy.json"}) {
    CAPTURE(image);
    here.gpu.launches.clear();
    const auto outputs = here.call(std::string("image: ") + image + launch, {.args = {x, y, 2}, .kwargs = {}});
    CHECK(at::equal(outputs.at(0), 2 * x + y));
    REQUIRE(here.gpu.launches.size() == 1);
    CHECK(here.gpu.launches[0].block == std::array<std::uint32_t, 3>{64, 1, 1});
    CHECK(here.gpu.launches[0].grid == std::array<std::uint32_t, 3>{3, 1, 1});
    CHECK(here.gpu.launches[0].shared_bytes == 4096);
  }
  CHECK_THROWS_WITH(
      refusal("image: cache\nblock: 64" + launch),
      ContainsSubstring("kernel.yaml:2: key 'block': Triton's JSON says 64 threads; expected no such key"));
  CHECK_THROWS_WITH(refusal("image: cache\nshared: 64" + launch),
                    ContainsSubstring("key 'shared': Triton's JSON says 4096"));
  CHECK_THROWS_WITH(refusal("image: cache\ncluster: 2" + launch),
                    ContainsSubstring("key 'cluster': Triton's JSON says 1"));
  here.scratch.write("cache/other.json", triton_json);
  CHECK_THROWS_WITH(refusal("image: cache" + launch), ContainsSubstring("found 2 files *.json"));
  const auto json = [&](const std::string& text) {
    return loaders::read_triton_facts(here.scratch.write("kernel.json", text));
  };
  CHECK_THROWS_WITH(json("{"), ContainsSubstring("expected the JSON of a kernel in Triton's cache"));
  CHECK_THROWS_WITH(json("[]"), ContainsSubstring("the key 'num_warps' is missing"));
  CHECK_THROWS_WITH(json(R"({"num_warps": 4, "shared": 0})"), ContainsSubstring("the key 'name' is missing"));
  CHECK_THROWS_WITH(json(R"({"num_warps": -4})"), ContainsSubstring("key 'num_warps': expected a whole number from 1"));
  // A grid is divided by the one, and a block has the threads of the other.
  CHECK_THROWS_WITH(json(R"({"num_warps": 0, "shared": 0, "name": "f"})"),
                    ContainsSubstring("kernel.json: key 'num_warps': expected a whole number from 1 to 64, found 0"));
  CHECK_THROWS_WITH(json(R"({"num_warps": 1, "num_ctas": 0, "shared": 0, "name": "f"})"),
                    ContainsSubstring("kernel.json: key 'num_ctas': expected a whole number from 1 to 8, found 0"));
  CHECK_THROWS_WITH(json(R"({"num_warps": 1, "shared": 0, "name": "f", "target": {"warp_size": 0}})"),
                    ContainsSubstring("key 'warp_size': expected a whole number from 1 to 64, found 0"));
  CHECK_THROWS_WITH(json(R"({"num_warps": 4, "shared": 0, "name": "f", "target": {"backend": "hip"}})"),
                    ContainsSubstring("the kernel is for \"hip\""));
  CHECK_THROWS_WITH(json(R"({"num_warps": 4, "shared": 0, "name": "f", "tensordesc_meta": [{}]})"),
                    ContainsSubstring("takes tensor descriptors"));
}

TEST_CASE("clusters of Triton's multiply its grid, and its scratch memory follows the arguments") {
  Fixture here;
  here.scratch.write("axpy.json", R"({"num_warps": 1, "num_ctas": 2, "shared": 0, "name": "axpy",
"launch_cooperative_grid": true, "launch_pdl": true, "global_scratch_size": 100, "global_scratch_align": 128,
"profile_scratch_size": 0, "profile_scratch_align": 1})");
  // Its last two parameters are those pointers.
  std::string ptx = axpy_ptx;
  const std::string numbers = ".param .u32 axpy_param_3,\n\t.param .f32 axpy_param_4";
  REQUIRE(ptx.find(numbers) != std::string::npos);
  ptx.replace(ptx.find(numbers), numbers.size(), ".param .u64 axpy_param_3,\n\t.param .u64 axpy_param_4");
  std::uintptr_t scratch = 0, profile = 1;
  here.gpu.run = [&](const loaders::KernelLaunch&, void** arguments) {
    scratch = argument<std::uintptr_t>(arguments, 3);
    profile = argument<std::uintptr_t>(arguments, 4);
    // All of it can be written to.
    std::memset(reinterpret_cast<void*>(scratch), 1, std::size_t{100} * 6);
  };
  const std::string yaml = "image: axpy.json\ngrid: 3\narguments:\n  - input: 0\n  - input: 0\n  - in_place: 0\n";
  here.scratch.write("axpy.ptx", ptx);
  const loaders::Content content(here.scratch.write("kernel.yaml", yaml));
  const auto loaded = loaders::KernelLoader(open_fake(here.gpu)).load(content, {});
  const loaders::CallInputs inputs({.args = {at::ones({4})}, .kwargs = {}});
  (void)loaded->bind(inputs)->run(inputs.tensors());
  CHECK(scratch != 0);
  CHECK(scratch % 128 == 0);
  CHECK(profile == 0);
  REQUIRE(here.gpu.launches.size() == 1);
  CHECK(here.gpu.launches[0].grid[0] == 6);
  CHECK(here.gpu.launches[0].cluster[0] == 2);
  CHECK(here.gpu.launches[0].cooperative);
  REQUIRE(loaded->notes().size() == 2);
  CHECK_THAT(loaded->notes()[1], ContainsSubstring("Triton launches this kernel before the one before it has ended"));
  here.scratch.write("kernel.yaml", yaml + "  - {scalar: 1, type: i32}\n");
  const auto one_more = loaders::KernelLoader(open_fake(here.gpu)).load(content, {});
  CHECK_THROWS_WITH(one_more->bind(inputs), ContainsSubstring("takes 3 parameters of 8, 8, 8 bytes, found 4 arguments; "
                                                              "constexpr arguments"));
  std::string large = yaml;
  large.replace(large.find("grid: 3"), 7, "grid: [1000000000, 65535, 65535]");
  here.scratch.write("kernel.yaml", large);
  const auto too_large = loaders::KernelLoader(open_fake(here.gpu)).load(content, {});
  CHECK_THROWS_WITH(too_large->bind(inputs),
                    ContainsSubstring("kernel.yaml:2: key 'grid', '1000000000': Triton's scratch memory, 100 bytes for "
                                      "each block, is too large for a grid of 2000000000 x 65535 x 65535 blocks"));
}

TEST_CASE("a YAML file is a kernel, which is code, and an image alone is refused with the missing part") {
  const pace::test::Scratch scratch;
  scratch.write("axpy.ptx", axpy_ptx);
  const loaders::Content content(scratch.write("kernel.yaml", "image: axpy.ptx\n" + axpy_launch));
  const auto& loader = loaders::loader_of(content);
  CHECK(loader.name() == "kernel (a file *.yaml)");
  CHECK_THAT(loader.code_in(content),
             ContainsSubstring("a kernel, which may read and write all memory") && ContainsSubstring("axpy.ptx"));
  CHECK(loader.also_reads(content) == std::vector<std::string>{scratch / "axpy.ptx"});
  // Triton's cache has several files of a kernel.
  scratch.write("cache/axpy.json", triton_json);
  scratch.write("cache/axpy.ptx", axpy_ptx);
  scratch.write("cache/axpy.cubin", "machine code");
  for (const char* const image : {"cache", "cache/axpy.json"}) {
    const loaders::Content of_triton(scratch.write("triton.yaml", std::string("image: ") + image + "\n" + axpy_launch));
    CHECK(loader.also_reads(of_triton) == std::vector<std::string>{scratch / "cache/axpy.json",
                                                                   scratch / "cache/axpy.cubin",
                                                                   scratch / "cache/axpy.ptx"});
  }
  const loaders::Content of_none(scratch.write("none.yaml", "image: [none, none.json]\n" + axpy_launch));
  CHECK(loader.also_reads(of_none) == std::vector<std::string>{scratch / "none", scratch / "none.json"});
  // The inputs are on the CPU; or there is no CUDA in this program.
  CHECK_THROWS_WITH(loader.load(content, {}), ContainsSubstring("a kernel runs on a GPU"));
#ifndef PACE_CUDA
  CHECK_THROWS_WITH(loader.load(content, {}), ContainsSubstring("this program was built without CUDA: build it with "
                                                                "--config=cuda"));
#endif
  const auto kind = [&](const std::string& bytes) {
    (void)loaders::loader_of(loaders::Content(scratch.write("k", bytes)));
  };
  std::string cubin(
      "\x7f"
      "ELF\2\1\1");
  cubin.resize(18);
  cubin += std::string("\xbe\0", 2);
  CHECK_THROWS_WITH(kind(cubin),
                    ContainsSubstring("this is compiled kernels (a cubin or a fatbin); a YAML file says how"));
  CHECK_THROWS_WITH(kind("\x50\xed\x55\xba"), ContainsSubstring("compiled kernels"));
  CHECK_THROWS_WITH(kind("text"), ContainsSubstring("kernel (a file *.yaml)"));
}

}  // namespace
