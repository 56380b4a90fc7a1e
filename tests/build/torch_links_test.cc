// A test built by pace_unit_test has Catch2, LibTorch and pace's own headers.
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/item.h>
#include <ATen/ops/sum.h>
#include <catch2/catch_test_macros.hpp>
#include <pace/base/error.hpp>

TEST_CASE("a tensor is made and summed by the LibTorch that was linked") {
  CHECK(at::arange(5).sum().item<int64_t>() == 10);
}

TEST_CASE("pace's headers are found under their public names") {
  const pace::Location where{"a.txt", 3, 7};
  CHECK(where.to_string() == "a.txt:3:7");
}
