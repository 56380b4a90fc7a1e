// outputs_match on structure: which output, which kind, which shape.
#include "pace/check/outputs.hpp"

#include <ATen/ops/_nested_tensor_from_tensor_list.h>
#include <ATen/ops/_sparse_csc_tensor_unsafe.h>
#include <ATen/ops/_sparse_csr_tensor_unsafe.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/sparse_coo_tensor.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "pace/check/ivalue.hpp"
#include "values.hpp"

using Catch::Matchers::StartsWith;
using pace::to_ivalue;
using pace::check::CheckOptions;
using pace::check::Match;
using pace::check::outputs_match;

namespace {

std::string message(const c10::IValue& expected, const c10::IValue& actual, const CheckOptions& options = {}) {
  const Match match = outputs_match(expected, actual, options);
  INFO(match.message);
  CHECK(match.correct == match.message.empty());
  return match.message;
}

}  // namespace

TEST_CASE("shape, dtype, device and layout: expected and got") {
  CHECK(message(at::zeros({2, 3}), at::zeros({3, 2})) == "output: expected shape [2, 3], got [3, 2]");
  CHECK(message(at::zeros({1}), at::zeros({})) == "output: expected shape [1], got []");
  CHECK(message(floats({1}), doubles({1})) == "output: expected dtype float32, got float64");
  CHECK(message(floats({1}), doubles({1, 2})) ==
        "output: expected shape [1], got [2]; expected dtype float32, got float64");
  CHECK(message(floats({1}), floats({1}).to(at::kMeta)) == "output: expected device cpu, got meta");
  const auto sparse = at::sparse_coo_tensor(longs({0}).view({1, 1}), floats({1}), {2});
  CHECK(message(floats({1, 0}), sparse) == "output: expected layout strided, got sparse COO");
  const auto table = floats({1, 0, 2, 3}).view({2, 2});
  CHECK(message(table, table.to_sparse_csc()) == "output: expected layout strided, got sparse CSC");
  CHECK(message(table, table.to_sparse_bsr({1, 2})) == "output: expected layout strided, got sparse BSR");
  CHECK(message(table, table.to_sparse_bsc({1, 2})) == "output: expected layout strided, got sparse BSC");
  CHECK(outputs_match(floats({1}), doubles({1})).max_abs_error == inf);
}

TEST_CASE("checks of the dtype and layout can be turned off") {
  CheckOptions options;
  options.check_dtype = false;
  CHECK(message(floats({1}), doubles({1}), options) == "");
  CHECK(message(floats({1}), doubles({1.0001}), options) == "");
  // The coarser type rules: 1e-3 + 16 * 2^-10 around 1.
  CHECK(message(floats({1}), floats({1.015}).to(at::kHalf), options) == "");
  CHECK_FALSE(message(floats({1}), floats({1.02}).to(at::kHalf), options).empty());
  options.check_layout = false;
  CHECK(message(floats({1, 0}), at::sparse_coo_tensor(longs({0}).view({1, 1}), floats({1}), {2}), options) == "");
}

TEST_CASE("nested tensors are compared one by one, and have one dtype") {
  const auto nested = [](const at::Tensor& first, const at::Tensor& second) {
    return at::_nested_tensor_from_tensor_list({first, second});
  };
  const auto expected = nested(floats({1}), floats({2, 3}));
  const auto wide = nested(doubles({1}), doubles({2, 3})), wrong = nested(doubles({1}), doubles({2, 4}));
  CHECK(message(expected, wide) == "output: expected dtype float32, got float64");
  CheckOptions options;
  options.check_dtype = false;
  CHECK(message(expected, wide, options) == "");
  CHECK_THAT(message(expected, wrong, options), StartsWith("output[1]: 1 of 2 elements (50 %) differ"));
}

TEST_CASE("strides do not matter") {
  const auto x = at::arange(6, at::kFloat).view({2, 3});
  CHECK(message(x, x.t().contiguous().t()) == "");
  CHECK(message(floats({1}).expand({4}), floats({1, 1, 1, 1})) == "");
}

TEST_CASE("the number of outputs") {
  const auto one = to_ivalue(std::tuple(floats({1}))), two = to_ivalue(std::tuple(floats({1}), floats({2})));
  CHECK(message(two, one) == "output: expected 2 outputs, got 1");
  CHECK(message(one, two) == "output: expected 1 output, got 2");
  CHECK(message(one, to_ivalue(std::tuple<>())) == "output: expected 1 output, got 0");
  CHECK(message(one, floats({1})) == "output: expected tuple of 1, got a tensor of shape [1]");
  CHECK(message(to_ivalue(std::tuple(1, two)), to_ivalue(std::tuple(1, one))) ==
        "output[1]: expected 2 outputs, got 1");
}

TEST_CASE("lists and tuples are one kind") {
  CHECK(message(to_ivalue(std::tuple(floats({1}), floats({2}))), std::vector<at::Tensor>{floats({1}), floats({2})}) ==
        "");
}

TEST_CASE("the path to an output") {
  using Dict = std::map<std::string, at::Tensor>;
  const auto value = [](double h) {
    return to_ivalue(std::tuple(floats({1}), Dict{{"c", floats({2})}, {"h", floats({3, h})}}));
  };
  CHECK(message(value(4), value(4)) == "");
  CHECK(message(value(4), value(8)) ==
        "output[1][\"h\"]: 1 of 2 elements (50 %) differ; worst at [1]: expected 4.0, got 8.0 (off by 4, allowed "
        "0.000249)");  // 1.3e-6 * 4 + 2^-13 * 2
}

