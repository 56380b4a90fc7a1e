// Tensors that a call on the CPU changes although they are no operands.
#include "pace/kernels/written_storages.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <stdexcept>
#include <vector>

#include <ATen/native/Resize.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/add.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/full.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/zeros.h>

#include "pace/kernels/kernels.hpp"

using pace::kernel::WrittenStorages;

TEST_CASE("tensors that outlive a call have their values again, those that it makes are dropped") {
  at::Tensor counter = at::zeros({3}), output = at::zeros({2, 2}), read = at::ones({2, 2});
  std::vector<at::Tensor> several{at::ones({2}), at::ones({4})};
  WrittenStorages written;
  written.observe([&] {
    counter.narrow(0, 1, 1).add_(1);
    counter.add_(1);
    at::mul_out(output, read, read);
    at::_foreach_add_(several, 2);
    at::Tensor temporary = at::ones({5});
    temporary.add_(1);
  });
  CHECK(written.size() == 4);
  CHECK(counter[1].item<float>() == 2);
  written.restore();
  CHECK(counter.equal(at::zeros({3})));
  CHECK(output.equal(at::zeros({2, 2})));
  for (const auto& each : several) CHECK(each.equal(at::ones(each.sizes())));
}

TEST_CASE("a tensor that is written with the values that it had needs no copy") {
  at::Tensor zero = at::zeros({3});
  WrittenStorages written;
  written.observe([&] { zero.mul_(2); });
  CHECK(written.size() == 0);
}

TEST_CASE("memory of another size than before the call is neither read nor written") {
  at::Tensor released = at::ones({1 << 20}), grown = at::ones({4}), counter = at::zeros({3});
  const auto resize = [](const at::Tensor& tensor, std::size_t bytes) {
    at::native::resize_bytes_cpu(tensor.storage().unsafeGetStorageImpl(), bytes);
  };
  WrittenStorages written;
  written.observe([&] {
    for (at::Tensor* const each : {&released, &grown, &counter}) each->add_(1);
    resize(released, 0);
    resize(grown, 4096);
  });
  CHECK(written.size() == 1);
  written.restore();
  CHECK(counter.equal(at::zeros({3})));
  CHECK(grown.equal(at::full({4}, 2)));
}

TEST_CASE("running statistics of a normalisation are restored") {
  at::Tensor x = at::rand({4, 3, 5}), mean = at::zeros({3}), variance = at::ones({3});
  WrittenStorages written;
  written.observe([&] { (void)at::batch_norm(x, {}, {}, mean, variance, true, 0.5, 1e-5, false); });
  CHECK(written.size() == 2);
  CHECK_FALSE(mean.equal(at::zeros({3})));
  written.restore();
  CHECK(mean.equal(at::zeros({3})));
  CHECK(variance.equal(at::ones({3})));
}

TEST_CASE("an observer sees no calls after its own") {
  at::Tensor x = at::zeros({3}), y = at::zeros({3});
  WrittenStorages written;
  written.observe([&] { x.add_(1); });
  y.add_(1);
  CHECK(written.size() == 1);
}

TEST_CASE("pace::kernels leaves closed-over tensors as they were, and each call finds them so") {
  at::Tensor x = at::ones({8}), count = at::zeros({1});
  std::vector<float> found;
  const auto report = pace::kernels(
      "counts",
      [&](at::Tensor& x) {
        found.push_back(count.item<float>());
        count.add_(1);
        return at::add(x, count);
      },
      x);
  CHECK(count.item<float>() == 0);
  REQUIRE(found.size() > 3);
  for (const float each : found) CHECK(each == 0);
}

TEST_CASE("a call that throws leaves its operands and closed-over tensors as they were, too") {
  at::Tensor x = at::ones({8}), count = at::zeros({1});
  int calls = 0;
  CHECK_THROWS_AS(pace::kernels(
                      "throws",
                      [&](at::Tensor& x) {
                        x.add_(1);
                        count.add_(1);
                        if (++calls == 4) throw std::runtime_error("no more");
                      },
                      x),
                  std::runtime_error);
  CHECK(count.item<float>() == 0);
  CHECK(x.equal(at::ones({8})));
}
