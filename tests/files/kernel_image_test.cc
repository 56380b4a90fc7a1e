// Images that nvcc, NVRTC and Triton have made, read and chosen without a GPU.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <ATen/ops/ones.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "benches/files/kernels/image.hpp"
#include "benches/files/kernels/nvrtc.hpp"
#include "benches/files/kernels/triton.hpp"
#include "benches/files/loaders/kernel.hpp"
#include "tests/files/fake_kernel_device.hpp"
#include "tests/support/scratch.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;
using pace::test::read_file;
using pace::testing::FakeGpu;
using pace::testing::open_fake;
namespace loaders = pace::benches::loaders;
using Sizes = std::vector<std::size_t>;

const std::string folder = "tests/files/";

std::vector<loaders::KernelCode> codes_of(const std::string& path) {
  return loaders::read_image(read_file(path), path);
}

/// Requires the kernels of kernels.cu, with the sizes that C++ gives their parameters.
void check_kernels(const loaders::KernelCode& code) {
  REQUIRE(code.kernels);
  CHECK(code.kernels->size() == 5);
  const auto parameters = [&](const std::string& symbol) {
    const auto found = std::ranges::find(*code.kernels, symbol, &loaders::KernelEntry::symbol);
    CAPTURE(symbol);
    REQUIRE(found != code.kernels->end());
    REQUIRE(found->parameters);
    return *found->parameters;
  };
  CHECK(parameters("_Z3addPKfS0_Pfi") == Sizes{8, 8, 8, 4});
  CHECK(parameters("axpy") == Sizes{8, 8, 8, 4, 4});
  CHECK(parameters("mixed") == Sizes{200, 8, 1, 2, 8});
  CHECK(parameters("without_parameters").empty());
  CHECK(parameters("_Z5scaleIfEvPT_xS0_") == Sizes{8, 8, 4});
}

TEST_CASE("a cubin says its architecture, its kernels and the sizes of their parameters") {
  for (const auto& [name, expected] : {std::pair{"sm_80", "sm_80"}, std::pair{"sm_90", "sm_90"}}) {
    CAPTURE(name);
    const auto codes = codes_of(folder + "images/kernels." + name + ".cubin");
    REQUIRE(codes.size() == 1);
    CHECK(codes[0].text() == expected);
    check_kernels(codes[0]);
  }
}

TEST_CASE("PTX of nvcc says the same") {
  const auto codes = codes_of(folder + "images/kernels.ptx");
  REQUIRE(codes.size() == 1);
  CHECK(codes[0].text() == "PTX of compute_80");
  check_kernels(codes[0]);
}

TEST_CASE("a fatbin has code for several GPUs, whose kernels are known where they are not compressed") {
  const auto codes = codes_of(folder + "images/kernels.fatbin");
  CHECK(loaders::texts_of(codes) == "sm_80, sm_90a, PTX of compute_90a");
  for (const auto& code : codes) check_kernels(code);
  const auto compressed = codes_of(folder + "images/kernels.compressed.fatbin");
  CHECK(loaders::texts_of(compressed) == "sm_80, sm_90, PTX of compute_90");
  for (const auto& code : compressed) CHECK_FALSE(code.kernels);
}

TEST_CASE("images that were cut are refused, wherever the cut is") {
  for (const std::string name : {"sm_90.cubin", "fatbin"}) {
    const std::string image = read_file(folder + "images/kernels." + name);
    for (std::size_t size = 0; size + 1 < image.size(); size += 61) {
      CAPTURE(name, size);
      CHECK_THROWS_AS(loaders::read_image(image.substr(0, size), name), pace::InputError);
    }
  }
}

/// A file that launches `axpy` of an image, which is relative to the folder of the file.
std::string axpy_yaml(const std::string& image, const std::string& more = "kernel: axpy\nblock: 128\n") {
  return "image: " + image + "\ngrid: ceil_div(numel(x), 1024)\ninputs: {x: , y: , alpha: number}\n" + more +
         "arguments: [{input: x}, {input: y}, {output: {shape: [numel(x)], dtype: f32}}, {scalar: numel(x), type: "
         "i32}, "
         "{scalar: alpha, type: f32}]\n";
}

struct Fixture {
  pace::test::Scratch scratch;
  FakeGpu gpu = {};
  const loaders::CallInputs inputs{{.args = {at::ones({2000}), at::ones({2000}), 3}, .kwargs = {}}};

