// Bytes and operations of calls, against figures that are worked out by hand.
#include "benches/operators/backends/work.hpp"

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/Parallel.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include "benches/operators/peak.hpp"
#include "pace/result/result.hpp"
#include "pace/run/run_context.hpp"
#include "tests/operators/inputs.hpp"

// Last: LibTorch has a macro CHECK too.
#include <catch2/catch_test_macros.hpp>

namespace {

using pace::Nanoseconds;
using pace::benches::operators::CallWork;
using pace::benches::operators::HostPeak;
using pace::benches::operators::OfPeak;
using pace::benches::operators::OperatorCall;
using pace::benches::operators::work_of;
using pace::test::inputs;
using pace::test::list;
using pace::test::random;

CallWork work(const std::string& name, const pace::inputs::Inputs& given) {
  INFO(name);
  const auto found = work_of(OperatorCall::bind(name, given));
  REQUIRE(found);
  return *found;
}

constexpr double f32 = 4;

TEST_CASE("products take two operations for each pair of factors") {
  const auto mm = work("aten.mm.default", inputs({random({3, 5}), random({5, 7})}));
  CHECK(mm.flops == 2 * 3 * 5 * 7);
  CHECK(mm.read == f32 * (15 + 35));
  CHECK(mm.written == f32 * 21);
  CHECK(mm.bytes() == f32 * 71);
  const auto addmm = work("aten.addmm.default", inputs({random({7}), random({3, 5}), random({5, 7})}));
  CHECK(addmm.flops == 2 * 3 * 5 * 7);
  CHECK(addmm.read == f32 * (7 + 15 + 35));
  CHECK(work("aten.bmm.default", inputs({random({2, 3, 5}), random({2, 5, 7})})).flops == 2 * 2 * 3 * 5 * 7);
  CHECK(work("aten.baddbmm.default", inputs({random({2, 3, 7}), random({2, 3, 5}), random({2, 5, 7})})).flops ==
        2 * 2 * 3 * 5 * 7);
  CHECK(work("aten.mv.default", inputs({random({3, 5}), random({5})})).flops == 2 * 3 * 5);
  CHECK(work("aten.dot.default", inputs({random({5}), random({5})})).flops == 2 * 5);
}

TEST_CASE("each element of a convolution's output meets the filters of its group") {
  const auto convolution = [](std::int64_t groups, bool transposed, const at::Tensor& weight) {
    return work("aten.convolution.default", inputs({random({2, 4, 8, 8}), weight, c10::IValue(), list({1, 1}),
                                                    list({0, 0}), list({1, 1}), transposed, list({0, 0}), groups}));
  };
  // 2 x 6 outputs of 6 x 6, each of 4 x 3 x 3 products.
  const auto plain = convolution(1, false, random({6, 4, 3, 3}));
  CHECK(plain.flops == 2.0 * (2 * 6 * 6 * 6) * (4 * 3 * 3));
  CHECK(plain.written == f32 * 2 * 6 * 6 * 6);
  CHECK(convolution(2, false, random({6, 2, 3, 3})).flops == 2.0 * (2 * 6 * 6 * 6) * (2 * 3 * 3));
  // Transposed: each of the 2 x 4 x 8 x 8 inputs meets 6 filters.
  CHECK(convolution(1, true, random({4, 6, 3, 3})).flops == 2.0 * (2 * 4 * 8 * 8) * (6 * 3 * 3));
}

TEST_CASE("a convolution's backward takes the forward's operations for each of two gradients") {
  const auto backward = [](bool of_input, bool of_weight) {
    return work("aten.convolution_backward.default",
                inputs({random({2, 6, 6, 6}), random({2, 4, 8, 8}), random({6, 4, 3, 3}), list({6}), list({1, 1}),
                        list({0, 0}), list({1, 1}), false, list({0, 0}), 1, list({of_input, of_weight, false})}))
        .flops;
  };
  const double forward = 2.0 * (2 * 6 * 6 * 6) * (4 * 3 * 3);
  CHECK(backward(true, true) == 2 * forward);
  CHECK(backward(false, true) == forward);
}

TEST_CASE("attention is two products, and its backward five") {
  const auto q = random({2, 3, 16, 8}), k = random({2, 3, 16, 8}), v = random({2, 3, 16, 8});
  const double product = 2.0 * (2 * 3) * 16 * 16 * 8;
  CHECK(work("aten._scaled_dot_product_flash_attention_for_cpu.default", inputs({q, k, v})).flops == 2 * product);
  CHECK(work("aten._scaled_dot_product_flash_attention_for_cpu_backward.default",
             inputs({random({2, 3, 16, 8}), q, k, v, random({2, 3, 16, 8}), random({2, 3, 16}), 0.0, false}))
            .flops == 5 * product);
  // Causal: 1 + 2 + ... + 16 of 16 x 16 pairs of a query and a key.
  CHECK(work("aten._scaled_dot_product_flash_attention_for_cpu.default", inputs({q, k, v, 0.0, true})).flops ==
        2 * product * 136 / 256);
}

TEST_CASE("pointwise operators count what they write, and reductions what they read") {
  const auto add = work("aten.add.Tensor", inputs({random({4, 1}), random({1, 6})}));
  CHECK(add.flops == 24);
  CHECK(add.read == f32 * 10);
  CHECK(add.written == f32 * 24);
  // In place it reads and writes the same memory.
  const auto in_place = work("aten.add_.Tensor", inputs({random({4, 6}), random({4, 6})}));
  CHECK(in_place.flops == 24);
  CHECK(in_place.read == f32 * 48);
  CHECK(in_place.written == f32 * 24);
  // A copy does not read where it goes.
  const auto copy = work("aten.copy_.default", inputs({random({4, 6}), random({4, 6})}));
  CHECK(copy.read == f32 * 24);
  CHECK(copy.written == f32 * 24);
  const auto sum = work("aten.sum.dim_IntList", inputs({random({4, 6}), list({1})}));
  CHECK(sum.flops == 24);
  CHECK(sum.written == f32 * 4);
  // Repeated elements are one in memory.
  CHECK(work("aten.relu.default", inputs({random({4, 1}).expand({4, 6})})).read == f32 * 4);
}

TEST_CASE("norms and softmax count some operations for each element") {
  CHECK(work("aten.native_layer_norm.default", inputs({random({4, 6}), list({6}), random({6}), random({6}), 1e-5}))
            .flops == 5 * 24);
  CHECK(work("aten.native_layer_norm.default", inputs({random({4, 6}), list({6}), c10::IValue(), c10::IValue(), 1e-5}))
            .flops == 4 * 24);
  const auto batch_norm = [](bool training) {
    return work("aten.native_batch_norm.default",
                inputs({random({4, 6}), random({6}), random({6}), at::zeros({6}), at::ones({6}), training, 0.1, 1e-5}))
        .flops;
  };
  CHECK(batch_norm(true) == 5 * 24);
  CHECK(batch_norm(false) == 2 * 24);
  CHECK(work("aten._softmax.default", inputs({random({4, 6}), 1, false})).flops == 5 * 24);
}

TEST_CASE("without floating-point numbers there are bytes alone") {
  const auto integers = at::ones({4, 6}, at::kLong);
  const auto found = work("aten.bitwise_and.Tensor", inputs({integers, integers}));
  CHECK_FALSE(found.flops);
  CHECK(found.written == 8 * 24);
}

TEST_CASE("what need not read all of its operands has no figures") {
  const auto none = [](const std::string& name, const pace::inputs::Inputs& given) {
    INFO(name);
    CHECK_FALSE(work_of(OperatorCall::bind(name, given)));
  };
  none("aten.view.default", inputs({random({4, 6}), list({24})}));
  none("aten.embedding.default", inputs({random({100, 6}), at::ones({4}, at::kLong)}));
  none("aten.zeros_like.default", inputs({random({4, 6})}));
  none("aten.fill_.Scalar", inputs({random({4, 6}), 1}));
  none("aten.nonzero.default", inputs({random({4, 6})}));
}

/// 1 byte a nanosecond, for loads and for stores.
pace::timing::HostBandwidth bandwidth() {
  return pace::timing::HostBandwidth([](std::size_t) { return pace::timing::Bandwidths{1e9, 1e9}; });
}

TEST_CASE("the share of the peak is about the bytes, or about the operations where these take longer") {
  auto memory = bandwidth();
  int measured = 0;
  HostPeak peak(memory, [&](at::ScalarType) -> std::optional<double> { return ++measured, 10e9; });
  // 600 bytes at 1 GB/s take 600 ns.
  const CallWork pointwise{.read = 600, .written = 200, .flops = 100};
  CHECK(peak.share(pointwise, at::kFloat, Nanoseconds(1200), 1) == 0.5);
  CHECK(peak.share(pointwise, at::kFloat, Nanoseconds(1200), 2) == 0.25);
  CHECK(measured == 0);
  // 40000 operations at 10 GFLOP/s take 4000 ns, and are measured once for a type.
  const CallWork product{.read = 600, .written = 200, .flops = 40000};
  CHECK(peak.share(product, at::kFloat, Nanoseconds(8000), 1) == 0.5);
  CHECK(peak.share(product, at::kFloat, Nanoseconds(16000), 1) == 0.25);
  CHECK(measured == 1);
  CHECK(peak.share(product, at::kDouble, Nanoseconds(16000), 1) == 0.25);
  CHECK(measured == 2);
}

TEST_CASE("a peak that a call exceeds is measured again, and the larger one kept") {
  int tries = 0;
  // Beside other work the first two measurements give a tenth.
  pace::timing::HostBandwidth memory([&](std::size_t) {
    const double rate = ++tries <= 2 ? 1e8 : 1e9;
    return pace::timing::Bandwidths{rate, rate};
  });
  int products = 0;
  HostPeak peak(memory, [&](at::ScalarType) -> std::optional<double> { return ++products <= 2 ? 1e9 : 10e9; });
  const CallWork product{.read = 600, .written = 200, .flops = 40000};
  CHECK(peak.share(product, at::kFloat, Nanoseconds(8000), 1) == 0.5);
  CHECK(tries == 3);
  CHECK(products == 3);
  // A call faster than any measurement stays above 1, and ends.
  CHECK(peak.share(product, at::kFloat, Nanoseconds(1000), 1) == 4);
  CHECK(products == 6);
}

TEST_CASE("a machine that cannot be measured has no peak") {
  pace::timing::HostBandwidth unknown([](std::size_t) { return std::optional<pace::timing::Bandwidths>(); });
  HostPeak peak(unknown, [](at::ScalarType) { return std::optional<double>(); });
  CHECK_FALSE(peak.share({.read = 600, .written = 200, .flops = 40000}, at::kFloat, Nanoseconds(1000), 1));
}

/// A result of one row that took `time`, and of a phase with another one of the double time.
pace::Result measured(Nanoseconds time) {
  pace::Result result;
  auto& row = result.implementations.emplace_back();
  row.name = "eager";
  row.outcome = pace::Outcome::measured;
  row.time.emplace();
  row.time->median = time;
  pace::Result phase = result;
  phase.phase = "host";
  phase.implementations[0].time->median = 2 * time;
  result.phases.push_back(std::move(phase));
  return result;
}

/// The setting that a program might have made before.
struct OtherCompletion final : pace::RunContext::Completion {
  void complete(pace::Result& /*result*/) override { ++times; }
  int times = 0;
};

TEST_CASE("the published and the returned result get their shares, and the peak is measured once for each row") {
  int tries = 0;
  pace::timing::HostBandwidth memory([&](std::size_t) { return ++tries, pace::timing::Bandwidths{1e9, 1e9}; });
  HostPeak peak(memory, [](at::ScalarType) { return std::optional<double>(); });
  // Above the peak, so that each share measures it again.
  const std::optional<CallWork> work = CallWork{.read = 600, .written = 200, .flops = 100};
  OtherCompletion before;
  pace::run_context().completion = &before;
  {
    OfPeak of_peak(peak, work, at::kFloat);
    pace::Result result = measured(Nanoseconds(200.0 / at::get_num_threads()));
    pace::Result heard = result;
    pace::run_context().completion->complete(heard);
    const int once = tries;
    of_peak.complete(result);
    CHECK(tries == once);
    for (const auto& each : {result, heard}) {
      REQUIRE(each.implementations[0].share_of_peak);
      CHECK(std::abs(*each.implementations[0].share_of_peak - 3) < 1e-9);
      REQUIRE(each.phases[0].implementations[0].share_of_peak);
      CHECK(std::abs(*each.phases[0].implementations[0].share_of_peak - 1.5) < 1e-9);
    }
    CHECK(before.times == 2);
  }
  CHECK(pace::run_context().completion == &before);
  {
    const OfPeak nothing_known(peak, std::nullopt, at::kFloat);
    CHECK(pace::run_context().completion == &before);
  }
  CHECK(pace::run_context().completion == &before);
  pace::run_context().completion = nullptr;
}

TEST_CASE("once the time of a run is over no peak is measured") {
  int tries = 0;
  pace::timing::HostBandwidth memory([&](std::size_t) { return ++tries, pace::timing::Bandwidths{1e9, 1e9}; });
  HostPeak peak(memory, [](at::ScalarType) { return std::optional<double>(); });
  const std::optional<CallWork> work = CallWork{.read = 600, .written = 200, .flops = 100};
  OfPeak of_peak(peak, work, at::kFloat);
  pace::Result result = measured(Nanoseconds(1200));
  pace::run_context().deadline = {.time = Nanoseconds(0), .reason = "the test"};
  of_peak.complete(result);
  pace::run_context().deadline.reset();
  CHECK_FALSE(result.implementations[0].share_of_peak);
  CHECK(tries == 0);
}

}  // namespace
