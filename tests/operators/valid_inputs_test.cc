// Index arguments get values in range; calls that cannot be repeated or compared are refused.
#include "benches/operators/backends/valid_inputs.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <ATen/core/op_registration/op_registration.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/max_pool2d_with_indices.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "benches/operators/calls/memory.hpp"
#include "tests/operators/inputs.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

// An operator of another library.
const auto library = torch::RegisterOperators().op("pace_test::paged(Tensor self, Tensor block_table) -> Tensor",
                                                   [](at::Tensor self, const at::Tensor&) { return self; });

using Catch::Matchers::ContainsSubstring;
using pace::benches::operators::make_inputs_valid;
using pace::benches::operators::OperatorCall;
using pace::test::inputs;
using pace::test::list;
using pace::test::random;

/// Indices as the corpus makes them: out of range for small dimensions, here even absurdly so.
at::Tensor indices(std::vector<std::int64_t> sizes, at::ScalarType dtype = at::kLong) {
  return at::full(sizes, -1000000, dtype);
}

std::vector<std::int64_t> values(const at::Tensor& tensor) {
  const auto flat = tensor.to(at::kLong).contiguous().view(-1);
  return {flat.const_data_ptr<std::int64_t>(), flat.const_data_ptr<std::int64_t>() + flat.numel()};
}

bool within(const at::Tensor& tensor, std::int64_t bound) {
  return std::ranges::all_of(values(tensor), [&](std::int64_t value) { return value >= 0 && value < bound; });
}

bool all_different(const at::Tensor& tensor) {
  const auto all = values(tensor);
  return std::set(all.begin(), all.end()).size() == all.size();
}

/// Makes the inputs valid, and shows that they are by running the call.
c10::IValue run(const std::string& name, const pace::inputs::Inputs& given) {
  const auto call = OperatorCall::bind(name, given);
  make_inputs_valid(call);
  return call.run(call.tensors());
}

std::string why(const std::string& name, const pace::inputs::Inputs& given) {
  try {
    make_inputs_valid(OperatorCall::bind(name, given));
  } catch (const pace::Unsupported& refused) {
    return refused.what();
  }
  return "nothing was thrown";
}

TEST_CASE("indices along a dimension", "[aot]") {
  const auto index = indices({7, 5});
  (void)run("aten.gather.default", inputs({random({7, 9}), 1, index}));
  CHECK(within(index, 9));
  CHECK(all_different(index[0]));  // along the dimension
  CHECK(at::equal(index[0], index[6]));

  const auto scattered = indices({4, 3}), last = indices({6}, at::kInt);
  (void)run("aten.scatter.src", inputs({random({4, 3}), -1, scattered, random({4, 3})}));
  CHECK(within(scattered, 3));
  CHECK(all_different(scattered[2]));
  (void)run("aten.index_select.default", inputs({random({2, 100}), 1, last}));
  CHECK(within(last, 100));
  CHECK(all_different(last));
  CHECK(last.max().item<int>() > 50);  // spread over the dimension

  const auto expanded = indices({5, 1}).expand({5, 4});
  (void)run("aten.scatter_add_.default", inputs({random({9, 4}), 0, expanded, random({5, 4})}));
  CHECK(within(expanded, 9));
}

TEST_CASE("lists of indices, with holes and masks", "[aot]") {
  const auto rows = indices({3}), columns = indices({3});
  (void)run("aten.index_put_.default",
            inputs({random({5, 2, 4}), list({rows, c10::IValue(), columns}), random({3, 2}), false}));
  CHECK(within(rows, 5));
  CHECK(within(columns, 4));
  CHECK(all_different(rows));
  const auto mask = at::zeros({5, 2}, at::kBool), third = indices({0});
  (void)run("aten.index.Tensor", inputs({random({5, 2, 4}), list({mask, third})}));
  CHECK_FALSE(mask.any().item<bool>());
  const auto many = indices({50});
  (void)run("aten._index_put_impl_.default", inputs({random({5, 1}), list({many}), random({50, 1}), true, true}));
  CHECK(within(many, 5));
}

