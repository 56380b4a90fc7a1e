// Outputs change hands: no implementation keeps memory of its own for them, and returned outputs are checked all the
// same.
#include "pace/check/out_of_memory.hpp"
#include "pace/compare/comparison.hpp"

#include <new>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <ATen/ops/add.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <c10/util/Exception.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "pace/subject/captured_output.hpp"
#include "pace/subject/output_copy.hpp"
#include "tests/support/comparisons.hpp"
#include "tests/support/last_freed_first.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;
using pace::Nanoseconds;
using pace::Outcome;
using pace::test::FakeClock;
using pace::test::few_rounds;
using pace::test::LastFreedFirst;

/// Operands that cannot be copied.
struct TooLarge {};

}  // namespace

template <>
struct pace::OperandTraits<TooLarge> {
  static TooLarge clone(const TooLarge&) {
    throw c10::OutOfMemoryError({__func__, __FILE__, __LINE__}, "no memory left");
  }
  static void collect(const TooLarge&, std::vector<at::Tensor>&) {}
};

namespace {

/// Writes down where its outputs lie.
struct Recording {
  FakeClock& clock;
  pace::test::OutputPlaces places = {};

  at::Tensor operator()(const at::Tensor& x) const {
    clock.advance(Nanoseconds(500));
    at::Tensor y = at::add(x, x);
    places.add(y);
    return y;
  }
};

template <class Wrap>
void check_that_places_are_shared(const Wrap& wrap) {
  const LastFreedFirst allocator;
  FakeClock clock;
  const Recording one{clock}, other{clock};
  const auto result = pace::test::compare_twins(clock, wrap(one), wrap(other));
  REQUIRE(result["other"].outcome == Outcome::measured);
  CHECK(result.rounds == 24);
  CHECK(one.places.later() == other.places.later());
  // Where the output of a call before the last one of a sample is kept to be checked, later calls write to other
  // memory.
  CHECK(one.places.later().size() <= 2);
}

TEST_CASE("outputs change hands: implementations of the same write to the same memory") {
  check_that_places_are_shared([](const Recording& call) { return call; });
}

TEST_CASE("outputs change hands in tuples, vectors and values") {
  check_that_places_are_shared(
      [](const Recording& call) { return [call](const at::Tensor& x) { return std::tuple(call(x), 3.0); }; });
  check_that_places_are_shared(
      [](const Recording& call) { return [call](const at::Tensor& x) { return std::vector<at::Tensor>{call(x)}; }; });
  check_that_places_are_shared(
      [](const Recording& call) { return [call](const at::Tensor& x) { return c10::IValue(call(x)); }; });
}

TEST_CASE("outputs that are views of one storage change hands, too") {
  check_that_places_are_shared([](const Recording& call) {
    return [call](const at::Tensor& x) {
      const auto halves = call(x).chunk(2);
      return std::tuple(halves[0], halves[1]);
    };
  });
}

TEST_CASE("what the last timed call returned is checked, though it was copied") {
  FakeClock clock;
  int calls = 0;
  auto wrong_later = [&](const at::Tensor& x) {
    clock.advance(Nanoseconds(500));
    return at::mul(x, ++calls > 60 ? 3 : 2);
  };
  const auto result = pace::compare("twice", at::randn({64, 256}))
                          .options(few_rounds())
                          .baseline("right", Recording{clock})
                          .candidate("wrong later", std::move(wrong_later))
                          .run(clock);
  CHECK(result["wrong later"].outcome == Outcome::wrong);
}

TEST_CASE("copies of outputs: the same memory again, unless it is in use or of another shape") {
  pace::detail::OutputCopy copies;
  const auto nothing_stays = [](const at::Tensor&) { return false; };
  const at::Tensor first = at::randn({8, 6}).t(), second = at::randn({8, 6}).t();
  c10::IValue copy = copies.copy(first, nothing_stays);
  const void* const place = copy.toTensor().const_data_ptr();
  CHECK(place != first.const_data_ptr());
  CHECK(copy.toTensor().strides() == first.strides());
  CHECK(at::equal(copy.toTensor(), first));
  copy = {};

  copy = copies.copy(second, nothing_stays);
  CHECK(copy.toTensor().const_data_ptr() == place);
  CHECK(at::equal(copy.toTensor(), second));

  const c10::IValue next = copies.copy(first, nothing_stays);
  CHECK(next.toTensor().const_data_ptr() != place);
  CHECK(at::equal(copy.toTensor(), second));

  const c10::IValue other_shape = copies.copy(at::mul(first, 2).select(0, 1), nothing_stays);
  CHECK(at::equal(other_shape.toTensor(), at::mul(first, 2).select(0, 1)));
}

TEST_CASE("copies of outputs: strided views, marks, and what stays") {
  pace::detail::OutputCopy copies;
  const at::Tensor base = at::randn({6, 10}, at::kComplexFloat), stays = at::randn({3});
  const std::vector<at::Tensor> views{base.slice(1, 0, 10, 3), base.t().conj(), stays};
  for (int round = 0; round < 2; ++round) {
    const c10::IValue copy = copies.copy(c10::IValue(views), [&](const auto& tensor) { return tensor.is_same(stays); });
    const auto tensors = copy.toTensorVector();
    REQUIRE(tensors.size() == 3);
    CHECK(at::equal(tensors[0], views[0]));
    CHECK(at::equal(tensors[1], views[1]));
    CHECK(tensors[1].is_conj());
    CHECK_FALSE(tensors[0].is_alias_of(base));
    CHECK(tensors[2].is_same(stays));
    base.mul_(2);
  }
  CHECK(copies.copy(3.5, [](const auto&) { return false; }).toDouble() == 3.5);
}

TEST_CASE("captured outputs free memory that they alone held for the next capture, and keep views of it") {
  const LastFreedFirst allocator;
  const at::Tensor weight = at::randn({5});
  at::Tensor mine = at::ones({64, 3});
  const void* const place = mine.const_data_ptr();
  c10::IValue output(std::vector<at::Tensor>{mine, weight});
  mine.reset();
  pace::detail::CapturedOutput captured(std::move(output));
  const auto elements = captured.value().toTensorVector();
  const at::Tensor view = elements[0];
  CHECK(view.const_data_ptr() == place);
  CHECK(view.sizes() == at::IntArrayRef{64, 3});
  CHECK(elements[1].is_same(weight));

  const at::Tensor next = at::full({64, 3}, 7.0);
  CHECK(next.const_data_ptr() == place);
  CHECK(at::equal(view, next));
  const at::Tensor before = weight.clone();
  captured.poison();
  CHECK(pace::check::looks_poisoned(next));
  CHECK(at::equal(weight, before));
}

TEST_CASE("no memory for copies of the operands: the rows say so") {
  FakeClock clock;
  const auto number = [](const TooLarge&) { return 1.0; };
  const auto result =
      pace::compare("large", TooLarge{}).options(few_rounds()).baseline("a", number).candidate("b", number).run(clock);
  CHECK(result["a"].outcome == Outcome::out_of_memory);
  CHECK_THAT(result["a"].message, ContainsSubstring("no memory left"));
  CHECK(result["b"].outcome == Outcome::refused);
  CHECK_THAT(result["b"].message, ContainsSubstring("no baseline to compare with: 'a' out of memory"));
}

TEST_CASE("errors that mean that memory ran out") {
  using pace::check::means_out_of_memory;
  CHECK(means_out_of_memory(c10::OutOfMemoryError({__func__, __FILE__, __LINE__}, "in its own words")));
  CHECK(means_out_of_memory(std::bad_alloc()));
  CHECK(means_out_of_memory(std::runtime_error("launching: out of memory (cudaErrorMemoryAllocation)")));
  CHECK(means_out_of_memory(std::runtime_error("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate")));
  CHECK_FALSE(means_out_of_memory(std::runtime_error("index out of range")));
}

}  // namespace
