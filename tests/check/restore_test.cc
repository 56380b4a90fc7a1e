#include "pace/check/restore.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/sparse_coo_tensor.h>

#include <tuple>
#include <vector>

#include "pace/check/clone.hpp"
#include "values.hpp"

using pace::to_ivalue;
using pace::check::clone_input;
using pace::check::clone_ivalue;
using pace::check::restore;
using pace::check::restore_tensor;
using pace::check::tensors_of;

namespace {

/// Overwrites a copy of `pristine`, restores it, and expects the old values at the old address.
void check_restores(const at::Tensor& pristine) {
  const at::Tensor working = clone_input(pristine);
  const void* const address = working.const_data_ptr();
  pace::check::detail::elements_of(working).fill_(7);
  REQUIRE_FALSE(working.equal(pristine));
  restore_tensor(pristine, working);
  CHECK(working.equal(pristine));
  CHECK(working.const_data_ptr() == address);
}

}  // namespace

TEST_CASE("values come back in place for any strides") {
  const auto base = at::arange(60, at::kFloat).view({3, 4, 5});
  check_restores(base);
  check_restores(base.transpose(0, 2));
  check_restores(base.slice(2, 0, 5, 2));
  check_restores(base.select(0, 1).expand({3, 4, 5}));
  check_restores(base.view({60}).as_strided({10, 4}, {2, 1}, 3));
  check_restores(base.to(at::kComplexDouble).conj());
  check_restores(base.to(at::kHalf));
  check_restores(base.to(at::kByte));
  check_restores(at::full({}, 3.0f));
}

TEST_CASE("the gaps of a view are left alone") {
  auto memory = at::zeros({10}, at::kFloat);
  const auto every_third = memory.as_strided({3}, {3}, 1);
  memory.fill_(8);
  restore_tensor(floats({1, 2, 3, 4, 5, 6, 7}).as_strided({3}, {3}, 0), every_third);
  CHECK(memory.equal(floats({8, 1, 8, 8, 4, 8, 8, 7, 8, 8})));
}

TEST_CASE("a graph that saved the input still runs backwards") {
  const auto pristine = doubles({3});
  const auto x = clone_input(pristine).requires_grad_();
  const auto y = x * x;
  const auto version = x._version();
  restore_tensor(pristine.clone().requires_grad_(), x);
  CHECK(x._version() == version);
  y.backward();
  CHECK(x.grad().item<double>() == 6);
}

TEST_CASE("gradients: gone where there were none, else the old values at the old address") {
  auto pristine = doubles({1, 2}).requires_grad_();
  auto working = clone_input(pristine);
  working.mutable_grad() = doubles({5, 5});
  restore_tensor(pristine, working);
  CHECK_FALSE(working.grad().defined());

  pristine.mutable_grad() = doubles({3, 4});
  working = clone_input(pristine);
  const void* const address = working.grad().const_data_ptr();
  working.mutable_grad().fill_(0);
  restore_tensor(pristine, working);
  CHECK(working.grad().equal(doubles({3, 4})));
  CHECK(working.grad().const_data_ptr() == address);
  working.mutable_grad().reset();
  restore_tensor(pristine, working);
  CHECK(working.grad().equal(doubles({3, 4})));
}

TEST_CASE("whole structures, aliased tensors among them") {
  const auto base = at::arange(10, at::kFloat);
  const auto pristine = to_ivalue(std::tuple(base.narrow(0, 0, 6), std::vector<at::Tensor>{base.narrow(0, 4, 6)}, 3));
  const auto working = clone_ivalue(pristine);
  for (auto& tensor : tensors_of(working)) tensor.fill_(-1);
  restore(pristine, working);
  CHECK(tensors_of(working)[0].equal(floats({0, 1, 2, 3, 4, 5})));
  CHECK(tensors_of(working)[1].equal(floats({4, 5, 6, 7, 8, 9})));
  restore(working, working);  // nothing happens
  CHECK(tensors_of(working)[0].equal(floats({0, 1, 2, 3, 4, 5})));
}

TEST_CASE("tensors of inference mode, outside of it") {
  at::Tensor working;
  {
    const c10::InferenceMode inference;
    working = doubles({0, 0});
  }
  restore_tensor(doubles({1, 2}), working);
  CHECK(working.equal(doubles({1, 2})));
}

TEST_CASE("sparse tensors get the old entries") {
  const auto sparse = [](double x) { return at::sparse_coo_tensor(longs({0, 2}).view({1, 2}), floats({1, x}), {3}); };
  const auto working = sparse(9);
  restore_tensor(sparse(5), working);
  CHECK(working.to_dense().equal(floats({1, 0, 5})));
  const auto compressed = [](double x) { return floats({1, 0, 0, x}).view({2, 2}).to_sparse_csc(); };
  const auto columns = compressed(9);
  restore_tensor(compressed(5), columns);
  CHECK(columns.to_dense().equal(compressed(5).to_dense()));
}

TEST_CASE("an input that an implementation reshaped is named") {
  using Catch::Matchers::Message;
  CHECK_THROWS_MATCHES(restore_tensor(floats({1, 2}), floats({1})), pace::Error,
                       Message("restore: the input was a tensor float32 of shape [2] and strides [1], and is now "
                               "float32 of shape [1] and strides [1]"));
  CHECK_THROWS_MATCHES(restore(to_ivalue(std::tuple(floats({1}))), to_ivalue(std::tuple(1))), pace::Error,
                       Message("restore: expected 1 tensors, found 0"));
  CHECK_THROWS_AS(restore_tensor(floats({1}), at::Tensor()), pace::Error);
  CHECK_THROWS_AS(restore_tensor(floats({1}), doubles({1})), pace::Error);
}
