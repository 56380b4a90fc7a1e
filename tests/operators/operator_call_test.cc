// Binding and running: names, every coercion, messages, mutated arguments, signatures.
#include "benches/operators/calls/operator_call.hpp"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/upsample_bilinear2d_backward.h>
#include <ATen/ops/zeros.h>

#include "benches/operators/backends/randomness.hpp"
#include "tests/operators/inputs.hpp"

// Last: LibTorch has a macro CHECK too.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using pace::benches::operators::OperatorCall;
using pace::test::inputs;
using pace::test::list;
using pace::test::random;

at::Tensor run(const OperatorCall& call) { return call.run(call.tensors()).toTensor(); }

/// The message that binding fails with.
template <class E>
std::string why(const std::string& name, const pace::inputs::Inputs& given, const pace::Location& where = {}) {
  try {
    (void)OperatorCall::bind(name, given, where);
  } catch (const E& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST_CASE("an operator is found by its recorded name", "[aot]") {
  const auto x = random({2, 3});
  const auto call = OperatorCall::bind("aten.relu.default", inputs({x}));
  CHECK(call.name() == "aten.relu.default");
  CHECK(call.schema().name() == "aten::relu");
  CHECK(at::equal(run(call), x.clamp_min(0)));
}

TEST_CASE("an unknown operator is refused with likely spellings", "[aot]") {
  const auto given = inputs({random({2})});
  CHECK_THAT(why<pace::Unsupported>("aten.relu.Tensor", given),
             ContainsSubstring("no operator 'aten.relu.Tensor'") && ContainsSubstring("aten.relu.default"));
  CHECK_THAT(why<pace::Unsupported>("aten.reluu.default", given), ContainsSubstring("did you mean aten.relu.default,"));
  CHECK_THAT(why<pace::Unsupported>("aten.add.Tensr", given), ContainsSubstring("did you mean aten.add.Tensor,"));
  CHECK_THAT(why<pace::Unsupported>("aten.relu", given),
             ContainsSubstring("three parts") && ContainsSubstring("aten.relu.default"));
  CHECK_THAT(why<pace::Unsupported>("relu", given), ContainsSubstring("aten.relu.default"));
  CHECK_THAT(why<pace::Unsupported>("", given), ContainsSubstring("no operator ''"));
  CHECK_THAT(why<pace::Unsupported>("..", given), ContainsSubstring("no operator '..'"));
}

TEST_CASE("an operator that is gone runs under the name that it has now", "[aot]") {
  const auto present = [](const std::string& name, const pace::inputs::Inputs& given) {
    const auto call = OperatorCall::bind(name, given);
    return std::pair(call.name(), run(call));
  };
  const auto grad = random({1, 2, 4, 6});
  const auto by_scale = present("aten.upsample_bilinear2d_backward.vec",
                                inputs({grad, c10::IValue(), list({1, 2, 2, 3}), true, list({2.0, 2.0})}));
  CHECK(by_scale.first == "aten.upsample_bilinear2d_backward.default");
  CHECK(at::equal(by_scale.second, at::upsample_bilinear2d_backward(grad, {4, 6}, {1, 2, 2, 3}, true, 2.0, 2.0)));
  const auto by_size = present("aten.upsample_nearest2d_backward.vec",
                               inputs({grad, list({4, 6}), list({1, 2, 2, 3})}, {{"scale_factors", c10::IValue()}}));
  CHECK(by_size.first == "aten.upsample_nearest2d_backward.default");
  // The gradient of a pixel is the sum of the four that were made of it.
  CHECK(at::allclose(by_size.second, at::avg_pool2d(grad, 2).mul(4)));

  const auto columns = random({1, 4, 9}), image = random({1, 1, 4, 4});
  const auto folded = present("aten.im2col_backward.default",
                              inputs({columns, list({4, 4}), list({2, 2}), list({1, 1}), list({0, 0}), list({1, 1})}));
  CHECK(folded.first == "aten.col2im.default");
  const auto unfolded =
      present("aten.col2im_backward.default", inputs({image, list({2, 2}), list({1, 1}), list({0, 0}), list({1, 1})}));
  CHECK(unfolded.first == "aten.im2col.default");
  // Each is the other's adjoint: <fold(c), x> = <c, unfold(x)>.
  CHECK(at::allclose(folded.second.mul(image).sum(), columns.mul(unfolded.second).sum(), 1e-4, 1e-4));
  CHECK(present("aten._cat.default", inputs({list({image, image}), 1})).second.size(1) == 2);
  CHECK(present("aten.new_zeros.SymInt", inputs({image, list({5})})).second.size(0) == 5);
  CHECK_THAT(why<pace::Unsupported>("aten.kl_div_backward.default", inputs({image, image, image})),
             ContainsSubstring("no operator 'aten.kl_div_backward.default'"));
  CHECK_THAT(why<pace::InputError>("aten.upsample_bilinear2d_backward.vec", inputs({grad})),
             ContainsSubstring("aten.upsample_bilinear2d_backward.default"));
}

TEST_CASE("a call that changes the shape of its argument finds the recorded one each time", "[aot]") {
  const auto x = random({2, 3});
  const auto call = OperatorCall::bind("aten.unsqueeze_.default", inputs({x, 0}));
  CHECK(call.reshapes_input());
  for (int i = 0; i < 3; ++i) {
    const auto result = run(call);
    CHECK(result.sizes() == at::IntArrayRef{1, 2, 3});
    CHECK(result.data_ptr() == x.data_ptr());
  }
  CHECK(x.sizes() == at::IntArrayRef{2, 3});
  const auto strided = OperatorCall::bind("aten.as_strided_.default", inputs({x, list({3, 2}), list({1, 3})}));
  CHECK(at::equal(run(strided), x.t()));
  CHECK_FALSE(OperatorCall::bind("aten.relu_.default", inputs({x})).reshapes_input());
}

TEST_CASE("a call draws random numbers unless its arguments say that it does not", "[aot]") {
  const auto draws = [](const std::string& name, const pace::inputs::Inputs& given) {
    return pace::benches::operators::draws_random_numbers(OperatorCall::bind(name, given));
  };
  const auto x = random({1, 1, 2, 4});
  CHECK(draws("aten.bernoulli_.float", inputs({x, 0.5})));
  CHECK(draws("aten.native_dropout.default", inputs({x, 0.5, true})));
  CHECK_FALSE(draws("aten.native_dropout.default", inputs({x, 0.5, false})));
  CHECK(draws("aten._scaled_dot_product_flash_attention_for_cpu.default", inputs({x, x, x, 0.1})));
  CHECK_FALSE(draws("aten._scaled_dot_product_flash_attention_for_cpu.default", inputs({x, x, x, 0.0})));
  CHECK_FALSE(draws("aten.relu.default", inputs({x})));
}

TEST_CASE("arguments that do not fit are told with operator, argument and type", "[aot]") {
  const auto x = random({2, 3});
  CHECK_THAT(why<pace::InputError>("aten.add.Tensor", inputs({x})),
             ContainsSubstring("aten.add.Tensor is missing argument 'other', expected Tensor"));
  CHECK_THAT(why<pace::InputError>("aten.relu.default", inputs({x, x})), ContainsSubstring("at most 1 positional"));
  CHECK_THAT(why<pace::InputError>("aten.relu.default", inputs({x}, {{"inplace", true}})),
             ContainsSubstring("no argument 'inplace'"));
  CHECK_THAT(why<pace::InputError>("aten.add.Tensor", inputs({x, x}, {{"other", x}})),
             ContainsSubstring("'other' twice"));
  CHECK_THAT(why<pace::InputError>("aten.add.Tensor", inputs({x, "text"})),
             ContainsSubstring("argument 'other' (number 2): expected Tensor, got the string 'text'"));
  CHECK_THAT(why<pace::InputError>("aten.relu.default", inputs({c10::IValue()})),
             ContainsSubstring("expected Tensor, got None"));
  CHECK_THAT(why<pace::InputError>("aten.native_layer_norm_backward.default",
                                   inputs({x, x, list({3}), x, x, x, x, list({true, true})})),
             ContainsSubstring("'output_mask'") && ContainsSubstring("bool[3]") && ContainsSubstring("a list of 2"));
  CHECK_THAT(why<pace::InputError>("aten.cat.default", inputs({list({x, 2.5, "no"}), 0})),
             ContainsSubstring("expected Tensor[], got the string 'no' at index 2"));
  CHECK_THAT(why<pace::InputError>("aten.sum.dim_IntList", inputs({x, list({1.5})})),
             ContainsSubstring("got the float 1.5 at index 0"));
  CHECK_THAT(why<pace::InputError>("aten.relu.default", inputs({}), {"model.txt", 12, 9}),
             ContainsSubstring("model.txt:12:9: aten.relu.default"));
}

TEST_CASE("keyword arguments are merged and defaults filled in", "[aot]") {
  const auto x = random({4}), y = random({4});
  CHECK(at::equal(run(OperatorCall::bind("aten.add.Tensor", inputs({x, y}))), x.add(y)));
  CHECK(at::equal(run(OperatorCall::bind("aten.add.Tensor", inputs({x, y}, {{"alpha", 2}}))), x.add(y, 2)));
  const auto call = OperatorCall::bind("aten.add.Tensor", inputs({}, {{"other", y}, {"self", x}, {"alpha", 2}}));
  CHECK(at::equal(run(call), x.add(y, 2)));
  CHECK(call.tensors()[0].is_same(y));  // numbered in the order given, not in the schema's
}

TEST_CASE("each kind of parameter takes what was recorded for it", "[aot]") {
  const auto x = random({2, 3});

  SECTION("a number where a Tensor is asked for does not promote the type") {
    const auto half = x.to(at::kHalf);
    const auto call = OperatorCall::bind("aten.add.Tensor", inputs({half, 0.5}));
    CHECK(call.tensors().size() == 1);
    CHECK(run(call).scalar_type() == at::kHalf);
    CHECK(at::equal(run(call), half.add(0.5)));
    const auto integers = at::arange(3);
    CHECK(run(OperatorCall::bind("aten.mul.Tensor", inputs({integers, 2.5}))).scalar_type() == at::kFloat);
    CHECK(run(OperatorCall::bind("aten.mul.Tensor", inputs({integers, 2}))).scalar_type() == at::kLong);
    CHECK(run(OperatorCall::bind("aten.mul.Tensor", inputs({integers, true}))).scalar_type() == at::kLong);
  }
  SECTION("int[]: a list, a tuple, an empty list, one int for all") {
    CHECK(at::equal(run(OperatorCall::bind("aten.sum.dim_IntList", inputs({x, list({1}), true}))), x.sum(1, true)));
    CHECK(at::equal(
        run(OperatorCall::bind("aten.sum.dim_IntList", inputs({x, c10::ivalue::Tuple::create({c10::IValue(0)})}))),
        x.sum(0)));
    CHECK(run(OperatorCall::bind("aten.sum.dim_IntList", inputs({x, list({})}))).dim() == 0);
    CHECK(at::equal(run(OperatorCall::bind("aten.sum.dim_IntList", inputs({x, 1}))), x.sum(1)));
    CHECK(at::equal(run(OperatorCall::bind("aten.sum.dim_IntList", inputs({x, c10::IValue()}))), x.sum()));
    const auto image = random({1, 1, 4, 4});
    const auto pooled = OperatorCall::bind("aten.avg_pool2d.default", inputs({image, 2}));
    CHECK(pooled.constant("kernel_size").toIntVector() == std::vector<std::int64_t>{2, 2});
    CHECK(run(pooled).sizes() == at::IntArrayRef{1, 1, 2, 2});
    const auto listed = OperatorCall::bind("aten.avg_pool2d.default", inputs({image, list({2}), list({}), list({0})}));
    CHECK(listed.constant("kernel_size").toIntVector() == std::vector<std::int64_t>{2, 2});
    CHECK(listed.constant("stride").toIntVector().empty());
    CHECK(at::equal(run(listed), run(pooled)));
  }
  SECTION("SymInt and SymInt[]") {
    CHECK(run(OperatorCall::bind("aten.repeat.default", inputs({x, list({2, 1})}))).sizes() == at::IntArrayRef{4, 3});
    const auto grad = random({2});
    const auto back = run(OperatorCall::bind("aten.select_backward.default", inputs({grad, list({2, 3}), 1, 0})));
    CHECK(at::equal(back.select(1, 0), grad));
    CHECK(OperatorCall::bind("aten.slice_backward.default",
                             inputs({x, list({2, 3}), 0, 0, std::numeric_limits<std::int64_t>::max(), 1}))
              .constant("end")
              .toInt() == std::numeric_limits<std::int64_t>::max());
  }
  SECTION("float: an int; optional float[]: a list, None") {
    const auto call =
        OperatorCall::bind("aten.native_layer_norm.default", inputs({x, list({3}), c10::IValue(), c10::IValue(), 1}));
    CHECK(call.constant("eps").isDouble());
    const auto image = random({1, 1, 2, 2});
    const auto up = OperatorCall::bind("aten.upsample_nearest2d.vec", inputs({image, c10::IValue(), list({2.0, 2})}));
    CHECK(up.constant("scale_factors").toDoubleVector() == std::vector<double>{2, 2});
    CHECK(run(up).sizes() == at::IntArrayRef{1, 1, 4, 4});
    CHECK(
        run(OperatorCall::bind("aten.upsample_nearest2d.vec", inputs({image, list({3, 3}), c10::IValue()}))).size(2) ==
        3);
  }
  SECTION("Scalar: int, float, bool") {
    CHECK(run(OperatorCall::bind("aten.eq.Scalar", inputs({x, 1}))).scalar_type() == at::kBool);
    CHECK(at::equal(run(OperatorCall::bind("aten.mul.Scalar", inputs({x, 0.5}))), x.mul(0.5)));
    CHECK(at::equal(run(OperatorCall::bind("aten.mul.Scalar", inputs({x, true}))), x));
    const auto pad = run(OperatorCall::bind("aten.constant_pad_nd.default",
                                            inputs({x, list({0, 1}), -std::numeric_limits<double>::infinity()})));
    CHECK(pad[0][3].item<float>() == -std::numeric_limits<float>::infinity());
  }
  SECTION("ScalarType, Layout, Device (as such and as text), MemoryFormat, pin_memory None") {
    const auto to_double =
        OperatorCall::bind("aten._to_copy.default", inputs({x}, {{"dtype", static_cast<std::int64_t>(at::kDouble)}}));
    CHECK(run(to_double).scalar_type() == at::kDouble);
    const auto zeros = OperatorCall::bind("aten.new_zeros.default",
                                          inputs({x, list({5})}, {{"dtype", static_cast<std::int64_t>(at::kInt)},
                                                                  {"layout", static_cast<std::int64_t>(at::kStrided)},
                                                                  {"device", "cpu"},
                                                                  {"pin_memory", c10::IValue()}}));
    CHECK(zeros.constant("device").toDevice() == at::kCPU);
    CHECK(at::equal(run(zeros), at::zeros({5}, at::kInt)));
    CHECK_THAT(why<pace::InputError>("aten.new_zeros.default", inputs({x, list({5})}, {{"device", "nowhere"}})),
               ContainsSubstring("'device'") && ContainsSubstring("the string 'nowhere'"));
    const auto image = random({1, 2, 3, 3});
    const auto clone = OperatorCall::bind(
        "aten.clone.default",
        inputs({image}, {{"memory_format", static_cast<std::int64_t>(at::MemoryFormat::ChannelsLast)}}));
    CHECK(run(clone).is_contiguous(at::MemoryFormat::ChannelsLast));
  }
  SECTION("Tensor[] and Tensor?[] with holes") {
    const auto y = random({2, 3});
    const auto cat = OperatorCall::bind("aten.cat.default", inputs({list({x, y}), 1}));
    CHECK(cat.tensors().size() == 2);
    CHECK(run(cat).sizes() == at::IntArrayRef{2, 6});
    const auto index = at::arange(2).flip(0);
    const auto indexed = OperatorCall::bind("aten.index.Tensor", inputs({x, list({c10::IValue(), index})}));
    CHECK(indexed.tensors().size() == 2);
    CHECK(at::equal(run(indexed), x.index_select(1, index)));
  }
  SECTION("str and Generator left out") {
    CHECK(run(OperatorCall::bind("aten.gelu.default", inputs({x}, {{"approximate", "tanh"}}))).sizes() == x.sizes());
    CHECK(OperatorCall::bind("aten.bernoulli_.float", inputs({x, 0.5})).constant("generator").isNone());
  }
}

TEST_CASE("other tensors run in the place of those that were bound", "[aot]") {
  const auto x = random({4}), y = random({4}), a = random({4}), b = random({4});
  const auto call = OperatorCall::bind("aten.sub.Tensor", inputs({x, y}));
  CHECK(at::equal(call.run({a, b}).toTensor(), a.sub(b)));
  torch::jit::Stack stack;
  call.run_into(stack, {b, a});
  const auto* memory = stack.data();
  CHECK(at::equal(OperatorCall::take_result(stack).toTensor(), b.sub(a)));
  call.run_into(stack, {x, y});
  CHECK(stack.data() == memory);  // the stack is used again

  const auto cat = OperatorCall::bind("aten.cat.default", inputs({list({x, y})}));
  CHECK(at::equal(cat.run({a, b}).toTensor().slice(0, 4), b));
  CHECK(at::equal(cat.with_tensors({b, a}).tensors()[0], b));
  CHECK_THROWS_AS(cat.with_tensors({a}), pace::Error);
}

TEST_CASE("results have the operator's form", "[aot]") {
  const auto x = random({2, 6});
  const auto norm =
      OperatorCall::bind("aten.native_layer_norm.default", inputs({x, list({6}), c10::IValue(), c10::IValue(), 1e-5}));
  const auto result = norm.run(norm.tensors());
  REQUIRE(result.isTuple());
  CHECK(result.toTupleRef().elements().size() == 3);
  const auto split = OperatorCall::bind("aten.split.Tensor", inputs({x, 2, 1}));
  CHECK(split.run(split.tensors()).toTensorVector().size() == 3);
}

TEST_CASE("a call knows which tensors it writes to", "[aot]") {
  const auto x = random({2, 3, 4}), y = random({2, 3, 4}), c = random({3});
  using Positions = std::vector<std::size_t>;
  CHECK_FALSE(OperatorCall::bind("aten.add.Tensor", inputs({x, y})).mutates_inputs());
  CHECK(OperatorCall::bind("aten.add_.Tensor", inputs({x, y})).mutated_tensors() == Positions{0});
  CHECK(OperatorCall::bind("aten.add.out", inputs({x, y}, {{"out", x}})).mutated_tensors() == Positions{2});
  CHECK(OperatorCall::bind("aten._foreach_add_.Scalar", inputs({list({x, y}), 1})).mutated_tensors() ==
        Positions{0, 1});
  // The schema of native_batch_norm keeps silent about the statistics that training updates.
  const auto norm = [&](bool training) {
    return OperatorCall::bind("aten.native_batch_norm.default",
                              inputs({x, c, c, c.clone(), c.clone(), training, 0.1, 1e-5}));
  };
  CHECK(norm(true).mutated_tensors() == Positions{3, 4});
  CHECK_FALSE(norm(false).mutates_inputs());
}

TEST_CASE("constants are read by name", "[aot]") {
  const auto x = random({2});
  const auto call = OperatorCall::bind("aten.add.Tensor", inputs({x, x}, {{"alpha", 3}}));
  CHECK(call.constant("alpha").toInt() == 3);
  CHECK_THROWS_AS(call.constant("self"), pace::Error);
  CHECK_THROWS_AS(call.constant("beta"), pace::Error);
}

TEST_CASE("a signature holds metadata and constants, and not values", "[aot]") {
  const auto sum = [](const at::Tensor& x, const c10::IValue& dims, bool keep) {
    return OperatorCall::bind("aten.sum.dim_IntList", inputs({x, dims, keep})).signature();
  };
  const auto x = at::zeros({2, 3});
  CHECK(sum(x, list({1}), true) ==
        "aten.sum.dim_IntList(self=Float[2, 3] strides [3, 1] on cpu, dim=[1], keepdim=True, dtype=None)");
  CHECK(sum(at::ones({2, 3}), list({1}), true) == sum(x, list({1}), true));
  CHECK(sum(x, list({0}), true) != sum(x, list({1}), true));
  CHECK(sum(x.t().contiguous().t(), list({1}), true) != sum(x, list({1}), true));
  CHECK(sum(x.to(at::kDouble), list({1}), true) != sum(x, list({1}), true));

  const auto scaled = [&](const c10::IValue& by) {
    return OperatorCall::bind("aten.mul.Tensor", inputs({x, by})).signature();
  };
  CHECK(scaled(0.1) == "aten.mul.Tensor(self=Float[2, 3] strides [3, 1] on cpu, other=0.1)");
  CHECK(scaled(0.1) != scaled(0.10000000000000002));  // one bit apart
  CHECK(scaled(1) != scaled(1.0));
}

}  // namespace
