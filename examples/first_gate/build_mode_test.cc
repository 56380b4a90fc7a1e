#include <catch2/catch_test_macros.hpp>

bool library_is_optimised();

TEST_CASE("a library under a pace_test is optimised, whatever the build mode") { CHECK(library_is_optimised()); }
