// The subjects that compare machines of one pool: operators of LibTorch gated against themselves, with a guard for each
// margin that a machine may support. `//tools/fleet -- pool` reads the results.
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <ATen/Context.h>
#include <ATen/ops/add.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/randn.h>
#include <catch2/catch_test_macros.hpp>

#include "pace/catch2.hpp"
#include "pace/pace.hpp"

namespace {

constexpr std::array margins{0.001, 0.002, 0.005, 0.01, 0.02, 0.05};
/// Comparisons of each kind of work in one process.
constexpr std::size_t repeats = 4;

/// Work that is bound by one part of a machine.
struct Work {
  std::string name;
  std::vector<std::int64_t> sizes;
  std::function<at::Tensor(const at::Tensor&)> call;
};

std::vector<Work> all_work() {
  // The last one's operand of 16 MB fits into no second cache.
  return {{"exp", {1 << 14}, [](const at::Tensor& x) { return at::exp(x); }},
          {"product", {192, 192}, [](const at::Tensor& x) { return at::mm(x, x); }},
          {"add", {1 << 22}, [](const at::Tensor& x) { return at::add(x, x); }}};
}

void compare_with_itself(const Work& work, const at::Device& device, std::size_t repeat) {
  const std::string name = "pool/" + (device.is_cuda() ? "gpu " : std::string()) + work.name;
  auto comparison = pace::compare(name + '/' + std::to_string(repeat), at::randn(work.sizes, device));
  comparison.baseline("one", work.call).candidate("other", work.call);
  for (const double margin : margins)
    // The question is which margins are undecided.
    comparison.expect(pace::NoSlowerThan(1 + margin).when_undecided(pace::WhenUndecided::let_through));
  CHECK_THAT(comparison.run(), pace::AsExpected());
}

}  // namespace

TEST_CASE("operators are as fast as themselves") {
  for (std::size_t repeat = 1; repeat <= repeats; ++repeat)
    for (const auto& work : all_work()) {
      compare_with_itself(work, at::kCPU, repeat);
      if (at::hasCUDA()) compare_with_itself(work, at::Device(at::kCUDA, 0), repeat);
    }
}