  Fixture() {
    for (const char* const each : {"images", "triton", "kernels.cu", "kernels.cuh"})
      if (std::filesystem::exists(folder + each))
        std::filesystem::copy(folder + each, scratch / each, std::filesystem::copy_options::recursive);
  }
  std::unique_ptr<loaders::Loaded> load(const std::string& yaml) {
    const loaders::Content content(scratch.write("kernel.yaml", yaml));
    return loaders::KernelLoader(open_fake(gpu)).load(content, {});
  }
  void call(const std::string& yaml) {
    const auto loaded = load(yaml);
    (void)loaded->bind(inputs)->run(inputs.tensors());
  }
};

TEST_CASE("the image for the device is chosen out of several, and a device without one is named") {
  Fixture here;
  const std::string all = "[images/kernels.sm_80.cubin, images/kernels.sm_90.cubin, images/kernels.ptx]";
  for (const auto& [device, file] : {std::pair{80, "sm_80.cubin"}, std::pair{86, "sm_80.cubin"},
                                     std::pair{90, "sm_90.cubin"}, std::pair{100, "ptx"}}) {
    here.gpu.compute_capability = device;
    here.call(axpy_yaml(all));
    CHECK_THAT(here.gpu.loaded.back(), ContainsSubstring(std::string("kernels.") + file));
  }
  CHECK(here.gpu.asked_driver == 0);
  here.gpu.compute_capability = 75;
  CHECK_THROWS_WITH(here.load(axpy_yaml(all)),
                    ContainsSubstring("the kernel is for another GPU: found sm_80, sm_90, PTX of compute_80, and the "
                                      "device (fake GPU) is sm_75"));
  here.gpu.compute_capability = 100;
  CHECK_THROWS_WITH(here.load(axpy_yaml("images/kernels.fatbin")),
                    ContainsSubstring("found sm_80, sm_90a, PTX of compute_90a, and the device (fake GPU) is sm_100"));
}

TEST_CASE("of compressed code the driver is asked for names and parameters") {
  Fixture here;
  here.gpu.kernels = {{"axpy", {8, 8, 8, 4, 4}}, {"other", {8}}};
  here.call(axpy_yaml("images/kernels.compressed.fatbin"));
  CHECK(here.gpu.symbol == "axpy");
  CHECK(here.gpu.asked_driver == 2);
  here.gpu.kernels["axpy"].pop_back();
  CHECK_THROWS_WITH(here.call(axpy_yaml("images/kernels.compressed.fatbin")),
                    ContainsSubstring("takes 4 parameters of 8, 8, 8, 4 bytes, found 5 arguments"));
  CHECK_THROWS_WITH(
      here.load(axpy_yaml("images/kernels.compressed.fatbin", "kernel: axpby\nblock: 1\n")),
      ContainsSubstring("there is no kernel 'axpby'") && ContainsSubstring("expected one of: axpy, other"));
}

TEST_CASE("CUDA source is compiled for the device, with its templates and what it includes") {
  Fixture here;
  here.call(axpy_yaml("kernels.cu"));
  CHECK(loaders::read_image(here.gpu.image, "compiled").at(0).text() == "sm_90");
  CHECK(here.gpu.symbol == "axpy");
  const auto loaded = here.load(
      "image: kernels.cu\nkernel: scale<double>\nblock: 1\ngrid: 1\n"
      "arguments: [{in_place: 0}, {scalar: 1, type: i64}, {scalar: 2, type: f64}]\n");
  const loaders::CallInputs one({.args = {at::ones({1})}, .kwargs = {}});
  (void)loaded->bind(one)->run(one.tensors());
  CHECK(here.gpu.symbol == "_Z5scaleIdEvPT_xS0_");
  // A GPU that is newer than NVRTC.
  here.gpu.compute_capability = 990;
  here.call(axpy_yaml("kernels.cu"));
  CHECK(loaders::read_image(here.gpu.image, "compiled").at(0).is_ptx);
  // That the driver compiles PTX is said of images that are PTX, not of source, whether its kernel is named or not.
  here.scratch.write("one.cu", "extern \"C\" __global__ void one() {}\n");
  for (const char* const kernel : {"", "kernel: one\n"}) {
    CAPTURE(kernel);
    const auto one_kernel = here.load(std::string("image: one.cu\nblock: 1\ngrid: 1\narguments: []\n") + kernel);
    CHECK(loaders::read_image(here.gpu.image, "compiled").at(0).is_ptx);
    for (const auto& note : one_kernel->notes()) CHECK_THAT(note, !ContainsSubstring("the driver compiles"));
  }
  here.gpu.compute_capability = 20;
  CHECK_THROWS_WITH(here.load(axpy_yaml("kernels.cu")), ContainsSubstring("this NVRTC compiles nothing for a GPU of "
                                                                          "architecture sm_20; it compiles for 75"));
  here.gpu.compute_capability = 90;
  here.call(axpy_yaml("kernels.cu", "kernel: axpy\nblock: 1\noptions: [--gpu-architecture=compute_80]\n"));
  CHECK(loaders::read_image(here.gpu.image, "compiled").at(0).text() == "PTX of compute_80");
}

