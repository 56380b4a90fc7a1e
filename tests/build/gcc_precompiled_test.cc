// GCC takes the header that was compiled ahead. If it does not like it, -Winvalid-pch makes that an error of this file;
// if it lies where GCC does not look, or is not read first, that is said when this runs.
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
