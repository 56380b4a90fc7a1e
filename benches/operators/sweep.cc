// A sweep over types and shapes by Catch2's own means: TEMPLATE_TEST_CASE and GENERATE.
#include <cstdint>
#include <string>

#include <ATen/ops/addcmul.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/randn_like.h>
#include <c10/util/typeid.h>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "pace/catch2.hpp"
#include "pace/pace.hpp"

namespace {

/// Its definition: two passes and a temporary.
at::Tensor addcmul_by_steps(const at::Tensor& x, const at::Tensor& y, const at::Tensor& z) { return x.add(y.mul(z)); }

// Both sides are made of the same elementwise code, and one of them does less, so that the gate holds on any machine.
// The softmax of LibTorch against its steps is no such pair. Its exponential has AVX-512 instructions that theirs
// lacks, so on one machine it was 3 times as fast in one hour and half as fast in another.
TEMPLATE_TEST_CASE("a product added in one pass is never slower than step by step", "[sweep]", float, double) {
  const std::int64_t rows = GENERATE(16, 256);
  const std::int64_t columns = GENERATE(64, 1024);
  const auto dtype = c10::CppTypeToScalarType<TestType>::value;
  const at::Tensor x = at::randn({rows, columns}, dtype), y = at::randn_like(x), z = at::randn_like(x);
  const std::string name =
      std::string("addcmul/") + c10::toString(dtype) + '/' + std::to_string(rows) + 'x' + std::to_string(columns);
  const auto fused = [](const at::Tensor& a, const at::Tensor& b, const at::Tensor& c) { return at::addcmul(a, b, c); };
  const auto result =
      pace::compare(name, x, y, z)
          .budget(std::chrono::milliseconds(200))
          .baseline("by_steps", addcmul_by_steps)
          .candidate("fused", fused)
          // Three operands are read and one is written; the definition moves more, which its GB/s shows.
          .bytes(4.0 * static_cast<double>(x.nbytes()))
          .expect("fused", pace::NoSlowerThan(1.5))
          .run();
  CHECK_THAT(result, pace::AsExpected());
}

}  // namespace
