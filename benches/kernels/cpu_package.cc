// The kernels of a package that was compiled for the CPU: all of them are found, and they make up the package's work.
#include <algorithm>
#include <iostream>

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include "benches/kernels/package.hpp"
#include "benches/kernels/package_provider.hpp"
#include "pace/catch2.hpp"
#include "pace/kernels.hpp"
#include "pace/kernels/ranges.hpp"

TEST_CASE("a CPU package's kernels explain its time, and their bandwidths are known", "[kernels]") {
  const at::NoGradGuard values_alone;
  at::set_num_threads(1);
  pace::benches::kernels::Package package("benches/kernels/packages/block.pt2", "", "", "cpu");
  REQUIRE(package.facts());
  pace::KernelsOptions options;
  options.budget = std::chrono::seconds(2);
  options.providers.push_back(pace::benches::kernels::package_provider(*package.facts()));
  const auto report = pace::kernels(
      options, "block", [&](const std::vector<at::Tensor>&) { return package.run(); }, package.operands());
  pace::kernel::print_table(report, std::cout);

  // As many as Inductor says, and no more than a product and the operators fused around it.
  std::size_t known = 0;
  for (const auto& kernel : package.facts()->kernels) known += static_cast<std::size_t>(kernel.calls);
  CHECK(report.kernels.size() == known);
  CHECK_THAT(report, pace::AtMost(pace::kernel::Count::kernels, 4));
  CHECK(std::ranges::any_of(report.kernels,
                            [](const auto& each) { return pace::kernel::is_call_of_libtorch(each.symbol); }));
  CHECK(report.peak_bandwidth > 0);
  for (const auto& kernel : report.kernels) {
    if (!pace::kernel::is_compiled(kernel.symbol)) continue;
    INFO(kernel.name);
    REQUIRE(kernel.bandwidth());
    CHECK(*kernel.bandwidth() > 0);
  }
  // The rest is the package's own host code: microseconds of a call that takes milliseconds. On a machine that is
  // shared recorded calls and others may differ by a tenth; without the smaller of the two large kernels it would be
  // 0.7.
  CHECK(report.explained() > 0.75);
  CHECK(report.explained() < 1.25);
}
