// Channels-last inputs: which tensors change, and in which properties.
#include "benches/operators/channels_last.hpp"

#include <cstdint>
#include <vector>

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <catch2/catch_test_macros.hpp>

#include "tests/operators/inputs.hpp"

namespace {

using pace::benches::operators::channels_last;
using pace::benches::operators::OperatorCall;
using pace::test::inputs;
using pace::test::list;
using pace::test::random;
using Sizes = std::vector<std::int64_t>;

TEST_CASE("a tensor of four dimensions gets the strides of channels-last, and keeps shape and values") {
  const auto x = at::arange(2 * 3 * 4 * 5).view({2, 3, 4, 5});
  const auto call = OperatorCall::bind("aten.neg.default", inputs({x}));
  const auto converted = channels_last(call).tensors().at(0);
  CHECK(converted.sizes() == Sizes{2, 3, 4, 5});
  // Steps of a channel: 1; of a column: 3 channels; of a row: 5 columns of 3; of an image: 4 rows of 15.
  CHECK(converted.strides() == Sizes{60, 1, 15, 3});
  CHECK(at::equal(converted, x));
  CHECK(call.tensors().at(0).strides() == Sizes{60, 20, 5, 1});
  CHECK(channels_last(call.with_tensors({converted})).tensors().at(0).is_same(converted));
}

TEST_CASE("tensors of other dimensions are left alone, those in lists are not forgotten") {
  const auto three = random({2, 3, 4}), five = random({2, 3, 4, 5, 6}), none = random({});
  for (const auto& tensor : {three, five, none})
    CHECK(channels_last(OperatorCall::bind("aten.neg.default", inputs({tensor}))).tensors().at(0).is_same(tensor));

  const auto four = random({1, 2, 3, 4});
  const auto cat = channels_last(OperatorCall::bind("aten.cat.default", inputs({list({four, four}), 1})));
  REQUIRE(cat.tensors().size() == 2);
  for (const auto& tensor : cat.tensors()) CHECK(tensor.strides() == Sizes{24, 1, 8, 2});
  CHECK(cat.run(cat.tensors()).toTensor().sizes() == Sizes{1, 4, 3, 4});
}

TEST_CASE("the call stays what it was: its operator, its constants, what it writes to") {
  const auto call = OperatorCall::bind("aten.add_.Tensor", inputs({random({1, 2, 3, 4}), random({4})}, {{"alpha", 3}}));
  const auto converted = channels_last(call);
  CHECK(converted.name() == call.name());
  CHECK(converted.constant("alpha").toScalar().toInt() == 3);
  CHECK(converted.mutated_tensors() == std::vector<std::size_t>{0});
  CHECK(converted.tensors().at(1).is_same(call.tensors().at(1)));
  CHECK(converted.signature() != call.signature());
}

}  // namespace
