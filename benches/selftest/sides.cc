// The cost and the bias of --isolate sides: the same comparisons in one process and in a process for each side.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include <ATen/ops/layer_norm.h>
#include <ATen/ops/randn.h>
#include <catch2/catch_test_macros.hpp>

#include "benches/selftest/fresh_options.hpp"
#include "pace/pace.hpp"

namespace {

using namespace pace::benches::selftest;

/// Figures of the comparisons in one mode.
struct Figures {
  std::vector<double> whole, rounds, cycles, speedups;
  std::size_t passed = 0, failed = 0;
};

/// Value of `values` below which the given share of them lies.
double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

TEST_CASE("a process for each side", "[sides]") {
  constexpr std::array modes{pace::Isolate::none, pace::Isolate::sides};
  std::array<Figures, modes.size()> of;
  const auto layer_norm = [](const at::Tensor& x) { return at::layer_norm(x, {x.size(-1)}); };
  const auto end = std::chrono::steady_clock::now() + 20 * pace::run_context().options.budget;
  std::string note;
  // The modes take turns, so that both see the same machine.
  while (std::chrono::steady_clock::now() < end)
    for (std::size_t mode = 0; mode < modes.size(); ++mode) {
      auto options = fresh_options();
      options.isolate = modes[mode];
      // Other work makes verdicts slower, which both modes feel.
      options.max_interference = 1;
      const auto start = std::chrono::steady_clock::now();
      const auto result = pace::compare("layer_norm", at::randn({64, 1024}))
                              .options(options)
                              .baseline("one", layer_norm)
                              .candidate("same", layer_norm)
                              .expect(pace::NoSlowerThan(1.1))
                              .run();
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      const auto& row = result["same"];
      REQUIRE(row.outcome == pace::Outcome::measured);
      REQUIRE(row.speedup);
      of[mode].whole.push_back(took.count());
      of[mode].rounds.push_back(1e-9 * result.elapsed.count());
      of[mode].cycles.push_back(static_cast<double>(row.speedup->observations));
      of[mode].speedups.push_back(row.speedup->median);
      of[mode].passed += row.judgements.at(0).verdict == pace::Verdict::passed;
      of[mode].failed += row.judgements.at(0).verdict == pace::Verdict::failed;
      for (const auto& each : result.notes)
        if (each.find("--isolate sides") != std::string::npos) note = each;
    }
  std::printf(
      "\nlayer_norm of 64x1024 against itself, NoSlowerThan(1.1), %zu comparisons in each mode\n%-8s %10s %10s %8s "
      "%8s %8s   speed-up (0.1, 0.5, 0.9)\n",
      of[0].whole.size(), "isolate", "whole", "rounds", "cycles", "passed", "failed");
  for (std::size_t mode = 0; mode < modes.size(); ++mode) {
    const auto& each = of[mode];
    std::printf("%-8s %8.0f ms %8.0f ms %8.0f %8zu %8zu   %.4f %.4f %.4f\n", to_string(modes[mode]),
                1e3 * quantile(each.whole, 0.5), 1e3 * quantile(each.rounds, 0.5), quantile(each.cycles, 0.5),
                each.passed, each.failed, quantile(each.speedups, 0.1), quantile(each.speedups, 0.5),
                quantile(each.speedups, 0.9));
  }
  std::printf("whole comparisons take %.2f times as long with sides, rounds %.2f times\n%s\n",
              quantile(of[1].whole, 0.5) / quantile(of[0].whole, 0.5),
              quantile(of[1].rounds, 0.5) / quantile(of[0].rounds, 0.5), note.c_str());
}

}  // namespace
