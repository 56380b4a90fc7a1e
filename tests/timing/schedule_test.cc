#include "pace/timing/schedule.hpp"

#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

namespace {

using pace::OperandPolicy;
using pace::timing::Schedule;
using pace::timing::Turn;

TEST_CASE("in a cycle each implementation holds every place and every operand set once") {
  const std::size_t k = GENERATE(1u, 2u, 3u, 4u, 5u, 6u, 7u);
  Schedule schedule(k, OperandPolicy::crossover, 1);
  for (int cycle = 0; cycle < 20; ++cycle) {
    std::set<std::pair<std::size_t, std::size_t>> places, operands;
    const auto turns = schedule.next_cycle();
    REQUIRE(turns.size() == k * k);
    for (std::size_t i = 0; i < turns.size(); ++i) {
      places.insert({turns[i].implementation, i % k});
      operands.insert({turns[i].implementation, turns[i].operands});
    }
    CHECK(places.size() == k * k);
    CHECK(operands.size() == k * k);
    for (std::size_t round = 0; round < k; ++round) {
      std::set<std::size_t> implementations, operand_sets;
      for (std::size_t place = 0; place < k; ++place) {
        implementations.insert(turns[round * k + place].implementation);
        operand_sets.insert(turns[round * k + place].operands);
      }
      CHECK(implementations.size() == k);
      CHECK(operand_sets.size() == k);
    }
  }
}

using Follows = std::map<std::pair<std::size_t, std::size_t>, int>;

void count_follows(Schedule& schedule, std::size_t k, Follows& follows) {
  const auto turns = schedule.next_cycle();
  for (std::size_t round = 0; round < k; ++round)
    for (std::size_t place = 1; place < k; ++place)
      ++follows[{turns[round * k + place - 1].implementation, turns[round * k + place].implementation}];
}

TEST_CASE("an even number: in each cycle each implementation follows each other one once") {
  const std::size_t k = GENERATE(2u, 4u, 6u);
  Schedule schedule(k, OperandPolicy::crossover, 2);
  for (int cycle = 0; cycle < 6; ++cycle) {
    Follows follows;
    count_follows(schedule, k, follows);
    CHECK(follows.size() == k * (k - 1));
    for (const auto& [pair, times] : follows) CHECK(times == 1);
  }
}

TEST_CASE("an odd number: each implementation follows each other one equally often on average") {
  const std::size_t k = GENERATE(3u, 5u, 7u);
  Schedule schedule(k, OperandPolicy::crossover, 2);
  Follows follows;
  for (int cycle = 0; cycle < 2000; ++cycle) count_follows(schedule, k, follows);
  CHECK(follows.size() == k * (k - 1));
  // Once a cycle on average; a pair occurs k - 1 times at most, so 6 standard deviations are below 6 sqrt(2000 k).
  for (const auto& [pair, times] : follows)
    CHECK(std::abs(times - 2000) < 6 * std::sqrt(2000.0 * static_cast<double>(k)));
}

TEST_CASE("identical code: which of two comes out ahead in a cycle is a fair coin, whatever happened before") {
  const std::size_t k = GENERATE(2u, 3u, 4u, 5u);
  Schedule schedule(k, OperandPolicy::crossover, 8);
  // A machine where everything matters: the round, the place, the operands, and the operands of the implementation
  // before.
  std::size_t before = 0;
  const auto cost = [&](std::size_t round, std::size_t place, std::size_t operands) {
    const std::size_t mixed =
        (((round * 7 + place) * 7 + operands) * 7 + std::exchange(before, operands)) * 2654435761u;
    return 100'000 + static_cast<int>(mixed % 1009);
  };
  std::array<std::array<int, 2>, 2> heads{};  // by the coin of the last cycle
  bool last = false;
  for (int cycle = 0; cycle < 20000; ++cycle) {
    std::vector<int> times(k);
    const auto turns = schedule.next_cycle();
    for (std::size_t i = 0; i < turns.size(); ++i)
      times[turns[i].implementation] += cost(i / k, i % k, turns[i].operands);
    if (times[0] == times[1]) continue;
    const bool ahead = times[0] < times[1];
    ++heads[last][ahead];
    last = ahead;
  }
  // The difference of about 10,000 tosses has a standard deviation of 100.
  CAPTURE(k, heads[0][0], heads[0][1], heads[1][0], heads[1][1]);
  CHECK(std::abs(heads[0][0] - heads[0][1]) < 600);
  CHECK(std::abs(heads[1][0] - heads[1][1]) < 600);
}

TEST_CASE("which place goes with which operand set is not fixed") {
  Schedule schedule(2, OperandPolicy::crossover, 3);
  std::map<std::array<std::size_t, 2>, int> seen;  // the first implementation of round 0, and its set
  for (int cycle = 0; cycle < 4000; ++cycle) {
    const auto turns = schedule.next_cycle();
    ++seen[{turns[0].implementation, turns[0].operands}];
  }
  REQUIRE(seen.size() == 4);
  // Each has probability 1/4: 1000 +- 27; six standard deviations.
  for (const auto& [what, times] : seen) {
    CHECK(times > 836);
    CHECK(times < 1164);
  }
}

TEST_CASE("the other operand policies keep sets in place") {
  Schedule fixed(3, OperandPolicy::fixed, 4);
  for (const Turn turn : fixed.next_cycle()) CHECK(turn.operands == turn.implementation);
  Schedule shared(3, OperandPolicy::shared, 4);
  for (const Turn turn : shared.next_cycle()) CHECK(turn.operands == 0);
}

TEST_CASE("the same seed gives the same order") {
  const auto order = [](std::uint64_t seed) {
    Schedule schedule(4, OperandPolicy::crossover, seed);
    std::vector<std::pair<std::size_t, std::size_t>> all;
    for (int cycle = 0; cycle < 5; ++cycle)
      for (const Turn turn : schedule.next_cycle()) all.push_back({turn.implementation, turn.operands});
    return all;
  };
  CHECK(order(5) == order(5));
  CHECK(order(5) != order(6));
}

}  // namespace
