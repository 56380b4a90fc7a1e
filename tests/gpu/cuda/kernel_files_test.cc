// On a GPU: kernels of files are loaded, launched and compared with LibTorch; their images and the driver agree.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "benches/files/kernels/image.hpp"
#include "benches/files/kernels/kernel_device.hpp"
#include "benches/files/loaders/loaders.hpp"
#include "pace/gpu/cuda/kernel_module.hpp"
#include "pace/gpu/cuda/launch_kernel.hpp"
#include "tests/gpu/cuda/gpu.hpp"
#include "tests/support/scratch.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;
using pace::testing::on_gpu;
namespace loaders = pace::benches::loaders;

const std::string data = std::filesystem::absolute("tests/files").string();

/// Runs the test on the GPU's memory; without a GPU the test is skipped.
struct Fixture {
  pace::test::Scratch scratch;
  c10::Device device = on_gpu().torch_device();
  int capability = loaders::open_kernel_device(device)->compute_capability();

  [[nodiscard]] at::TensorOptions floats() const { return at::TensorOptions(device).dtype(at::kFloat); }
  std::unique_ptr<loaders::Loaded> load(const std::string& yaml) {
    const loaders::Content content(scratch.write("kernel.yaml", yaml));
    return loaders::loader_of(content).load(content, {.device = device});
  }
  std::vector<at::Tensor> call(const std::string& yaml, const pace::inputs::Inputs& given) {
    const auto loaded = load(yaml);
    const loaders::CallInputs inputs(given);
    return loaded->bind(inputs)->run(inputs.tensors());
  }
};

/// As tests/files/kernels.cu has it.
std::string axpy_yaml(const std::string& image, const std::string& more = "kernel: axpy\nblock: 128\n",
                      const std::string& elements = "128") {
  return "image: " + image + "\ngrid: ceil_div(numel(x), " + elements + ")\ninputs: {x: , y: , alpha: number}\n" +
         more +
         "arguments: [{input: x}, {input: y}, {output: {shape: [numel(x)], dtype: f32}}, {scalar: numel(x), type: "
         "i32}, "
         "{scalar: alpha, type: f32}]\n";
}

