#include "pace/kernels/nested_graphs.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cstddef>
#include <vector>

using Catch::Matchers::ContainsSubstring;
using pace::kernel::detail::why_not_prepared;

TEST_CASE("without nested graphs, every kernel can find what it finds in the call") {
  for (std::size_t place = 0; place < 3; ++place) CHECK(why_not_prepared({false, false, false}, place).empty());
}

TEST_CASE("kernels of a nested graph and those before it cannot; those after it can") {
  const std::vector<bool> nested{false, true, true, false};
  CHECK_THAT(why_not_prepared(nested, 0), ContainsSubstring("a nested graph that runs after it cannot be left out"));
  for (const std::size_t place : {1U, 2U})
    CHECK_THAT(why_not_prepared(nested, place),
               ContainsSubstring("it is in a nested graph, which CUDA runs as a whole"));
  CHECK(why_not_prepared(nested, 3).empty());
}

TEST_CASE("between two nested graphs, the second one cannot be left out") {
  CHECK_THAT(why_not_prepared({true, false, true}, 1), ContainsSubstring("a nested graph that runs after it"));
}
