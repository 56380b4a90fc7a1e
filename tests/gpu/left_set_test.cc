// Variables that were left set: which clocks they distort, and what cannot be captured.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <string>

#include "pace/gpu/left_set.hpp"
#include "tests/support/variable.hpp"

using Catch::Matchers::ContainsSubstring;
using pace::ClockChoice;
using pace::gpu::distortion_of;
using pace::test::Variable;

TEST_CASE("launches that wait distort times by launches, and none of graphs and of the profiler") {
  for (const auto clock : {ClockChoice::hot, ClockChoice::host, ClockChoice::wall}) CHECK(distortion_of(clock).empty());
  const Variable set("CUDA_LAUNCH_BLOCKING", "1");
  CHECK(
      distortion_of(ClockChoice::hot) ==
      "CUDA_LAUNCH_BLOCKING is set, so each launch waits for its kernel, and times by the hot clock are those of such "
      "waits; try: unset CUDA_LAUNCH_BLOCKING.");
  for (const auto clock : {ClockChoice::host, ClockChoice::wall})
    CHECK_THAT(distortion_of(clock), ContainsSubstring("CUDA_LAUNCH_BLOCKING"));
  for (const auto clock : {ClockChoice::graph, ClockChoice::cold, ClockChoice::profiler})
    CHECK(distortion_of(clock).empty());
  for (const char* const off : {"", "0"}) {
    const Variable unset("CUDA_LAUNCH_BLOCKING", off);
    CHECK(distortion_of(ClockChoice::hot).empty());
  }
}

TEST_CASE("without LibTorch's cache of memory nothing is captured, and all other times are distorted") {
  CHECK(pace::gpu::why_nothing_is_captured().empty());
  // LibTorch looks only whether it is set.
  const Variable set("PYTORCH_NO_CUDA_MEMORY_CACHING", "0");
  CHECK_THAT(pace::gpu::why_nothing_is_captured(), ContainsSubstring("PYTORCH_NO_CUDA_MEMORY_CACHING is set") &&
                                                       ContainsSubstring("try: unset PYTORCH_NO_CUDA_MEMORY_CACHING"));
  for (const auto clock : {ClockChoice::hot, ClockChoice::host, ClockChoice::wall, ClockChoice::profiler})
    CHECK_THAT(distortion_of(clock), ContainsSubstring("PYTORCH_NO_CUDA_MEMORY_CACHING"));
  CHECK(distortion_of(ClockChoice::graph).empty());
}
