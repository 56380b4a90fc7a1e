// The YAML of a kernel's launch, with its arguments and formulas: each formula, written again, has the same value.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "benches/files/kernels/kernel_file.hpp"
#include "tests/fuzz/target.hpp"

namespace {

using namespace pace;
using namespace pace::benches::loaders;

[[nodiscard]] Scope scope() {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  Scope all;
  all.numbers = {{"n", Number::of(std::int64_t{1000})},
                 {"least", Number::of(-most - 1)},
                 {"most", Number::of(most)},
                 {"half", Number::of(0.5)}};
  all.tensors["x"] = all.tensors["0"] = {{8, 128}, {128, 1}};
  all.tensors["scalar"] = {{}, {}};
  return all;
}

void check(const Expression& expression) {
  static const Scope values = scope();
  const std::string& text = expression.formula.text();
  try {
    const Number value = expression.value(values);
    fuzz::require(Formula(text).value(values).text() == value.text(), "a formula has the same value again", text);
    const auto whole = expression.whole(values, 1, 2147483647);
    fuzz::require(whole >= 1 && whole <= 2147483647, "a size is in its range", text);
  } catch (const InputError& error) {
    fuzz::require_place(error, expression.where.file);
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(fuzz::text_of(data, size)), path = "folder/kernel.yaml";
  KernelFile file;
  try {
    file = parse_kernel_file(text, path);
  } catch (const InputError& error) {
    fuzz::require_place(error, path);
    return 0;
  }
  fuzz::require(!file.images.empty(), "a kernel has an image");
  fuzz::require(!file.grid.empty() && file.grid.size() <= 3 && file.block.size() <= 3 && file.cluster.size() <= 3,
                "a grid has one to three sizes");
  for (const auto* const sizes : {&file.grid, &file.block, &file.cluster})
    for (const auto& each : *sizes) check(each);
  if (file.shared) check(*file.shared);
  for (const auto& argument : file.arguments) {
    for (const auto& each : argument.shape) check(each);
    if (argument.value) check(*argument.value);
  }
  if (file.inputs)
    for (const auto& input : *file.inputs)
      if (input.shape)
        for (const auto& each : *input.shape) check(each);
  return 0;
}
