// The arguments that benches/kernels calls a package with, and the packages that it takes.
#include "benches/kernels/package.hpp"

#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "tests/support/scratch.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using pace::benches::kernels::device_of;
using pace::benches::kernels::parse_inputs;

TEST_CASE("operands in the notation of recorded operators, dense unless strides are given") {
  const auto inputs = parse_inputs("(T([4, 8, 2], f32), T([3, 2], bf16, stride=(1, 3)), T([], i64))", at::kCPU);
  REQUIRE(inputs.size() == 3);
  CHECK(inputs[0].to_string() == "float32[4, 8, 2] with strides [16, 2, 1] on cpu");
  CHECK(inputs[1].to_string() == "bfloat16[3, 2] with strides [1, 3] on cpu");
  CHECK(inputs[2].to_string() == "int64[] with strides [] on cpu");
  CHECK(parse_inputs("()", at::kCPU).size() == 0);
  CHECK(pace::benches::kernels::dense_strides({2, 0, 3}) == std::vector<std::int64_t>{3, 3, 1});
}

TEST_CASE("inputs that are no tuple of tensors are refused") {
  const auto refuses = [](const std::string& text, const std::string& message) {
    INFO(text);
    CHECK_THROWS_MATCHES(parse_inputs(text, at::kCPU), pace::InputError, MessageMatches(ContainsSubstring(message)));
  };
  refuses("(T([4", "--inputs '(T([4': ");
  refuses("T([4], f32)", "expected a tuple such as (T([4, 8], f32),)");
  refuses("(T([4], f32))", "expected a tuple such as (T([4, 8], f32),)");
  refuses("(T([4], f32), 3)", "expected tensors such as T([4, 8], f32), found 3 as operand 1");
}

TEST_CASE("values are the same each time: normal numbers, and zeros for integers") {
  const auto metadata = parse_inputs("(T([64], f32), T([8], i64))", at::kCPU);
  const auto once = pace::benches::kernels::make_inputs(metadata),
             again = pace::benches::kernels::make_inputs(metadata);
  CHECK(once[0].equal(again[0]));
  CHECK(once[0].count_nonzero().item<std::int64_t>() == 64);
  CHECK(once[1].count_nonzero().item<std::int64_t>() == 0);
}

TEST_CASE("a package runs where it was compiled for, if that is there") {
  CHECK(device_of("m.pt2", "cpu", "", 0) == at::Device(at::kCPU));
  CHECK(device_of("m.pt2", "cuda", "", 1) == at::Device(at::kCUDA));
  CHECK(device_of("m.pt2", "cuda", "cuda:1", 2) == at::Device("cuda:1"));
  const auto refuses = [](const std::string& compiled_for, const std::string& asked, int gpus,
                          const std::string& message) {
    CHECK_THROWS_MATCHES(device_of("m.pt2", compiled_for, asked, gpus), pace::Error,
                         MessageMatches(ContainsSubstring(message)));
  };
  refuses("cpu", "cuda:0", 1, "m.pt2: the package was compiled for cpu; --device asks for cuda:0");
  refuses("cuda", "cpu", 1, "m.pt2: the package was compiled for cuda; --device asks for cpu");
  refuses("cuda", "", 0, "m.pt2: the package was compiled for a GPU, and there is none here");
  refuses("cuda", "cuda:1", 1, "m.pt2: --device asks for cuda:1, and this machine has 1 GPUs");
  refuses("xpu", "", 1, "m.pt2: the package was compiled for xpu; expected one for cpu or cuda");
}

TEST_CASE("the only model of a package need not be named") {
  const auto message = [](const std::string& names) {
    return "Failed to find a generated cpp file or so file for model 'x' in the zip archive.\n\nAvailable models in "
           "the "
           "archive:\n" +
           names + "\n\n\nTo load a specific model, ...\n";
  };
  const auto holding = [&](const std::string& names) {
    return [&, names](const std::string& wanted) {
      if (('\n' + names + '\n').find('\n' + wanted + '\n') != std::string::npos) return "metadata of " + wanted;
      throw c10::Error(c10::SourceLocation{"", "", 0}, message(names));
    };
  };
  using pace::benches::kernels::find_model;
  CHECK(find_model("m.pt2", "", holding("forward")) ==
        std::pair<std::string, std::string>("metadata of forward", "forward"));
  CHECK(find_model("m.pt2", "", holding("a\nmodel")).second == "model");
  CHECK(find_model("m.pt2", "a", holding("a\nmodel")).second == "a");
  CHECK_THROWS_MATCHES(
      find_model("m.pt2", "", holding("a\nb")), pace::InputError,
      MessageMatches(ContainsSubstring("m.pt2: the package has no model 'model'; expected --model with "
                                       "one of a, b")));
  CHECK_THROWS_MATCHES(find_model("m.pt2", "zebra", holding("forward")), pace::InputError,
                       MessageMatches(ContainsSubstring("no model 'zebra'; expected --model with one of forward")));
}

TEST_CASE("a file that is no package is refused") {
  const pace::test::Scratch folder;
  const auto refuses = [](const std::string& path, const std::string& message) {
    CHECK_THROWS_MATCHES(pace::benches::kernels::Package(path, "model", "()", ""), pace::Error,
                         MessageMatches(ContainsSubstring(path) && ContainsSubstring(message)));
  };
  refuses(folder / "none.pt2", "no such file; expected a package of AOTInductor (.pt2)");
  refuses(folder.write("text.pt2", "hello"), "this is no package; expected an archive (.pt2) that AOTInductor wrote");
  refuses(folder.path.string(), "this is no package");
  // An archive's first bytes, and nothing behind them.
  refuses(folder.write("broken.pt2", "PK\3\4 and no more"), "not a ZIP archive");
}