TEST_CASE("classes, rows, elements and coordinates", "[aot]") {
  const auto classes = indices({4}), rows = indices({2, 3}), elements = indices({6}), coordinates = indices({2, 5});
  (void)run("aten.nll_loss_forward.default", inputs({random({4, 3}), classes, c10::IValue(), 1, -100}));
  CHECK(within(classes, 3));
  (void)run("aten.embedding.default", inputs({random({7, 2}), rows}));
  CHECK(within(rows, 7));
  (void)run("aten.take.default", inputs({random({2, 3}), elements}));
  CHECK(within(elements, 6));
  (void)run(
      "aten._sparse_coo_tensor_with_dims_and_tensors.default",
      inputs({2, 0, list({3, 8}), coordinates, random({5})},
             {{"dtype", static_cast<std::int64_t>(at::kFloat)}, {"layout", static_cast<std::int64_t>(at::kSparse)}}));
  CHECK(within(coordinates[0], 3));
  CHECK(within(coordinates[1], 8));
}

TEST_CASE("bags of an embedding", "[aot]") {
  const auto rows = indices({7}), begins = indices({3});
  (void)run("aten._embedding_bag.default", inputs({random({5, 2}), rows, begins}));
  CHECK(within(rows, 5));
  CHECK(at::equal(begins, at::tensor(std::vector<std::int64_t>{0, 2, 4})));
  const auto with_end = indices({3});
  (void)run("aten._embedding_bag.default",
            inputs({random({5, 2}), indices({8}), with_end, false, 0, false, c10::IValue(), true}));
  CHECK(at::equal(with_end, at::tensor(std::vector<std::int64_t>{0, 4, 8})));
  const auto bag_of = indices({7});
  (void)run("aten._embedding_bag_per_sample_weights_backward.default",
            inputs({random({3, 2}), random({5, 2}), indices({7}), indices({3}), bag_of, 0}));
  CHECK(at::equal(bag_of, at::tensor(std::vector<std::int64_t>{0, 0, 1, 1, 2, 2, 2})));
  CHECK_THAT(why("aten._embedding_bag.default", inputs({random({5, 2}), indices({7}), indices({0})})),
             ContainsSubstring("indices and no bags"));
}

TEST_CASE("the indices of a pooling's backward come from its forward", "[aot]") {
  const auto x = random({2, 3, 6, 6}).contiguous(at::MemoryFormat::ChannelsLast);
  const auto expected = std::get<1>(at::max_pool2d_with_indices(x, {3, 3}, {2, 2}, {1, 1}));
  const auto given = indices({2, 3, 3, 3});
  const auto grad = random({2, 3, 3, 3});
  (void)run("aten.max_pool2d_with_indices_backward.default",
            inputs({grad, x, list({3, 3}), list({2, 2}), list({1, 1}), list({1, 1}), false, given}));
  CHECK(at::equal(given, expected));

  const auto adaptive = indices({2, 3, 2, 2});
  (void)run("aten.adaptive_max_pool2d_backward.default", inputs({random({2, 3, 2, 2}), x, adaptive}));
  CHECK(within(adaptive, 36));
  CHECK_THAT(why("aten.max_pool2d_with_indices_backward.default",
                 inputs({grad, x, list({2, 2}), list({1, 1}), list({0, 0}), list({1, 1}), false, given})),
             ContainsSubstring("shape [2, 3, 3, 3]") && ContainsSubstring("[2, 3, 5, 5]"));
}

