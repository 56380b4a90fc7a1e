// Catch2's header before pace's, which include LibTorch's logging.
#include <string_view>

#include <catch2/catch_test_macros.hpp>

#include "pace/catch2.hpp"
#include "pace/pace.hpp"

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage)
#define TEXT_OF(...) #__VA_ARGS__
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage)
#define EXPANSION_OF(...) TEXT_OF(__VA_ARGS__)

TEST_CASE("CHECK is Catch2's, although LibTorch has one, too") {
  CHECK(std::string_view(EXPANSION_OF(CHECK(true))).find("Catch::AssertionHandler") != std::string_view::npos);
}
