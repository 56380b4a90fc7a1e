#include "pace/check/poison.hpp"

#include <ATen/ops/_lazy_clone.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/sparse_coo_tensor.h>

#include <atomic>
#include <cmath>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <vector>

#include "pace/check/outputs.hpp"
#include "reusing_allocator.hpp"
#include "values.hpp"

using pace::check::looks_poisoned;
using pace::check::outputs_match;
using pace::check::poison_;
using pace::check::poison_free_memory;
using pace::check::poisoned_elements;
using pace::check::PoisonedAllocations;

namespace {

const auto every_dtype = {at::kBool,         at::kByte,          at::kChar,          at::kShort, at::kInt,
                          at::kLong,         at::kHalf,          at::kBFloat16,      at::kFloat, at::kDouble,
                          at::kComplexFloat, at::kComplexDouble, at::kFloat8_e4m3fn, at::kUInt32};

/// A kernel that forgot its work: it allocates its output and returns it.
at::Tensor null_kernel(const at::Tensor& x) { return at::empty_like(x); }

}  // namespace

TEST_CASE("poison is recognised in every dtype, and is NaN in every floating one of 16 bits or more") {
  for (const auto dtype : every_dtype) {
    CAPTURE(c10::toString(dtype));
    auto x = at::zeros({4, 5}, dtype);
    CHECK_FALSE(looks_poisoned(x));
    CHECK(poisoned_elements(x) == 0);
    poison_(x);
    CHECK(looks_poisoned(x));
    CHECK(poisoned_elements(x) == 20);
    if (x.element_size() > 1 && (x.is_floating_point() || x.is_complex())) {
      CHECK(x.isnan().all().item<bool>());
      // In another precision it is NaN as well: converting does not wash it.
      CHECK(x.to(at::kComplexDouble).isnan().all().item<bool>());
    }
  }
  auto integers = at::zeros({3}, at::kInt);
  poison_(integers);
  CHECK(integers.equal(at::full({3}, 2147123194, at::kInt)));  // 0x7ffa7ffa
}

TEST_CASE("honest values are not poison: NaN of other origin, extremes, minus one") {
  CHECK(poisoned_elements(doubles({not_a_number, -not_a_number, inf, 0, -1})) == 0);
  for (const auto dtype : {at::kHalf, at::kBFloat16, at::kFloat, at::kDouble}) {
    CHECK(poisoned_elements((at::zeros({3}, dtype) / at::zeros({3}, dtype))) == 0);
    CHECK(poisoned_elements(doubles({not_a_number}).to(dtype)) == 0);
  }
  CHECK(poisoned_elements(at::full({9}, -1, at::kShort).view(at::kHalf)) == 0);  // all bits set, a NaN
  CHECK(poisoned_elements(
            longs({-1, 0, std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()})) == 0);
}