TEST_CASE("what cannot be made valid is refused, with the reason", "[aot]") {
  CHECK_THAT(why("aten.gather.default", inputs({random({0, 3}), 0, indices({2, 3})})),
             ContainsSubstring("cannot run aten.gather.default: it indexes a dimension of size 0"));
  CHECK_THAT(why("aten.index.Tensor", inputs({random({3}), list({indices({2}), indices({2})})})),
             ContainsSubstring("cannot run aten.index.Tensor"));
  CHECK_THAT(why("aten.segment_reduce.default", inputs({random({4}), "sum"}, {{"lengths", indices({2})}})),
             ContainsSubstring("argument 'lengths' holds integers, and pace does not know which are valid"));
  CHECK_THAT(why("aten.resize_.default", inputs({random({2}), list({5})})),
             ContainsSubstring("memory of its own argument"));
  CHECK_THAT(why("aten.set_.source_Tensor", inputs({random({2}), random({3})})),
             ContainsSubstring("memory of its own argument"));
}

TEST_CASE("a call that computes nothing says so", "[aot]") {
  for (const char* name : {"aten.new_empty.default", "aten.new_empty_strided.default", "aten.empty_like.default",
                           "aten.empty.memory_format", "aten.empty_permuted.default"})
    CHECK(pace::benches::operators::result_is_uninitialised(name));
  CHECK_FALSE(pace::benches::operators::result_is_uninitialised("aten.new_zeros.default"));
}

TEST_CASE("where sequences begin and groups end", "[aot]") {
  using Integers = std::vector<std::int64_t>;
  // 10 queries and 7 keys in 3 sequences behind one another, of 4 queries and 3 keys at most.
  const auto q = indices({4}, at::kInt), k = indices({4}, at::kInt), used = indices({3}, at::kInt);
  const auto query = random({10, 2, 8}), key = random({7, 2, 8});
  make_inputs_valid(
      OperatorCall::bind("aten._flash_attention_forward.default",
                         inputs({query, key, key, q, k, 4, 3, 0.0, false, false}, {{"seqused_k", used}})));
  CHECK(values(q) == Integers{0, 3, 6, 10});
  CHECK(values(k) == Integers{0, 2, 4, 7});
  CHECK(values(used) == Integers{2, 2, 2});
  CHECK_THAT(why("aten._flash_attention_forward.default",
                 inputs({query, key, key, indices({4}), indices({4}), 3, 3, 0.0, false, false})),
             ContainsSubstring("3 sequences of at most 3 do not hold 10 elements"));
  CHECK_THAT(why("aten._flash_attention_forward.default",
                 inputs({random({2, 5, 2, 8}), key, key, indices({4}), indices({4}), 4, 3, 0.0, false, false})),
             ContainsSubstring("operands have the shape [2, 5, 2, 8]"));
  const auto begins = indices({3}), ends = indices({3});
  const auto packed = random({1, 9, 2, 8});
  make_inputs_valid(OperatorCall::bind("aten._efficient_attention_forward.default",
                                       inputs({packed, packed, packed, c10::IValue(), begins, ends, 5, 5, 0.0, 0})));
  CHECK(values(begins) == Integers{0, 4, 9});
  CHECK(values(ends) == Integers{0, 4, 9});

  const auto half = [](std::vector<std::int64_t> sizes) { return random(std::move(sizes)).to(at::kBFloat16); };
  const auto rows = indices({3}, at::kInt);
  const auto product = run("aten._grouped_mm.default", inputs({half({100, 32}), half({3, 32, 16}), rows})).toTensor();
  CHECK(values(rows) == Integers{32, 64, 100});
  CHECK(product.isfinite().all().item<bool>());
  const auto columns = indices({2}, at::kInt), summed = indices({2}, at::kInt);
  (void)run("aten._grouped_mm.default", inputs({half({2, 16, 32}), half({32, 64}), columns}));
  CHECK(values(columns) == Integers{32, 64});
  (void)run("aten._grouped_mm.default", inputs({half({16, 48}), half({48, 32}), summed}));
  CHECK(values(summed) == Integers{16, 48});

  const auto coordinates = indices({6});
  const auto compressed = run("aten._convert_indices_from_coo_to_csr.default", inputs({coordinates, 4})).toTensor();
  CHECK(values(coordinates) == Integers{0, 0, 1, 2, 2, 3});
  CHECK(values(compressed) == Integers{0, 2, 3, 5, 6});
}