TEST_CASE("what NVRTC has to say is in the error, and kernels of the source are listed") {
  Fixture here;
  here.scratch.write("wrong.cu", "extern \"C\" __global__ void f(float* x) {\n  x[0] = y;\n}\n");
  CHECK_THROWS_WITH(here.load(axpy_yaml("wrong.cu", "block: 1\n")),
                    ContainsSubstring("wrong.cu: NVRTC does not compile the source: NVRTC_ERROR_COMPILATION") &&
                        ContainsSubstring("wrong.cu(2): error: identifier \"y\" is undefined"));
  CHECK_THROWS_WITH(here.load(axpy_yaml("kernels.cu", "kernel: axpby\nblock: 1\n")),
                    ContainsSubstring("key 'kernel': there is no kernel 'axpby'") && ContainsSubstring("axpy") &&
                        ContainsSubstring("(add)"));
  CHECK_THROWS_WITH(here.load(axpy_yaml("kernels.cu", "block: 1\n")), ContainsSubstring("the key 'kernel' is missing"));
  CHECK_THROWS_WITH(here.load(axpy_yaml("kernels.cu", "kernel: axpy\nblock: 1\noptions: [--no-such-option]\n")),
                    ContainsSubstring("no-such-option"));
  CHECK_THROWS_WITH(here.load(axpy_yaml("[kernels.cu, images/kernels.ptx]")),
                    ContainsSubstring("CUDA source is compiled for each GPU; expected it alone, found 2 files"));
}

TEST_CASE("a structure among the parameters is refused by its position") {
  Fixture here;
  const auto loaded = here.load(
      "image: images/kernels.sm_90.cubin\nkernel: mixed\nblock: 1\ngrid: 1\narguments: "
      "[{input: 0}, {scalar: 1, type: f64}, {scalar: 1, type: i8}, {scalar: 1, type: i16}, "
      "{in_place: 0}]\n");
  const loaders::CallInputs one({.args = {at::ones({1})}, .kwargs = {}});
  CHECK_THROWS_WITH(loaded->bind(one),
                    ContainsSubstring("key 'arguments[0]': the kernel 'mixed' takes 200 bytes there, "
                                      "found a pointer (8 bytes); structures cannot be given"));
}

TEST_CASE("a kernel of Triton's cache is launched as Triton launches it") {
  if (!std::filesystem::exists(folder + "triton/axpy.json") || read_file(folder + "triton/axpy.json").empty())
    SKIP("no Python with Triton");
  Fixture here;
  const auto codes = codes_of(folder + "triton/axpy.cubin");
  REQUIRE(codes.size() == 1);
  CHECK(codes[0].architecture.number == 90);
  const auto facts = loaders::read_triton_facts(folder + "triton/axpy.json");
  CHECK(facts.kernel == "axpy");
  CHECK(facts.threads == 128);
  REQUIRE(codes[0].kernels);
  REQUIRE(codes[0].kernels->size() == 1);
  // Behind x, y, out, n and alpha.
  CHECK(codes[0].kernels->front().parameters->size() == 5 + facts.scratch.size());
  CHECK(codes_of(folder + "triton/axpy.ptx").at(0).kernels->front().parameters == codes[0].kernels->front().parameters);
  here.call(axpy_yaml("triton", ""));
  CHECK_THAT(here.gpu.loaded.back(), ContainsSubstring("axpy.cubin"));
  REQUIRE(here.gpu.launches.size() == 1);
  CHECK(here.gpu.launches[0].block[0] == 128);
  CHECK(here.gpu.launches[0].grid[0] == 2);
}

}  // namespace
