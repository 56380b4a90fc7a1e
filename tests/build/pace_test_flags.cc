// A pace_test is optimised, aligned, has pace's main function with Catch2's, and knows its commit.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "pace/base/build_info.hpp"
#include "pace/report/environment.hpp"

#ifndef __OPTIMIZE__
#error "pace_test must optimise"
#endif
#if __cplusplus < 202002L
#error "pace_test must compile as C++20"
#endif

namespace {

// Their sizes are odd, so that no second one is aligned by chance.
[[gnu::noinline]] int first(int x) { return x + 1; }
[[gnu::noinline]] int second(int x) { return x * 3 + 7; }
[[gnu::noinline]] int third(int x) { return x ^ 5; }

}  // namespace

TEST_CASE("functions begin at multiples of 64 bytes") {
  for (int (*function)(int) : {first, second, third}) {
    CHECK(reinterpret_cast<std::uintptr_t>(function) % 64 == 0);
  }
}

TEST_CASE("the program knows what it was compiled with") {
  CHECK_THAT(pace::build_info().flags, Catch::Matchers::ContainsSubstring("-O3 -falign-functions=64"));
}

TEST_CASE("a test has the variables of its target") {
  const char* const variable = std::getenv("PACE_TEST_HAS");
  REQUIRE(variable != nullptr);
  CHECK(std::string_view(variable) == "its own variables");
}

TEST_CASE("a test knows the checkout that it was built in, and its commit") {
  const char* const checkout = std::getenv("PACE_CHECKOUT");
  REQUIRE(checkout != nullptr);
  CHECK(std::filesystem::exists(checkout + std::string("/WORKSPACE")));
  const auto commit = pace::report::read_environment().commit;
  // A folder that is no checkout, such as an unpacked archive, has no commit.
  CHECK(commit == pace::report::commit_of(checkout));
  if (std::filesystem::exists(checkout + std::string("/.git"))) CHECK_FALSE(commit.empty());
}