TEST_CASE("integers that are not known to be data are refused, in other libraries always", "[aot]") {
  // A boundary, a length, a position; each by its name.
  CHECK_THAT(why("aten._nested_view_from_jagged.default", inputs({random({4, 2}), indices({3}), random({1})})),
             ContainsSubstring("argument 'offsets' holds integers"));
  CHECK_THAT(why("aten.narrow.Tensor", inputs({random({4}), 0, indices({}), 1})),
             ContainsSubstring("argument 'start' holds integers"));
  CHECK_THAT(why("aten.randint_like.Tensor", inputs({random({4}), indices({})})),
             ContainsSubstring("argument 'high' holds integers"));
  // Operands that are only written to may be integers.
  CHECK(why("aten.topk.values", inputs({random({4}), 2}, {{"values", random({2})}, {"indices", indices({2})}})) ==
        "nothing was thrown");
  CHECK_THAT(
      why("pace_test.paged.default", inputs({random({4}), indices({2, 2}, at::kInt)})),
      ContainsSubstring("cannot run pace_test.paged.default: its argument 'block_table' holds integers, and pace "
                        "does not know which another library's operator takes"));
  CHECK_THAT(why("pace_test.paged.default", inputs({indices({4}), random({2})})), ContainsSubstring("argument 'self'"));
  CHECK(why("pace_test.paged.default", inputs({random({4}), random({2})})) == "nothing was thrown");
}

TEST_CASE("indices alone are made valid where values are to stay", "[aot]") {
  const auto output = random({3, 7}).mul(9), before = output.clone();
  const auto call = OperatorCall::bind("aten._softmax_backward_data.default",
                                       inputs({random({3, 7}), output, -1, static_cast<std::int64_t>(at::kFloat)}));
  pace::benches::operators::make_indices_valid(call);
  CHECK_FALSE(pace::benches::operators::takes_indices(call));
  CHECK(at::equal(output, before));
  const auto rows = indices({5});
  const auto gather = OperatorCall::bind("aten.embedding.default", inputs({random({7, 2}), rows}));
  pace::benches::operators::make_indices_valid(gather);
  CHECK(pace::benches::operators::takes_indices(gather));
  CHECK(within(rows, 7));
}

TEST_CASE("bags of an embedding's backward, and classes between blanks", "[aot]") {
  const auto rows = indices({7}), bag_of = indices({7}), sizes = indices({3}), largest = indices({3, 2});
  (void)run("aten._embedding_bag_dense_backward.default",
            inputs({random({3, 2}), rows, bag_of, sizes, largest, 5, false, 0, c10::IValue()}));
  CHECK(within(rows, 5));
  CHECK(within(largest, 5));
  CHECK(at::equal(bag_of, at::tensor(std::vector<std::int64_t>{0, 0, 0, 1, 1, 2, 2})));
  CHECK(at::equal(sizes, at::tensor(std::vector<std::int64_t>{3, 2, 2})));

  const auto scores = at::log_softmax(random({8, 2, 4}), -1);
  const auto words = indices({2, 3}), lengths = indices({2}), steps = indices({2});
  const auto losses = run("aten._ctc_loss.Tensor", inputs({scores, words, steps, lengths, 1}));
  CHECK(within(words, 4));
  CHECK_FALSE(words.eq(1).any().item<bool>());
  CHECK(values(lengths) == std::vector<std::int64_t>{3, 3});
  CHECK(values(steps) == std::vector<std::int64_t>{8, 8});
  CHECK(losses.toTupleRef().elements()[0].toTensor().isfinite().all().item<bool>());
}

