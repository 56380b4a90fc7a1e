// A sweep over types and shapes by Catch2's own means: TEMPLATE_TEST_CASE and GENERATE.
#include <cstdint>
#include <string>

#include <ATen/ops/layer_norm.h>
#include <ATen/ops/native_layer_norm.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/softmax.h>
#include <c10/util/typeid.h>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "pace/catch2.hpp"
#include "pace/pace.hpp"

namespace {

/// Softmax as its definition has it: three passes and two temporaries.
at::Tensor softmax_by_steps(const at::Tensor& x) {
  const at::Tensor shifted = x.sub(std::get<0>(x.max(-1, /*keepdim=*/true)));
  const at::Tensor exponentials = shifted.exp();
  return exponentials.div(exponentials.sum(-1, /*keepdim=*/true));
}

TEMPLATE_TEST_CASE("softmax in one pass is never slower than step by step", "[sweep]", float, double) {
  const std::int64_t rows = GENERATE(16, 256);
  const std::int64_t columns = GENERATE(64, 1024);
  const auto dtype = c10::CppTypeToScalarType<TestType>::value;
  const at::Tensor x = at::randn({rows, columns}, dtype);
  const std::string name =
      std::string("softmax/") + c10::toString(dtype) + '/' + std::to_string(rows) + 'x' + std::to_string(columns);
  const auto result = pace::compare(name, x)
                          .budget(std::chrono::milliseconds(200))
                          .baseline("by_steps", softmax_by_steps)
                          .candidate("fused", [](const at::Tensor& t) { return at::softmax(t, -1); })
                          // Read once, written once; the definition moves more, which its GB/s then shows.
                          .bytes(2.0 * static_cast<double>(x.nbytes()))
                          .expect("fused", pace::NoSlowerThan(1.5))
                          .run();
  CHECK_THAT(result, pace::AsExpected());
}

}  // namespace