TEST_CASE("each kind of image computes what LibTorch computes, at every size") {
  Fixture here;
  std::vector<std::string> images = {"images/kernels.ptx", "kernels.cu"};
  if (here.capability == 90)
    for (const char* const each :
         {"images/kernels.sm_90.cubin", "images/kernels.fatbin", "images/kernels.compressed.fatbin"})
      images.emplace_back(each);
  for (const auto& image : images) {
    for (const std::int64_t n : {1, 1000, 100'000}) {
      CAPTURE(image, n);
      const auto x = at::randn({n}, here.floats()), y = at::randn({n}, here.floats());
      const auto outputs = here.call(axpy_yaml(data + '/' + image), {.args = {x, y, 2.0}, .kwargs = {}});
      REQUIRE(outputs.size() == 1);
      // A product with 2 is exact, so that one rounding is left.
      CHECK(at::equal(outputs[0], x * 2 + y));
    }
  }
}

TEST_CASE("the driver says of an image what its bytes say") {
  Fixture here;
  if (here.capability != 90) SKIP("the images are for compute capability 9.0");
  for (const std::string name : {"sm_90.cubin", "ptx", "fatbin"}) {
    CAPTURE(name);
    const std::string path = data + "/images/kernels." + name, bytes = pace::test::read_file(path);
    const auto codes = loaders::read_image(bytes, path);
    const auto* const code = loaders::code_for(codes, here.capability);
    REQUIRE(code != nullptr);
    const pace::cuda::KernelModule module(path, bytes);
    std::vector<std::string> names;
    for (const auto& kernel : *code->kernels) {
      CAPTURE(kernel.symbol);
      names.push_back(kernel.symbol);
      CHECK(pace::cuda::parameter_bytes(module.function(kernel.symbol, 0)) == kernel.parameters);
    }
    auto listed = module.kernels();
    std::ranges::sort(listed);
    std::ranges::sort(names);
    CHECK(listed == names);
  }
}

TEST_CASE("names and parameters of compressed code are checked by what the driver says") {
  Fixture here;
  if (here.capability != 90) SKIP("the images are for compute capability 9.0");
  const std::string image = data + "/images/kernels.compressed.fatbin";
  CHECK_THROWS_WITH(here.load(axpy_yaml(image, "kernel: axpby\nblock: 128\n")),
                    ContainsSubstring("there is no kernel 'axpby'") && ContainsSubstring("_Z3addPKfS0_Pfi (add)"));
  const auto x = at::ones({8}, here.floats());
  CHECK_THROWS_WITH(here.call(axpy_yaml(image, "kernel: add\nblock: 128\n"), {.args = {x, x, 1}, .kwargs = {}}),
                    ContainsSubstring("takes 4 parameters of 8, 8, 8, 4 bytes, found 5 arguments"));
}

TEST_CASE("an image for another GPU is refused with both architectures") {
  Fixture here;
  if (here.capability / 10 == 8) SKIP("the image is for this GPU");
  CHECK_THROWS_WITH(here.load(axpy_yaml(data + "/images/kernels.sm_80.cubin")),
                    ContainsSubstring("the kernel is for another GPU: found sm_80, and the device (") &&
                        ContainsSubstring("is sm_" + std::to_string(here.capability)));
}

TEST_CASE("PTX that the driver cannot compile is refused with its compiler's messages") {
  Fixture here;
  const std::string path = here.scratch.write(
      "wrong.ptx", ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry axpy() { no_such_instruction; }\n");
  CHECK_THROWS_AS(here.load(axpy_yaml(path)), pace::Unsupported);
  CHECK_THROWS_WITH(here.load(axpy_yaml(path)),
                    ContainsSubstring("wrong.ptx") && ContainsSubstring("no_such_instruction"));
}

TEST_CASE("a kernel has more shared memory than it gets without asking, and no more than the GPU has") {
  Fixture here;
  here.scratch.write("shared.cu",
                     "extern \"C\" __global__ void last(int* out, int n) {\n  extern __shared__ int words[];\n"
                     "  words[n - 1] = 7; out[0] = words[n - 1];\n}\n");
  const auto yaml = [](const std::string& bytes) {
    return "image: shared.cu\nkernel: last\ngrid: 1\nblock: 1\nshared: " + bytes +
           "\narguments: [{output: {shape: [1], dtype: i32}}, {scalar: " + bytes + " / 4, type: i32}]\n";
  };
  const auto outputs = here.call(yaml("60000"), {});
  CHECK(outputs.at(0).item<int>() == 7);
  CHECK_THROWS_WITH(here.call(yaml("1000000"), {}), ContainsSubstring("key 'shared', '1000000': expected at most "));
}

TEST_CASE("static and dynamic shared memory may be more together than a kernel gets without asking") {
  Fixture here;
  here.scratch.write("both.cu",
                     "extern \"C\" __global__ void both(int* out, int n) {\n  extern __shared__ int words[];\n"
                     "  __shared__ int own[10240];\n  own[n] = 3; words[n - 1] = 4;\n  __syncthreads();\n"
                     "  out[0] = own[n] + words[n - 1];\n}\n");
  const auto outputs = here.call(
      "image: both.cu\nkernel: both\ngrid: 1\nblock: 1\nshared: 20480\n"
      "arguments: [{output: {shape: [1], dtype: i32}}, {scalar: 20480 / 4, type: i32}]\n",
      {});
  CHECK(outputs.at(0).item<int>() == 7);
}

TEST_CASE("templates, clusters and cooperative launches") {
  Fixture here;
  here.scratch.write("more.cu", R"(
template <class T> __global__ void scale(T* x, T factor) { x[threadIdx.x] *= factor; }
extern "C" __global__ void clusters(int* out) {
  unsigned blocks;
  asm volatile("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(blocks));
  if (threadIdx.x == 0) out[blockIdx.x] = static_cast<int>(blocks);
}
extern "C" __global__ void fill(int* out) { out[blockIdx.x] = 3; }
)");
  const auto changed = here.call(
      "image: more.cu\nkernel: scale<float>\ngrid: 1\nblock: 4\n"
      "arguments: [{in_place: 0}, {scalar: 2.5, type: f32}]\n",
      {.args = {at::ones({4}, here.floats())}, .kwargs = {}});
  CHECK(at::equal(changed.at(0), at::full({4}, 2.5, here.floats())));
  const std::string launch =
      "image: more.cu\ngrid: 8\nblock: 32\narguments: [{output: {shape: [8], dtype: i32, zero: "
      "true}}]\n";
  if (here.capability >= 90) {
    const auto clusters = here.call(launch + "kernel: clusters\ncluster: 4\n", {});
    CHECK(at::equal(clusters.at(0), at::full({8}, 4, clusters.at(0).options())));
  }
  const auto filled = here.call(launch + "kernel: fill\ncooperative: true\n", {});
  CHECK(at::equal(filled.at(0), at::full({8}, 3, filled.at(0).options())));
}

TEST_CASE("a kernel of Triton's cache computes what LibTorch computes") {
  Fixture here;
  if (!std::filesystem::exists(data + "/triton/axpy.json") || pace::test::read_file(data + "/triton/axpy.json").empty())
    SKIP("no Python with Triton where this was built");
  if (here.capability != 90) SKIP("the kernel is for compute capability 9.0");
  for (const std::int64_t n : {1, 1024, 99'999}) {
    const auto x = at::randn({n}, here.floats()), y = at::randn({n}, here.floats());
    const auto outputs = here.call(axpy_yaml(data + "/triton", "", "1024"), {.args = {x, y, 2.0}, .kwargs = {}});
    CHECK(at::equal(outputs.at(0), x * 2 + y));
  }
}

TEST_CASE("inputs on the CPU are refused") {
  Fixture here;
  const loaders::Content content(here.scratch.write("kernel.yaml", axpy_yaml(data + "/images/kernels.ptx")));
  CHECK_THROWS_WITH(loaders::loader_of(content).load(content, {.device = c10::kCPU}),
                    ContainsSubstring("the inputs are on cpu; expected --device cuda"));
}

}  // namespace
