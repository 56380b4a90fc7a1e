// The fate of the others when one implementation leaves a comparison.
#include "pace/subject/participants.hpp"

#include <exception>
#include <new>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "pace/base/error.hpp"
#include "pace/subject/implementation.hpp"
#include "tests/support/fake_clock.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;
using pace::Outcome;
using pace::detail::Failure;
using pace::detail::Participants;
using Indices = std::vector<std::size_t>;

/// Implementations a, b (the baseline) and c; the latter two, and the first, are admitted in this order.
Participants all_admitted() {
  Participants participants({"a", "b", "c"}, 1);
  for (const std::size_t index : {1, 2, 0}) participants.admit(index);
  return participants;
}

pace::Result entered(const Participants& participants) {
  pace::Result result;
  result.implementations.resize(3);
  participants.enter(result);
  return result;
}

TEST_CASE("participants: they remain in the order of the comparison, whichever was admitted first") {
  const auto participants = all_admitted();
  CHECK(participants.remaining() == Indices{0, 1, 2});
  CHECK(entered(participants).implementations[2].outcome == Outcome::measured);
}

TEST_CASE("participants: one that was dropped keeps its first reason") {
  auto participants = all_admitted();
  participants.drop({{2, Outcome::wrong, "first"}, {2, Outcome::threw, "second"}});
  CHECK(participants.remaining() == Indices{0, 1});
  CHECK(entered(participants).implementations[2].message == "first");
}

TEST_CASE("participants: without a baseline none remains, and the reason names it") {
  auto participants = all_admitted();
  participants.drop({{1, Outcome::wrong, "it differs"}, {2, Outcome::wrong, "it differs, too"}});
  CHECK(participants.empty());
  const auto result = entered(participants);
  for (const std::size_t index : {0, 2}) {
    CHECK(result.implementations[index].outcome == Outcome::refused);
    CHECK(result.implementations[index].message == "there is no baseline to compare with: 'b' wrong: it differs");
  }
}

TEST_CASE("participants: a deadline is no refusal") {
  auto participants = all_admitted();
  participants.run_out_of_time("the time is spent");
  const auto result = entered(participants);
  for (const auto& row : result.implementations) {
    CHECK(row.outcome == Outcome::unreached);
    CHECK(row.message == "the time is spent");
  }
}

TEST_CASE("participants: a lost device is the fault of one, and ends all") {
  auto participants = all_admitted();
  participants.drop_failed(2, {.message = "illegal access", .device = Failure::Device::lost});
  CHECK(participants.empty());
  CHECK(participants.device_lost());
  const auto result = entered(participants);
  CHECK(result.lost_device == "'c': illegal access");
  CHECK(result.implementations[2].outcome == Outcome::threw);
  CHECK(result.implementations[0].outcome == Outcome::unreached);
  CHECK_THAT(result.implementations[0].message, ContainsSubstring("lost to this process by 'c': illegal access"));
}

TEST_CASE("when memory runs out for copies, no participant stays pending and known outcomes stay") {
  Participants participants({"a", "b", "c"}, 1);
  participants.drop(0, Outcome::refused, "no package");
  try {
    throw std::bad_alloc();
  } catch (...) {
    pace::detail::enter_out_of_memory(participants);
  }
  const auto result = entered(participants);
  CHECK(result.implementations[0].message == "no package");
  CHECK(result.implementations[1].outcome == Outcome::out_of_memory);
  CHECK_THAT(result.implementations[2].message, ContainsSubstring("'b' out of memory"));
  for (const std::size_t index : {0, 1, 2}) CHECK_FALSE(participants.pending(index));
}

TEST_CASE("participants: of exceptions, those that concern an implementation, the device or memory are entered alone") {
  auto participants = all_admitted();
  pace::test::FakeClock clock;
  const auto enter = [&](const auto& exception) {
    try {
      throw exception;
    } catch (...) {
      pace::detail::enter_exception(clock, participants);
    }
  };
  enter(pace::detail::ImplementationThrew(0, {.message = "out of luck"}));
  CHECK(participants.remaining() == Indices{1, 2});
  CHECK(entered(participants).implementations[0].outcome == Outcome::threw);
  CHECK_THROWS_AS(enter(pace::Error("the clock is broken")), pace::Error);
  CHECK(participants.remaining() == Indices{1, 2});
}

TEST_CASE("messages of exceptions are parts of sentences, and name a type that says nothing of itself") {
  const auto message_of = [](auto thrown) {
    try {
      throw thrown;
    } catch (...) {
      return pace::detail::current_message();
    }
  };
  CHECK(message_of(pace::Error("it is too large. Choose another one.\n")) == "it is too large. Choose another one");
  CHECK(message_of(42) == "an exception that is no std::exception, of type int");
}

TEST_CASE("an exception of an implementation is a std::exception with its message") {
  const pace::detail::ImplementationThrew thrown(1, {.message = "out of luck"});
  const std::exception& error = thrown;
  CHECK(std::string(error.what()) == "out of luck");
}

}  // namespace
