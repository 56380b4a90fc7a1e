// The includes of the tutorial's test, and the code that its reader writes next. No other file is included.
#include <ATen/ops/randn.h>
#include <catch2/catch_test_macros.hpp>
#include <pace/catch2.hpp>
#include <pace/pace.hpp>

TEST_CASE("with the includes of the tutorial, operators on tensors compile") {
  at::Tensor x = at::randn({4, 4});
  const auto by_operators = [](const at::Tensor& a) { return (a * 0.5 + 1 - a) / 2 + -a; };
  const auto by_methods = [](const at::Tensor& a) { return a.mul(0.5).add(1).sub(a).div(2).sub(a); };
  CHECK(by_operators(x).allclose(by_methods(x)));
  x += 1;
  CHECK((x > 0).numel() == 16);
  CHECK((x[0] == x[0]).all().item<bool>());
  (void)pace::compare("operators", x).baseline("methods", by_methods).candidate("operators", by_operators);
}

// All of LibTorch's functions are still there for who includes them afterwards.
#include <ATen/ATen.h>

TEST_CASE("whatever of LibTorch is included later is there") {
  CHECK(at::softmax(at::zeros({2, 2}), 1).sum().item<double>() == 2);
}
