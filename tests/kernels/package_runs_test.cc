// How often a package runs: under Nsight Compute one call is all that may be seen.
#include "benches/kernels/package.hpp"
#include "pace/kernels/record_ranges.hpp"

#include <algorithm>
#include <optional>

#include <ATen/core/grad_mode.h>

#include <catch2/catch_test_macros.hpp>

TEST_CASE("opening a package runs nothing of it, and a call runs each kernel once") {
  const at::NoGradGuard values_alone;
  pace::kernel::RangeRecorder recorder;
  // How often the product in the package runs: once in a call.
  const auto products = [&](const auto& body) {
    return std::ranges::count_if(recorder.record(body), [](const pace::kernel::RangeEvent& event) {
      return event.begins && event.name.find("addmm_out") != std::string_view::npos;
    });
  };
  std::optional<pace::benches::kernels::Package> package;
  CHECK(products([&] { package.emplace("benches/kernels/packages/block.pt2", "", "", "cpu"); }) == 0);
  CHECK(products([&] { static_cast<void>(package->run()); }) == 1);
}
