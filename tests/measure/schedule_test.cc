#include "pace/measure/schedule.hpp"

#include <array>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

namespace {

using pace::OperandPolicy;
using pace::measure::Schedule;
using pace::measure::Turn;

TEST_CASE("in a cycle everybody holds every place and every operand set once") {
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
      std::set<std::size_t> who, what;
      for (std::size_t place = 0; place < k; ++place) {
        who.insert(turns[round * k + place].implementation);
        what.insert(turns[round * k + place].operands);
      }
      CHECK(who.size() == k);
      CHECK(what.size() == k);
    }
  }
}

TEST_CASE("everybody follows everybody else equally often") {
  const std::size_t k = GENERATE(2u, 3u, 4u, 5u, 6u, 7u);
  Schedule schedule(k, OperandPolicy::crossover, 2);
  // An even square is balanced by itself, odd ones in pairs.
  const int cycles = k % 2 == 0 ? 1 : 2;
  for (int repetition = 0; repetition < 3; ++repetition) {
    std::map<std::pair<std::size_t, std::size_t>, int> follows;
    for (int cycle = 0; cycle < cycles; ++cycle) {
      const auto turns = schedule.next_cycle();
      for (std::size_t round = 0; round < k; ++round)
        for (std::size_t place = 1; place < k; ++place)
          ++follows[{turns[round * k + place - 1].implementation, turns[round * k + place].implementation}];
    }
    CHECK(follows.size() == k * (k - 1));
    for (const auto& [pair, times] : follows) CHECK(times == cycles);
  }
}

TEST_CASE("which place goes with which operand set is not fixed") {
  Schedule schedule(2, OperandPolicy::crossover, 3);
  std::map<std::array<std::size_t, 2>, int> seen;  // who goes first in round 0, on which set
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