TEST_CASE("one written element: no longer all poison, but the count shows the rest") {
  for (const auto dtype : {at::kHalf, at::kInt, at::kDouble, at::kComplexDouble, at::kBool}) {
    auto x = at::zeros({100'000}, dtype);  // several pieces
    poison_(x);
    x[99'999] = 1;
    CHECK_FALSE(looks_poisoned(x));
    CHECK(poisoned_elements(x) == 99'999);
  }
}

TEST_CASE("a few bytes are poison by chance, so one-byte integers need eight of them") {
  auto seven = at::zeros({7}, at::kByte), eight = at::zeros({8}, at::kByte), flag = at::zeros({1}, at::kBool);
  poison_(seven);
  poison_(eight);
  poison_(flag);
  CHECK_FALSE(looks_poisoned(seven));
  CHECK(looks_poisoned(eight));
  CHECK(looks_poisoned(flag));
}

TEST_CASE("views are poisoned element by element: gaps are left alone") {
  auto base = at::zeros({4, 4}, at::kFloat);
  auto column = base.select(1, 1);
  poison_(column);
  CHECK(looks_poisoned(column));
  CHECK(poisoned_elements(base) == 4);
  auto broadcast = base.select(1, 2).unsqueeze(1).expand({4, 9});
  poison_(broadcast);
  CHECK(looks_poisoned(broadcast));
  CHECK(poisoned_elements(base) == 8);
  auto odd = at::zeros({9}, at::kByte).narrow(0, 1, 8);  // starts at an odd address
  poison_(odd);
  CHECK(looks_poisoned(odd));
  for (const auto dtype : {at::kByte, at::kShort, at::kHalf, at::kLong}) {
    CAPTURE(dtype);
    auto table = at::zeros({16, 2}, dtype), of_table = table.select(1, 1);
    poison_(of_table);
    CHECK(looks_poisoned(of_table));
    CHECK(table.select(1, 0).count_nonzero().item<std::int64_t>() == 0);
  }
  auto transposed = at::zeros({3, 5}, at::kDouble).t();
  poison_(transposed);
  CHECK(looks_poisoned(transposed));
}

TEST_CASE("poisoning keeps address, history and version; what has no memory is left alone") {
  auto x = doubles({3}).requires_grad_();
  const void* const address = x.const_data_ptr();
  poison_(x);
  CHECK(x.const_data_ptr() == address);
  CHECK(x._version() == 0);
  CHECK(looks_poisoned(x));
  auto empty = at::zeros({0});
  auto undefined = at::Tensor();
  auto sparse = at::sparse_coo_tensor(longs({0}).view({1, 1}), floats({1}), {3});
  auto scalar = at::full({}, 1.0f);
  for (auto* tensor : {&empty, &undefined, &sparse}) {
    poison_(*tensor);
    CHECK_FALSE(looks_poisoned(*tensor));
  }
  CHECK(sparse.to_dense().equal(floats({1, 0, 0})));
  poison_(scalar);
  CHECK(looks_poisoned(scalar));
}

TEST_CASE("under PoisonedAllocations every allocation is poison, and only then") {
  {
    const PoisonedAllocations poisoned;
    for (const auto dtype : every_dtype) CHECK(looks_poisoned(at::empty({5, 7}, dtype)));
    CHECK(looks_poisoned(at::empty({1 << 20}, at::kFloat)));  // beyond the size that malloc keeps
    CHECK(at::zeros({100}).equal(at::zeros({100})));          // written memory keeps its values
    CHECK(at::empty({0}).numel() == 0);
    CHECK((at::arange(10, at::kFloat) * 2).sum().item<float>() == 90);
  }
  auto after = at::empty({35});
  after.fill_(1);
  CHECK_FALSE(looks_poisoned(after));
}

TEST_CASE("the allocator in force before is back afterwards, exceptions and nesting included") {
  auto* const before = c10::GetCPUAllocator();
  try {
    const PoisonedAllocations outer;
    CHECK(c10::GetCPUAllocator() != before);
    {
      const PoisonedAllocations inner;
      CHECK(looks_poisoned(at::empty({10})));
    }
    CHECK(looks_poisoned(at::empty({10})));  // the outer one still holds
    throw std::runtime_error("an implementation failed");
  } catch (const std::runtime_error&) {
  }
  CHECK(c10::GetCPUAllocator() == before);
  // Not in the order of a stack.
  auto first = std::make_unique<PoisonedAllocations>(), second = std::make_unique<PoisonedAllocations>();
  first.reset();
  CHECK(looks_poisoned(at::empty({10})));
  second.reset();
  CHECK(c10::GetCPUAllocator() == before);
}

TEST_CASE("an allocator that is installed on top meanwhile stays") {
  auto* const before = c10::GetCPUAllocator();
  auto poisoned = std::make_unique<PoisonedAllocations>();
  {
    const ReusingAllocator on_top;
    auto* const theirs = c10::GetCPUAllocator();
    poisoned.reset();
    CHECK(c10::GetCPUAllocator() == theirs);
  }
  // They put back the one that they had found: ours. It no longer poisons, and can be used again and taken away again.
  auto x = at::empty({1000});
  x.fill_(1);
  CHECK(c10::GetCPUAllocator() != before);
  {
    const PoisonedAllocations again;
    CHECK(looks_poisoned(at::empty({10})));
  }
  CHECK(c10::GetCPUAllocator() == before);
}

TEST_CASE("memory outlives the poisoning: freed, resized and read afterwards") {
  const ReusingAllocator reusing;
  at::Tensor kept;
  {
    const PoisonedAllocations poisoned;
    kept = at::full({8}, 2.0f);
  }
  CHECK(kept.sum().item<float>() == 16);
  {
    const auto block = at::zeros({1000});
  }  // for the next allocation of this size
  kept.resize_({1000});  // asks the allocator that the storage came from
  CHECK(kept.narrow(0, 0, 8).sum().item<float>() == 16);
  CHECK(poisoned_elements(kept) == 0);
}

TEST_CASE("a lazy copy of poisoned memory becomes a copy when it is written") {
  const PoisonedAllocations poisoned;
  const auto original = at::full({8}, 2.0f), lazy = at::_lazy_clone(original);
  CHECK(lazy.const_data_ptr() == original.const_data_ptr());
  lazy.add_(1);
  CHECK(lazy.sum().item<float>() == 24);
  CHECK(original.sum().item<float>() == 16);
}

TEST_CASE("threads that allocate while it comes and goes") {
  std::atomic<bool> stop = false;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!stop) {
        const auto x = at::full({64}, 1.0f);
        if (x.sum().item<float>() != 64) ++wrong;
        const PoisonedAllocations mine;
        if (!looks_poisoned(at::empty({64}))) ++wrong;
      }
    });
  }
  for (int i = 0; i < 2000; ++i) {
    const PoisonedAllocations poisoned;
    if (!looks_poisoned(at::empty({16}))) ++wrong;
  }
  stop = true;
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("a kernel that writes nothing is caught, although its memory held the right answer") {
  const ReusingAllocator reusing;
  const auto input = at::arange(1000, at::kFloat);
  const auto expected = (input * 2).clone();
  {
    const auto earlier = expected.clone();
  }  // freed: the next block of this size holds the right answer

  // So far the check alone is fooled: this is the hole.
  REQUIRE(outputs_match(expected, null_kernel(input)).correct);

  {
    const auto earlier = expected.clone();
  }
  {
    const PoisonedAllocations poisoned;
    const auto match = outputs_match(expected, null_kernel(input));
    CHECK_FALSE(match.correct);
    CHECK(match.unwritten);
    CHECK(match.message ==
          "output: looks unwritten (poison pattern): all 1000 elements hold what was put there before the call");
  }

  {
    const auto earlier = expected.clone();
  }
  poison_free_memory(expected);
  CHECK_FALSE(outputs_match(expected, null_kernel(input)).correct);
}

TEST_CASE("poison_free_memory poisons a block for each tensor, and keeps none") {
  const ReusingAllocator reusing;
  const auto a = at::zeros({33}, at::kFloat), b = at::zeros({33}, at::kFloat), c = at::zeros({70}, at::kDouble);
  poison_free_memory(pace::to_ivalue(std::tuple(a, std::vector<at::Tensor>{b, c}, 3, at::Tensor(), at::zeros({0}))));
  const auto x = at::empty({33}, at::kFloat), y = at::empty({33}, at::kFloat), z = at::empty({70}, at::kDouble);
  CHECK(looks_poisoned(x));
  CHECK(looks_poisoned(y));
  CHECK(looks_poisoned(z));
  // The tensors themselves are untouched.
  CHECK(a.equal(at::zeros({33})));
}
