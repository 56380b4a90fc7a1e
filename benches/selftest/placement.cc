// Placement bias: identical code, with buffers elsewhere in every process.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "benches/selftest/bounds.hpp"
#include "benches/selftest/fresh_options.hpp"
#include "benches/selftest/progress.hpp"
#include "benches/selftest/quiet.hpp"
#include "benches/selftest/settings.hpp"
#include "benches/selftest/subjects.hpp"
#include "pace/stats/quantile.hpp"
#include "pace/stats/sequential_test.hpp"
#include "pace/stats/spread.hpp"

namespace {

using namespace pace::benches::selftest;

/// One process's ln(speed-up) of a candidate that is the baseline.
struct Bias {
  double value = 0;
  /// How far that may lie from the process's own centre by chance.
  double standard_error = 0;
  /// Where that centre lies, wrong once in ten million times on either side.
  double low = 0, high = 0;
};

Bias bias(const std::string& subject) {
  auto options = fresh_options();
  // A copy takes some 40 times as long as the product, and its times spread more.
  options.budget = std::chrono::milliseconds(subject == "product" ? 400 : 2000);
  auto ratios = compare_placements(subject, options)["other"].log_ratios;
  REQUIRE_FALSE(ratios.empty());
  const auto interval = pace::stats::confidence_sequence(ratios, 1e-7, 1e-7);
  std::sort(ratios.begin(), ratios.end());
  const double error = std::sqrt(std::acos(-1.0) / 2 / static_cast<double>(ratios.size())) *
                       pace::stats::median_absolute_deviation(ratios);
  return {pace::stats::median(ratios), error, interval.low, interval.high};
}

/// The output of a process of its own.
Bias bias_in_new_process(const char* subject, const char* operands) {
  // Files that Bazel expects are this process's to write.
  const std::string command = std::string("PACE_PLACEMENT_SUBJECT=") + subject +
                              " exec env -u XML_OUTPUT_FILE -u TEST_UNDECLARED_OUTPUTS_DIR -u TEST_PREMATURE_EXIT_FILE"
                              " -u TEST_WARNINGS_OUTPUT_FILE -u TEST_INFRASTRUCTURE_FAILURE_FILE '" +
                              program_invocation_name + "' '[child]' --no-table --operands " + operands + " 2>&1";
  FILE* const pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  Bias seen;
  bool found = false;
  std::string everything;
  std::array<char, 512> line;
  while (std::fgets(line.data(), static_cast<int>(line.size()), pipe) != nullptr) {
    everything += line.data();
    found = found || std::sscanf(line.data(), "bias %lf %lf %lf %lf", &seen.value, &seen.standard_error, &seen.low,
                                 &seen.high) == 4;
  }
  const int status = pclose(pipe);
  INFO(everything);
  REQUIRE(status == 0);
  REQUIRE(found);
  return seen;
}

// Hidden, so that only the test below runs it.
TEST_CASE("one process", "[.][child]") {
  const char* const subject = std::getenv("PACE_PLACEMENT_SUBJECT");
  REQUIRE(subject != nullptr);
  const Quiet quiet;
  const Bias seen = bias(subject);
  std::printf("bias %.9f %.9f %.9f %.9f\n", seen.value, seen.standard_error, seen.low, seen.high);
}

/// Over processes. "Of chance" is the part that noise within each explains; "proven" is the largest bias that one has
/// shown.
struct Spread {
  double mean = 0, deviation = 0, chance = 0, proven = 0;
  [[nodiscard]] double beyond_chance() const {
    return std::sqrt(std::max(0.0, deviation * deviation - chance * chance));
  }
};

Spread spread_of(const std::vector<Bias>& seen) {
  const auto count = static_cast<double>(seen.size());
  Spread spread;
  double chance = 0, squares = 0;
  for (const auto& each : seen) {
    spread.mean += each.value / count;
    chance += each.standard_error * each.standard_error / count;
    spread.proven = std::max({spread.proven, each.low, -each.high});
  }
  for (const auto& each : seen) squares += (each.value - spread.mean) * (each.value - spread.mean);
  spread.deviation = std::sqrt(squares / (count - 1));
  spread.chance = std::sqrt(chance);
  return spread;
}

TEST_CASE("where buffers lie does not matter", "[placement]") {
  const std::size_t processes = settings().processes;
  // Standard deviations over processes that pace promises to stay below.
  constexpr std::array<std::pair<const char*, double>, 2> promises{{{"product", 0.0015}, {"copy", 0.003}}};
  // The use of swapping: the same without, in fewer processes.
  const std::size_t without = std::max<std::size_t>(2, processes / 3);
  std::printf(
      "\nPlacement bias: identical code in %zu processes, buffers swapped between its two sides (in %zu: kept)\n",
      processes, without);
  std::printf("%-24s %-8s %10s %10s %10s %13s %10s\n", "subject", "buffers", "mean", "sd", "of chance", "sd beyond it",
              "proven");
  Progress progress("processes", (processes + without) * promises.size());
  std::size_t done = 0;
  for (const auto& [subject, promise] : promises) {
    for (const bool swapped : {false, true}) {
      std::vector<Bias> seen;
      for (std::size_t process = 0; process < (swapped ? processes : without); ++process) {
        seen.push_back(bias_in_new_process(subject, swapped ? "crossover" : "fixed"));
        progress.show(++done);
      }
      const Spread spread = spread_of(seen);
      std::printf("%-24s %-8s %+9.3f%% %9.3f%% %9.3f%% %12.3f%% %9.3f%%\n",
                  std::string(subject) == "product" ? "product, 128 x 128 x 128" : "copy, 16 MB",
                  swapped ? "swapped" : "kept", 100 * spread.mean, 100 * spread.deviation, 100 * spread.chance,
                  100 * spread.beyond_chance(), 100 * spread.proven);
      std::fflush(stdout);
      if (!swapped) continue;
      // Six deviations: among normal values of that deviation one in 500 million lies farther out.
      INFO(subject << ": one process is proven to lie " << 100 * spread.proven << " % from where it should");
      CHECK(spread.proven <= 6 * promise);
    }
  }
  std::printf("of chance: what a process's own scatter explains; proven: what any one process is certain of\n");
  std::fflush(stdout);
}

}  // namespace