TEST_CASE("keys that are missing or unexpected") {
  using Dict = std::map<std::string, int>;
  CHECK(message(to_ivalue(Dict{{"a", 1}, {"b", 2}}), to_ivalue(Dict{{"a", 1}, {"c", 2}})) ==
        "output: unexpected key \"c\"\noutput: key \"b\" is missing");
  CHECK(message(to_ivalue(std::map<int, int>{{7, 1}}), to_ivalue(std::map<int, int>{{7, 2}})) ==
        "output[7]: expected 1, got 2");
}

TEST_CASE("kinds: expected and got") {
  CHECK(message(floats({1}), c10::IValue()) == "output: expected a tensor of shape [1], got nothing (none)");
  CHECK(message(floats({1}), at::Tensor()) == "output: expected a tensor of shape [1], got nothing (none)");
  CHECK(message(c10::IValue(), at::Tensor()) == "");
  CHECK(message(at::Tensor(), floats({1})) == "output: expected nothing (none), got a tensor of shape [1]");
  CHECK(message(1, 1.0) == "output: expected a int 1, got a double 1.0");
  CHECK(message(1, true) == "output: expected a int 1, got a bool true");
  CHECK(message(to_ivalue(std::map<int, int>{}), "x") == "output: expected a dict of 0, got a string \"x\"");
}

TEST_CASE("several wrong outputs are all named, up to a limit") {
  const auto four = to_ivalue(std::tuple(1, 2, 3, 4)), wrong = to_ivalue(std::tuple(1, 0, 0, 0));
  CHECK(message(four, wrong) ==
        "output[1]: expected 2, got 0\noutput[2]: expected 3, got 0\noutput[3]: expected 4, got 0");
  CheckOptions options;
  options.max_reported = 1;
  CHECK(message(four, wrong, options) == "output[1]: expected 2, got 0\n... and 2 more outputs differ");
  const Match match = outputs_match(four, wrong);
  CHECK(match.mismatches == 3);
  CHECK(match.compared == 4);
}

TEST_CASE("indices of sparse outputs are in order where the expected ones are") {
  const auto coo = [](const std::vector<std::int64_t>& indices) {
    return at::sparse_coo_tensor(longs(indices).view({2, 3}), floats({1, 2, 3}), {4, 4});
  };
  const auto ordered = coo({0, 0, 1, 1, 2, 0});
  const auto values = floats({1, 3, 2});
  const auto same = at::sparse_coo_tensor(longs({0, 1, 0, 1, 0, 2}).view({2, 3}), values, {4, 4});
  CHECK(message(ordered.coalesce(), ordered.coalesce()) == "");
  CHECK(message(ordered, same.coalesce()) == "");
  CHECK(message(ordered.coalesce(), same) == "output: expected a coalesced tensor, got one that is not");
  const auto marked = same.clone()._coalesced_(true);
  CHECK(
      message(ordered.coalesce(), marked) ==
      "output: expected a coalesced tensor, got one that is only marked as coalesced: its indices repeat or are in no "
      "order");
  CheckOptions options;
  options.check_layout = false;
  CHECK(message(ordered.coalesce(), same, options) == "");
  const auto csr = [](const std::vector<std::int64_t>& columns, const std::vector<double>& elements) {
    return at::_sparse_csr_tensor_unsafe(longs({0, 2, 3}), longs(columns), floats(elements), {2, 4});
  };
  const auto csc = [](const std::vector<std::int64_t>& rows, const std::vector<double>& elements) {
    return at::_sparse_csc_tensor_unsafe(longs({0, 2, 3}), longs(rows), floats(elements), {4, 2});
  };
  CHECK(message(csc({0, 3, 1}, {1, 2, 3}), csc({0, 3, 1}, {1, 2, 3})) == "");
  CHECK_THAT(message(csc({0, 3, 1}, {1, 2, 3}), csc({3, 0, 1}, {2, 1, 3})),
             StartsWith("output: expected indices in ascending order in each row (CSR, BSR) or column (CSC, BSC)"));
  CHECK(message(csr({0, 3, 1}, {1, 2, 3}), csr({0, 3, 1}, {1, 2, 3})) == "");
  CHECK(message(csr({3, 0, 1}, {2, 1, 3}), csr({0, 3, 1}, {1, 2, 3})) == "");
  CHECK(message(csr({0, 3, 1}, {1, 2, 3}), csr({3, 0, 1}, {2, 1, 3})) ==
        "output: expected indices in ascending order in each row (CSR, BSR) or column (CSC, BSC), got others");
}

TEST_CASE("sparse outputs by their values; empty and scalar tensors") {
  const auto sparse = [](double x) { return at::sparse_coo_tensor(longs({1}).view({1, 1}), floats({x}), {2}); };
  CHECK(message(sparse(1), sparse(1)) == "");
  CHECK_THAT(message(sparse(1), sparse(2)),
             StartsWith("output: 1 of 2 elements (50 %) differ; worst at [1]: expected 1.0, got 2.0"));
  CHECK(message(at::zeros({0, 2}), at::zeros({0, 2})) == "");
  CHECK(outputs_match(at::zeros({0, 2}), at::zeros({0, 2})).compared == 0);
  CHECK(outputs_match(at::zeros({0, 2}), at::zeros({0, 2})).empty == 1);
  CHECK_THAT(message(at::full({}, 1.0f), at::full({}, 3.0f)),
             StartsWith("output: 1 of 1 elements (100 %) differ; worst at []"));
}

TEST_CASE("outputs that require gradients") {
  const auto x = doubles({1, 2}).requires_grad_();
  CHECK(message(x * 2, doubles({2, 4})) == "");
}
