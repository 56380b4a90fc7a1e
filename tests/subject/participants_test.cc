// The fate of the others when one implementation leaves a comparison.
#include "pace/subject/participants.hpp"

#include <exception>
#include <new>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "pace/base/error.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/operands.hpp"
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

/// Returns what `handler` returns while `exception` is being handled.
template <class Exception, class Handler>
auto handle(const Exception& exception, const Handler& handler) {
  try {
    throw exception;
  } catch (...) {
    return handler();
  }
}

TEST_CASE("participants: of exceptions, those that concern an implementation, the device or memory are entered alone") {
  auto participants = all_admitted();
  pace::test::FakeClock clock;
  const auto enter = [&](const auto& exception) {
    handle(exception, [&] { pace::detail::enter_exception(clock, participants); });
  };
  enter(pace::detail::ImplementationThrew(0, {.message = "out of luck"}));
  CHECK(participants.remaining() == Indices{1, 2});
  CHECK(entered(participants).implementations[0].outcome == Outcome::threw);
  CHECK_THROWS_AS(enter(pace::Error("the clock is broken")), pace::Error);
  CHECK(participants.remaining() == Indices{1, 2});
}

TEST_CASE("participants: beside the rounds, too, an exception that no implementation threw is no one's fault") {
  auto participants = all_admitted();
  pace::test::FakeClock clock;
  const auto enter = [&](const auto& exception) {
    return handle(exception, [&] {
      return pace::detail::enter_exception_beside_rounds(clock, "after the rounds: ", participants);
    });
  };
  CHECK_THROWS_AS(enter(pace::Error("the clock is broken")), pace::Error);
  CHECK(entered(participants).implementations[0].outcome == Outcome::measured);
  CHECK(enter(pace::detail::ImplementationThrew(0, {.message = "out of luck"})) == 0);
  CHECK(entered(participants).implementations[0].outcome == Outcome::threw);
  CHECK(entered(participants).implementations[0].message == "after the rounds: out of luck");
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
  try {
    throw 42;
  } catch (...) {
    const Failure failure = pace::detail::current_failure();
    CHECK(failure.message == message_of(42));
    CHECK_FALSE(failure.out_of_memory);
  }
}

TEST_CASE("what copies an operand's type may be called for tensors and values in a type of one's own") {
  const at::Tensor tensor = at::ones({3});
  const std::vector<at::Tensor> given{tensor, at::Tensor()};
  const auto copies = pace::OperandTraits<std::vector<at::Tensor>>::clone(given);
  REQUIRE(copies.size() == 2);
  CHECK(at::equal(copies[0], tensor));
  CHECK(copies[0].data_ptr() != tensor.data_ptr());
  CHECK_FALSE(copies[1].defined());
  const auto value = pace::OperandTraits<std::optional<c10::IValue>>::clone(c10::IValue(given));
  REQUIRE(value);
  CHECK(at::equal(value->toTensorVector().at(0), tensor));
  CHECK(value->toTensorVector().at(0).data_ptr() != tensor.data_ptr());
}

TEST_CASE("a list of tensors that an operand holds is copied with what it shares") {
  const at::Tensor whole = at::ones({4}), part = whole.narrow(0, 0, 2);
  const auto copies = pace::detail::clone_operands(std::tuple(whole, c10::IValue(std::vector<at::Tensor>{part})));
  std::get<0>(copies).fill_(7);
  CHECK(at::equal(std::get<1>(copies).toTensorVector().at(0), at::full({2}, 7.0)));
  CHECK(at::equal(part, at::ones({2})));
}

TEST_CASE("an exception of an implementation is a std::exception with its message") {
  const pace::detail::ImplementationThrew thrown(1, {.message = "out of luck"});
  const std::exception& error = thrown;
  CHECK(std::string(error.what()) == "out of luck");
}

}  // namespace
