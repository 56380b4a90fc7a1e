#include <catch2/catch_test_macros.hpp>

#include <tuple>

#include <ATen/ops/zeros.h>

#include "pace/check/text.hpp"
#include "pace/subject/operands.hpp"
#include "tests/support/german.hpp"

TEST_CASE("inputs and values of outputs are written as in any other language") {
  const german::Streams streams;
  const german::C comma;  // where it is installed
  CHECK(pace::detail::describe_operands(std::tuple(at::zeros({4096, 16}), 0.5, 12345)) ==
        "Float[4096, 16], 0.5, 12345");
  CHECK(pace::detail::describe_operands(std::tuple(at::zeros({4096, 2048}).t())) ==
        "Float[2048, 4096] with strides [1, 2048]");
  CHECK(pace::detail::describe_operands(std::tuple(c10::IValue(1234.5), c10::IValue(12345))) == "1234.5, 12345");
  CHECK(pace::check::detail::number_text(0.1) == "0.1");
  CHECK(pace::check::detail::number_text(1e-5F) == "1e-05");
  CHECK(pace::check::detail::rounded_text(0.1884) == "0.188");
}