TEST_CASE("what a forward saves for its backward comes from there", "[aot]") {
  const auto x = random({4, 6, 5}), weight = random({5}), grad = random({4, 6, 5});
  const auto mean = random({4, 6, 1}), rstd = random({4, 6, 1});
  const auto full = list({true, true, true});
  (void)run("aten.native_layer_norm_backward.default", inputs({grad, x, list({5}), mean, rstd, weight, weight, full}));
  CHECK(at::allclose(mean, x.mean({-1}, true), 1e-5, 1e-6));
  CHECK(at::allclose(rstd, x.var({-1}, false, true).add(1e-5).rsqrt(), 1e-4));

  const auto channel_mean = random({6}), channel_rstd = random({6}), running = random({6}), spread = random({6});
  const auto before = running.clone();
  (void)run("aten.native_batch_norm_backward.default",
            inputs({grad, x, c10::IValue(), running, spread, channel_mean, channel_rstd, true, 1e-5, full}));
  CHECK(at::allclose(channel_mean, x.mean(std::vector<std::int64_t>{0, 2}), 1e-5, 1e-6));
  CHECK(at::equal(running, before));
  CHECK(spread.gt(0).all().item<bool>());
  const auto none = random({0});  // in evaluation nothing is saved
  (void)run("aten.native_batch_norm_backward.default",
            inputs({grad, x, c10::IValue(), running, spread, none, none, false, 1e-5, full}));
  CHECK(none.numel() == 0);

  const auto group_mean = random({4, 3}), group_rstd = random({4, 3});
  (void)run("aten.native_group_norm_backward.default",
            inputs({grad, x, group_mean, group_rstd, random({6}), 4, 6, 5, 3, full}));
  CHECK(at::allclose(group_mean, x.reshape({4, 3, 10}).mean({-1}), 1e-5, 1e-6));

  const auto output = random({3, 7});
  const auto single = static_cast<std::int64_t>(at::kFloat);
  (void)run("aten._softmax_backward_data.default", inputs({random({3, 7}), output, -1, single}));
  CHECK(at::allclose(output.sum({-1}), at::ones({3})));
  const auto scores = random({3, 7});
  (void)run("aten._log_softmax_backward_data.default", inputs({random({3, 7}), scores, 1, single}));
  CHECK(at::allclose(scores.exp().sum({1}), at::ones({3})));

  const auto total = random({});
  (void)run("aten.nll_loss_backward.default",
            inputs({random({}), random({4, 3}), indices({4}), c10::IValue(), 1, -100, total}));
  CHECK(total.item<float>() == 4);

  const auto query = random({1, 2, 4, 8}), out = random({1, 2, 4, 8}), sums = random({1, 2, 4});
  (void)run("aten._scaled_dot_product_flash_attention_for_cpu_backward.default",
            inputs({random({1, 2, 4, 8}), query, query, query, out, sums, 0.0, false}));
  CHECK(at::allclose(out, at::scaled_dot_product_attention(query, query, query), 1e-4, 1e-5));
}

TEST_CASE("probabilities, positions in an image, and integers that divide", "[aot]") {
  const auto chances = at::linspace(-8.99, 8.99, 12);
  const auto drawn = run("aten.bernoulli.default", inputs({chances})).toTensor();
  CHECK(chances.ge(0).all().item<bool>());
  CHECK(chances.lt(1).all().item<bool>());
  CHECK(drawn.mul(drawn.sub(1)).eq(0).all().item<bool>());  // zeros and ones
  const auto p = at::full({3}, -9.0), q = at::full({3}, 9.0);
  CHECK(run("aten.binary_cross_entropy.default", inputs({p, q})).toTensor().isfinite().item<bool>());

  const auto grid = at::linspace(-9, 9, 8).view({1, 2, 2, 2});
  (void)run("aten.grid_sampler_2d.default", inputs({random({1, 1, 4, 4}), grid, 0, 0, false}));
  CHECK(at::allclose(grid, at::linspace(-1, 1, 8).view({1, 2, 2, 2})));

  const auto divisor = at::tensor(std::vector<std::int64_t>{-2, 0, 3});
  (void)run("aten.remainder.Tensor", inputs({at::tensor(std::vector<std::int64_t>{5, 5, 5}), divisor}));
  CHECK(values(divisor) == std::vector<std::int64_t>{-2, 1, 3});
  const auto floating = at::zeros({3});
  (void)run("aten.div.Tensor", inputs({random({3}), floating}));
  CHECK(floating.eq(0).all().item<bool>());

  // Elements that share memory are written once.
  const auto expanded = at::full({1, 3}, -4.5).expand({2, 3});
  (void)run("aten.bernoulli.default", inputs({expanded}));
  CHECK(at::allclose(expanded, at::full({2, 3}, 0.5)));
  // Arguments that do not fit each other are the run's to refuse.
  const auto output = random({2, 3}), same = output.clone();
  const auto misfit = inputs({random({2, 3}), output, 7, static_cast<std::int64_t>(at::kFloat)});
  CHECK_NOTHROW(make_inputs_valid(OperatorCall::bind("aten._softmax_backward_data.default", misfit)));
  CHECK(at::equal(output, same));
}

