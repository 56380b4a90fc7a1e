// GCC takes the header that was compiled ahead. If GCC rejects it, -Winvalid-pch makes that an error of this file. If
// GCC does not find it, or does not read it first, the test fails when it runs.
#if defined(__clang__) || __has_include("benches/precompiled/nn.hpp.gch")
constexpr bool lies_beside = true;
#else
constexpr bool lies_beside = false;
#endif

#ifdef TORCH_API
constexpr bool is_first = true;
#else
constexpr bool is_first = false;
#endif

#include <catch2/catch_test_macros.hpp>

TEST_CASE("what was compiled ahead lies beside the header that is read first", "[build]") {
  CHECK(lies_beside);
  CHECK(is_first);
}
