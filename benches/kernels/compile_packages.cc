// Compiles the packages that the tests of this folder list: the build runs it.
#include <cstdint>
#include <exception>
#include <filesystem>
#include <iostream>
#include <vector>

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/full.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sum.h>

#include "benches/files/aot/compile_definitions.hpp"

namespace {

namespace fs = std::filesystem;
using Tensors = std::vector<at::Tensor>;
using pace::benches::aot::Definition;

at::Tensor parameter(at::IntArrayRef sizes) { return at::randn(sizes).requires_grad_(); }

/// A product that Inductor leaves to LibTorch, and operators that it fuses around it.
Definition block() {
  constexpr std::int64_t rows = 256, size = 512;
  return {.name = "block",
          .parameters = {parameter({size, size}), parameter({size}), parameter({size}), parameter({size})},
          .inputs = {at::randn({rows, size})},
          .forward = [](const Tensors& p, const Tensors& x) {
            const at::Tensor y = at::gelu(at::linear(x[0] * 2 + 1, p[0], p[1]));
            return Tensors{at::layer_norm(y + x[0], {size}, p[2], p[3]), at::sum(y, 0)};
          }};
}

/// Reads before the beginning of its table when it is given zeros, and notices.
Definition out_of_range() {
  return {.name = "out_of_range",
          .parameters = {parameter({16, 8})},
          .inputs = {at::full({4}, 100, at::kLong)},
          .forward = [](const Tensors& p, const Tensors& x) { return Tensors{at::embedding(p[0], x[0] - 100)}; }};
}

/// One kernel, which is not printed.
Definition silent() {
  return {.name = "silent",
          .parameters = {parameter({64})},
          .inputs = {at::randn({8, 64})},
          .forward = [](const Tensors& p, const Tensors& x) { return Tensors{at::relu(x[0] + p[0])}; }};
}

/// `DIRECTORY/NAME.pt2`, with the files beside it.
void compile(const Definition& definition, const pace::benches::aot::InductorOptions& inductor,
             const fs::path& directory) {
  auto options = pace::benches::aot::definition_package_options();
  options.inductor = inductor;
  options.directories = {directory};
  pace::benches::aot::DefinitionStore store(options);
  const auto kind = pace::benches::aot::PackageKind::inference;
  const auto traced = pace::benches::aot::trace(definition);
  const std::vector<pace::benches::aot::PackageRequest> requests{{&traced, kind}};
  store.export_and_compile(requests, directory);
  const fs::path package = store.find(traced, kind);  // throws the failure
  for (const char* const extension : {".pt2", ".json"})
    fs::rename(fs::path(package).replace_extension(extension), directory / (definition.name + extension));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: compile_packages OUTPUT_DIRECTORY\n";
    return 2;
  }
  try {
    at::set_num_threads(1);  // the number is compiled in
    const pace::benches::aot::InductorOptions announces{{"cpp.enable_kernel_profile", "true"}};
    compile(block(), announces, argv[1]);
    compile(out_of_range(), announces, argv[1]);
    compile(silent(), {}, argv[1]);
  } catch (const std::exception& error) {
    std::cerr << "compile_packages: " << error.what() << '\n';
    return 1;
  }
}
