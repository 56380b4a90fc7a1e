// The page of keys and the code say the same.
#include <catch2/catch_test_macros.hpp>

#include <string>

#include "pace/os/read_file.hpp"
#include "tests/report/schema_text.hpp"

TEST_CASE("docs/results.md has the tables that bazel run //tests/report:print_schema prints") {
  const std::string page = pace::read_file("docs/results.md", "the page of keys"), tables = schema::text();
  const auto begin = page.find("### first line\n");
  REQUIRE(begin != std::string::npos);
  const auto end = page.find("\n## ", begin);
  REQUIRE(end != std::string::npos);
  CHECK(page.substr(begin, end + 1 - begin) == tables);
}

TEST_CASE("docs/results.md names the version of the schema") {
  CHECK(pace::read_file("docs/results.md", "the page of keys")
            .find("{\"schema_version\":" + std::to_string(pace::report::schema_version) + ',') != std::string::npos);
}
