// Cheats by the form of an output: sparse and nested ones that share memory or are in no order, numbers of less
// precision. Also random numbers whose means lie in the wrong places.
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/_nested_tensor_from_tensor_list.h>
#include <ATen/ops/_nested_view_from_buffer.h>
#include <ATen/ops/_sparse_csr_tensor_unsafe.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/rand_like.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/sparse_coo_tensor.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros_like.h>

#include "tests/cheats/rejected.hpp"

namespace {

using cheats::require_accepted;
using cheats::require_rejected;
using cheats::run;
using cheats::run_declared;

at::Tensor longs(const std::vector<std::int64_t>& values) { return at::tensor(values, at::kLong); }
at::Tensor indices() { return at::randint(0, 20, {2, 500}, at::kLong); }
at::Tensor coo(const at::Tensor& i, const at::Tensor& v) { return at::sparse_coo_tensor(i, v, {20, 20}); }
at::Tensor csr(const at::Tensor& starts, const at::Tensor& columns, const at::Tensor& values) {
  return at::_sparse_csr_tensor_unsafe(starts, columns, values, {20, 20});
}
at::Tensor starts() { return at::arange(0, 101, 5, at::kLong); }
at::Tensor columns() { return at::arange(0, 5, at::kLong).mul(3).repeat({20}); }

TEST_CASE("a sparse output that shares memory with operands") {
  const auto copied = [](const at::Tensor& i, const at::Tensor& v) { return coo(i.clone(), v.clone()); };
  const auto x = at::randn({500});
  require_rejected(run(
                       copied, [](const at::Tensor& i, const at::Tensor& v) { return coo(i, v); }, indices(), x),
                   "output tensor 0 shares memory with an operand");
  require_rejected(
      run(
          copied, [](const at::Tensor& i, const at::Tensor& v) { return coo(i, v.clone()); }, indices(), x),
      "output tensor 0 (its indices) shares memory with an operand");
  const auto rows = [](const at::Tensor& p, const at::Tensor& i, const at::Tensor& v) {
    return csr(p.clone(), i.clone(), v.clone());
  };
  const auto shared_starts = [](const at::Tensor& p, const at::Tensor& i, const at::Tensor& v) {
    return csr(p, i.clone(), v.clone());
  };
  const auto v = at::randn({100});
  require_rejected(run(rows, csr, starts(), columns(), v), "output tensor 0 shares memory with an operand");
  require_rejected(run(rows, shared_starts, starts(), columns(), v),
                   "output tensor 0 (its compressed indices) shares memory");
  // The baseline does that as well.
  require_accepted(run(coo, [](const at::Tensor& i, const at::Tensor& v) { return coo(i, v); }, indices(), x));
  require_accepted(run(copied, copied, indices(), x));
  require_accepted(run(csr, rows, starts(), columns(), v));
}

TEST_CASE("an output that is another one") {
  const auto apart = [](const at::Tensor& x) { return std::tuple(x.mul(2), x.mul(2)); };
  const auto x = at::randn({500});
  require_rejected(run(
                       apart,
                       [](const at::Tensor& t) {
                         const at::Tensor y = t.mul(2);
                         return std::tuple(y, y.view({500}));
                       },
                       x),
                   "output tensor 1 has elements of an earlier output tensor");
  // Parts of one buffer that have no element in common are apart.
  require_accepted(
      run([](const at::Tensor& t) { return std::tuple(t.narrow(0, 0, 250).mul(2), t.narrow(0, 250, 250).mul(2)); },
          [](const at::Tensor& t) {
            const at::Tensor y = t.mul(2);
            return std::tuple(y.narrow(0, 0, 250), y.narrow(0, 250, 250));
          },
          x));
  // The baseline does that as well.
  const auto twice = [](const at::Tensor& t) {
    const at::Tensor y = t.mul(2);
    return std::tuple(y, y);
  };
  require_accepted(run(twice, twice, x));
  require_accepted(run(twice, apart, x));
}

TEST_CASE("zeros that nobody has written") {
  const auto x = at::randn({1 << 20});
  const auto written = [](const at::Tensor& t) { return at::zeros_like(t); };
  const auto left_to_the_system = [](const at::Tensor& t) {
    const std::size_t bytes = t.nbytes();
    void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at::from_blob(memory, t.sizes(), [bytes](void* each) { ::munmap(each, bytes); }, at::kFloat);
  };
  require_rejected(run(written, left_to_the_system, x), "is memory that was never written to");
  require_accepted(run(left_to_the_system, left_to_the_system, x));
  require_accepted(run(written, written, x));
}

TEST_CASE("a nested output that shares memory with an operand") {
  const auto x = at::randn({40, 8});
  const auto copied = [](const at::Tensor& t) {
    return at::_nested_tensor_from_tensor_list({t.narrow(0, 0, 10), t.narrow(0, 10, 30)});
  };
  const auto shared = [](const at::Tensor& t) {
    return at::_nested_view_from_buffer(t.view(-1), longs({10, 8, 30, 8}).view({2, 2}),
                                        longs({8, 1, 8, 1}).view({2, 2}), longs({0, 80}));
  };
  require_rejected(run(copied, shared, x), "output tensor 0 shares memory with an operand");
  require_accepted(run(shared, shared, x));
}

TEST_CASE("a sparse output that is not coalesced, or only marked as coalesced") {
  const auto x = at::randn({500});
  const auto coalesced = [](const at::Tensor& i, const at::Tensor& v) { return coo(i, v).coalesce(); };
  const auto loose = [](const at::Tensor& i, const at::Tensor& v) { return coo(i.clone(), v.clone()); };
  const auto marked = [=](const at::Tensor& i, const at::Tensor& v) { return loose(i, v)._coalesced_(true); };
  require_rejected(run(coalesced, loose, indices(), x), "expected a coalesced tensor, got one that is not");
  require_rejected(run(coalesced, marked, indices(), x), "only marked as coalesced");
  // Where the baseline's is not coalesced, neither need others be.
  require_accepted(run(loose, coalesced, indices(), x));
  require_accepted(run(coalesced, coalesced, indices(), x));
}

TEST_CASE("numbers of float64 operands that were computed in float32") {
  const auto x = at::randn({4096}, at::kDouble);
  const auto sum = [](const at::Tensor& t) { return t.sin().square().sum().item<double>(); };
  const auto in_float = [=](const at::Tensor& t) { return sum(t.to(at::kFloat)); };
  require_rejected(run(sum, in_float, x), "expected ");
  const auto rows = [](const at::Tensor& t) {
    const auto sums = t.view({8, 512}).sin().square().sum(1).to(at::kDouble);
    const auto* first = static_cast<const double*>(sums.const_data_ptr());
    return std::vector<double>(first, first + sums.numel());
  };
  require_rejected(run(rows, [=](const at::Tensor& t) { return rows(t.to(at::kFloat)); }, x), "output[0]: expected ");
  const auto both = [=](const at::Tensor& t) { return std::tuple(t.sin(), sum(t)); };
  require_rejected(
      run(both, [=](const at::Tensor& t) { return std::tuple(t.sin(), in_float(t)); }, x), "output[1]: expected ");
  // In another order, or by another formula.
  require_accepted(run(sum, [](const at::Tensor& t) { return t.flip(0).sin().square().sum().item<double>(); }, x));
  const auto cancels = [](const at::Tensor& t) { return t.sin().sum().item<double>(); };
  const auto in_columns = [](const at::Tensor& t) { return t.view({64, 64}).sin().sum(0).sum().item<double>(); };
  require_accepted(run(cancels, in_columns, x));
  const auto spread = [](const at::Tensor& t) { return t.var().item<double>(); };
  const auto by_means = [](const at::Tensor& t) {
    const double mean = t.mean().item<double>();
    return t.sub(mean).square().sum().item<double>() / 4095;
  };
  require_accepted(run(spread, by_means, x));
  // The baseline's number is one of float32.
  const auto flipped_float = [=](const at::Tensor& t) { return in_float(t.flip(0)); };
  require_accepted(run(in_float, flipped_float, x));
  require_accepted(run(sum, [=](const at::Tensor& t) { return sum(t.view({64, 64}).t()); }, x.to(at::kFloat)));
  require_accepted(run([=](const at::Tensor& t, const at::Tensor& scale) { return sum(t.mul(scale)); },
                       [=](const at::Tensor& t, const at::Tensor& scale) { return sum(t.flip(0).mul(scale)); },
                       x.to(at::kFloat), at::full({}, 0.7, at::kDouble)));
}

TEST_CASE("random numbers whose means lie in the wrong places") {
  const auto by_random = [](auto& comparison) { comparison.random(); };
  const auto x = at::randn({64, 64}, at::detail::createCPUGenerator(4));
  const auto scaled = [](const at::Tensor& t) { return t.mul(at::rand({64, 1})); };
  const auto turned = [=](const at::Tensor& t) { return scaled(t.t().contiguous()); };
  require_rejected(run_declared(by_random, turned, scaled, x), "other means than the baseline's");
  const auto dropped = [](const at::Tensor& t) { return t.mul(at::rand_like(t).lt(0.5)); };
  const auto sorted = [=](const at::Tensor& t) { return dropped(std::get<0>(t.view(-1).sort())); };
  require_rejected(run_declared(
                       by_random, sorted, [=](const at::Tensor& t) { return dropped(t.view(-1)); }, x),
                   "other means than the baseline's");
  // One element of 4096.
  const auto noise = [](const at::Tensor& t) { return t.add(at::rand_like(t).mul(0.1)); };
  const auto one_wrong = [=](const at::Tensor& t) {
    auto out = noise(t);
    out[3][5].sub_(2);
    return out;
  };
  require_rejected(run_declared(by_random, noise, one_wrong, x), "element [3, 5] of output tensor 0");
}

TEST_CASE("random numbers of the same distributions from other generators") {
  const auto by_random = [](auto& comparison) { comparison.random(); };
  const auto x = at::randn({64, 64}, at::detail::createCPUGenerator(4));
  const auto own = at::detail::createCPUGenerator(8);
  const auto dropout = [](const at::Tensor& t) { return at::dropout(t, 0.5, true); };
  require_accepted(run_declared(
      by_random, dropout, [=](const at::Tensor& t) { return t.mul(at::empty_like(t).bernoulli_(0.5, own)).div(0.5); },
      x));
  const auto noise = [](const at::Tensor& t) { return t.add(at::empty_like(t).log_normal_()); };
  require_accepted(run_declared(
      by_random, noise, [=](const at::Tensor& t) { return t.add(at::empty_like(t).log_normal_(1, 2, own)); }, x));
  // An element that is no random number differs by rounding.
  const auto masked = [](const at::Tensor& t) { return t.mul(0.1).div(3).mul(at::rand_like(t).lt(0.99)); };
  require_accepted(run_declared(
      by_random, masked,
      [=](const at::Tensor& t) { return t.mul(0.1 / 3).mul(at::empty_like(t).uniform_(0, 1, own).lt(0.99)); }, x));
}

}  // namespace
