// A program that counts coverage and fails.
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <catch2/catch_test_macros.hpp>

#include "tests/support/scratch.hpp"

TEST_CASE("a program that counts coverage fails whatever its handlers of exit() do, and writes its counts") {
  const pace::test::Scratch folder;
  const int status = std::system(("GCOV_PREFIX='" + folder.path.string() + "' tests/os/coverage_program").c_str());
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 42);
  CHECK(std::ranges::any_of(std::filesystem::recursive_directory_iterator(folder.path),
                            [](const auto& each) { return each.path().extension() == ".gcda"; }));
}
