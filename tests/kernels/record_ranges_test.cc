// LibTorch's real announcements, and the ranges made of them.
#include <thread>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/add.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/relu.h>

#include "pace/kernels/record_ranges.hpp"

#include <catch2/catch_test_macros.hpp>

using pace::kernel::kernels_of;
using pace::kernel::RangeRecorder;

TEST_CASE("operators of eager code, as they are called") {
  const at::Tensor x = at::ones({8, 8});
  RangeRecorder recorder;
  const auto events = recorder.record([&] { at::relu(at::linear(x, x)); });
  const auto call = kernels_of(events);
  REQUIRE(call.kernels.size() == 2);
  CHECK(call.kernels[0].symbol == "aten::linear");
  CHECK(call.kernels[1].symbol == "aten::relu");
  CHECK(call.ranges > 2);
  CHECK(2 * call.ranges == events.size());
  for (std::size_t i = 1; i < events.size(); ++i) CHECK(events[i - 1].at <= events[i].at);
  // Nothing is kept of the call before, and nothing is noted in between.
  at::relu(x);
  CHECK(kernels_of(recorder.record([&] { at::add(x, x); })).kernels.size() == 1);
  CHECK(recorder.record([] {}).empty());
}

TEST_CASE("a range of one's own is a kernel unless it holds some") {
  RangeRecorder recorder;
  const at::Tensor x = at::ones({8});
  const auto events = recorder.record([&] {
    {
      RECORD_USER_SCOPE("mine");
    }
    RECORD_USER_SCOPE("around");
    at::relu(x);
  });
  const auto call = kernels_of(events);
  REQUIRE(call.kernels.size() == 2);
  CHECK(call.kernels[0].symbol == "mine");
  CHECK(call.kernels[1].symbol == "aten::relu");
}

TEST_CASE("threads that have nothing to do with the call are not recorded") {
  RangeRecorder recorder;
  const at::Tensor x = at::ones({8});
  const auto events = recorder.record([&] { std::thread([&] { at::relu(x); }).join(); });
  CHECK(events.empty());
  CHECK(recorder.elsewhere() == 0);
}

TEST_CASE("a call that throws ends its ranges, and the next one is recorded as ever") {
  RangeRecorder recorder;
  const at::Tensor x = at::ones({8});
  CHECK_THROWS(recorder.record([&] { at::linear(x, at::ones({3, 4})); }));
  CHECK(kernels_of(recorder.record([&] { at::relu(x); })).kernels.size() == 1);
}

TEST_CASE("one recorder at a time, and a range costs something") {
  {
    RangeRecorder recorder;
    CHECK_THROWS_AS(RangeRecorder(), pace::Error);
    const auto cost = recorder.cost();
    CHECK(cost.inside.count() > 0);
    CHECK(cost.all >= cost.inside);
  }
  RangeRecorder again;
  CHECK(again.record([] {}).empty());
}
