// Twins: ordinary operators that return tensors, each gated against itself, by the size of its result.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "benches/selftest/bounds.hpp"
#include "benches/selftest/compare_twins.hpp"
#include "benches/selftest/fresh_options.hpp"
#include "benches/selftest/operators.hpp"
#include "benches/selftest/progress.hpp"
#include "benches/selftest/quiet.hpp"
#include "benches/selftest/settings.hpp"
#include "benches/selftest/twin_gates.hpp"

namespace {

using namespace pace::benches::selftest;
using pace::Verdict;

struct Size {
  const char* name;
  std::int64_t bytes;
};
constexpr std::array<Size, 4> sizes{{{"4 kB", 4 << 10}, {"64 kB", 64 << 10}, {"1 MB", 1 << 20}, {"16 MB", 16 << 20}}};
/// One function is the same code on both sides. Two copies of a function are not: where each lies in the program is a
/// true difference, which stays as long as the program is not linked anew. It was up to 1.9 % of a call of 0.6 us. So
/// no failed gate of copies is a false alarm. They stand in the table to show the margin that such calls need.
constexpr std::array sides{"one function", "two copies"};

/// One operator at one size.
struct Line {
  TwinOperator subject;
  Size size;
  std::array<TwinGates, sides.size()> gates = {};
};

std::vector<Line> lines_of_table() {
  // A gate of the largest size takes more than a second, ten times as long as the others.
  const std::span some(sizes.begin(), settings().long_form ? sizes.size() : sizes.size() - 1);
  std::vector<Line> lines;
  for (const auto& subject : twin_operators())
    for (const Size& size : some) lines.push_back({subject, size});
  return lines;
}

/// Returns the sum over all lines, or over the lines of one size if given.
TwinGates sum_of(const std::vector<Line>& lines, std::size_t of_sides, const Size* size = nullptr) {
  TwinGates sum;
  for (const Line& line : lines)
    if (size == nullptr || line.size.bytes == size->bytes) sum += line.gates[of_sides];
  return sum;
}

/// Prints a failed gate as soon as it has failed, for a long run to be looked into.
void report(const Line& line, const char* of_sides, const pace::Result& result) {
  std::printf("failed: %s, %s, %s: speed-up %.5f after %zu rounds of %lld iterations in %.0f ms\n", line.subject.name,
              line.size.name, of_sides, result["other"].speedup->median, result.rounds,
              static_cast<long long>(result.iterations), result.elapsed.count() / 1e6);
  std::fflush(stdout);
}

void gate_once(Line& line, std::size_t of_sides) {
  // Each comparison has an operand of its own, wherever the allocator puts it.
  const at::Tensor operand = line.subject.operand(line.size.bytes);
  const auto compare = of_sides == 0 ? line.subject.one_function : line.subject.two_copies;
  const auto result = compare(line.subject.name, operand, twin_options());
  const auto& row = result["other"];
  INFO(line.subject.name << ", " << line.size.name << ": " << row.message);
  REQUIRE(row.outcome == pace::Outcome::measured);
  line.gates[of_sides].add(row);
  if (row.judgements.at(0).verdict == Verdict::failed || row.judgements.at(1).verdict == Verdict::failed)
    report(line, sides[of_sides], result);
}

void print(const std::vector<Line>& lines) {
  std::printf("\nTwins: operators gated against themselves; the size is their output's\n");
  std::printf("%-20s %6s  %-13s %s\n", "operator", "size", "sides", twin_heads().c_str());
  for (const Line& line : lines)
    for (std::size_t i = 0; i < sides.size(); ++i)
      if (line.gates[i].run > 0)
        std::printf("%-20s %6s  %-13s %s\n", line.subject.name, line.size.name, sides[i],
                    twin_columns(line.gates[i]).c_str());
  for (std::size_t i = 0; i < sides.size(); ++i) {
    std::printf("%s, all sizes: %s\n", sides[i], twin_rates(sum_of(lines, i)).c_str());
    for (const Size& size : sizes)
      if (const TwinGates sum = sum_of(lines, i, &size); sum.run > 0)
        std::printf("%s, %s: %s\n", sides[i], size.name, twin_rates(sum).c_str());
  }
  std::printf("promised for one function: at most %.3f %%\n", 100 * pace::run_context().options.alpha);
  std::fflush(stdout);
}

TEST_CASE("operators that return tensors raise no more alarms than promised against themselves", "[twins]") {
  const Quiet quiet;
  const std::size_t planned = settings().gates;
  std::vector<Line> lines = lines_of_table();
  std::vector<std::size_t> order(lines.size());
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 random(fresh_seed());
  Progress progress("twins", planned);
  const Deadline deadline(std::chrono::seconds(20));
  for (std::size_t gate = 0; gate < planned && !deadline.over(); ++gate) {
    const std::size_t turn = gate / sides.size() % lines.size();
    // In another order each time, so that gates find the heap in other states and time runs out for no kind of lines.
    if (turn == 0 && gate % sides.size() == 0) std::shuffle(order.begin(), order.end(), random);
    gate_once(lines[order[turn]], gate % sides.size());
    progress.show(gate + 1);
  }
  print(lines);
  // As for A/A gates, of those that were planned, also if time ran out.
  const std::size_t alarms = too_many((planned + 1) / sides.size(), pace::run_context().options.alpha, check_error);
  const TwinGates same = sum_of(lines, 0);
  INFO(sides[0] << ": " << twin_rates(same));
  CHECK(same.failed < alarms);
  CHECK(same.failed_at_1_percent < alarms);
}

}  // namespace