TEST_CASE("what an optimiser keeps from step to step is such that its step is finite", "[aot]") {
  for (const std::string name : {"aten._fused_adam_.default", "aten._fused_adamw_.default"})
    for (const bool amsgrad : {false, true}) {
      CAPTURE(name, amsgrad);
      const auto squares = random({2, 3}), largest = random({2, 3}), parameter = random({2, 3}), first = random({2, 3});
      const auto steps = at::full({}, -2.5);
      (void)run(name, inputs({list({parameter}), list({random({2, 3})}), list({first}), list({squares}),
                              amsgrad ? list({largest}) : list({}), list({steps})},
                             {{"lr", 0.1},
                              {"beta1", 0.9},
                              {"beta2", 0.999},
                              {"weight_decay", 0.0},
                              {"eps", 1e-8},
                              {"amsgrad", amsgrad},
                              {"maximize", false}}));
      CHECK(squares.ge(0).all().item<bool>());
      CHECK(steps.item<double>() == 3);
      CHECK(parameter.isfinite().all().item<bool>());
    }
  const auto sums = random({4}), parameter = random({4});
  (void)run("aten._fused_adagrad_.default",
            inputs({list({parameter}), list({random({4})}), list({sums}), list({at::full({}, 0.25)})},
                   {{"lr", 0.1}, {"lr_decay", 0.0}, {"weight_decay", 0.0}, {"eps", 1e-10}, {"maximize", false}}));
  CHECK(sums.ge(0).all().item<bool>());
  CHECK(parameter.isfinite().all().item<bool>());
  const auto root = random({3});
  (void)run("aten._foreach_sqrt_.default", inputs({list({root})}));
  CHECK(root.isfinite().all().item<bool>());
}

TEST_CASE("other calls keep their values", "[aot]") {
  const auto x = indices({3}), before = x.clone();
  (void)run("aten.add.Tensor", inputs({x, x}));
  CHECK(at::equal(x, before));
  // Not integers, although the name is one of an index.
  const auto target = random({3}), same = target.clone();
  (void)run("aten.mse_loss.default", inputs({random({3}), target}));
  CHECK(at::equal(target, same));
}

TEST_CASE("memory is asked for before it is taken", "[aot]") {
  constexpr std::int64_t gib = std::int64_t{1} << 30;
  CHECK_NOTHROW(pace::benches::operators::require_memory(18 * gib, "the inputs", 20 * gib));
  CHECK_NOTHROW(pace::benches::operators::require_memory(100 * gib, "the inputs", std::nullopt));
  try {
    pace::benches::operators::require_memory(20 * gib, "the inputs of x", 20 * gib);  // a twentieth stays free
    FAIL("nothing was thrown");
  } catch (const pace::Unsupported& refused) {
    CHECK(std::string(refused.what()) ==
          "not enough memory for the inputs of x: 20.00 GiB needed, 20.00 GiB available");
  }
}

}  // namespace
